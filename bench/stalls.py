"""Whether a long upload makes single samples wait."""

from collections.abc import Callable
from functools import partial

import numpy as np

from bench.arena import Arena
from bench.contest import Contest, Line, Scores, Turn, at_most, plain
from bench.load import Lane
from bench.requests import as_json, as_ndjson, as_npy, post, samples

CONNECTIONS, A_SECOND = 16, 200
BLOCK = 10_000
WHAT = {
    "quiet": "nothing else",
    "ndjson": "{} MB of NDJSON (d=10) all the while",
    "npy": "{} MB of npy (d=50) all the while",
}


def stalls(arena: Arena, rounds: int, seconds: float, size: int) -> Contest:
    """p99 of single samples sent on time, without and with bodies of `size` bytes beside them."""
    bodies = as_json(*samples(10, BLOCK))
    requests = [post("quiet", body) for body in bodies]
    paced = Lane(requests, CONNECTIONS, pace=CONNECTIONS / A_SECOND)
    entries: dict[str, Callable[[], Turn]] = {
        "quiet": partial(_p99, arena, [paced], seconds),
        "ndjson": partial(_p99, arena, [paced, _ndjson(size)], seconds),
        "npy": partial(_p99, arena, [paced, _npy(size)], seconds),
    }

    def verdict(scores: Scores) -> list[Line]:
        quiet, lines = scores["quiet"], []
        for name, what in WHAT.items():
            about = f"p99 of {A_SECOND} single POSTs/s: {what.format(size // 10**6)}"
            lines.append(plain(about, "ms", scores[name]))
        bounded = [
            at_most(line, scores[name], "quiet", quiet, 5.0)
            for line, name in zip(lines, WHAT, strict=True)
        ]
        return [lines[0], *bounded[1:]]

    return Contest(entries, rounds, verdict, best=min)


def _p99(arena: Arena, lanes: list[Lane], seconds: float) -> Turn:
    return Turn(1e3 * arena.lanes(lanes, seconds)[0].p99)


def _ndjson(size: int) -> Lane:
    block = as_ndjson(*samples(10, BLOCK))
    body = block * round(size / len(block))
    return Lane([post("bulk-10", body, "application/x-ndjson")])


def _npy(size: int) -> Lane:
    X, y = samples(50, BLOCK)
    times = round(size / (X.nbytes + y.nbytes))
    body = as_npy(np.tile(X, (times, 1)), np.tile(y, times))
    return Lane([post("bulk-50", body, "application/x-npy")])
