"""Row 8: a replica that is stopped in the middle of its work, and wakes up in another time."""

import asyncio
import random
import signal
from pathlib import Path
from typing import Any

from .fleet import Crowd, Fleet
from .samples import CONFIG, Stream, as_json
from .server import PATIENCE
from .verdict import Tick, Verdict, broken
from .wire import Wire, head

REPLICAS, PRODUCERS = 3, 4
ASLEEP = 10.0
"""Seconds a replica is stopped."""
OLD, NEW = 3, 4
"""Samples it has in its mailbox when it wakes up, and those that others took meanwhile."""


class Stalls:
    """Replicas one of which is stopped again and again, with a request in its mailbox."""

    def __init__(self, fleet: Fleet, seed: int, seconds: float) -> None:
        self.fleet, self._seconds = fleet, seconds
        self.lot, self._stream = random.Random(seed), Stream(seed + PRODUCERS)
        self.crowd = Crowd(PRODUCERS, seed, fleet)
        self.refused = self.right = self._acked = 0
        fleet.replicas[0].put("letter", CONFIG)

    async def stall(self) -> None:
        """Stop one, post a letter to it, take what it says elsewhere, wake it up."""
        place = self.lot.randrange(REPLICAS)
        sleeper = self.fleet.replicas[place]
        await self._learnt(sleeper.port, 1)  # its copy is the present one
        before = sleeper.metric("llr_conflicts_total")
        sleeper.signal(signal.SIGSTOP)
        self.fleet.away.add(place)
        async with await Wire.open(sleeper.port) as letter:
            letter.writer.write(self._request(OLD))
            await self._learnt(self.fleet.somewhere(self.lot).port, NEW)
            await asyncio.sleep(self._seconds)
            sleeper.signal(signal.SIGCONT)
            self.fleet.away.discard(place)
            async with asyncio.timeout(PATIENCE):
                said = (await letter.answer()).json()
        self.right += (said.get("duplicate"), said.get("t")) == (True, self._acked)
        self.refused += sleeper.metric("llr_conflicts_total") > before

    async def _learnt(self, port: int, n: int) -> Any:
        """Send the next n samples of the letter's session."""
        async with await Wire.open(port) as wire:
            wire.writer.write(self._request(n))
            answer = await wire.answer()
        assert answer.status == 200, answer
        self._acked += n

    def _request(self, n: int) -> bytes:
        body, kind = as_json(self._stream.rows(self._acked, self._acked + n))
        path = f"/v1/sessions/letter/samples?producer=p&seq={self._acked}&theta=false"
        return head("POST", path, {"Content-Length": f"{len(body)}", "Content-Type": kind}) + body


def run(folder: Path, seed: int, stalls: int, tick: Tick) -> Verdict:
    """So many stops of ten seconds, or a tenth of that if they are few."""
    with Fleet(REPLICAS) as fleet:
        return asyncio.run(_run(fleet, seed, stalls, tick))


async def _run(fleet: Fleet, seed: int, count: int, tick: Tick) -> Verdict:
    stalls = Stalls(fleet, seed, ASLEEP if count > 2 else ASLEEP / 10)
    tasks = stalls.crowd.start()
    for _ in range(count):
        await stalls.stall()
        tick()
    await stalls.crowd.stop(tasks)
    await stalls.crowd.settle()
    tally = stalls.crowd.producers.tally
    counts = {"stops": count, "stale writes refused": stalls.refused} | tally.counts()
    counts |= {"samples": stalls.crowd.producers.samples, "retries": tally.retries}
    faults = tally.broken() + broken(
        the_stale_write_is_refused=stalls.refused == count,
        its_sender_is_told_of_a_duplicate=stalls.right == count,
    )
    return Verdict(counts, "stale writes refused, lost 0, twice 0", faults)
