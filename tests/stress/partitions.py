"""Row 22: a replica is cut off from the database for a while, and nobody is told."""

import asyncio
import random
from pathlib import Path

from .fleet import Crowd, Fleet
from .relay import Relay
from .server import PATIENCE
from .verdict import Tick, Verdict, broken

REPLICAS, PRODUCERS = 3, 6
CUT = 4.0
"""Seconds of a cut: twice as long as a replica waits for its database."""


def run(folder: Path, seed: int, cuts: int, tick: Tick) -> Verdict:
    """So many cuts, each of one replica."""
    with Fleet(REPLICAS, lines=True) as fleet:
        return asyncio.run(_run(fleet, seed, cuts, tick))


async def _run(fleet: Fleet, seed: int, cuts: int, tick: Tick) -> Verdict:
    lot, crowd = random.Random(seed), Crowd(PRODUCERS, seed, fleet)
    tally, meanwhile = crowd.producers.tally, list[int]()
    tasks = crowd.start()
    for _ in range(cuts):
        await asyncio.wait(tasks, timeout=lot.uniform(0.2, 0.8))
        relay = lot.choice(fleet.relays)
        acks = tally.acks
        await _cut(relay, tasks)
        meanwhile.append(tally.acks - acks)
        tick()
    await crowd.stop(tasks)
    async with asyncio.timeout(PATIENCE):
        await crowd.settle()
    counts = {"cuts": cuts, "acks in a cut, at least": min(meanwhile)} | tally.counts()
    counts |= {"samples": crowd.producers.samples, "retries": tally.retries}
    counts |= {"sent away": tally.refused}
    faults = tally.broken() + broken(the_others_go_on=min(meanwhile) > 0)
    return Verdict(counts, "lost 0, twice 0, the others go on", faults)


async def _cut(relay: Relay, tasks: "list[asyncio.Task[None]]") -> None:
    relay.cut()
    try:
        await asyncio.wait(tasks, timeout=CUT)
    finally:
        relay.heal()
