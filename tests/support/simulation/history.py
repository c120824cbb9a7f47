"""What was asked and what was answered, in the order in which it happened."""

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Told(NamedTuple):
    """A state that an answer told: who was in the team beside the champion, and its theta.

    Attributes:
        t: samples learnt.
        beside: the names of the shadows.
        theta: of the champion.
    """

    t: int
    beside: frozenset[str]
    theta: tuple[float, ...]


@dataclass
class Call:
    """A request and its answer.

    Attributes:
        kind: what was asked for.
        name: of which session.
        asked: the step at which it was sent.
        samples: the numbers of the samples it sent, in order.
        about: the id, the shadow, the tag or the name of the copy that it is about.
        producer: whose samples they are, None if they have no numbers.
        told_by: the step at which its answer had come or its client gave up, None before that.
        status: of a whole answer, None if there was none.
        answer: its JSON, {} if there is none.
        streamed: whether it was learnt in blocks.
        events: the states that were told one after the other.
        at: the time at which it was sent and that at which it was over.
        durable: the highest t of the session's name that was stored when it was answered.
        durable_next: the highest number of the producer it is about that was stored then.
        final: 0 while clients are at work, then the number of the look at what is left.
    """

    kind: str
    name: str
    asked: int
    samples: list[int] = field(default_factory=list)
    about: str = ""
    producer: str | None = None
    told_by: int | None = None
    status: int | None = None
    answer: Any = field(default_factory=dict)
    streamed: bool = False
    events: list[Any] = field(default_factory=list)
    at: list[float] = field(default_factory=list)
    durable: int = 0
    durable_next: int = 0
    final: int = 0

    @property
    def ok(self) -> bool:
        """Whether it was done, and that was told."""
        return self.status is not None and self.status < 300

    @property
    def refused(self) -> bool:
        """Whether it was told that nothing was done."""
        if isinstance(self.answer, dict) and self.answer.get("accepted"):
            return False  # the first blocks of a stream were learnt
        return self.status is not None and (
            self.status == 507 or (400 <= self.status < 500 and self.status not in (408, 499))
        )

    @property
    def problem(self) -> str:
        """The last word of the type of a problem, empty if it is none."""
        kind = self.answer.get("type", "") if isinstance(self.answer, dict) else ""
        return str(kind).rpartition("/")[2].rpartition(":")[2]

    def told(self) -> list[Told]:
        """The states that were told."""
        known = [*self.events, *([self.answer] if self.ok else [])]
        return [
            Told(one["t"], frozenset(one.get("shadows") or ()), tuple(one["theta"]))
            for one in known
            if isinstance(one, dict) and one.get("theta")
        ]

    def overlaps(self, other: "Call") -> bool:
        """Whether another call may have come between this one's beginning and its end."""
        return not self.before(other) and not other.before(self)

    def before(self, other: "Call") -> bool:
        """Whether this one was answered before the other was sent."""
        return self.status is not None and self.told_by is not None and self.told_by < other.asked

    def line(self) -> str:
        """The call as one line of a record."""
        return json.dumps(self.__dict__, sort_keys=True)


@dataclass
class History:
    """The calls in the order in which they were sent."""

    calls: list[Call] = field(default_factory=list)

    def record(self) -> bytes:
        """All of it, as bytes that are the same whenever it happened the same way."""
        return "\n".join(call.line() for call in self.calls).encode()

    def of(self, name: str) -> list[Call]:
        """The calls about a session's name."""
        return [call for call in self.calls if call.name == name]
