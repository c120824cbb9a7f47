"""Row 23: hosts cut off from each other, a replica from the database and nginx from a replica."""

import asyncio
import random
from pathlib import Path
from typing import Any

from .fleet import Crowd
from .hosted import Hosted, Visitors
from .network import Cut, Host
from .private import inside, outside
from .server import PATIENCE
from .verdict import Tick, Verdict, broken

REPLICAS, PRODUCERS, SESSIONS = 3, 4, 24
CUT = 4.0
"""Seconds of a cut from the database: twice as long as a replica waits for it."""
FELT = 0.5
"""Seconds that some session has to wait then, or nothing was cut."""
SOON = 5.0
"""Seconds after which the sessions of a replica that nginx does not reach answer again."""


class Cuts:
    """Clients that roam, clients of nginx, and cuts.

    Attributes:
        crowd: who asks the replicas themselves.
        visitors: who asks nginx.
        acks: how many there were in each cut, by what was cut.
        back: the seconds until all sessions answered again behind nginx, for each cut.
    """

    def __init__(self, fleet: Hosted, seed: int) -> None:
        self._fleet, self._lot = fleet, random.Random(seed)
        self.crowd = Crowd(PRODUCERS, seed, fleet)
        self.tally = self.crowd.producers.tally
        self._nginx, balancer = fleet.balancer()
        self.visitors = Visitors(SESSIONS, seed + PRODUCERS, self.tally, balancer)
        self.visitors.create(fleet.replicas[0])
        self.acks: dict[str, list[int]] = {"database": [], "balancer": []}
        self.back = list[float]()

    async def from_database(self) -> None:
        """Cut a replica off from the database while clients roam."""
        tasks, replica = self.crowd.start(), self._lot.choice(self._fleet.homes)
        await asyncio.wait(tasks, timeout=self._lot.uniform(0.2, 0.8))
        acks = self.tally.acks
        with self._cut(replica, self._fleet.database):
            await asyncio.wait(tasks, timeout=CUT)
        self.acks["database"].append(self.tally.acks - acks)
        await self.crowd.stop(tasks)

    async def from_balancer(self) -> None:
        """Cut nginx off from a replica, until all sessions answer and a little longer."""
        tasks, replica = self.visitors.start(), self._lot.choice(self._fleet.homes)
        await self.visitors.answered()
        acks = self.tally.acks
        with self._cut(self._nginx, replica):
            self.back.append(await self.visitors.answered())
            await self.visitors.answered()
        self.acks["balancer"].append(self.tally.acks - acks)
        await self.visitors.answered()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def settle(self) -> None:
        """Nothing lost, nothing twice, every bit the same on every replica."""
        async with asyncio.timeout(PATIENCE):
            await self.visitors.settle()
            await self.crowd.settle()
        for server in self._fleet.replicas:
            await asyncio.to_thread(self.visitors.compare, server)

    def _cut(self, one: Host, other: Host) -> Cut:
        """Both ways, or one of them."""
        one, other = self._lot.sample([one, other], 2)
        return Cut(one, other, back=self._lot.random() < 0.5)


def run(folder: Path, seed: int, cuts: int, tick: Tick) -> Verdict:
    """So many cuts of each kind."""
    return outside("stress.cuts", seed, cuts, tick)


def _run(seed: int, cuts: int, tick: Tick) -> Verdict:
    with Hosted(REPLICAS) as fleet:
        return asyncio.run(_cuts(Cuts(fleet, seed), cuts, tick))


async def _cuts(cuts: Cuts, count: int, tick: Tick) -> Verdict:
    for _ in range(count):
        await cuts.from_database()
        await cuts.from_balancer()
        tick()
    await cuts.settle()
    counts: dict[str, Any] = {"cuts": 2 * count, "back after s": round(max(cuts.back), 2)}
    for what, acks in cuts.acks.items():
        counts[f"acks in a cut from the {what}, at least"] = min(acks)
    tally = cuts.tally
    counts |= tally.counts() | {"retries": tally.retries, "sent away": tally.refused}
    faults = tally.broken() + broken(
        cuts_are_felt=tally.refused + tally.retries > 0 and min(cuts.back) > FELT,
        the_others_go_on=min(map(min, cuts.acks.values())) > 0,
    )
    slow = broken(sessions_are_back_soon=max(cuts.back) < SOON)
    target = f"lost 0, twice 0, the others go on, back in < {SOON:g} s"
    return Verdict(counts, target, faults, slow)


if __name__ == "__main__":
    inside(_run)
