"""Row 20: the same load for a long time. Memory stays flat, the log beside the file bounded."""

import asyncio
import time
from pathlib import Path
from typing import NamedTuple

from .producers import Producers
from .server import Server
from .verdict import Tick, Verdict, broken

PRODUCERS = 4
EVERY = 1.0
"""Seconds between two looks."""
LOG = 64 * 2**20
FLAT = 1.10
"""How much more memory the last quarter may take than the second."""


class Look(NamedTuple):
    """Bytes of resident memory, and of the log."""

    resident: int
    log: int


async def _looks(server: Server, log: Path, seconds: float, tick: Tick) -> list[Look]:
    looks, end = list[Look](), time.perf_counter() + seconds
    while time.perf_counter() < end:
        await asyncio.sleep(EVERY)
        looks.append(Look(server.resident(), log.stat().st_size))
        tick()
    return looks


async def _run(store: Path, seed: int, seconds: int, tick: Tick) -> Verdict:
    producers = Producers(PRODUCERS, seed)
    log = store.with_name(store.name + "-wal")
    with Server(store) as server:
        producers.create(server)
        tasks = producers.start(server.port)
        looks = await _looks(server, log, seconds, tick)
        server.kill()
        await asyncio.gather(*tasks)
    with Server(store) as server:
        await producers.settle(server.port)
        producers.compare(server)
    return _verdict(producers, looks)


def run(folder: Path, seed: int, seconds: int, tick: Tick) -> Verdict:
    """So many seconds of load, a kill, and a look at what is there."""
    return asyncio.run(_run(folder / "llr.db", seed, seconds, tick))


def _verdict(producers: Producers, looks: list[Look]) -> Verdict:
    quarter, tally = max(1, len(looks) // 4), producers.tally
    early = max(look.resident for look in looks[quarter : 2 * quarter] or looks)
    late = max(look.resident for look in looks[-quarter:])
    log = max(look.log for look in looks)
    counts = {
        "seconds": round(len(looks) * EVERY),
        "samples": producers.samples,
        "memory MiB": f"{early >> 20} then {late >> 20}",
        "log MiB at most": log >> 20,
    }
    faults = tally.broken() + broken(
        memory_is_flat=late <= FLAT * early, the_log_is_bounded=log < LOG
    )
    return Verdict(counts | tally.counts(), "memory flat, log bounded", faults)
