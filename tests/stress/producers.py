"""Clients that send until the service is gone, and go on when it is back."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress

from .lanes import Lane, Own
from .ledger import Ledger
from .samples import CONFIG, Stream
from .server import Server
from .tally import Tally
from .wire import HOST, LOST, Wire

SHARED = "shared"


class Producer:
    """A client with a session of its own and a part in a shared one, over one connection."""

    def __init__(self, number: int, seed: int, tally: Tally) -> None:
        stream = Stream(seed + number)
        self.own = Own(f"p{number}", stream, tally)
        self.part = Lane(SHARED, f"p{number}", stream, tally)
        self._lot = random.Random(seed + number)

    async def run(self, port: int) -> None:
        """Send until the service is gone."""
        with suppress(*LOST):
            async with await Wire.open(port) as wire:
                while not self.own.tally.faults:
                    await self.send(wire)

    async def send(self, wire: Wire) -> None:
        """Send the next samples to one of the two."""
        await self._lot.choice((self.own, self.part)).send(wire, self._lot)


class Producers:
    """Some of them, and what they know together.

    Attributes:
        all: each of them.
        tally: what came of all they sent.
    """

    def __init__(self, count: int, seed: int) -> None:
        self.tally = Tally()
        self.all = [Producer(number, seed, self.tally) for number in range(count)]
        parts = [producer.part for producer in self.all]
        self._ledger = Ledger({part.producer: part.stream for part in parts}, self.tally)
        for part in parts:
            part.ledger = self._ledger

    @property
    def lanes(self) -> Sequence[Lane]:
        """Every way a sample can go."""
        return [lane for producer in self.all for lane in (producer.own, producer.part)]

    @property
    def samples(self) -> int:
        """How many were acknowledged."""
        return sum(lane.acked for lane in self.lanes)

    def create(self, server: Server) -> None:
        """Make the sessions they send to."""
        for name in {lane.session for lane in self.lanes}:
            server.put(name, CONFIG)

    def start(self, port: int) -> list["asyncio.Task[None]"]:
        """Let all of them send."""
        return [asyncio.create_task(producer.run(port)) for producer in self.all]

    async def settle(self, port: int, host: str = HOST) -> None:
        """Let each send what was not answered."""
        async with await Wire.open(port, host) as wire:
            for lane in self.lanes:
                await lane.settle(wire)

    def compare(self, server: Server) -> None:
        """Compare every session with what its producers know."""
        for producer in self.all:
            producer.own.compare(server)
        snapshot = server.get(f"/v1/sessions/{SHARED}/snapshot")
        there = snapshot["producers"]
        for producer in self.all:
            producer.part.check(there.get(producer.part.producer, 0))
        self.tally.twice += max(0, snapshot["t"] - sum(there.values()))
        self.tally.lost += max(0, sum(there.values()) - snapshot["t"])
        self._ledger.compare(snapshot)
