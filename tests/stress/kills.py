"""Row 1: SIGKILL at any moment under load, and at any moment of the start that follows."""

import asyncio
import random
import time
from pathlib import Path

from .producers import Producers
from .server import PATIENCE, Server
from .verdict import Tick, Verdict, broken

PRODUCERS = 8
ACKS = 100
"""Acknowledgements of a kill, on the average: a release asks for 100,000 in 1,000 kills."""
AT_START = 0.05
"""How often the start after a kill is killed as well."""


def run(folder: Path, seed: int, kills: int, tick: Tick) -> Verdict:
    """So many lives of one store, each ended by SIGKILL after 50 to 400 ms of load."""
    return asyncio.run(_run(folder / "llr.db", seed, kills, tick))


async def _run(store: Path, seed: int, kills: int, tick: Tick) -> Verdict:
    lot, producers = random.Random(seed), Producers(PRODUCERS, seed)
    server, at_start = Server(store), 0
    producers.create(server)
    for _ in range(kills):
        await _killed(server, producers, lot.uniform(0.05, 0.4))
        while lot.random() < AT_START:
            at_start += 1
            _killed_at_start(store, lot.uniform(0.5, 2.0))
        server = Server(store)
        producers.compare(server)
        tick()
    with server:
        await producers.settle(server.port)
        producers.compare(server)
    return _verdict(producers, kills, at_start)


async def _killed(server: Server, producers: Producers, seconds: float) -> None:
    """Load, then the end, in the middle of whatever is going on."""
    with server:
        tasks = producers.start(server.port)
        await asyncio.wait(tasks, timeout=seconds)
        server.kill()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*tasks)


def _killed_at_start(store: Path, seconds: float) -> None:
    """A start that is ended while the store is being opened, or a little before or after."""
    with Server(store, wait=False) as server:
        time.sleep(seconds)
        server.kill()


def _verdict(producers: Producers, kills: int, at_start: int) -> Verdict:
    tally = producers.tally
    counts = {"kills": kills + at_start, "of them at a start": at_start}
    counts |= tally.counts() | {"samples": producers.samples, "retries": tally.retries}
    faults = tally.broken() + broken(there_were_acks=tally.acks > kills)
    slow = broken(there_were_enough_acks=tally.acks >= ACKS * kills)
    target = f"lost 0, twice 0, bit-equal, acks ≥ {ACKS * kills:,}"
    return Verdict(counts, target, faults, slow)
