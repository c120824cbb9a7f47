"""Row 15: many event streams, some of which nobody reads, while samples come in."""

import asyncio
import math
import signal
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .pace import held_up, in_ms, latencies, p99
from .samples import CONFIG, as_npy
from .server import Ended, Server
from .streams import Watcher, frozen
from .verdict import Tick, Verdict, broken
from .wire import Wire

NOT_READ = 4
"""One stream in so many is frozen: asked for and never read."""
DIM = 20_000
"""Of the session the frozen ones watch: its events soon fill all there is between them and it."""
REQUESTS = 300
SECONDS = 1.0
ROOM = 64 * 2**20
A_STREAM = 2 * 2**20
"""Bytes of memory that may come on top: in all, and for each frozen stream."""
STOP = 1.0
GENEROUS = 10.0
"""Seconds in which the service is to end, and in which it must."""


class Watched(NamedTuple):
    """What was measured: seconds of requests, bytes of memory on top, the end."""

    before: list[float]
    during: list[float]
    grown: int
    end: Ended
    watchers: list[Watcher]


async def _pour(port: int, seconds: float, seed: int) -> None:
    """Let the large session move, so that streams nobody reads fill up."""
    end = time.perf_counter() + seconds
    body, kind = as_npy(np.random.default_rng(seed).normal(size=(1, DIM + 1)))
    async with await Wire.open(port) as wire:
        while time.perf_counter() < end:
            answer = await wire.ask("POST", "/v1/sessions/large/samples?theta=false", body, kind)
            assert answer.status == 200, answer


async def _watched(server: Server, streams: int, seed: int, tick: Tick) -> Watched:
    before = await latencies(server.port, "small", REQUESTS)
    memory = server.resident()
    watchers = [Watcher("small") for _ in range(streams - streams // NOT_READ)]
    reading = [asyncio.create_task(watcher.run(server.port)) for watcher in watchers]
    await asyncio.gather(*(watcher.open.wait() for watcher in watchers))
    with ExitStack() as stack:
        for _ in range(streams // NOT_READ):
            stack.enter_context(frozen(server.port, "large"))
            tick()
        pouring = asyncio.create_task(_pour(server.port, SECONDS + streams / 100, seed))
        during: list[float] = []
        while not pouring.done():
            during += await latencies(server.port, "small", 50)
        grown = server.resident() - memory
        server.signal(signal.SIGTERM)
        end = await asyncio.to_thread(server.ended, time.perf_counter())
    await asyncio.gather(*reading)
    return Watched(before, during, grown, end, watchers)


def run(folder: Path, seed: int, streams: int, tick: Tick) -> Verdict:
    """So many event streams."""
    with Server(folder / "llr.db", {"MAX_STREAMS": 2 * streams}) as server:
        server.put("small", CONFIG)
        server.put("large", {"model": "linear", "dim": DIM, "eta0": 1e-6})
        seen = asyncio.run(_watched(server, streams, seed, tick))
    return _verdict(seen, streams)


def _verdict(seen: Watched, streams: int) -> Verdict:
    not_read, cut = streams // NOT_READ, sum(not watcher.ended for watcher in seen.watchers)
    counts = {
        "streams": streams,
        "frozen": not_read,
        "events read": sum(watcher.events for watcher in seen.watchers),
        "acks": len(seen.during),
        "p99 ms before": in_ms(p99(seen.before)),
        "p99 ms": in_ms(p99(seen.during)),
        "memory on top MiB": seen.grown >> 20,
        "exit code": seen.end.code,
        "exit s": round(seen.end.seconds, 2),
        "streams cut": cut,
    }
    faults = broken(
        memory_is_bounded=seen.grown < ROOM + not_read * A_STREAM,
        samples_are_taken=math.inf not in seen.before + seen.during,
        streams_end_in_order=cut == 0,
        the_service_ends_in_time=seen.end.seconds < GENEROUS,
    )
    slow = broken(
        samples_are_not_held_up=not held_up(seen.before, seen.during),
        it_stops_at_once=seen.end.seconds < STOP,
    )
    return Verdict(counts, f"memory bounded, p99 < 2×, exit < {STOP:g} s", faults, slow)
