"""The replay: the table against the paper, what is fed against a learner, and running it again."""

import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from typing import Any

import numpy as np
import pytest
from llr_cli.cli import app
from llr_cli.replay.experiments import DECADES, Experiment, paper, shown
from llr_cli.replay.results import Result, figure, report
from llr_cli.replay.runner import (
    NotOurs,
    Position,
    ReplayRunner,
    Stopped,
    Throttle,
    bars,
    describe,
    feed,
)
from llr_client import Client, State
from llr_service.app import App
from llr_service.settings import Settings
from rich.console import Console
from starlette.testclient import TestClient
from support.flaky import InProcess
from support.root import ROOT
from support.serving import serving
from support.terminal import at_a_terminal, until
from typer.testing import CliRunner

import llr
from llr.streams import STREAMS

RUNAWAY = Experiment("gaussian", "svrg", 10.0, 400)


@pytest.fixture(scope="module")
def service() -> Iterator[TestClient]:
    with TestClient(App(Settings(store="memory:")), raise_server_exceptions=False) as started:
        yield started


@pytest.fixture
def client(service: TestClient) -> Iterator[Client]:
    """A client of the service; what its test created is deleted afterwards."""
    with Client("http://testserver", transport=InProcess(service)) as sdk:
        yield sdk
        for row in sdk.sessions():
            sdk.session(row.name).delete()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real service."""
    store = tmp_path_factory.mktemp("replay") / "llr.db"
    with serving(f"sqlite:///{store}") as where:
        yield f"http://{where}"


def direct(experiment: Experiment) -> tuple[llr.Learner, llr.Outcome]:
    """A learner in this process that was given the same samples."""
    stream = experiment.source()
    assert experiment.eta0
    learner = llr.Learner(
        stream.model, stream.dim, experiment.algorithm, experiment.eta0, stream.theta0, "exact"
    )
    return learner, learner.learn(*stream.take(experiment.samples))


def fed(client: Client, experiment: Experiment) -> State:
    return feed(client, experiment, Throttle(), lambda _: None)


def replay(address: str, *arguments: str, code: int = 0) -> str:
    """What the command prints; on standard error if it fails."""
    environment = {"COLUMNS": "120", "LLR_URL": address}
    result = CliRunner().invoke(app, ["replay", *arguments], env=environment)
    assert result.exit_code == code, result.output
    return result.stderr if code else result.stdout


def test_the_table_has_every_experiment_of_the_paper() -> None:
    table = {(e.stream, e.algorithm, e.eta0): e.samples for e in paper(seed=0)}
    lengths = {"gaussian": 2500, "bernoulli": 2500, "regression": 7500}
    for stream, algorithm, k in product(lengths, ("sg", "svrg", "sg/ag", "svrg/ag"), range(-5, 2)):
        assert table.pop((stream, algorithm, float(f"1e{k}"))) == lengths[stream]
    for algorithm in ("sg", "svrg", "sg/ag", "svrg/ag"):
        assert table.pop(("quadratic", algorithm, 1e-4)) > 0
    tuned = {(stream, algorithm) for stream, algorithm, _ in table}
    assert tuned == set(product(lengths, ("sg", "svrg")))  # what is left tunes these by hand


def test_auto_joins_the_table_once_a_stream_and_without_a_step_size() -> None:
    more = set(paper(auto=True)) - set(paper())
    assert {(e.stream, e.algorithm, e.eta0) for e in more} == {
        (stream, "auto", None) for stream in ("gaussian", "bernoulli", "regression")
    }
    assert all("eta0" not in e.config for e in more)


def test_every_session_has_a_name_of_its_own_that_the_service_takes() -> None:
    names = [e.name for seed in (0, 7) for e in paper(seed, auto=True)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", name) for name in names)
    assert "paper-gaussian-sg-ag-1e-3" in names


def test_the_truth_of_the_regression_is_shown_as_one() -> None:
    stream = STREAMS["regression"](3)
    assert shown(stream, stream.truth) == pytest.approx(1.0)
    assert shown(stream, np.array([stream.truth, 2.0 * stream.truth])) == pytest.approx([1.0, 2.0])


@pytest.mark.parametrize(
    "experiment",
    [
        Experiment("gaussian", "sg/ag", 1e-3, 1200),
        Experiment("bernoulli", "svrg", 1e-1, 700, seed=4),
        Experiment("regression", "svrg/ag", 1e-4, 800),
        Experiment("quadratic", "sg/ag", 1e-4, 500),
    ],
)
def test_what_is_fed_leaves_the_session_as_a_learner_would_be(
    client: Client, experiment: Experiment
) -> None:
    state = fed(client, experiment)
    learner, _ = direct(experiment)
    assert state.t == learner.t == experiment.samples
    assert state.theta == learner.theta.tolist()
    assert state.log_eta == learner.log_eta
    assert state.regret.ml == learner.regret.ml


@pytest.mark.parametrize("at", [0, 1])
def test_a_runaway_is_fed_to_its_last_finite_sample(client: Client, at: int) -> None:
    experiment = (RUNAWAY, Experiment("quadratic", "svrg", 1e-4, 500))[at]
    state = fed(client, experiment)
    learner, outcome = direct(experiment)
    assert not outcome
    assert (state.t, state.status) == (learner.t, "diverged")
    assert state.theta == learner.theta.tolist()
    assert Result(experiment, state).outcome == "diverged"


def test_feeding_again_teaches_nothing_twice(client: Client) -> None:
    for experiment in (Experiment("gaussian", "sg/ag", 1e-3, 600), RUNAWAY):
        first = fed(client, experiment)
        moves: list[Position] = []
        assert feed(client, experiment, Throttle(), moves.append) == first
        assert moves == []


def test_feeding_goes_on_where_it_stopped(client: Client) -> None:
    experiment = Experiment("gaussian", "sg/ag", 1e-3, 1300)
    fed(client, experiment.of_length(450))
    assert fed(client, experiment).theta == direct(experiment)[0].theta.tolist()


def test_who_asks_to_stop_stops_between_batches_and_can_go_on(client: Client) -> None:
    experiment = Experiment("gaussian", "sg/ag", 1e-3, 1300)
    throttle = Throttle()
    moves: list[int] = []

    def moved(position: Position) -> None:
        moves.append(position.t)
        throttle.stop()

    with pytest.raises(Stopped):
        feed(client, experiment, throttle, moved)
    assert moves == [500]
    assert fed(client, experiment).t == 1300


def test_a_name_taken_by_another_config_is_explained(client: Client) -> None:
    experiment = Experiment("gaussian", "sg/ag", 1e-3, 10)
    client.session(experiment.name, model="bernoulli")
    with pytest.raises(NotOurs, match=r"another config.*bernoulli.*--fresh"):
        fed(client, experiment)


def test_samples_from_somebody_else_are_noticed_before_anything_is_sent(client: Client) -> None:
    experiment = Experiment("gaussian", "sg/ag", 1e-3, 10)
    client.session(experiment.name, **experiment.config).learn_many([1.0, 2.0, 3.0])
    with pytest.raises(NotOurs, match="3 samples that are not from replay:gaussian:0"):
        fed(client, experiment)
    assert client.session(experiment.name).state().t == 3


def test_a_rate_makes_small_batches_that_wait_for_their_time() -> None:
    throttle = Throttle(rate=50.0)
    assert throttle.block == 5
    assert throttle.ahead(elapsed=0.0, sent=5) == pytest.approx(0.1)
    assert throttle.ahead(elapsed=3.0, sent=5) == 0.0
    assert Throttle(rate=0.5).block == 1


def test_a_bar_shows_theta_eta_and_regret_and_comes_to_its_end(client: Client) -> None:
    from io import StringIO

    sent = StringIO()
    console = Console(file=sent, force_terminal=True, force_interactive=True, width=120)
    experiments = [Experiment("gaussian", "sg/ag", 1e-3, 600), RUNAWAY]
    with bars(console) as progress:
        results = ReplayRunner(client, Throttle(), progress, at_once=1).run(experiments)
        assert progress.finished
    assert [result.outcome for result in results] == ["learnt", "diverged"]
    assert "100%" in sent.getvalue()
    assert re.search(r"svrg 1e1: θ \S+e30\d η 10 regret 1\.8e308", sent.getvalue())


def test_a_step_size_that_is_not_there_is_a_dash() -> None:
    experiment = Experiment("gaussian", "auto", None, 10)
    assert describe(experiment, Position(5, 1.25, None, None)) == "auto: θ 1.25 η - regret -"


def test_the_first_error_ends_all(client: Client) -> None:
    client.session("paper-gaussian-sg-1e0", model="bernoulli")
    experiments = [Experiment("gaussian", "sg", eta0, 100) for eta0 in (1.0, *DECADES)]
    with bars(Console(quiet=True)) as progress, pytest.raises(NotOurs):
        ReplayRunner(client, Throttle(), progress).run(experiments)


def test_the_command_prints_a_table_and_the_same_as_json(address: str) -> None:
    arguments = ("bernoulli", "--algorithm", "sg", "--algorithm", "svrg/ag", "--samples", "300")
    printed = replay(address, *arguments)
    assert re.search(r"^bernoulli\s+svrg/ag\s+0\.001\s+300\s.*learnt", printed, re.MULTILINE)
    assert "2 sessions: 2 learnt" in printed
    rows: list[dict[str, Any]] = json.loads(replay(address, *arguments, "--json"))
    learner, _ = direct(Experiment("bernoulli", "svrg/ag", 1e-3, 300))
    assert [row["algorithm"] for row in rows] == ["sg", "svrg/ag"]
    assert rows[1]["regret"]["ml"] == learner.regret.ml
    assert rows[1]["session"] == "paper-bernoulli-svrg-ag-1e-3"


def test_the_command_starts_over_where_it_is_told_to(address: str) -> None:
    with Client(address) as client:
        client.session("paper-gaussian-sg-ag-1e-3", model="bernoulli")
        assert "--fresh" in replay(address, "gaussian", "--samples", "20", code=1)
        assert "1 session: 1 learnt" in replay(address, "gaussian", "--samples", "20", "--fresh")
        assert client.session("paper-gaussian-sg-ag-1e-3").state().model == "gaussian"


def test_all_can_be_narrowed_down_but_not_to_nothing(address: str) -> None:
    narrow = ("all", "--algorithm", "sg/ag", "--eta0", "1e-2", "--samples", "30", "--seed", "5")
    rows = json.loads(replay(address, *narrow, "--json"))
    assert [row["stream"] for row in rows] == ["gaussian", "bernoulli", "regression"]
    assert all(row["session"].endswith("-seed5") for row in rows)
    assert "no experiment of the paper" in replay(address, "all", "--eta0", "0.123", code=2)


@pytest.mark.parametrize(
    "wrong", [["cauchy"], ["gaussian", "--rate", "0"], ["gaussian", "--samples", "0"], []]
)
def test_a_wrong_call_exits_2(wrong: list[str]) -> None:
    assert CliRunner().invoke(app, ["replay", *wrong]).exit_code == 2


def test_what_the_service_refuses_is_told_in_its_words(address: str) -> None:
    assert "algorithm" in replay(address, "gaussian", "--algorithm", "sg/xx", code=1)
    assert "eta0" in replay(address, "gaussian", "--eta0", "-1", code=1)


def test_a_figure_is_short_and_near_its_number() -> None:
    for exponent in range(-320, 308):
        for x in (1.0 * 10.0**exponent, 9.97 * 10.0**exponent, -2.345 * 10.0**exponent):
            assert len(figure(x).lstrip("-")) <= 8
            assert float(figure(x)) == pytest.approx(x, rel=0.03)


@pytest.mark.parametrize(
    ("x", "text"),
    [(0.0, "0"), (999.7, "1000"), (np.inf, "inf"), (np.nan, "nan"), (None, "-")],
)
def test_a_figure_at_the_edges(x: float | None, text: str) -> None:
    assert figure(x) == text


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_fits_a_terminal_and_explains_divergence(client: Client, columns: int) -> None:
    from io import StringIO

    page = StringIO()
    results = [Result(RUNAWAY, fed(client, RUNAWAY))]
    report(Console(file=page, width=columns), results)
    assert all(len(line) <= columns for line in page.getvalue().splitlines())
    assert "leave the finite numbers" in " ".join(page.getvalue().split())
    learnt = Experiment("gaussian", "sg", 1e-3, 5)
    report(Console(file=page, width=columns), [Result(learnt, fed(client, learnt))])
    assert page.getvalue().count("finite numbers") == 1


DOCUMENTED = re.findall(
    r"^llr (?!serve).*?(?=\s*#|$)", (ROOT / "docs" / "replay.md").read_text(), re.M
)


@pytest.mark.parametrize("command", DOCUMENTED)
def test_every_command_of_the_page_is_one(command: str) -> None:
    words = command.split()[1:]
    assert CliRunner().invoke(app, [*words, "--help"]).exit_code == 0


def test_the_page_names_commands() -> None:
    assert len(DOCUMENTED) == 4


def test_ctrl_c_stops_it_and_the_same_command_goes_on(address: str) -> None:
    words = ("replay", "bernoulli", "--seed", "3", "--rate", "50", "--url", address)
    with at_a_terminal(*words) as (process, terminal):
        until(terminal, b"regret")
        os.write(terminal, b"\x03")
        assert "goes on" in until(terminal, b"goes on")
        assert process.wait() == 130
    with Client(address) as client:
        session = client.session("paper-bernoulli-sg-ag-1e-3-seed3")
        before = session.state().t
        assert 0 < before < 2500
        assert replay(address, "bernoulli", "--seed", "3", "--samples", str(before + 10))
        assert session.state().t == before + 10


def test_ctrl_c_does_not_wait_for_a_service_that_went_away() -> None:
    words = ("replay", "gaussian", "--rate", "20", "--url")
    with ExitStack() as its_life, ExitStack() as ours:
        url = its_life.enter_context(serving("memory:"))
        process, terminal = ours.enter_context(at_a_terminal(*words, f"http://{url}"))
        until(terminal, b"regret")
        its_life.close()
        until(terminal, b"waiting")
        os.write(terminal, b"\x03")
        until(terminal, b"goes on")
        assert process.wait() == 130


@pytest.mark.slow
def test_a_service_that_is_not_there_is_told_at_once() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        told = replay(f"http://127.0.0.1:{nobody.getsockname()[1]}", "gaussian", code=3)
    assert told.startswith("llr: ")
    assert "nothing answers" in told
