"""`llr connect` as a process of its own, and a stream whose learner is known."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from llr_client import Client

RNG = np.random.default_rng(12)
COUNT = 450
X, Y = RNG.normal(size=(COUNT, 3)), RNG.normal(size=COUNT)
COMMAND = [sys.executable, "-u", "-c", "from llr_connect import app; app()"]


def sample(number: int, **more: Any) -> str:
    """A sample of the stream as JSON."""
    return json.dumps({"x": X[number].tolist(), "y": Y[number], **more})


@contextmanager
def connector(
    *arguments: str, url: str, home: Path, **options: Any
) -> Iterator["subprocess.Popen[str]"]:
    """The command as a process, killed with the block."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    environment = {"XDG_DATA_HOME": str(home), "PATH": "/usr/bin:/bin", "LLR_URL": url}
    with subprocess.Popen([*COMMAND, *arguments], env=environment, **pipes) as process:  # noqa: S603
        try:
            yield process
        finally:
            process.kill()


def finished(*arguments: str, url: str, home: Path, text: str = "") -> tuple[int, str, str]:
    """A connector that ends by itself: its exit code and what it said."""
    with connector(*arguments, url=url, home=home, stdin=subprocess.PIPE) as it:
        told, said = it.communicate(text, timeout=60)
        return it.returncode, told, said


def until(client: Client, name: str, t: int) -> None:
    """Wait until a session has learnt so many samples."""
    session = client.session(name)
    while not any(state.t >= t for state in session.events()):
        pass


def stopped(process: "subprocess.Popen[str]", number: int = signal.SIGTERM) -> tuple[str, str]:
    """Tell a connector to stop; what it said."""
    process.send_signal(number)
    return process.communicate(timeout=30)
