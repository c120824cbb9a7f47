"""Contests of named features: 30 of 100,000 that are known beside 30 numbers in a row."""

import json
from collections.abc import Callable
from functools import partial

import numpy as np

from bench.arena import Arena
from bench.contest import Contest, Line, Scores, Turn, at_least, plain
from bench.load import Lane
from bench.requests import as_json, post, put, samples

KNOWN, THERE, BODIES, BLOCK = 100_000, 30, 2048, 1000
SEED = 3
NDJSON = "application/x-ndjson"


def named(arena: Arena, rounds: int, seconds: float) -> Contest:
    """One sample a request, and lines of NDJSON, with names and without."""
    prepare(arena)
    rows, names = _rows(), bodies()
    entries: dict[str, Callable[[], Turn]] = {}
    for session, sent in (("d30", rows), ("named", names)):
        one = Lane([post(session, body) for body in sent], 64)
        whole = Lane([post(session, b"\n".join(sent) + b"\n", NDJSON)], 1, 8)
        entries[f"{session} singly"] = partial(arena.turn, arena.ours, one, seconds)
        entries[f"{session} lines"] = partial(arena.turn, arena.ours, whole, each=BODIES)

    def verdict(scores: Scores) -> list[Line]:
        lines = []
        for how, what, unit, least in (
            ("singly", "64 connections", "requests/s", 0.5),
            ("lines", f"NDJSON, {BODIES:,} lines", "samples/s", 0.4),
        ):
            plainly, by_name = scores[f"d30 {how}"], scores[f"named {how}"]
            lines.append(plain(f"{what}: service, {THERE} features, durable", unit, plainly))
            line = plain(f"{what}: {THERE} named of {KNOWN:,} known, durable", unit, by_name)
            lines.append(at_least(line, by_name, "a row", plainly, least))
        return lines

    return Contest(entries, rounds, verdict)


def prepare(arena: Arena) -> None:
    """The two sessions, one of which knows all its names."""
    requests = [put("d30", dim=THERE, regret="off"), put("named", max_features=KNOWN)]
    for start in range(0, KNOWN, BLOCK):
        x = {_name(i): 0.01 for i in range(start, start + BLOCK)}
        requests.append(post("named", json.dumps({"x": x, "y": 0.0}).encode()))
    arena.load.run(arena.ours.port, [Lane(requests, 1, len(requests))])


def _rows() -> list[bytes]:
    return as_json(*samples(THERE, BODIES))


def bodies() -> list[bytes]:
    """The same numbers, each row under names of its own among all there are."""
    X, y = samples(THERE, BODIES)
    rng = np.random.default_rng(SEED)
    chosen = [rng.choice(KNOWN, THERE, replace=False).tolist() for _ in range(BODIES)]
    rows = zip(chosen, X.tolist(), y.tolist(), strict=True)
    named_rows = ((dict(zip(map(_name, own), x, strict=True)), label) for own, x, label in rows)
    return [json.dumps({"x": x, "y": label}).encode() for x, label in named_rows]


def _name(i: int) -> str:
    return f"feature-{i}"
