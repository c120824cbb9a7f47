"""Row 2: SIGKILL of one replica of three, while producers go from one to another.

After each kill they pause, so that few samples lack an answer and their order can be found.
"""

import asyncio
import random
from pathlib import Path

from .fleet import Crowd, Fleet
from .verdict import Tick, Verdict, broken

REPLICAS, PRODUCERS = 3, 6


def run(folder: Path, seed: int, kills: int, tick: Tick) -> Verdict:
    """So many kills of replicas, each replaced while the others go on."""
    with Fleet(REPLICAS) as fleet:
        return asyncio.run(_run(fleet, seed, kills, tick))


async def _run(fleet: Fleet, seed: int, kills: int, tick: Tick) -> Verdict:
    lot, crowd = random.Random(seed), Crowd(PRODUCERS, seed, fleet)
    for _ in range(kills):
        tasks = crowd.start()
        await asyncio.wait(tasks, timeout=lot.uniform(0.05, 0.4))
        place = lot.randrange(REPLICAS)
        fleet.kill(place)
        await fleet.replace(place)
        await crowd.stop(tasks)
        await crowd.settle()
        tick()
    conflicts = fleet.metric("llr_conflicts_total")
    tally = crowd.producers.tally
    counts = {"kills": kills} | tally.counts() | {"samples": crowd.producers.samples}
    counts |= {"retries": tally.retries, "sent away": tally.refused, "conflicts": int(conflicts)}
    faults = tally.broken() + broken(
        there_were_acks=tally.acks > kills,
        replicas_were_in_each_others_way=conflicts > 0,
        the_order_is_mostly_known=tally.replayed > tally.unordered,
    )
    return Verdict(counts, "lost 0, twice 0, serial, bit-equal", faults)
