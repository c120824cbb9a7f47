"""Where the service is measured: servers on one core, the load on another, sessions in place."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.contest import Turn
from bench.load import FOREVER, Lane, Load, Tally, loading
from bench.requests import put
from bench.servers import Server, service, serving

MANY, KEYS = 64, 10
"""Sessions in the contests of many, and keys of the service that asks for them."""


class Arena(NamedTuple):
    """Everything that runs, and the folder it may write to."""

    folder: Path
    load: Load
    ours: Server
    empty: Server
    one_each: Server
    keyed: Server

    def turn(self, server: Server, lane: Lane, seconds: float = FOREVER, each: int = 1) -> Turn:
        """One lane's requests a second, or its samples where a request brings more of `each`."""
        before = server.cpu
        [tally] = self.load.run(server.port, [lane], seconds)
        return Turn(each * tally.rate, (server.cpu - before) / tally.answers)

    def lanes(self, lanes: Sequence[Lane], seconds: float) -> list[Tally]:
        """Several lanes at once, to the service."""
        return self.load.run(self.ours.port, lanes, seconds)


@contextmanager
def arena(folder: Path) -> Iterator[Arena]:
    """All servers and the load, started; this process and so the servers have one core."""
    core, other = cores()
    os.sched_setaffinity(0, {core})
    with (
        loading(other) as load,
        service(folder / "llr.db") as ours,
        serving("bench.rivals", "empty") as empty,
        serving("bench.rivals", "one", str(folder / "one.db")) as one_each,
        service(folder / "keyed.db", "--api-keys", api_keys()) as keyed,
    ):
        made = Arena(folder, load, ours, empty, one_each, keyed)
        _prepare(made)
        yield made


def api_keys() -> str:
    """Keys that may write, as the setting has them; the secrets are `key-0` and so on."""
    digests = [hashlib.sha256(f"key-{i}".encode()).hexdigest() for i in range(KEYS)]
    return ",".join(f"writer-{i}:write:{digest}" for i, digest in enumerate(digests))


def cores() -> tuple[int, int]:
    """One for the servers and one for the load; the same one if there is no other."""
    there = sorted(os.sched_getaffinity(0))
    return there[0], there[-1]


def _prepare(arena: Arena) -> None:
    """Create the sessions that all contests share."""
    requests = [put(f"many-{i}", dim=10) for i in range(MANY)]
    requests += [put(name, dim=10) for name in ("d10", "quiet", "bulk-10")]
    requests += [put(name, dim=50) for name in ("d50", "bulk-50")]
    requests += [put("d50-off", dim=50, regret="off")]
    arena.load.run(arena.ours.port, [Lane(requests, 1, len(requests))])
