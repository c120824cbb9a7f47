"""Replicas on one database, and clients that go from one to another."""

import asyncio
import random
import time
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from support.postgres import Cluster

from .producers import Producer, Producers
from .relay import Relay
from .server import Server
from .wire import LOST, Wire

PATIENT = 3.0
"""Seconds a client waits for an answer before it asks another replica."""
PAUSE = 0.05
"""Seconds it waits before that if it was sent away."""
STAY = 20
"""Requests a client sends to a replica before it goes on to another, at most."""


class Fleet:
    """A database of its own and some replicas; `with` ends all of them.

    Args:
        replicas: how many.
        lines: whether each has a line to the database that can be cut.

    Attributes:
        cluster: the database.
        replicas: the services, by place. One that was killed is there until it is replaced.
        relays: the line of each replica to the database, if they can be cut.
        away: the places of those that do not answer now.
    """

    def __init__(self, replicas: int, lines: bool = False) -> None:
        self._all = ExitStack()
        self.cluster = self._database()
        self._all.callback(self.cluster.remove)
        self.relays = [self._relay(number) for number in range(replicas if lines else 0)]
        first = self._started(0)  # it makes the tables
        later = [self._started(place, wait=False) for place in range(1, replicas)]
        self.replicas = [first, *(server.listen() for server in later)]
        self.away: set[int] = set()

    def kill(self, place: int) -> None:
        """End a replica with SIGKILL; clients are told by their connections."""
        self.away.add(place)
        self.replicas[place].kill()

    async def replace(self, place: int) -> None:
        """Start another in its place, while the others go on."""
        server = self._started(place, wait=False)
        self.replicas[place] = await asyncio.to_thread(server.listen)
        self.away.discard(place)

    def somewhere(self, lot: random.Random) -> Server:
        """One of those that run."""
        places = [place for place in range(len(self.replicas)) if place not in self.away]
        return self.replicas[lot.choice(places)]

    def metric(self, name: str) -> float:
        """A number from all that run, added up."""
        there = [one for place, one in enumerate(self.replicas) if place not in self.away]
        return sum(server.metric(name) for server in there)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._all.close()

    def _relay(self, number: int) -> Relay:
        relay = Relay(self.cluster.folder / f"line-{number}", self.cluster.folder)
        self._all.callback(relay.close)
        return relay

    def _database(self) -> Cluster:
        return Cluster()

    def _started(self, place: int, wait: bool = True) -> Server:
        where = {"host": str(self.relays[place].folder)} if self.relays else {}
        url = self.cluster.url(**where, migrate="true", timeout="2")
        return self._all.enter_context(Server(url, wait=wait))


class Crowd:
    """Producers that roam: each has a session of its own and a part in a shared one.

    Attributes:
        producers: who they are.
        longest: the most seconds any of them was without an answer.
    """

    def __init__(self, count: int, seed: int, fleet: Fleet) -> None:
        self.producers, self._fleet = Producers(count, seed), fleet
        self._lots = [random.Random(seed + number) for number in range(count)]
        self._going = True
        self.longest = 0.0
        self.producers.create(fleet.replicas[0])

    def start(self) -> list["asyncio.Task[None]"]:
        """Let all of them send, until `stop`."""
        self._going = True
        return [
            asyncio.create_task(self._roam(producer, lot))
            for producer, lot in zip(self.producers.all, self._lots, strict=True)
        ]

    async def stop(self, tasks: Sequence["asyncio.Task[None]"]) -> None:
        """Let them come to an end."""
        self._going = False
        await asyncio.gather(*tasks)

    async def settle(self) -> None:
        """Let each send what was not answered, and compare all sessions on every replica."""
        for server in self._fleet.replicas:
            await self.producers.settle(server.port, server.host)
            await asyncio.to_thread(self.producers.compare, server)

    async def _roam(self, producer: Producer, lot: random.Random) -> None:
        answered, tally = time.perf_counter(), self.producers.tally
        while self._going and not tally.faults:
            try:
                server = self._fleet.somewhere(lot)
                async with await Wire.open(server.port, server.host) as wire:
                    for _ in range(lot.randint(1, STAY)):
                        refused = tally.refused
                        async with asyncio.timeout(PATIENT):
                            await producer.send(wire)
                        if tally.refused > refused:
                            await asyncio.sleep(PAUSE)
                            break
                        self.longest = max(self.longest, time.perf_counter() - answered)
                        answered = time.perf_counter()
            except LOST:
                await asyncio.sleep(PAUSE)
