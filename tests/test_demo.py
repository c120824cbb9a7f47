"""The demo: its table against learners run here, its bars, and what it says of divergence."""

import math
from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import llr
from clients.cli import app
from clients.demo import ACTS, BLOCK, Act, Row, bars, figure, perform, play, report
from llr.streams import STREAMS

RUNAWAY = Act("quadratic", 1e-4, 600, ("svrg",))


@pytest.fixture(autouse=True)
def no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may force colours on them; a pipe has none."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)


def demo(*arguments: str, columns: int = 80) -> str:
    """What the demo prints on standard output."""
    result = CliRunner().invoke(app, ["demo", *arguments], env={"COLUMNS": str(columns)})
    assert result.exit_code == 0, result.output
    return result.stdout


def table(printed: str) -> dict[tuple[str, str], list[str]]:
    """The cells after stream and algorithm, by these two."""
    lines = [line.split() for line in printed.splitlines()]
    return {(line[0], line[1]): line[2:] for line in lines if line and line[0] in STREAMS}


def terminal(width: int = 100) -> tuple[Console, StringIO]:
    """A terminal somebody watches, and what it was sent."""
    sent = StringIO()
    console = Console(file=sent, force_terminal=True, force_interactive=True, width=width)
    return console, sent


def ignore(n: int) -> None:
    """No bar."""


@pytest.mark.parametrize("columns", [80, 120])
def test_every_stream_has_a_row_for_each_of_its_algorithms(columns: int) -> None:
    both = ["sg", "svrg", "sg/ag", "svrg/ag"]
    expected = [(s, a) for s in ("gaussian", "bernoulli", "regression") for a in both]
    expected += [("quadratic", "sg/ag"), ("quadratic", "svrg/ag")]
    rows = table(demo("--samples", "200", columns=columns))
    assert list(rows) == expected
    assert {len(cells) for cells in rows.values()} == {8}


def test_every_stream_has_its_own_length_unless_told() -> None:
    lengths = {act.stream: act.samples for act in ACTS}
    assert lengths == {"gaussian": 2500, "bernoulli": 2500, "regression": 7500, "quadratic": 500}
    assert {cells[1] for cells in table(demo("--samples", "120")).values()} == {"120"}


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [("gaussian", "sg"), ("bernoulli", "sg/ag"), ("regression", "svrg/ag"), ("quadratic", "sg/ag")],
)
def test_a_rows_numbers_are_those_of_a_learner_run_by_hand(name: str, algorithm: str) -> None:
    printed = table(demo("--samples", "400", "--seed", "7"))[name, algorithm]
    stream, eta0 = STREAMS[name](7), float(printed[0])
    learner = llr.Learner(
        stream.model, stream.dim, algorithm, eta0=eta0, theta0=stream.theta0, regret="exact"
    )
    learner.learn(*stream.take(400))
    error = np.linalg.norm(learner.theta - stream.truth) / (np.linalg.norm(stream.truth) or 1.0)
    regret = learner.regret
    expected = [eta0, 400, error, learner.eta, learner.loss.mean, regret.ml, regret.best_fixed]
    assert [float(cell) for cell in printed[:-1]] == pytest.approx(expected, rel=0.04)
    assert printed[-1] == "learnt"


def test_a_learnt_step_size_beats_the_fixed_one_it_started_from() -> None:
    for act in ACTS[:3]:
        for base in ("sg", "svrg"):
            fixed, learnt = (play(act, name, 0, ignore) for name in (base, f"{base}/ag"))
            assert learnt.learner.loss.total < fixed.learner.loss.total, (act.stream, base)


def test_the_seed_decides_the_random_streams() -> None:
    one, again, other = (demo("--samples", "100", "--seed", seed) for seed in ("1", "1", "2"))
    assert one == again
    gaussian, quadratic = ("gaussian", "sg/ag"), ("quadratic", "sg/ag")
    assert table(one)[gaussian] != table(other)[gaussian]
    assert table(one)[quadratic] == table(other)[quadratic]


def test_blocks_leave_the_learner_as_one_call_would() -> None:
    act = Act("gaussian", 1e-3, 2 * BLOCK + 10)
    stream = STREAMS["gaussian"](5)
    whole = llr.Learner("gaussian", 1, "svrg/ag", 1e-3, stream.theta0, "exact")
    whole.learn(*stream.take(act.samples))
    assert play(act, "svrg/ag", 5, ignore).learner.pack() == whole.pack()


def test_progress_moves_with_every_block() -> None:
    moves: list[int] = []
    play(Act("gaussian", 1e-3, 2 * BLOCK + 10), "sg", 0, moves.append)
    assert moves == [BLOCK, BLOCK, 10]


def test_a_terminal_sees_a_bar_come_to_its_end() -> None:
    console, sent = terminal()
    with bars(console) as progress:
        rows = list(perform(Act("gaussian", 1e-3, 300, ("sg", "sg/ag")), 0, progress))
    assert [row.learner.config.algorithm for row in rows] == ["sg", "sg/ag"]
    assert "gaussian" in sent.getvalue()
    assert "600/600" in sent.getvalue()


def test_nobody_watching_gets_no_bar_and_no_control_characters() -> None:
    sent = StringIO()
    with bars(Console(file=sent, force_terminal=False)) as progress:
        list(perform(Act("gaussian", 1e-3, 300, ("sg",)), 0, progress))
    assert sent.getvalue() == ""
    assert all(letter.isprintable() or letter == "\n" for letter in demo("--samples", "100"))


def test_divergence_is_shown_as_such() -> None:
    console, _ = terminal()
    with bars(console) as progress:
        (row,) = perform(RUNAWAY, 0, progress)
    assert row.status is llr.Status.DIVERGED
    assert row.learner.t < RUNAWAY.samples
    assert progress.finished
    page = StringIO()
    report(Console(file=page, width=80), [row])
    cells = table(page.getvalue())["quadratic", "svrg"]
    assert (cells[1], cells[-1]) == (str(row.learner.t), "diverged")
    assert llr.Status.DIVERGED.value in " ".join(page.getvalue().split())


def test_divergence_is_not_spoken_of_where_there_is_none() -> None:
    assert "diverged" not in demo("--samples", "100")


def test_regret_that_is_not_known_is_a_dash() -> None:
    learner = llr.Learner("gaussian", eta0=0.5)
    learner.learn([4.0, 5.0])
    page = StringIO()
    report(Console(file=page, width=80), [Row("gaussian", learner, llr.Status.LEARNT, 0.5)])
    assert table(page.getvalue())["gaussian", "sg/ag"][-3:-1] == ["-", "-"]


@pytest.mark.parametrize("option", ["--samples=0", "--samples=many", "--seed=-1", "--seed=0.5"])
def test_a_wrong_option_exits_2_and_is_named(option: str) -> None:
    result = CliRunner().invoke(app, ["demo", option])
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert option.partition("=")[0].strip("-") in result.output


def test_a_figure_is_short_and_near_its_number() -> None:
    for exponent in range(-320, 308):
        for x in (1.0 * 10.0**exponent, 9.97 * 10.0**exponent, -2.345 * 10.0**exponent):
            assert len(figure(x).lstrip("-")) <= 8
            assert float(figure(x)) == pytest.approx(x, rel=0.03)


@pytest.mark.parametrize(
    ("x", "text"), [(0.0, "0"), (999.7, "1000"), (math.inf, "inf"), (math.nan, "nan"), (None, "-")]
)
def test_a_figure_at_the_edges(x: float | None, text: str) -> None:
    assert figure(x) == text
