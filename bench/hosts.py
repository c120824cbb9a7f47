"""Who learns over a socket: the service, endpoints that keep nothing and hosts that lose."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.arena import MANY, cores
from bench.daemon import Daemon, daemon
from bench.environments import FLASK
from bench.load import FOREVER, Lane, Load, loading
from bench.requests import put
from bench.servers import Server, running, service, serving
from bench.workers import PEERS

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
