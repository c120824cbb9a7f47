"""Many sessions: how fast they are made, what one takes in memory, how long one takes to load."""

import random
from pathlib import Path

from bench.arena import Arena
from bench.contest import Line, Score, Turn, plain, score
from bench.load import Lane
from bench.requests import as_ndjson, get, post, put, samples
from bench.servers import Server, service

CONNECTIONS = 64
SAMPLES = 20
TOUCHED = 2_000
NO_CAP = ("--memory-cap", "1024GiB")


def many(arena: Arena, sessions: int) -> list[Line]:
    """Make so many sessions, let each learn, restart the service, and read some of them."""
    store = arena.folder / "many.db"
    names = [f"session-{i}" for i in range(sessions)]
    with service(store, *NO_CAP) as server:
        lines = _make(arena, server, names)
    touched = random.Random(1).sample(names, min(TOUCHED, sessions))  # noqa: S311
    return lines + _touch(arena, store, touched)


def _make(arena: Arena, server: Server, names: list[str]) -> list[Line]:
    n, empty = len(names), server.memory
    made = _all(arena, server, [put(name, dim=10) for name in names])
    bare = server.memory
    body = as_ndjson(*samples(10, SAMPLES))
    learnt = _all(arena, server, [post(name, body, "application/x-ndjson") for name in names])
    full = server.memory
    return [
        plain(f"{n:,} sessions: created", "sessions/s", made),
        plain(f"{n:,} sessions: {SAMPLES} samples to each", "requests/s", learnt),
        plain(f"{n:,} sessions: memory of one, d=10, new", "bytes", _once((bare - empty) / n)),
        plain(f"{n:,} sessions: after {SAMPLES} samples", "bytes", _once((full - empty) / n)),
    ]


def _all(arena: Arena, server: Server, requests: list[bytes]) -> Score:
    turn = arena.turn(server, Lane(requests, CONNECTIONS, len(requests)))
    return score([turn], max)


def _touch(arena: Arena, store: Path, names: list[str]) -> list[Line]:
    """Each twice, one after the other: loaded by the first request, there for the second."""
    requests = [get(name) for name in names]
    lane = Lane(requests, 1, len(requests))
    with service(store, *NO_CAP) as server:
        [loading] = arena.load.run(server.port, [lane])
        [loaded] = arena.load.run(server.port, [lane])
    what = f"of {len(names):,} sessions"
    return [
        plain(f"GET {what} that have to be loaded: p50", "ms", _once(1e3 * loading.p50)),
        plain(f"GET {what} that have to be loaded: p99", "ms", _once(1e3 * loading.p99)),
        plain(f"GET {what} that are loaded: p50", "ms", _once(1e3 * loaded.p50)),
    ]


def _once(figure: float) -> Score:
    return score([Turn(figure)], max)
