"""Row 6: the disk is full, again and again; then there is room, with or without a restart."""

import asyncio
import json
import random
from collections import Counter
from pathlib import Path

from .disks import Disk, Limited, tmpfs
from .lanes import Own
from .samples import CONFIG, Stream
from .tally import Tally
from .verdict import Tick, Verdict, broken
from .wire import Wire

LANES = 4
MOST = 400
"""Batches within which a disk without room has to be noticed."""
BATCH = 100


class Filling:
    """A service on one disk that gets full; `statuses` are its answers to samples meanwhile."""

    def __init__(self, disk: Disk, seed: int) -> None:
        self._disk, self._lot = disk, random.Random(seed)
        self.tally = Tally()
        self._lanes = [Own(f"s{n}", Stream(seed + n), self.tally) for n in range(LANES)]
        self.statuses: Counter[int] = Counter()
        self.recovered = self.restarts = self.unread = 0
        self._server = disk.serve()
        for lane in self._lanes:
            self._server.put(lane.session, CONFIG)

    async def fill(self) -> None:
        """Full, noticed, still readable, room again: the next batch is taken."""
        for lane in self._lanes:
            await self._send(lane)
        self._disk.fill(self._server)
        await asyncio.gather(*map(self._until_full, self._lanes))
        self._compare()
        restart = self._lot.random() < 0.3
        if restart:
            self._server.kill()
        self._disk.clear(self._server)
        if restart:
            self.restarts += 1
            self._server = self._disk.serve()
        self.recovered += all([await self._send(lane) == 200 for lane in self._lanes])

    def close(self) -> None:
        """Compare what is there after a restart, and let go."""
        self._server.kill()
        with self._disk.serve() as server:
            for lane in self._lanes:
                lane.compare(server)

    async def _until_full(self, lane: Own) -> None:
        for _ in range(MOST):
            status = await self._send(lane)
            if status != 200:
                self.statuses[status] += 1
            if status in self._disk.statuses:
                return
        self.tally.faults.append("the disk did not get full")

    async def _send(self, lane: Own) -> int:
        async with await Wire.open(self._server.port) as wire:
            return await lane.offer(wire, BATCH)

    def _compare(self) -> None:
        for lane in self._lanes:
            status, body = self._server.ask("GET", f"/v1/sessions/{lane.session}")
            self.unread += status != 200 or not lane.acked <= json.loads(body)["t"] <= lane.sent


def run(folder: Path, seed: int, fills: int, tick: Tick) -> Verdict:
    """So many times full on a small disk, and as often under a limit on files."""
    kinds = [folder / "tmpfs", folder / "limited"]
    for kind in kinds:
        kind.mkdir()
    with tmpfs(kinds[0]) as small:
        disks: list[Disk] = [*([small] if small else []), Limited(kinds[1])]
        filled = [_filled(disk, seed, fills, tick) for disk in disks]
    return _verdict(filled, fills)


def _filled(disk: Disk, seed: int, fills: int, tick: Tick) -> Filling:
    filling = Filling(disk, seed)
    try:
        for _ in range(fills):
            asyncio.run(filling.fill())
            tick()
    finally:
        filling.close()
    return filling


def _verdict(filled: list[Filling], fills: int) -> Verdict:
    counts = {
        "disks": len(filled),
        "fills": fills * len(filled),
        "acks": sum(each.tally.acks for each in filled),
        "answers when full": [dict(each.statuses) for each in filled],
        "restarts": sum(each.restarts for each in filled),
        "recovered": sum(each.recovered for each in filled),
        "not readable": sum(each.unread for each in filled),
        "lost": sum(each.tally.lost for each in filled),
        "states that differ": sum(len(each.tally.differing) for each in filled),
    }
    faults = [fault for each in filled for fault in each.tally.faults[:3]] + broken(
        it_recovers_by_itself=counts["recovered"] == counts["fills"],
        what_was_acked_can_be_read=counts["not readable"] == 0,
        nothing_acked_is_lost=counts["lost"] == 0,
        states_equal_the_replay=counts["states that differ"] == 0,
    )
    return Verdict(counts, "507, lost 0, recovers", faults)
