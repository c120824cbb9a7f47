"""The figures: their data against a learner's, what each panel shows, and the files of a replay."""

import re
import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from platform import python_version
from xml.etree import ElementTree as ET

import numba
import numpy as np
import pytest
from llr_cli.cli import app
from llr_cli.figures import gallery
from llr_cli.figures.axis_scale import LinLogScale
from llr_cli.figures.gallery import draw
from llr_cli.figures.panels import RED, colour, is_decade, styled
from llr_cli.figures.quadratic import quadratic, stability, undamped
from llr_cli.figures.regrets import beside_auto, regrets
from llr_cli.figures.tangent import STARTS, compare, tangent
from llr_cli.figures.trajectories import hand_tuned, step_sizes, trajectories
from llr_cli.options import BadData
from llr_cli.replay.experiments import DECADES, SAMPLES, Experiment, paper, shown
from llr_cli.replay.runner import Throttle, feed
from llr_cli.replay.runs import Run, Runs, course_of, fetch, running_ml
from llr_client import Client
from llr_service.app import App
from llr_service.settings import Settings
from matplotlib.figure import Figure
from rich.console import Console
from starlette.testclient import TestClient
from support.flaky import InProcess
from support.serving import serving
from typer.testing import CliRunner

import llr
from llr import exact
from llr.streams import STREAMS

MODELS = ("gaussian", "bernoulli", "regression")
SHORT = 60


def learner_of(experiment: Experiment) -> llr.Learner:
    stream = experiment.source()
    algorithm = experiment.algorithm if experiment.eta0 else "sg/ag"
    learner = llr.Learner(
        stream.model, stream.dim, algorithm, experiment.eta0 or 1e-2, stream.theta0, "exact"
    )
    learner.learn(*stream.take(experiment.samples))
    return learner


def run_of(experiment: Experiment) -> Run:
    """A run as a session would give it, learnt here."""
    learner = learner_of(experiment)
    past = learner.history
    assert past.regret is not None
    seen, sides = shown(experiment.source(), past.theta), (past.theta_low, past.theta_high)
    low, high = (side[:, 0] if len(learner.theta) == 1 else np.empty(0) for side in sides)
    return Run(
        experiment,
        past.t,
        np.asarray(seen),
        past.log_eta,
        past.regret,
        learner.t < experiment.samples,
        low,
        high,
        past.log_eta_low,
        past.log_eta_high,
    )


@pytest.fixture(scope="module")
def runs() -> Runs:
    """Every experiment, and `auto`, in short."""
    return Runs(run_of(e.of_length(SHORT)) for e in paper(auto=True))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of figures after a small replay through a real service."""
    folder = tmp_path_factory.mktemp("figures")
    with serving(f"sqlite:///{folder / 'llr.db'}") as address:
        environment = {"LLR_URL": f"http://{address}"}
        narrow = ["--eta0", "1e-4", "--eta0", "1e1", "--samples", "200"]
        replayed = CliRunner().invoke(app, ["replay", "all", *narrow], env=environment)
        assert replayed.exit_code == 0, replayed.output
        out = folder / "new" / "out"
        result = CliRunner().invoke(
            app, ["figures", "--out", str(out), "--seeds", "1"], env=environment
        )
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == str(out / "index.html")
    assert "sessions are not there" in result.stderr
    return out


def titles(figure: Figure) -> list[str]:
    return [axes.get_title() for axes in figure.axes]


def curves(figure: Figure, panel: int) -> list[np.ndarray]:
    """The lines of a panel that are not red and not at its edge."""
    lines = figure.axes[panel].lines
    return [
        np.asarray(line.get_ydata())
        for line in lines
        if line.get_gid() is None and line.get_color() != RED
    ]


def red(figure: Figure, panel: int) -> np.ndarray:
    (line,) = [line for line in figure.axes[panel].lines if line.get_color() == RED]
    return np.asarray(line.get_ydata())


@pytest.mark.parametrize(
    "experiment",
    [
        Experiment("gaussian", "sg/ag", 1e-4, 2500),
        Experiment("regression", "svrg/ag", 1e-4, 1100),
        Experiment("gaussian", "svrg", 10.0, 400),
        Experiment("quadratic", "sg/ag", 1e-4, 500),
    ],
)
def test_a_run_is_the_past_of_a_learner_to_the_last_bit(experiment: Experiment) -> None:
    with (
        TestClient(App(Settings(store="memory:"))) as service,
        Client("http://testserver", transport=InProcess(service)) as client,
    ):
        feed(client, experiment, Throttle(), lambda _: None)
        run, expected = fetch(client, experiment), run_of(experiment)
    assert run.diverged == expected.diverged
    for column in ("t", "shown", "log_eta", "regret", "low", "high", "log_eta_low", "log_eta_high"):
        assert np.array_equal(getattr(run, column), getattr(expected, column)), column
    assert run.t[-1] == learner_of(experiment).t


@pytest.mark.parametrize("stream", MODELS)
def test_the_red_line_is_the_comparator_of_the_regret(stream: str) -> None:
    n = 300
    source = STREAMS[stream](3)
    learner = llr.Learner(source.model, source.dim, "sg", 1e-3, source.theta0, "exact")
    samples = source.take(n)
    learner.learn(*samples)
    assert learner.regret.ml is not None
    t = np.arange(n)
    y = samples[-1]
    if stream == "regression":  # all of θ is needed for its loss; the figures show one entry
        from llr_cli.replay.runs import least_squares

        theta = least_squares(STREAMS[stream](3), t)
        losses = 0.5 * (y - np.sum(theta * samples[0], axis=1)) ** 2
        assert np.allclose(running_ml(stream, 3, t), shown(source, theta))
    else:
        theta = running_ml(stream, 3, t)
        gaussian = 0.5 * (y - theta) ** 2
        losses = gaussian if stream == "gaussian" else np.logaddexp(0.0, theta) - theta * y
    assert losses.sum() == pytest.approx(learner.loss.total - learner.regret.ml, rel=1e-6)


@pytest.mark.parametrize("of_decades", [trajectories, regrets])
@pytest.mark.parametrize("stream", MODELS)
def test_originals_are_above_their_llr_versions_and_every_decade_is_there(
    runs: Runs, stream: str, of_decades: Callable[[Runs, str], Figure]
) -> None:
    figure = of_decades(runs, stream)
    assert titles(figure) == ["SG", "SVRG", "SG/AG", "SVRG/AG"]
    assert [len(curves(figure, panel)) for panel in range(4)] == [len(DECADES)] * 4
    assert len(figure.legends) == 1


def test_a_panel_of_trajectories_shows_theta_beside_the_running_ml(runs: Runs) -> None:
    figure = trajectories(runs, "bernoulli")
    small = runs.of("bernoulli", "sg/ag", lambda e: e.eta0 == DECADES[0])[0]
    assert np.array_equal(curves(figure, 2)[-1], small.shown)  # the smallest lies on top
    assert np.array_equal(red(figure, 2), running_ml("bernoulli", 0, np.arange(SHORT + 1)))


def test_a_panel_of_regrets_shows_regret_beside_nothing(runs: Runs) -> None:
    figure = regrets(runs, "bernoulli")
    small = runs.of("bernoulli", "svrg", lambda e: e.eta0 == DECADES[0])[0]
    assert np.array_equal(curves(figure, 1)[-1], small.regret)
    assert not red(figure, 1).any()


def test_log_eta_is_above_the_ascents_it_led_to(runs: Runs) -> None:
    figure = step_sizes(runs, "bernoulli")
    smallest = [
        runs.of("bernoulli", name, lambda e: e.eta0 == DECADES[0])[0]
        for name in ("sg/ag", "svrg/ag")
    ]
    for panel, run in enumerate(smallest):
        assert np.array_equal(curves(figure, panel)[-1], run.log_eta)
        assert np.array_equal(curves(figure, panel + 2)[-1], run.shown)


def test_the_hand_tuned_step_is_the_one_with_the_least_regret(runs: Runs) -> None:
    best = runs.best("bernoulli", "svrg")
    assert best is not None
    every = runs.of("bernoulli", "svrg")
    assert len(every) == 19
    assert best.regret[-1] == min(run.regret[-1] for run in every)
    figure = hand_tuned(runs, "bernoulli")
    assert np.array_equal(red(figure, 1), best.shown)
    poor = [x for x in DECADES if max(x / best.experiment.eta0, best.experiment.eta0 / x) > 9.99]  # type: ignore[operator]
    assert 0 < len(poor) == len(curves(figure, 1)) < len(DECADES)


def test_neither_who_diverged_nor_who_is_behind_is_the_hand_tuned() -> None:
    good, behind = (run_of(Experiment("gaussian", "svrg", 1e-3, n)) for n in (300, 20))
    steep = replace(run_of(Experiment("gaussian", "svrg", 10.0, 400)), regret=np.array([-9.0]))
    assert Runs([steep, good, behind]).best("gaussian", "svrg") is good
    assert Runs([steep]).best("gaussian", "svrg") is None
    assert Runs([steep, good, behind]).unfinished() == 1


def test_the_quadratic_shows_the_ratio_that_has_to_fall_below_the_stable_one(runs: Runs) -> None:
    whole = Runs(run_of(e) for e in paper() if e.stream == "quadratic")
    figure = quadratic(whole)
    for panel, algorithm in enumerate(("sg/ag", "svrg/ag")):
        run = whole.of("quadratic", algorithm)[0]
        f = np.sqrt(run.t + 2.0) * np.log(run.t + 3.0)
        expected = np.log10(np.exp(run.log_eta) / (2.0 * f))
        assert stability(run.log_eta, run.t) == pytest.approx(expected)
        lines = [np.asarray(line.get_ydata()) for line in figure.axes[panel].lines]
        assert any(np.array_equal(line, stability(run.log_eta, run.t)) for line in lines)
        assert expected[0] > -8.0 > expected[40]
        own = any(np.array_equal(line, undamped(run.log_eta)) for line in lines)
        assert own == (algorithm == "svrg/ag")
        fixed = [line for line in figure.axes[panel].lines if line.get_gid() == "own"]
        assert len(fixed) == (algorithm == "svrg/ag")
        for line in fixed:
            assert np.asarray(line.get_ydata()) == pytest.approx(np.log10(1e-4 / 2.0))
            assert len(np.asarray(line.get_xdata())) == 501


def test_what_runs_away_has_a_bar_above_its_panel_and_a_cross_if_it_diverged() -> None:
    wild = [run_of(Experiment("gaussian", "svrg", 10.0, 400))]
    figure = trajectories(Runs(wild), "gaussian")
    marks = [[line.get_gid() for line in axes.lines if line.get_gid()] for axes in figure.axes]
    assert marks == [[], ["beyond", "end"], [], []]
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"diverged", "beyond the axis"} <= set(words)
    calm = trajectories(Runs([run_of(Experiment("gaussian", "sg", 1.0, 100))]), "gaussian")
    assert "diverged" not in [text.get_text() for text in calm.legends[0].get_texts()]


def test_an_axis_is_bent_only_where_something_runs_away(runs: Runs) -> None:
    small = Runs(run for run in runs if (run.experiment.eta0 or 0.0) < 1.0)
    wild, tame = trajectories(runs, "gaussian"), trajectories(small, "gaussian")
    assert {axes.get_yscale() for axes in wild.axes} == {"function"}
    assert {axes.get_yscale() for axes in tame.axes} == {"linear"}


def test_a_bent_axis_rises_and_finds_back() -> None:
    scale = LinLogScale(-1.0, 7.0, 1e4, (0, 2, 4, 6))
    values = np.array([-1e4, -50.0, -1.0, 0.0, 3.5, 7.0, 7.1, 1e3, 1e4])
    heights = scale.forward(values)
    assert (np.diff(heights) > 0.0).all()
    assert scale.inverse(heights) == pytest.approx(values)
    assert heights[2:6] == pytest.approx([0.0, 0.125, 0.5625, 1.0])


def test_what_stays_beyond_the_axis_is_not_drawn_across_the_panel() -> None:
    scale = LinLogScale(0.0, 1.0, 10.0, ())
    inside = scale.inside(np.array([0.5, 1e9, -1e200, 1e300, 0.5, 0.5]))
    assert np.isnan(inside).tolist() == [False, False, True, False, False, False]
    assert np.nanmax(np.abs(inside)) <= 100.0


def test_colours_differ_in_brightness_so_that_all_eyes_can_tell_them_apart() -> None:
    brightness = [np.dot(colour(x)[:3], [0.2126, 0.7152, 0.0722]) for x in DECADES]
    assert (np.diff(brightness) > 0.04).all()


def test_there_are_thirteen_of_the_paper_one_of_the_tangent_and_one_more_with_auto(
    runs: Runs,
) -> None:
    without = Runs(run for run in runs if run.experiment.algorithm != "auto")
    possible = [picture for picture in gallery.pictures() if picture.is_possible(without)]
    assert len(possible) == 14
    assert [picture.name for picture in gallery.pictures() if picture.is_possible(runs)] == [
        *(picture.name for picture in possible[:13]),
        "14-beside-auto",
        "15-tangent",
    ]


def test_auto_is_black_beside_every_decade(runs: Runs) -> None:
    figure = beside_auto(runs)
    assert len(figure.axes) == 6
    for axes in figure.axes:
        black = [line for line in axes.lines if line.get_color() == "black"]
        assert len(black) == 1
    (auto,) = runs.of("bernoulli", "auto")
    assert np.array_equal(curves(figure, 1)[-1], auto.regret)


@pytest.mark.parametrize("stream", MODELS)
def test_the_tangent_is_beside_the_exact_derivative_along_its_eta(stream: str) -> None:
    n, eta0, source = 40, STARTS[1], STREAMS[stream](3)
    samples = source.take(n)
    one = compare(stream, 3, eta0, n)
    learner = llr.Learner(source.model, source.dim, "sg/ag", eta0, source.theta0)
    at = 25
    assert learner.learn(*(column[:at] for column in samples))
    assert one.h[at] == pytest.approx(shown(source, learner.h), rel=1e-12)
    assert one.log_eta[at] == learner.log_eta
    start = np.full(source.dim, source.theta0)
    past = [column[:at] for column in samples]
    whole = exact.derivative(source.model, *past, eta=learner.eta, theta0=start)
    assert one.A[at] == pytest.approx(shown(source, whole.A[-1]), rel=1e-12)
    slow = exact.ExactSG(source.model, eta0, source.theta0)
    assert slow.learn(*past)
    assert one.exact[at] == slow.log_eta


def test_h_and_a_are_above_the_step_sizes_learnt_from_them(runs: Runs) -> None:
    figure = tangent(runs)
    assert len(figure.axes) == 2 * len(MODELS)
    assert "seed 0" in figure.get_suptitle()
    for panel, solid, dashed in ((1, "h", "A"), (1 + len(MODELS), "log_eta", "exact")):
        unit = 1.0 if solid == "h" else np.log(10.0)
        lines = figure.axes[panel].lines
        truths = [line.get_ydata() for line in lines if line.get_gid() == "exact"]
        for row, eta0 in enumerate(STARTS):
            one = compare("bernoulli", 0, eta0, SHORT)
            assert np.array_equal(curves(figure, panel)[row], getattr(one, solid)[1:] / unit)
            assert np.array_equal(truths[row], getattr(one, dashed)[1:] / unit)


def test_the_tangent_over_seeds_shows_medians_and_quartiles() -> None:
    runs = Runs(
        run_of(Experiment(stream, "sg/ag", 1e-2, 30, seed))
        for stream in MODELS
        for seed in range(3)
    )
    figure = tangent(runs.medians())
    assert "3 seeds" in figure.get_suptitle()
    each = [compare("gaussian", seed, STARTS[0], 30).h for seed in range(3)]
    assert np.array_equal(curves(figure, 0)[0], np.median(each, axis=0)[1:])
    assert len(figure.axes[0].collections) == 2 * len(STARTS)
    caption = next(p for p in gallery.pictures() if p.name == "15-tangent").caption(runs)
    assert "median and quartiles of the seeds" in caption


@pytest.mark.slow
def test_the_same_runs_give_the_same_files(runs: Runs, tmp_path: Path) -> None:
    contents = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with styled():
            gallery.save(step_sizes(runs, "gaussian"), tmp_path / name, "figure")
        contents.append([path.read_bytes() for path in sorted((tmp_path / name).iterdir())])
    assert contents[0] == contents[1]
    assert len(contents[0]) == 2


def test_a_replay_gives_every_figure_as_png_and_svg(drawn: Path) -> None:
    names = sorted(path.stem for path in drawn.glob("*.png"))
    everything = [picture.name for picture in gallery.pictures()]
    assert names == [name for name in everything if name != "14-beside-auto"]
    for name in names:
        png = (drawn / f"{name}.png").read_bytes()
        assert png.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", png[16:24])
        assert width > 1000 < height * 2
        assert len(png) > 30_000
        root = ET.parse(drawn / f"{name}.svg").getroot()  # noqa: S314 - it was drawn here
        assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) > 50


def test_the_page_shows_every_figure_with_its_sentence_and_nothing_from_elsewhere(
    drawn: Path,
) -> None:
    page = (drawn / "index.html").read_text()
    shown_there = re.findall(r'src="([^"]+)"', page)
    assert shown_there == sorted(path.name for path in drawn.glob("*.png"))
    assert sorted(re.findall(r'href="([^"]+)"', page)) == sorted(
        p.name for p in drawn.glob("*.svg")
    )
    assert "Drawn from 28 sessions of the service, seed 0" in page
    assert f"llr {llr.__version__}, numpy {np.__version__}, numba {numba.__version__}" in page
    assert f"Python {python_version()}" in page
    assert "SG/AG 0 of 2" in page
    assert unescape(page).count("almost every trajectory gets close to the ML") == 3
    assert "http" not in page


def test_every_caption_is_counted_in_the_runs(runs: Runs) -> None:
    captions = [picture.caption(runs) for picture in gallery.pictures()]
    assert len(set(captions)) == 15
    assert all(caption.endswith(".") for caption in captions)
    near = sum(run.gap < 0.3 for run in runs.of("gaussian", "sg/ag", is_decade))
    assert f"SG/AG {near} of 7" in captions[0]
    assert "No run diverged." in captions[2]
    gone = run_of(Experiment("regression", "svrg", 10.0, 300))
    assert "Diverged: SVRG 1." in gallery.pictures()[2].caption(Runs([*runs, gone]))
    few = Runs(run for run in runs if run.experiment.eta0 != 1e-5)
    assert "SG/AG 0 of 7" not in gallery.pictures()[0].caption(few)


def test_a_figure_over_seeds_shows_medians_and_quartiles() -> None:
    experiments = [Experiment("bernoulli", "svrg", 10.0, 300, seed) for seed in range(5)]
    single = [run_of(experiment) for experiment in experiments]
    (run,) = Runs(single).medians()
    assert run.seeds == (0, 1, 2, 3, 4)
    table = np.array([one.shown for one in single])
    assert np.array_equal(run.shown, np.median(table, axis=0))
    low, high = run.bands["regret"]
    assert (low <= run.regret).all()
    assert (run.regret <= high).all()
    assert (run.high - run.low)[-1] > 0.5  # the oscillation between two points of the past
    figure = trajectories(Runs([run]), "bernoulli")
    assert "5 seeds" in figure.get_suptitle()
    assert np.array_equal(curves(figure, 1)[0], run.shown)


def test_the_median_of_runs_that_mostly_diverge_ends_where_the_middle_one_does() -> None:
    wild = [run_of(Experiment("gaussian", "svrg", 10.0, 400, seed)) for seed in range(3)]
    calm = run_of(Experiment("gaussian", "svrg", 1e-2, 400, 3))
    ends = sorted(int(run.t[-1]) for run in wild)
    (most,) = Runs(wild).medians()
    assert most.diverged
    assert most.t[-1] == ends[1]
    one_of_two = [replace(wild[0], experiment=calm.experiment), calm, calm]
    (few,) = Runs(one_of_two).medians()
    assert not few.diverged
    assert few.t[-1] == 400


@pytest.mark.slow
def test_a_median_that_comes_back_for_a_moment_is_no_vertical_line() -> None:
    """Quartiles on both sides of the axis hide a median, also between two such stretches."""
    t = np.arange(40)
    shown_, low, high = np.full(40, 0.5), np.full(40, 0.4), np.full(40, 0.6)
    low[10:30], high[10:30] = -1e9, 1e9
    low[20], high[20] = 0.4, 0.6
    experiment = Experiment("regression", "svrg", 1e-3, 40)
    bands = {"shown": (low, high)}
    median = Run(experiment, t, shown_, np.empty(0), shown_, False, low, high, bands=bands)
    figure = trajectories(Runs([replace(median, seeds=(0, 1))]), "regression")
    (line,) = curves(figure, 1)
    assert np.isnan(line[10:30]).all()
    assert np.array_equal(np.delete(line, np.s_[10:30]), np.full(20, 0.5))


def test_the_range_of_a_run_bends_the_axis_too() -> None:
    calm = run_of(Experiment("gaussian", "svrg/ag", 1e-2, 50))
    wide = replace(calm, low=np.full(calm.t.size, -500.0))
    assert {axes.get_yscale() for axes in step_sizes(Runs([wide]), "gaussian").axes[2:]} == {
        "function"
    }


def test_panels_of_sg_sg_are_drawn_where_there_are_runs(runs: Runs) -> None:
    plain = run_of(Experiment("bernoulli", "sg/sg", 1e-5, SHORT))
    every = Runs([*runs, plain])
    figure = trajectories(every, "bernoulli")
    assert titles(figure) == ["SG", "SVRG", "SG/AG", "SVRG/AG", "SG/SG", "SVRG/SG"]
    assert np.array_equal(curves(figure, 4)[0], plain.shown)
    steps = step_sizes(every, "bernoulli")
    assert titles(steps)[:2] + titles(steps)[4:6] == ["SG/AG", "SVRG/AG", "SG/SG", "SVRG/SG"]
    assert np.array_equal(curves(steps, 4)[0], plain.log_eta)
    assert np.array_equal(curves(steps, 6)[0], plain.shown)
    tuned = hand_tuned(every, "bernoulli")
    assert [title.split(";")[0] for title in titles(tuned)][2:] == ["SG/SG", "SVRG/SG"]
    assert np.array_equal(curves(tuned, 2)[0], plain.shown)
    captions = {p.name: p.caption for p in gallery.pictures()}
    assert "SG/SG 1 of 1" in captions["08-step-sizes-bernoulli"](every)
    assert "of 1 runs of SG/SG" in captions["11-hand-tuned-bernoulli"](every)


def test_log_eta_has_a_band_between_its_points_for_one_seed_and_for_many() -> None:
    experiments = [Experiment("bernoulli", "sg/ag", 1e-2, 2000, seed) for seed in range(3)]
    single = [run_of(experiment) for experiment in experiments]
    assert (single[0].log_eta_high > single[0].log_eta).any()
    for runs in (Runs(single[:1]), Runs(single).medians()):
        (run,) = runs
        (shade,) = step_sizes(runs, "bernoulli").axes[0].collections
        heights = np.asarray(shade.get_paths()[0].vertices)[:, 1]
        assert heights.min() == pytest.approx(run.log_eta_low.min())
        assert heights.max() == pytest.approx(run.log_eta_high.max())
    (median,) = Runs(single).medians()
    quartile = np.percentile([run.log_eta_high for run in single], 75, axis=0, method="nearest")
    assert np.array_equal(median.log_eta_high, quartile)


@pytest.mark.parametrize("n", [200, 400, 1100])
@pytest.mark.parametrize("algorithm", ["sg/ag", "svrg"])
def test_a_course_of_the_regression_has_the_range_of_every_sample(algorithm: str, n: int) -> None:
    """A sample of weight 0 before each asks for θᵀM and changes nothing, to the last bit."""
    experiment = Experiment("regression", algorithm, 1e-3, n)
    course, plain = course_of(experiment), run_of(experiment)
    for column in ("t", "shown", "log_eta", "regret", "log_eta_low", "log_eta_high", "diverged"):
        assert np.array_equal(getattr(course, column), getattr(plain, column)), column
    stream = experiment.source()
    learner = llr.Learner("linear", 50, algorithm, 1e-3)
    every = [0.0]
    for x, y in zip(*stream.take(n), strict=True):
        if not learner.learn(x, y):
            break
        every.append(float(shown(stream, learner.theta)))
    before = 0
    for t, low, high in zip(course.t, course.low, course.high, strict=True):
        part = every[before : t + 1]
        assert (low, high) == pytest.approx((min(part), max(part)), rel=1e-9, abs=1e-12)
        before = int(t)


def test_a_course_that_diverges_ends_where_its_learner_does() -> None:
    experiment = Experiment("regression", "svrg", 10.0, 300)
    course, plain = course_of(experiment), run_of(experiment)
    assert course.diverged
    assert np.array_equal(course.t, plain.t)
    assert np.array_equal(course.regret, plain.regret)
    assert len(course.low) == len(course.high) == len(course.t)


def test_a_regret_beyond_float64_is_infinite() -> None:
    run = run_of(Experiment("gaussian", "sg", 1e-3, 20))
    held = replace(run, regret=np.full(run.t.size, np.finfo(float).max))
    assert held.end == held.rise == np.inf


def test_the_commit_is_that_of_the_repository_that_has_the_module(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        names = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", tmp_path, *names, *words], check=True)  # noqa: S603, S607

    module = tmp_path / "module.py"
    module.write_text("")
    assert gallery.commit(module) == ""
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "another project's")
    assert gallery.commit(module) == ""
    git("add", "module.py")
    git("commit", "-q", "-m", "ours")
    assert re.fullmatch(r", commit [0-9a-f]{7,}", gallery.commit(module))


def test_sessions_of_another_seed_are_not_compared_with_the_runs() -> None:
    ours, other = (Experiment("gaussian", "sg", 1e-3, 20, seed) for seed in (0, 25))
    runs = Runs([run_of(ours)])
    about = gallery.compared(Runs([run_of(ours), run_of(other)]), runs, 20)
    assert "Of 1 sessions of the service, 1 end with the same regret" in about
    assert "1 sessions of the service are of another seed" in gallery.compared(
        Runs([run_of(other)]), runs, 20
    )


@pytest.fixture(scope="module")
def short_paper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, Path, Path]]:
    """All of the paper over 200 samples and two seeds: its output, and two folders of figures."""
    folder = tmp_path_factory.mktemp("paper")
    with (
        pytest.MonkeyPatch.context() as patch,
        serving(f"sqlite:///{folder / 'llr.db'}") as address,
    ):
        for stream in SAMPLES:
            patch.setitem(SAMPLES, stream, 200)
        environment = {"LLR_URL": f"http://{address}", "COLUMNS": "400"}

        def call(*words: str) -> str:
            result = CliRunner().invoke(app, [*words, "--seeds", "2"], env=environment)
            assert result.exit_code == 0, result.output
            return result.stdout

        printed = call("replay", "all", "--figures", str(folder / "one"))
        again = call("figures", "--out", str(folder / "two"))
        yield printed, again, folder / "one", folder / "two"


def test_replay_all_prints_the_claims_over_its_seeds(
    short_paper: tuple[str, str, Path, Path],
) -> None:
    printed = " ".join(short_paper[0].split())
    assert "163 sessions" in printed
    assert "Section 3, claim by claim, on seeds 0 to 1 and seven decades of η₀" in printed
    assert printed.count("almost every trajectory gets close") == 3
    assert "of 14 (a seed" in printed
    assert len(re.findall(r"\b(?:holds|partly|not) *$", short_paper[0], re.MULTILINE)) > 50


def test_figures_over_two_seeds_are_those_of_the_same_command_as_the_claims(
    short_paper: tuple[str, str, Path, Path],
) -> None:
    *_, again, one, two = short_paper
    assert again.strip() == str(two / "index.html")
    for out in (one, two):
        assert len([*out.glob("*.png")]) == len([*out.glob("*.svg")]) == 15
    page = (one / "index.html").read_text()
    assert page == (two / "index.html").read_text()
    assert "runs on seeds 0 to 1, learnt by the library" in page
    assert "Of 163 sessions of the service, 163 end with the same regret" in page
    assert "Measured on seeds 0 to 1" in page
    assert "SG/SG" in page
    for path in one.iterdir():
        assert path.read_bytes() == (two / path.name).read_bytes()


def test_figures_need_all_of_the_paper(tmp_path: Path) -> None:
    words = ["replay", "gaussian", "--figures", str(tmp_path), "--url", "http://127.0.0.1:1"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert "needs all of the paper" in result.stderr


def test_without_a_replay_there_is_nothing_to_draw(tmp_path: Path) -> None:
    with serving("memory:") as address:
        result = CliRunner().invoke(
            app, ["figures", "--out", str(tmp_path / "out"), "--url", f"http://{address}"]
        )
    assert result.exit_code == 1
    assert "llr replay all" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file is in the way")
    with (
        TestClient(App(Settings(store="memory:"))) as service,
        Client("http://testserver", transport=InProcess(service)) as client,
    ):
        feed(client, Experiment("gaussian", "sg", 1e-3, 20), Throttle(), lambda _: None)
        with pytest.raises(BadData, match="cannot be a folder"):
            draw(client, tmp_path / "out", 0, Console(quiet=True))
