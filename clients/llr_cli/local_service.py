"""The service as a child of this process, for as long as it is needed."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple

USUAL = 8080
PATIENCE = 10.0
"""Seconds the child has to end when it is told to."""


class NoService(Exception):
    """The child did not start, or ended by itself; says what it said last."""


class LocalService(NamedTuple):
    """A running child.

    Attributes:
        url: where it listens.
        process: the child.
        log: what it wrote.
    """

    url: str
    process: "subprocess.Popen[str]"
    log: Path

    def wait(self) -> None:
        """Wait until it ends, which it should not do by itself."""
        self.process.wait()
        raise NoService(f"the service ended by itself: {last_words(self.log)}")


@contextlib.contextmanager
def local_service(folder: Path) -> Iterator[LocalService]:
    """Start it on a store in a folder; whatever happens, it ends with the block."""
    log = folder / "service.log"
    port = USUAL if is_free(USUAL) else 0
    command = [
        sys.executable,
        "-m",
        "llr_service",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    command += ["--store", f"sqlite:///{folder / 'llr.db'}", "--log-level", "warning"]
    with log.open("w") as errors, ending_on_termination():
        process = subprocess.Popen(  # noqa: S603
            command, env=surroundings(), stdout=subprocess.PIPE, stderr=errors, text=True
        )
        try:
            yield LocalService(address(process, log), process, log)
        finally:
            end(process)


def surroundings() -> dict[str, str]:
    """The environment without the settings of some other service; kernels may be kept anywhere."""
    kept = {"LLR_KERNELS"}
    return {k: v for k, v in os.environ.items() if not k.startswith("LLR_") or k in kept}


def address(process: "subprocess.Popen[str]", log: Path) -> str:
    """Where the child listens; it says so once it does."""
    said = process.stdout.readline() if process.stdout else ""
    if "http://" not in said:
        process.wait(PATIENCE)
        raise NoService(f"the service did not start: {last_words(log)}")
    return "http://" + said.rpartition("http://")[2].strip()


def end(process: "subprocess.Popen[str]") -> None:
    """Ask the child to stop, then make it."""
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()


@contextlib.contextmanager
def ending_on_termination() -> Iterator[None]:
    """SIGTERM and SIGHUP end this process like any exception would, so that the child ends too."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {n: signal.signal(n, leave) for n in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def is_free(port: int) -> bool:
    """Whether somebody could listen there."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def last_words(log: Path) -> str:
    """The end of what the child wrote."""
    return log.read_text()[-500:].strip() or "it left no word"
