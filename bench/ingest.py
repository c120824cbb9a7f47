"""Contests of learning over HTTP: samples in groups, many as npy, many as NDJSON."""

from collections.abc import Callable
from functools import partial
from time import perf_counter

import llr
from bench.arena import Arena
from bench.contest import Contest, Line, Scores, Turn, at_least, plain
from bench.load import Lane
from bench.requests import as_json, as_ndjson, as_npy, post, samples
from bench.rivals import Sample
from llr.types import Vector

BODIES = 4096
ROWS = 10_000
FEW = 4
"""Connections that send long bodies, so that one is learnt while another is synced."""


def grouped(arena: Arena, rounds: int, seconds: float) -> Contest:
    """Durable requests at 256 connections beside a transaction for each."""
    bodies = as_json(*samples(10, BODIES))
    lane = Lane([post("d10", body) for body in bodies], 256)
    entries: dict[str, Callable[[], Turn]] = {
        "group": partial(arena.turn, arena.ours, lane, seconds),
        "each": partial(arena.turn, arena.one_each, lane, seconds),
    }

    def verdict(scores: Scores) -> list[Line]:
        unit, each = "requests/s", scores["each"]
        line = plain("256 connections: service, d=10, durable", unit, scores["group"])
        return [
            plain("256 connections: Starlette, a transaction each", unit, each),
            at_least(line, scores["group"], "one each", each, 10.0),
        ]

    return Contest(entries, rounds, verdict)


def arrays(arena: Arena, rounds: int, requests: int, regret: str) -> Contest:
    """npy bodies beside the library in this process, on the same rows."""
    X, y = samples(50, ROWS)
    name = "d50" if regret == "exact" else "d50-off"
    lane = Lane([post(name, as_npy(X, y), "application/x-npy")], FEW, requests)
    learner = llr.Learner("linear", dim=50, regret=regret)
    entries: dict[str, Callable[[], Turn]] = {
        "http": partial(arena.turn, arena.ours, lane, each=ROWS),
        "library": partial(_in_process, partial(learner.learn, X, y), requests, ROWS),
    }

    def verdict(scores: Scores) -> list[Line]:
        unit, what = "samples/s", f"npy, d=50, {ROWS:,} rows, regret {regret}"
        line = plain(f"{what}: service, durable", unit, scores["http"])
        return [
            plain(f"{what}: library in process", unit, scores["library"]),
            at_least(line, scores["http"], "library", scores["library"], 0.5),
        ]

    return Contest(entries, rounds, verdict)


def lines(arena: Arena, rounds: int, count: int) -> Contest:
    """One long NDJSON body beside pydantic that only reads its lines."""
    body = _long(count)
    read = partial(_read_lines, body.splitlines())
    lane = Lane([post("d10", body, "application/x-ndjson")], 1, 1)
    entries: dict[str, Callable[[], Turn]] = {
        "http": partial(arena.turn, arena.ours, lane, each=count),
        "pydantic": partial(_in_process, read, 1, count),
    }

    def verdict(scores: Scores) -> list[Line]:
        unit, what = "samples/s", f"NDJSON, d=10, {count:,} lines"
        line = plain(f"{what}: service, durable", unit, scores["http"])
        return [
            plain(f"{what}: pydantic reads them", unit, scores["pydantic"]),
            at_least(line, scores["http"], "pydantic", scores["pydantic"], 0.6),
        ]

    return Contest(entries, rounds, verdict)


def _long(count: int) -> bytes:
    """So many lines, some thousands of them over and over."""
    X: Vector
    X, y = samples(10, BODIES)
    times, rest = divmod(count, BODIES)
    return times * as_ndjson(X, y) + as_ndjson(X[:rest], y[:rest]) * bool(rest)


def _read_lines(lines: list[bytes]) -> None:
    read = Sample.model_validate_json
    for line in lines:
        read(line)


def _in_process(run: Callable[[], object], times: int, each: int) -> Turn:
    begin = perf_counter()
    for _ in range(times):
        run()
    return Turn(times * each / (perf_counter() - begin))
