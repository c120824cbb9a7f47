"""Row 21: nginx in front of three replicas, as it is shipped, and without its hashing."""

import asyncio
import time
from pathlib import Path
from typing import Any

from support.balancer import Balancer

from .fleet import Fleet
from .lanes import Own
from .producers import Producers
from .samples import CONFIG, Stream
from .server import PATIENCE
from .verdict import Tick, Verdict, broken
from .wire import LOST, Wire

REPLICAS, PRODUCERS, SESSIONS = 3, 8, 24
RARE = 0.001
"""Conflicts of a change, with hashing."""
SOON = 1.0
"""Seconds after which the sessions of a killed replica answer again."""
COMMITS, CONFLICTS = "llr_commit_group_size_sum", "llr_conflicts_total"


class Balanced:
    """Producers that know of one address only."""

    def __init__(self, fleet: Fleet, seed: int) -> None:
        self.fleet, self.producers = fleet, Producers(PRODUCERS, seed)
        tally = self.producers.tally
        self.lanes = [Own(f"s{k}", Stream(seed + k), tally) for k in range(SESSIONS)]
        self.back = list[float]()

    def create(self) -> None:
        """Make all sessions."""
        self.producers.create(self.fleet.replicas[0])
        for lane in self.lanes:
            self.fleet.replicas[0].put(lane.session, CONFIG)

    async def load(self, hashed: bool, seconds: float) -> tuple[float, float]:
        """Load for a while; returns changes and conflicts."""
        before = [self.fleet.metric(name) for name in (COMMITS, CONFLICTS)]
        with Balancer([one.place for one in self.fleet.replicas], hashed) as balancer:
            await self._each(balancer.port)
            warm = [self.fleet.metric(name) for name in (COMMITS, CONFLICTS)]
            tasks = self.producers.start(balancer.port)
            await asyncio.wait(tasks, timeout=seconds)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        after = [self.fleet.metric(name) for name in (COMMITS, CONFLICTS)]
        start = warm if hashed else before
        return after[0] - start[0], after[1] - start[1]

    async def kill(self, place: int) -> None:
        """Kill a replica, and see how soon each session answers again."""
        with Balancer([one.place for one in self.fleet.replicas]) as balancer:
            await self._each(balancer.port)
            self.fleet.kill(place)
            self.back.append(await self._each(balancer.port))
        await self.fleet.replace(place)

    async def _each(self, port: int) -> float:
        """Send a sample to every session until it is taken; returns the seconds that took."""
        started = time.perf_counter()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(_taken(lane, port) for lane in self.lanes))
        return time.perf_counter() - started

    async def settle(self) -> None:
        """Nothing lost, nothing twice, on every replica."""
        for server in self.fleet.replicas:
            await self.producers.settle(server.port)
            self.producers.compare(server)
            for lane in self.lanes:
                lane.compare(server)


async def _taken(lane: Own, port: int) -> None:
    acked = lane.acked
    while lane.acked == acked and not lane.tally.faults:
        try:
            async with await Wire.open(port) as wire:
                await lane.offer(wire, max(1, lane.sent - lane.acked))
        except LOST:
            pass


def run(folder: Path, seed: int, rounds: int, tick: Tick) -> Verdict:
    """So many rounds of load, each with a kill, with hashing; then one without."""
    with Fleet(REPLICAS) as fleet:
        return asyncio.run(_run(Balanced(fleet, seed), rounds, tick))


async def _run(balanced: Balanced, rounds: int, tick: Tick) -> Verdict:
    balanced.create()
    changes, conflicts = 0.0, 0.0
    for number in range(rounds):
        more = await balanced.load(hashed=True, seconds=2.0)
        changes, conflicts = changes + more[0], conflicts + more[1]
        await balanced.kill(number % REPLICAS)
        tick()
    others = await balanced.load(hashed=False, seconds=2.0)
    await balanced.settle()
    tally, rate = balanced.producers.tally, conflicts / changes
    counts: dict[str, Any] = {"changes": int(changes), "conflicts": int(conflicts)}
    counts |= {"rate": f"{rate:.4%}", "kills": rounds, "back after s": round(max(balanced.back), 2)}
    counts |= {"without hashing": f"{int(others[1])} of {int(others[0])}"} | tally.counts()
    faults = tally.broken() + broken(
        conflicts_are_rare_with_hashing=rate < RARE, there_are_some_without=others[1] > 0
    )
    slow = broken(killed_sessions_are_back_soon=max(balanced.back) < SOON)
    target = f"conflicts < {RARE:.1%}, back in < {SOON:g} s, lost 0, twice 0"
    return Verdict(counts, target, faults, slow)
