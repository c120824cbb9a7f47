"""Row 19: SIGTERM under load, with event streams open and an upload in progress."""

import asyncio
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Protocol

from llr_service.problems import MEDIA_TYPE

from .lanes import Own
from .producers import SHARED, Producers
from .samples import CONFIG, Stream
from .server import PATIENCE, Ended, Server
from .streams import Snapshots, Unfinished, Upload, Watcher
from .verdict import Tick, Verdict, broken

PRODUCERS, WATCHERS = 4, 20
SLOWEST = 10.0


class Work(Protocol):
    """Something that goes on until the service is gone."""

    async def run(self, port: int) -> None:
        """Go on until then."""
        ...


class Stops:
    """One store, stopped again and again."""

    def __init__(self, store: Path, seed: int) -> None:
        self._store, self._lot = store, random.Random(seed)
        self.producers = Producers(PRODUCERS, seed)
        self.upload = Upload(Own("upload", Stream(seed + PRODUCERS), self.producers.tally))
        self.snapshots = Snapshots("upload")
        self.unfinished = Unfinished(SHARED)
        self.watchers: list[Watcher] = []
        self.ends: list[Ended] = []

    async def stop(self) -> None:
        """Start, let everybody work for a while, SIGTERM."""
        with Server(self._store) as server:
            self.producers.create(server)
            server.put(self.upload.lane.session, CONFIG)
            self.compare(server)
            tasks = await self._work(server.port)
            await asyncio.wait(tasks, timeout=self._lot.uniform(0.0, 0.4))
            server.signal(signal.SIGTERM)
            self.ends.append(await asyncio.to_thread(server.ended, time.perf_counter()))
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*tasks)

    async def _work(self, port: int) -> list["asyncio.Task[None]"]:
        """Start everything, and wait until all that stays open is open."""
        watchers = [Watcher(SHARED) for _ in range(WATCHERS)]
        self.watchers += watchers
        work: list[Work] = [self.upload, self.snapshots, self.unfinished, *watchers]
        tasks = [asyncio.create_task(each.run(port)) for each in work]
        tasks += self.producers.start(port)
        await asyncio.gather(self.upload.open.wait(), *(each.open.wait() for each in watchers))
        return tasks

    async def settle(self) -> None:
        """After the last stop: everything there, once."""
        with Server(self._store) as server:
            await self.producers.settle(server.port)
            self.compare(server)

    def compare(self, server: Server) -> None:
        """Compare every session with what was acknowledged."""
        self.producers.compare(server)
        self.upload.lane.compare(server)


def run(folder: Path, seed: int, stops: int, tick: Tick) -> Verdict:
    """So many stops of one store."""
    return asyncio.run(_run(Stops(folder / "llr.db", seed), stops, tick))


async def _run(stops: Stops, count: int, tick: Tick) -> Verdict:
    for _ in range(count):
        await stops.stop()
        tick()
    await stops.settle()
    return _verdict(stops)


def _verdict(stops: Stops) -> Verdict:
    tally = stops.producers.tally
    slowest = max(end.seconds for end in stops.ends)
    cut = sum(not watcher.ended for watcher in stops.watchers)
    counts = {
        "stops": len(stops.ends),
        "uploaded": stops.upload.lane.acked,
        "exit codes": sorted({end.code for end in stops.ends}),
        "slowest s": round(slowest, 2),
        "streams": len(stops.watchers),
        "streams cut": cut,
        "snapshots": stops.snapshots.taken,
        "snapshots torn": stops.snapshots.torn,
        "unfinished bodies": dict(Counter(stops.unfinished.answers)),
    }
    faults = tally.broken() + broken(
        streams_end_in_order=cut == 0,
        snapshots_are_whole=stops.snapshots.torn == 0,
        unfinished_bodies_get_a_problem=set(stops.unfinished.answers) == {f"503 {MEDIA_TYPE}"},
        the_exit_code_is_0=all(end.code == 0 for end in stops.ends),
    )
    slow = broken(it_stops_in_time=slowest < SLOWEST)
    return Verdict(counts | tally.counts(), f"lost 0, exit 0 in < {SLOWEST:g} s", faults, slow)
