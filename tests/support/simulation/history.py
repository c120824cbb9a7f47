"""What was asked and what was answered, in the order in which it happened."""

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from support.checker import Seen


class Told(NamedTuple):
    """A state that an answer told: who was in the team beside the champion, and its theta.

    Attributes:
        t: samples learnt.
        beside: the names of the shadows.
        theta: of the champion.
        version: of the team, None if it was not told.
    """

    t: int
    beside: frozenset[str]
    theta: tuple[float, ...]
    version: int | None = None


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
        sessions: the numbers of the sessions that the name may have stood for meanwhile.
        end: the number after its last sample, 0 if that is how many there are after the first.
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
    sessions: list[int] = field(default_factory=list)
    end: int = 0

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
            Told(
                one["t"],
                frozenset(one.get("shadows") or ()),
                tuple(one["theta"]),
                one.get("version"),
            )
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


SHOWN = {"get": "read", "learn": "learn", "label": "label", "create": "other", "add": "other"}
"""What the checker calls them. A prediction may be learnt when its id expires, as a label is."""


def seen_of(call: Call) -> Seen | None:
    """A request, as the checker of histories is told of it; None if it is not known of which."""
    if len(call.sessions) != 1 or call.kind not in (*SHOWN, "promote", "predict"):
        return None
    name, kind = f"{call.name} {call.sessions}", SHOWN.get(call.kind, "other")
    if call.kind == "predict":
        return Seen(name, "label", 1)
    n, seq = len(call.samples), int(call.about) if call.producer else 0
    if call.end:
        seq = call.end - n
    return Seen(name, kind, n, call.producer, seq, whole=not call.streamed)


def answered(seen: Seen, call: Call) -> Seen:
    """The same, with its answer."""
    answer = call.answer if isinstance(call.answer, dict) else {}
    seen.status = call.status
    if not call.ok or call.kind == "predict":
        return seen
    seen.t, seen.accepted = answer.get("t"), answer.get("accepted", 0)
    if answer.get("theta") and "version" in answer:
        seen.version, seen.digest = answer["version"], repr((answer["theta"], answer["log_eta"]))
    if "next_seq" in answer and call.kind == "get":
        seen.producers = {call.about: answer["next_seq"]}
    return seen
