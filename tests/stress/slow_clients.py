"""Row 14: clients that send a byte a second, and others beside them."""

import asyncio
import math
import time
from collections import Counter
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from .pace import held_up, in_ms, latencies, p99
from .samples import CONFIG
from .server import PATIENCE, Server
from .verdict import Tick, Verdict, broken
from .wire import LOST, Wire, head

TIMEOUT = 2.0
LATE = 3.0
"""Seconds after its deadline within which a slow body has to be answered."""
REQUESTS = 300
LENGTH = {"Content-Length": str(256 * 2**20)}
JSON, NDJSON, NPY = (
    LENGTH | {"Content-Type": f"application/{kind}"} for kind in ("json", "x-ndjson", "x-npy")
)
SAMPLES = "/v1/sessions/demo/samples"
BEGINNINGS = {
    "json": head("POST", SAMPLES, JSON),
    "ndjson": head("POST", SAMPLES, NDJSON),
    "npy": head("POST", SAMPLES, NPY),
    "predict": head("POST", "/v1/sessions/demo/predict", JSON),
    "create": head("PUT", "/v1/sessions/other", JSON),
    "head": b"POST /v1/sessions/demo/samples HTTP/1.1\r\nHost: ",
}
"""What is sent at once; the rest follows a byte a second. The last has not come to its body."""


class Slow(NamedTuple):
    """What a slow client sent slowly, how it was answered, and after how many seconds."""

    what: str
    status: int
    seconds: float


async def _slow(port: int, what: str, tick: Tick) -> Slow:
    """Send a byte a second until somebody answers or closes, or it is far too late."""
    started = time.perf_counter()
    async with await Wire.open(port) as wire:
        wire.writer.write(BEGINNINGS[what])
        answer = asyncio.create_task(wire.begun())
        while not answer.done() and time.perf_counter() < started + TIMEOUT + LATE:
            wire.writer.write(b" ")
            await asyncio.wait([answer], timeout=1.0)
        answer.cancel()
        seconds = time.perf_counter() - started
        status = await _status(answer)
    tick()
    return Slow(what, status, seconds)


async def _status(answer: "asyncio.Task[tuple[int, dict[str, str]]]") -> int:
    """408 for a connection that was closed, too: there is nothing to answer before a request."""
    try:
        return (await answer)[0]
    except LOST:
        return 408
    except asyncio.CancelledError:
        return 0


async def _run(port: int, count: int, tick: Tick) -> tuple[list[Slow], list[float], list[float]]:
    before = await latencies(port, "demo", REQUESTS)
    kinds = islice(cycle(BEGINNINGS), count)
    slow = [asyncio.create_task(_slow(port, what, tick)) for what in kinds]
    during: list[float] = []
    while not all(task.done() for task in slow):
        during += await latencies(port, "demo", 50)
    return [await task for task in slow], before, during


def run(folder: Path, seed: int, clients: int, tick: Tick) -> Verdict:
    """So many slow clients at once. Nothing here is random."""
    with Server(folder / "llr.db", {"BODY_TIMEOUT": TIMEOUT}) as server:
        server.put("demo", CONFIG)
        slow, before, during = asyncio.run(
            asyncio.wait_for(_run(server.port, clients, tick), PATIENCE)
        )
    slowest = max(each.seconds for each in slow if each.status)
    heads = {each.status for each in slow if each.what == "head"}
    counts = {
        "slow clients": clients,
        "answers": dict(Counter(each.status for each in slow)),
        "to slow heads": [*heads],
        "deadline s": TIMEOUT,
        "last answer s": round(slowest, 2),
        "others": len(during),
        "p99 ms before": in_ms(p99(before)),
        "p99 ms": in_ms(p99(during)),
    }
    faults = broken(
        every_slow_body_gets_408={each.status for each in slow if each.what != "head"} == {408},
        others_are_served=math.inf not in before + during,
    )
    slow_ones = broken(
        at_the_deadline=slowest < TIMEOUT + LATE,
        others_are_not_held_up=not held_up(before, during),
    )
    return Verdict(counts, "408 at the deadline, p99 < 2×", faults, slow_ones)
