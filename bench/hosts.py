"""What learns over a socket: the service, endpoints that keep nothing and hosts that lose.

`vw --daemon` runs in a network of its own and takes its turns from here (`bench/peers/daemon.py`).
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.arena import MANY, cores
from bench.load import FOREVER, Lane, Load, loading
from bench.requests import put
from bench.servers import Server, running, service, serving
from bench.workers import FLASK, PEERS, VOWPAL_WABBIT
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
        """Kill it, and start it again."""
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


FLASK_RIVER = (FLASK.python, str(PEERS / "flask_river.py"))
CONNECTIONS, CLIENTS = 64, 4


class Go(NamedTuple):
    """A turn: samples or requests a second, processor seconds for each, quantiles of a request."""

    rate: float
    cpu: float
    p50: float | None = None
    p99: float | None = None
    p999: float | None = None


class Hosts(NamedTuple):
    """All that are asked, and who asks."""

    load: Load
    ours: Server
    empty: Server
    bare: Server
    flask: Server
    gunicorn: Server
    vw: Daemon

    def http(self, server: Server, lane: Lane, seconds: float = FOREVER, each: int = 1) -> Go:
        """A turn of a lane, each request of which brings so many samples."""
        before = server.cpu
        [tally] = self.load.run(server.port, [lane], seconds)
        cpu = (server.cpu - before) / (each * tally.answers)
        return Go(each * tally.rate, cpu, tally.p50, tally.p99, tally.p999)

    def daemon(self, lines: list[str], at_once: int) -> Go:
        """A turn of `vw --daemon`."""
        told = self.vw.learn(lines, at_once)
        quantiles = [told.get(name) for name in ("p500", "p990", "p999")]
        return Go(len(lines) / told["seconds"], told["cpu"] / len(lines), *quantiles)


@contextmanager
def hosts(folder: Path) -> Iterator[Hosts]:
    """Everybody started: servers on one core, who asks on another."""
    core, other = cores()
    os.sched_setaffinity(0, {core})
    with ExitStack() as stack:
        start = stack.enter_context
        made = Hosts(
            start(loading(other)),
            start(service(folder / "llr.db")),
            start(serving("bench.rivals", "empty")),
            start(serving("bench.rivals", "bare")),
            start(running(*FLASK_RIVER, "flask")),
            start(running(*FLASK_RIVER, "gunicorn")),
            start(daemon(core, other)),
        )
        create = [put(f"many-{i}", dim=10) for i in range(MANY)] + [put("d10", dim=10)]
        create += [put("d50", dim=50, regret="off"), put("lost", dim=10)]
        made.load.run(made.ours.port, [Lane(create, 1, len(create))])
        yield made
