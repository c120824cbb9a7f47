"""Rules that hold in every history of requests and answers, checked at each answer as it comes.

A history is a sequence of `Seen`: what was asked for, and what was answered. The checker is told
when a request is sent and when its answer has come, in this order of time. It knows nothing of
the inside of a service, so it serves the simulation and the histories that real processes left.

A name is looked at as long as it is known which session it stands for: an unanswered creation or
deletion ends that for good.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

RULES = (
    "a read is not older than any answer before it",
    "what a producer was told is stored is there in every later read",
    "one session, t and version of the team has one theta",
    "no t is acknowledged to two batches",
    "no read shows a t inside a batch that is learnt as a whole",
    "t is the sum of the producers' numbers, the labels and the samples without numbers",
    "no read shows more samples than were sent",
)
MAKES, ENDS = "make", "delete"


@dataclass
class Seen:
    """A request and its answer.

    Attributes:
        session: which store and which name in it.
        kind: `learn`, `read`, `label`, `make`, `delete` or `other`.
        n: how many samples were sent.
        producer: whose they are, None if they have no numbers.
        seq: the number of the first one.
        whole: whether they are learnt all or none, at places that follow each other.
        status: of the answer, None if none came.
        t: that was told, None if none was.
        version: of the team that was told; None if that is not known.
        digest: of the state that was told, "" if none was.
        accepted: how many samples were new.
        producers: the next number of each producer that was told.
        summed: whether `producers` are all there are.
        labels: how many labels were learnt, None if that was not told.
        asked: when it was sent.
        told: when its answer had come, or its client gave up.
    """

    session: str
    kind: str
    n: int = 0
    producer: str | None = None
    seq: int = 0
    whole: bool = False
    status: int | None = None
    t: int | None = None
    version: int | None = None
    digest: str = ""
    accepted: int = 0
    producers: Mapping[str, int] = field(default_factory=dict)
    summed: bool = False
    labels: int | None = None
    asked: float = 0.0
    told: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether it was done, and that was told."""
        return self.status is not None and self.status < 300

    @property
    def refused(self) -> bool:
        """Whether it was told that nothing was done."""
        return self.status is not None and (
            self.status == 507 or (400 <= self.status < 500 and self.status not in (408, 499))
        )


@dataclass
class _Known:
    """What is known of one session. `sent` is the end of each producer's samples that were sent."""

    floor: int = 0
    next: dict[str, int] = field(default_factory=dict)
    sent: dict[str, int] = field(default_factory=dict)
    loose: int = 0
    loose_acked: int = 0
    states: dict[tuple[int, int], str] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    reads: list[int] = field(default_factory=list)
    from_nothing: bool = False

    def send(self, one: Seen) -> None:
        """Samples are on their way."""
        if one.producer is None:
            self.loose += one.n
        else:
            self.sent[one.producer] = max(self.sent.get(one.producer, 0), one.seq + one.n)


@dataclass
class _Before:
    """What was known when a request was sent."""

    known: _Known
    floor: int
    next: dict[str, int]
    loose_acked: int


class Checker:
    """Checks a history as it goes on.

    Attributes:
        counts: how many answers each kind of check looked at.
    """

    def __init__(self) -> None:
        self.counts = dict.fromkeys(("answers", "reads", "places", "states", "sums"), 0)
        self._sessions = dict[str, _Known | None]()
        self._making = dict[str, int]()
        self._next = dict[str, _Known]()  # the session that a name may stand for from now on
        self._open = dict[int, _Before | None]()
        self._on_its_way = dict[int, list[_Known]]()

    def sent(self, one: Seen) -> None:
        """A request is sent."""
        known = self._sessions.setdefault(one.session, _Known())
        if one.kind in (MAKES, ENDS):
            self._making[one.session] = self._making.get(one.session, 0) + 1
            self._next[one.session] = _Known()
        if one.kind == ENDS:
            known = self._sessions[one.session] = None
        if one.kind in ("learn", "label"):
            places = (known, self._next.get(one.session))
            self._on_its_way[id(one)] = [each for each in places if each is not None]
            for each in self._on_its_way[id(one)]:
                each.send(one)
        self._open[id(one)] = (
            None
            if known is None
            else _Before(known, known.floor, dict(known.next), known.loose_acked)
        )

    def forget(self, one: Seen) -> None:
        """An answer has come, and it is not known of which session."""
        self._open.pop(id(one))
        self._on_its_way.pop(id(one), None)

    def heard(self, one: Seen) -> Iterator[str]:
        """An answer has come, or none will; the ways in which it breaks a rule."""
        before, to = self._open.pop(id(one)), self._on_its_way.pop(id(one), [])
        if one.refused and one.producer is None:
            for each in to:
                each.loose -= one.n
        if one.kind in (MAKES, ENDS):
            self._changed(one)
        known = self._sessions.get(one.session)
        if not one.ok or before is None or known is not before.known:
            return
        self.counts["answers"] += 1
        for fault in self._checked(one, before, known):
            yield f"{one.session}: {fault}"

    def _changed(self, one: Seen) -> None:
        """A name may stand for another session from now on."""
        alone = self._making[one.session] == 1
        if one.status is not None:
            self._making[one.session] -= 1
        if one.refused or (one.kind == MAKES and one.status == 200):
            return
        new = one.kind == MAKES and one.ok and alone
        following = self._next.pop(one.session, None) if alone else None
        self._sessions[one.session] = following if new else None
        if new and following is not None:
            following.from_nothing = one.t == 0

    def _checked(self, one: Seen, before: _Before, known: _Known) -> Iterator[str]:
        if one.t is not None:
            yield from self._read(one.t, one, before, known)
            if one.digest and one.version is not None:
                yield from self._state(one.t, one.version, one, known)
        if one.kind in ("learn", "label") and one.accepted and one.whole and one.t is not None:
            yield from self._place(one.t, one, known)
        for producer, number in one.producers.items():
            if number < before.next.get(producer, 0):
                yield f"{producer} was told {before.next[producer]}, then a read shows {number}"
        if one.summed and one.t is not None:
            yield from self._sum(one.t, one, before, known)
        self._learn(one, known)

    def _read(self, t: int, one: Seen, before: _Before, known: _Known) -> Iterator[str]:
        self.counts["reads"] += 1
        if t < before.floor:
            yield f"{one.kind} told t = {t} after {before.floor} was told"
        if known.from_nothing and t > (most := sum(known.sent.values()) + known.loose):
            yield f"{one.kind} told t = {t}, and {most} samples were sent"
        at = bisect_right(known.starts, t - 1) - 1
        if one.kind == "read" and at >= 0 and known.starts[at] < t < known.ends[at]:
            yield f"a read shows t = {t}, inside the batch up to {known.ends[at]}"
        if one.kind == "read":
            insort(known.reads, t)

    def _state(self, t: int, version: int, one: Seen, known: _Known) -> Iterator[str]:
        self.counts["states"] += 1
        first = known.states.setdefault((t, version), one.digest)
        if first != one.digest:
            yield f"two states at t = {t}, version {version}"

    def _place(self, end: int, one: Seen, known: _Known) -> Iterator[str]:
        self.counts["places"] += 1
        start = end - one.accepted
        at = bisect_left(known.starts, start)
        left = known.ends[at - 1] if at else 0
        right = known.starts[at] if at < len(known.starts) else end
        if start < left or right < end:
            yield f"t from {start} to {end} was acknowledged to two batches"
            return
        known.starts.insert(at, start)
        known.ends.insert(at, end)
        inside = bisect_right(known.reads, start)
        if inside < len(known.reads) and known.reads[inside] < end:
            yield f"a read showed t = {known.reads[inside]}, inside the batch up to {end}"

    def _sum(self, t: int, one: Seen, before: _Before, known: _Known) -> Iterator[str]:
        self.counts["sums"] += 1
        if not known.from_nothing:
            return
        numbered = sum(one.producers.values())
        least, most = numbered + before.loose_acked, numbered + known.loose
        if not least <= t <= most:
            yield f"t = {t}, and the parts are {numbered} numbered and {before.loose_acked} others"

    def _learn(self, one: Seen, known: _Known) -> None:
        """What an answer says has to be there in whatever is asked from now on."""
        if one.t is not None:
            known.floor = max(known.floor, one.t)
        if one.kind == "learn" and one.producer is not None:
            end = max(one.seq + one.n, known.next.get(one.producer, 0))
            known.next[one.producer] = end
        elif one.kind in ("learn", "label"):
            known.loose_acked += one.accepted
        for producer, number in one.producers.items():
            known.next[producer] = max(number, known.next.get(producer, 0))


def check(history: list[Seen]) -> tuple[Checker, list[str]]:
    """Check a whole history; the checker, and what is wrong."""
    checker, faults = Checker(), list[str]()
    moments: list[tuple[float, int, int, Any]] = [
        (one.asked, 0, i, one) for i, one in enumerate(history)
    ]
    moments += [(one.told, 1, i, one) for i, one in enumerate(history)]
    for _, heard, _, one in sorted(moments, key=lambda moment: moment[:3]):
        if heard:
            faults += checker.heard(one)
        else:
            checker.sent(one)
    return checker, faults
