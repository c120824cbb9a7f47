"""Row 9: many writers on one session, from the moment it is created, and a reader beside them."""

import asyncio
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .lanes import SEND_AGAIN, SIZES
from .samples import CONFIG, ENCODINGS, Replay, Stream
from .server import PATIENCE, Server
from .verdict import Tick, Verdict, broken
from .wire import Wire

WRITERS = 8
ACKS = 100
"""Acknowledgements of one race; the next race has a session of its own."""


class Ack(NamedTuple):
    """A batch as it was acknowledged: where the session was after it, and which samples."""

    t: int
    accepted: int
    writer: int
    seq: int


class Race:
    """All that happens to one session. Every other writer numbers its samples.

    `refused` counts requests to send again, `wrong` answers that are neither that nor 200 once the
    session is known to be there, `stale` reads of a t below one that was acknowledged before.
    """

    def __init__(self, number: int, seed: int) -> None:
        self.path = f"/v1/sessions/race-{number}"
        self.streams = [Stream(seed + writer) for writer in range(WRITERS)]
        self.acks: list[Ack] = []
        self.refused = self.wrong = self.reads = self.stale = 0
        self._lot = random.Random(seed)

    async def run(self, port: int) -> None:
        """The first writer creates the session; the others and the reader are there before it."""
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as tasks:
            tasks.create_task(self._read(port))
            for writer in range(WRITERS):
                tasks.create_task(self._write(port, writer))

    async def _write(self, port: int, writer: int) -> None:
        seq = 0
        async with await Wire.open(port) as wire:
            if writer == 0:
                await wire.ask("PUT", self.path, json.dumps(CONFIG).encode(), "application/json")
            while len(self.acks) < ACKS:
                seq += await self._send(wire, writer, seq)

    async def _read(self, port: int) -> None:
        """Look again and again: what was acknowledged before has to be there."""
        async with await Wire.open(port) as wire:
            while len(self.acks) < ACKS:
                known = max((ack.t for ack in self.acks), default=0)
                answer = await wire.ask("GET", self.path)
                self.reads += 1
                self.stale += answer.json().get("t", 0) < known

    async def _send(self, wire: Wire, writer: int, seq: int) -> int:
        """Send a batch; returns how many samples of it were taken."""
        n = self._lot.choice(SIZES)
        ticket = f"?producer=w{writer}&seq={seq}" if writer % 2 else ""
        encode = ENCODINGS[self._lot.choice([*ENCODINGS])]
        body, kind = encode(self.streams[writer].rows(seq, seq + n))
        answer = await wire.ask("POST", f"{self.path}/samples{ticket}", body, kind)
        if answer.status != 200:
            self.refused += answer.status in SEND_AGAIN
            self.wrong += answer.status not in SEND_AGAIN and bool(self.acks)
            return 0
        shown = answer.json()
        self.acks.append(Ack(shown["t"], shown["accepted"], writer, seq))
        return n

    def gaps(self) -> Iterator[bool]:
        """Whether each batch, in the order of t, fails to start where the one before it ended."""
        at = 0
        for ack in sorted(self.acks):
            yield ack.t - ack.accepted != at
            at = ack.t

    def replays(self, server: Server) -> bool:
        """Whether the session is, to the last bit, what the acknowledged order gives."""
        replay = Replay()
        for ack in sorted(self.acks):
            replay.learn(self.streams[ack.writer].rows(ack.seq, ack.seq + ack.accepted))
        return replay.equals(server.get(f"{self.path}/snapshot"))


def run(folder: Path, seed: int, races: int, tick: Tick) -> Verdict:
    """So many races of eight writers."""
    run, differing = [Race(number, seed + number) for number in range(races)], 0
    with Server(folder / "llr.db") as server:
        for race in run:
            asyncio.run(race.run(server.port))
            differing += not race.replays(server)
            tick()
    return _verdict(run, differing)


def _verdict(races: list[Race], differing: int) -> Verdict:
    gaps = sum(sum(race.gaps()) for race in races)
    stale = sum(race.stale for race in races)
    counts = {
        "races": len(races),
        "acks": sum(len(race.acks) for race in races),
        "samples": sum(max(race.acks).t for race in races),
        "refused": sum(race.refused for race in races),
        "wrong answers": sum(race.wrong for race in races),
        "gaps or repeats": gaps,
        "states that differ": differing,
        "reads": sum(race.reads for race in races),
        "stale reads": stale,
    }
    faults = broken(
        every_t_is_acked_once=gaps == 0,
        states_equal_the_acked_order=differing == 0,
        what_was_acked_can_be_read=stale == 0,
        nobody_is_sent_away=counts["refused"] == 0,
        every_answer_is_right=counts["wrong answers"] == 0,
    )
    return Verdict(counts, "every t once, bit-equal, no stale read", faults)
