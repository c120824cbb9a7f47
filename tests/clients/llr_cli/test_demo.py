"""The demo: its table against learners run here, and that its service never outlives it."""

import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import httpx
import numpy as np
import pytest
from llr_cli.demo import POOR, ServiceFailed, child_environment, is_free, is_poor, local_service
from llr_cli.replay.experiments import DECADES, paper
from support.terminal import LLR, at_a_terminal, to_the_end, until

import llr
from llr.streams import STREAMS

SHORT = ["demo", "--samples", "60", "--seed", "7"]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the demo prints where nobody sits at a terminal, and where its figures are."""
    out = tmp_path_factory.mktemp("demo") / "out"
    # LLR_API_KEYS would keep the demo out of its own service if that were not kept from it
    environment = os.environ | {"COLUMNS": "80", "FORCE_COLOR": "", "LLR_API_KEYS": "nonsense"}
    command = [*LLR, *SHORT, "--out", str(out)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert all(letter.isprintable() or letter == "\n" for letter in done.stdout)
    return done.stdout, out


def table(printed: str) -> dict[tuple[str, str], list[str]]:
    """The cells after stream and algorithm, by these two."""
    lines = [line.split() for line in printed.splitlines()]
    return {(line[0], line[1]): line[2:] for line in lines if line and line[0] in STREAMS}


def address(printed: str) -> str:
    found: list[str] = re.findall(r"dashboard (http://127\.0\.0\.1:\d+)", printed)
    return found[0]


def assert_nobody_is_at(url: str) -> None:
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/livez")


def test_every_stream_has_a_row_for_each_algorithm(printed: tuple[str, Path]) -> None:
    rows = table(printed[0])
    both = ("sg", "svrg", "sg/ag", "svrg/ag")
    expected = {(stream, algorithm) for stream in POOR for algorithm in both}
    assert expected <= set(rows)
    assert {algorithm for _, algorithm in set(rows) - expected} <= {"auto"}
    assert {len(cells) for cells in rows.values()} == {8}


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [("gaussian", "sg"), ("bernoulli", "sg/ag"), ("regression", "svrg/ag"), ("quadratic", "sg/ag")],
)
def test_a_rows_numbers_are_those_of_a_learner_run_by_hand(
    printed: tuple[str, Path], name: str, algorithm: str
) -> None:
    row = table(printed[0])[name, algorithm]
    stream, eta0 = STREAMS[name](7), POOR[name]
    learner = llr.Learner(stream.model, stream.dim, algorithm, eta0, stream.theta0, "exact")
    learner.learn(*stream.take(60))
    error = np.linalg.norm(learner.theta - stream.truth) / (np.linalg.norm(stream.truth) or 1.0)
    regret = learner.regret
    expected = [eta0, 60, error, learner.eta, learner.loss.mean, regret.ml, regret.best_fixed]
    assert [float(cell) for cell in row[:-1]] == pytest.approx(expected, rel=0.04)
    assert row[-1] == "learnt"


def test_it_leaves_figures_and_no_service_behind(printed: tuple[str, Path]) -> None:
    text, out = printed
    assert f"figures   {out / 'index.html'}" in text.replace("\n", "")
    assert len(list(out.glob("*.png"))) >= 13
    assert_nobody_is_at(address(text))


@pytest.mark.slow
def test_a_learnt_step_size_beats_the_fixed_one_it_started_from() -> None:
    for experiment in filter(is_poor, paper()):
        if experiment.algorithm in ("sg/ag", "svrg/ag") and experiment.stream != "quadratic":
            losses = []
            for algorithm in (experiment.algorithm, experiment.algorithm.removesuffix("/ag")):
                stream = experiment.source()
                learner = llr.Learner(
                    stream.model, stream.dim, algorithm, POOR[experiment.stream], stream.theta0
                )
                learner.learn(*stream.take(experiment.samples))
                losses.append(learner.loss.total)
            assert losses[0] < losses[1], experiment.name


def test_the_table_shows_step_sizes_that_are_replayed() -> None:
    assert set(POOR.values()) <= set(DECADES)


def test_at_a_terminal_it_serves_until_ctrl_c() -> None:
    with at_a_terminal(*SHORT, "--no-figures") as (process, terminal):
        seen = until(terminal, b"until Ctrl-C")
        url = address(seen)
        assert httpx.get(f"{url}/v1/sessions/paper-gaussian-sg-ag-1e-4-seed7").json()["t"] == 60
        assert "100%" in seen
        os.write(terminal, b"\x03")
        to_the_end(terminal)
        assert process.wait() == 0
    assert_nobody_is_at(url)


def test_ctrl_c_in_the_middle_ends_it_and_its_service() -> None:
    with at_a_terminal("demo", "--no-figures") as (process, terminal):
        until(terminal, b"regret")
        os.write(terminal, b"\x03")
        to_the_end(terminal)
        assert process.wait() == 130


def test_sigterm_ends_the_service_too() -> None:
    with at_a_terminal(*SHORT, "--no-figures") as (process, terminal):
        url = address(until(terminal, b"until Ctrl-C"))
        process.send_signal(signal.SIGTERM)
        to_the_end(terminal)
        assert process.wait() == 128 + signal.SIGTERM
    assert_nobody_is_at(url)


@pytest.mark.slow
def test_a_service_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "llr.db").write_bytes(b"this is not a database" * 100)
    with pytest.raises(ServiceFailed, match=r"did not start: .*llr\.db"), local_service(tmp_path):
        pass


@pytest.mark.slow
def test_a_service_that_ends_by_itself_is_noticed(tmp_path: Path) -> None:
    with local_service(tmp_path) as service:
        service.process.terminate()
        with pytest.raises(ServiceFailed, match="ended by itself"):
            service.wait()


def test_a_port_is_free_until_somebody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not is_free(port)
    assert is_free(port)


def test_settings_of_another_service_do_not_reach_the_demos(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LLR_STORE", "memory:")
    monkeypatch.setenv("LLR_KERNELS", "/somewhere")
    kept = {name for name in child_environment() if name.startswith("LLR_")}
    assert kept == {"LLR_KERNELS"}


@pytest.mark.parametrize("option", ["--samples=0", "--samples=many", "--seed=-1", "--seed=0.5"])
def test_a_wrong_option_exits_2_and_is_named(option: str) -> None:
    from llr_cli.cli import app
    from typer.testing import CliRunner

    result = CliRunner().invoke(app, ["demo", option])
    assert result.exit_code == 2
    assert option.partition("=")[0].strip("-") in result.output
