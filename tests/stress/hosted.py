"""Replicas, their database and nginx, each on a host of its own, and clients of nginx."""

import asyncio
import random
import time
from typing import Any

import yaml
from support.balancer import Balancer
from support.postgres import Cluster
from support.root import ROOT

from .fleet import Fleet
from .lanes import Own
from .network import Host, Network
from .samples import CONFIG, Stream
from .server import PATIENCE, Server
from .tally import Tally
from .wire import LOST, Wire

COMPOSE = ROOT / "docker-compose.scale.yml"


class Hosted(Fleet):
    """A fleet whose members have hosts of their own.

    Attributes:
        database: the host of Postgres.
        homes: those of the replicas, by place.
    """

    def __init__(self, replicas: int) -> None:
        self._network = Network()
        self.database = self._network.host()
        self.homes = [self._network.host() for _ in range(replicas)]
        super().__init__(replicas)

    def balancer(self) -> tuple[Host, Balancer]:
        """The nginx that is shipped, on a host with the variables that are shipped."""
        home = self._network.host()
        shipped: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"]["nginx"]
        for name, value in shipped.get("sysctls", {}).items():
            home.set(name, value)
        places = [server.place for server in self.replicas]
        made = Balancer(places, host=home.address, under=home.under)
        return home, self._all.enter_context(made)

    def _database(self) -> Cluster:
        return Cluster(self.database.under, listen_addresses=self.database.address)

    def _started(self, place: int, wait: bool = True) -> Server:
        home = self.homes[place]
        url = f"postgresql://llr@{self.database.address}/postgres?migrate=true&timeout=2"
        variables = {"HOST": home.address, "INSECURE": "true", "ALLOWED_HOSTS": "*"}
        made = Server(url, variables, under=home.under, wait=wait)
        return self._all.enter_context(made)


class Visitors:
    """Clients that know of one address only, each with a session of its own."""

    def __init__(self, count: int, seed: int, tally: Tally, balancer: Balancer) -> None:
        self._lanes = [Own(f"v{k}", Stream(seed + k), tally) for k in range(count)]
        self._balancer, self._seed = balancer, seed
        self._asked = dict.fromkeys(range(count), 0.0)

    def create(self, server: Server) -> None:
        """Make their sessions."""
        for lane in self._lanes:
            server.put(lane.session, CONFIG)

    def start(self) -> list["asyncio.Task[None]"]:
        """Let all of them send, until they are cancelled."""
        return [asyncio.create_task(self._visit(number)) for number in self._asked]

    async def answered(self) -> float:
        """Wait until everybody has an answer to something asked from now on; in how many seconds.

        It stops at a fault, which is counted elsewhere.
        """
        since = time.perf_counter()
        async with asyncio.timeout(PATIENCE):
            while min(self._asked.values()) < since and not self._lanes[0].tally.faults:
                await asyncio.sleep(0.01)
        return time.perf_counter() - since

    def compare(self, server: Server) -> None:
        """Nothing lost, nothing twice, and every bit as the library has it."""
        for lane in self._lanes:
            lane.compare(server)

    async def settle(self) -> None:
        """Let each send what was not answered."""
        async with await self._wire() as wire:
            for lane in self._lanes:
                await lane.settle(wire)

    async def _visit(self, number: int) -> None:
        lane, lot = self._lanes[number], random.Random(self._seed + number)
        while not lane.tally.faults:
            try:
                async with await self._wire() as wire:
                    await self._send(number, wire, lot)
            except LOST:
                pass

    async def _send(self, number: int, wire: Wire, lot: random.Random) -> None:
        lane = self._lanes[number]
        while not lane.tally.faults:
            asked, acked = time.perf_counter(), lane.acked
            await lane.send(wire, lot)
            if lane.acked > acked:
                self._asked[number] = asked

    async def _wire(self) -> Wire:
        return await Wire.open(self._balancer.port, self._balancer.host)
