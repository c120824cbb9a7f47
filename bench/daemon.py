"""`vw --daemon` in a network of its own, told its turns from here (`bench/peers/daemon.py`)."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from bench.environments import VOWPAL_WABBIT
from bench.workers import PEERS
from llr.types import Vector


class Daemon:
    """The process that has the daemon and talks to it."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._read()

    def learn(self, lines: Sequence[str], at_once: int) -> dict[str, Any]:
        """Send lines, so many at once; the seconds it took, and what else was seen."""
        return self._tell({"do": "learn", "lines": lines, "at_once": at_once})

    def kill(self) -> None:
        """Kill it, and start it anew."""
        self._tell({"do": "kill"})

    def _tell(self, what: dict[str, Any]) -> dict[str, Any]:
        if self._process.stdin is None:
            raise RuntimeError("a process without a standard input")
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise RuntimeError("vw --daemon did not start, or its client has ended")
        told: dict[str, Any] = json.loads(line)
        return told


@contextmanager
def daemon(server_core: int, core: int) -> Iterator[Daemon]:
    """The daemon on one core, who talks to it on another, both unseen from outside."""
    script, cores = str(PEERS / "daemon.py"), (str(server_core), str(core))
    command = ["unshare", "--net", sys.executable, script, VOWPAL_WABBIT.python, *cores]
    with subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        try:
            yield Daemon(process)
        finally:
            if process.stdin is not None:
                process.stdin.close()  # it ends what it has started, then itself
            try:
                process.wait(20.0)
            except subprocess.TimeoutExpired:
                process.kill()


def text(X: Vector, y: Vector) -> list[str]:
    """Samples as lines of its text format, numbers as short as they can be told apart."""
    pairs = zip(X.tolist(), y.tolist(), strict=True)
    return [
        f"{label!r} | " + " ".join(f"{i}:{value!r}" for i, value in enumerate(row)) + "\n"
        for row, label in pairs
    ]
