"""`llr demo`: replays the paper through a temporary service; prints a table and draws figures."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, NamedTuple

import httpx
import typer
from llr_client import Client, LLRError
from rich.console import Console

from llr_cli.exits import REFUSED, STOPPED, fail
from llr_cli.installation import need_figures
from llr_cli.options import BadData
from llr_cli.replay.command import has_auto
from llr_cli.replay.experiments import Experiment, paper
from llr_cli.replay.results import report, summary
from llr_cli.replay.runner import ReplayRunner, Throttle, bars
from llr_cli.service_program import service_command

POOR = {"gaussian": 1e-4, "bernoulli": 1e-4, "regression": 1e-5, "quadratic": 1e-4}
"""The initial step sizes of the table: far too small, or far too large for the quadratic."""
STARTING = "starting the service; the first start on a machine compiles for up to a minute"


def demo(
    samples: Annotated[
        int | None, typer.Option(min=1, help="Length of every stream. [the paper's]")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the random numbers.")] = 0,
    figures: Annotated[bool, typer.Option(help="Draw the paper's figures.")] = True,
    out: Annotated[Path, typer.Option(help="Folder for the figures.")] = Path("out"),
) -> None:
    """Start a service, replay the paper through it, and show what it learnt from poor step sizes.

    On a terminal the service runs until Ctrl-C; otherwise it ends when the replay is done. Its
    sessions are in a temporary folder, which is deleted at the end.
    """
    console, errors = Console(), Console(stderr=True)
    try:
        if figures:
            need_figures()
        with temporary_service(errors) as service, Client(service.url) as client:
            replay_paper(client, samples, seed, console, errors)
            if figures:
                console.print("figures  ", draw_figures(client, out, seed, errors), highlight=False)
            serve_until_interrupt(service, console)
    except (LLRError, BadData, ServiceFailed) as error:
        fail(REFUSED, str(error))
    except KeyboardInterrupt:
        fail(STOPPED, "stopped")


@contextmanager
def temporary_service(errors: Console) -> Iterator["LocalService"]:
    """Start a service on a temporary store, and wait until it is ready."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="llr-demo-"))
        errors.print(STARTING, style="dim")
        service = stack.enter_context(local_service(Path(folder)))
        httpx.get(f"{service.url}/readyz").raise_for_status()
        yield service


def replay_paper(
    client: Client, samples: int | None, seed: int, console: Console, errors: Console
) -> None:
    """Replay every experiment, and print those with a poor step size."""
    every = paper(seed, has_auto(client))
    chosen = [experiment.of_length(samples) for experiment in every] if samples else every
    with bars(errors) as progress:
        results = ReplayRunner(client, Throttle(), progress).run(chosen)
    report(console, [result for result in results if is_poor(result.experiment)])
    console.print("", summary(results), "", sep="\n", highlight=False)


def is_poor(experiment: Experiment) -> bool:
    """Whether the table shows an experiment: poor step sizes, and algorithms without one."""
    return experiment.eta0 in (None, POOR[experiment.stream])


def draw_figures(client: Client, out: Path, seed: int, errors: Console) -> Path:
    """Draw the figures; returns the path of their page."""
    from llr_cli.figures.gallery import draw  # noqa: PLC0415 - matplotlib is an extra

    return draw(client, out, seed, errors)


def serve_until_interrupt(service: "LocalService", console: Console) -> None:
    """Print the dashboard's URL; on a terminal, serve until Ctrl-C."""
    console.print("dashboard", service.url, highlight=False)
    if not sys.stdout.isatty():  # rich may be forced to treat a pipe as a terminal
        return
    console.print("serving until Ctrl-C", style="dim")
    try:
        service.wait()
    except KeyboardInterrupt:
        console.print()


DEFAULT_PORT = 8080
STOP_SECONDS = 10.0
"""Seconds that the child has to end after SIGTERM."""


class ServiceFailed(Exception):
    """The child did not start, or ended by itself; the message has the end of its log."""


class LocalService(NamedTuple):
    """A running child process.

    Attributes:
        url: the service's URL.
        process: the child.
        log: the child's log file.
    """

    url: str
    process: "subprocess.Popen[str]"
    log: Path

    def wait(self) -> None:
        """Wait for the child; raises if it ends by itself."""
        self.process.wait()
        raise ServiceFailed(f"the service ended by itself: {log_tail(self.log)}")


@contextmanager
def local_service(folder: Path) -> Iterator["LocalService"]:
    """Start the service on a store in a folder; it ends with the block."""
    log = folder / "service.log"
    port = DEFAULT_PORT if is_free(DEFAULT_PORT) else 0
    command = service_command("--host", "127.0.0.1", "--port", str(port))
    command += ["--store", f"sqlite:///{folder / 'llr.db'}", "--log-level", "warning"]
    with log.open("w") as errors, exit_on_sigterm():
        process = subprocess.Popen(  # noqa: S603
            command, env=child_environment(), stdout=subprocess.PIPE, stderr=errors, text=True
        )
        try:
            yield LocalService(read_address(process, log), process, log)
        finally:
            stop(process)


def child_environment() -> dict[str, str]:
    """The environment without settings of the service, except the kernels' cache folder."""
    kept = {"LLR_KERNELS"}
    return {k: v for k, v in os.environ.items() if not k.startswith("LLR_") or k in kept}


def read_address(process: "subprocess.Popen[str]", log: Path) -> str:
    """Read the child's URL, which it prints once it listens."""
    said = process.stdout.readline() if process.stdout else ""
    if "http://" not in said:
        process.wait(STOP_SECONDS)
        raise ServiceFailed(f"the service did not start: {log_tail(log)}")
    return "http://" + said.rpartition("http://")[2].strip()


def stop(process: "subprocess.Popen[str]") -> None:
    """Send SIGTERM, then SIGKILL if the child does not end."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into SystemExit, so that the child ends too."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {n: signal.signal(n, leave) for n in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def is_free(port: int) -> bool:
    """Whether a loopback port is free."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def log_tail(log: Path) -> str:
    """The end of the child's log."""
    return log.read_text()[-500:].strip() or "its log is empty"
