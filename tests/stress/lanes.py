"""A producer's numbered samples on their way to one session, and what has to be there of them."""

import random
from dataclasses import dataclass

from .ledger import Ledger
from .samples import ENCODINGS, Replay, Stream
from .server import Server
from .tally import Tally
from .wire import Answer, Wire

SIZES = (1, 1, 1, 1, 2, 5, 16)
SEND_AGAIN = {502, 503, 504, 507}
"""Answers that ask for the same again; 502 and 504 are a balancer's, who knows nothing more."""


@dataclass
class Lane:
    """One producer's samples for one session.

    `acked` is how many were acknowledged, `sent` how many may have arrived; what lies between was
    never answered and is sent again, alone or with more, under the same numbers. If others write to
    the session too, `ledger` is told the place of what was acknowledged.
    """

    session: str
    producer: str
    stream: Stream
    tally: Tally
    acked: int = 0
    sent: int = 0
    ledger: Ledger | None = None

    @property
    def path(self) -> str:
        """Where the next samples go."""
        return self.path_of(self.acked)

    def path_of(self, number: int) -> str:
        """Where the samples from this number on go."""
        return f"/v1/sessions/{self.session}/samples?producer={self.producer}&seq={number}"

    async def send(self, wire: Wire, lot: random.Random) -> None:
        """Send the next samples, or once more those that were not answered."""
        waiting = self.sent - self.acked
        self.tally.retries += waiting > 0
        n = waiting if waiting and lot.random() < 0.6 else lot.choice(SIZES)
        await self.offer(wire, n, lot.choice([*ENCODINGS]))

    async def offer(self, wire: Wire, n: int, encoding: str = "json") -> int:
        """Send n samples from the first that is not acknowledged; returns the status."""
        end = self.acked + n
        self.sent = max(self.sent, end)
        body, kind = ENCODINGS[encoding](self.stream.rows(self.acked, end))
        if self.ledger:
            self.ledger.sent(self.producer, end)
        answer = await wire.ask("POST", self.path, body, kind)
        if answer.status == 200:
            self._taken(end, answer)
        elif answer.status in SEND_AGAIN:
            self.tally.refuse(answer.status, answer.headers.get("retry-after"))
        else:
            self.tally.faults.append(f"{self.session}: {answer.status} {answer.body!r}")
        return answer.status

    def _taken(self, end: int, answer: Answer) -> None:
        self.acked = end
        self.tally.acks += 1
        if self.ledger:
            self.ledger.acked(self.producer, end, answer.json())

    async def settle(self, wire: Wire) -> None:
        """Send again until everything that was ever sent is acknowledged."""
        while self.acked < self.sent and not self.tally.faults:
            await self.offer(wire, self.sent - self.acked)

    def check(self, there: int) -> None:
        """Compare with how many of its samples the session says are there."""
        self.tally.lost += max(0, self.acked - there)
        self.tally.twice += max(0, there - self.sent)


class Own(Lane):
    """A lane that has its session for itself, so that the order of its samples is known."""

    def __init__(self, name: str, stream: Stream, tally: Tally) -> None:
        super().__init__(name, name, stream, tally)
        self._replay = Replay()

    def compare(self, server: Server) -> None:
        """Nothing lost, nothing twice, and every bit as the library has it."""
        snapshot = server.get(f"/v1/sessions/{self.session}/snapshot")
        self.check(snapshot["t"])
        self._replay.learn(self.stream.rows(self._replay.learner.t, snapshot["t"]))
        if not self._replay.equals(snapshot):
            self.tally.differing.append(self._replay.difference(snapshot))
        elif snapshot["producers"].get(self.producer, 0) != snapshot["t"]:
            self.tally.differing.append(f"{self.session} at {snapshot['t']}: producers")
