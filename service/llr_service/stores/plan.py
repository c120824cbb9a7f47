"""What comes of many changes that go on from where sessions are, as rows of each table.

Changes of one session follow each other, and only what is left after the last one is written: the
last number of a producer, the last snapshot, no entry that a snapshot makes superfluous.
"""

from dataclasses import dataclass, field
from typing import Any

from llr_service.stores import integrity
from llr_service.stores.store import (
    AppendSamples,
    Conflict,
    Entry,
    PendingExample,
    Retained,
    UpdatePending,
    WriteSnapshot,
    Written,
)
from llr_service.stores.validation import conflict_reason

Move = AppendSamples | WriteSnapshot | UpdatePending
Rows = list[tuple[Any, ...]]


@dataclass
class SessionPlan:
    """Where a session was, where it goes, and what it leaves on the way."""

    was: tuple[int, int]
    at: tuple[int, int]
    snapshot: tuple[int, bytes, Retained] | None = None
    cut: int | None = None
    log: list[Entry] = field(default_factory=list)
    producers: dict[str, int] = field(default_factory=dict)
    kept: dict[str, PendingExample | None] = field(default_factory=dict)

    def follow(self, change: Move) -> None:
        """Go on with a change that fits."""
        t = change.t
        if not isinstance(change, UpdatePending):
            t += change.n
            self._learn(change, t)
        self.at = (t, change.check.new)
        self.kept.update(change.pending)

    def _learn(self, change: AppendSamples | WriteSnapshot, t: int) -> None:
        if change.blob is not None:
            self.log.append(Entry(change.t, change.n, change.blob))
        if change.producer:
            self.producers.update([change.producer])
        if isinstance(change, WriteSnapshot):
            keeps = change.retained.samples
            self.snapshot = (t, change.snapshot, change.retained)
            self.cut = keeps if self.cut is None else min(keeps, self.cut)
            self.log = [entry for entry in self.log if entry.t < keeps]


class BatchPlan:
    """The courses of the sessions of a group.

    Args:
        at: where the sessions are, t and stamp of each; None to take their first change's word.
    """

    def __init__(self, at: dict[int, tuple[int, int]] | None = None) -> None:
        self._at = at
        self.courses: dict[int, SessionPlan] = {}

    def add(self, change: Move) -> Written | Conflict:
        """Let a change follow those before it, if it fits."""
        course = self.courses.get(change.session) or self._started(change)
        if course is None or course.at != (change.t, change.check.expected):
            return Conflict(conflict_reason(change, course.at[0] if course else None))
        self.courses[change.session] = course
        course.follow(change)
        return Written(change.session)

    def _started(self, change: Move) -> SessionPlan | None:
        if self._at is None:
            start = (change.t, change.check.expected)
        elif change.session in self._at:
            start = self._at[change.session]
        else:
            return None
        return SessionPlan(start, start)

    def rows(self) -> dict[str, Rows]:
        """The rows of each part of the statement; the parts are those of `statements`."""
        courses = sorted(self.courses.items())
        return {
            "moves": [_move(session, course) for session, course in courses],
            "cut": [(session, c.cut) for session, c in courses if c.cut is not None],
            "log": [entry_row(session, *entry) for session, c in courses for entry in c.log],
            "snapshots": [
                snapshot_row(session, *c.snapshot) for session, c in courses if c.snapshot
            ],
            "producers": [
                producer_row(session, *one) for session, c in courses for one in c.producers.items()
            ],
            "kept": [
                _kept(session, name, row)
                for session, c in courses
                for name, row in c.kept.items()
                if row is not None
            ],
            "forgotten": [
                (session, name.encode())
                for session, c in courses
                for name, row in c.kept.items()
                if row is None
            ],
        }


def _move(session: int, course: SessionPlan) -> tuple[Any, ...]:
    t, version = course.at
    snapshot_t = course.snapshot[0] if course.snapshot else None
    return (session, *course.was, t, version, integrity.position_crc(session, t), snapshot_t)


def entry_row(session: int, t: int, n: int, blob: bytes) -> tuple[Any, ...]:
    """A row of `log`."""
    return (session, t, n, integrity.entry_crc(session, t, n, blob), blob)


def snapshot_row(session: int, t: int, blob: bytes, retained: Retained) -> tuple[Any, ...]:
    """A row of `snapshots`."""
    return (session, t, *retained, integrity.snapshot_crc(session, t, blob, retained), blob)


def producer_row(session: int, producer: str, number: int) -> tuple[Any, ...]:
    """A row of `producers`."""
    return (session, number, integrity.producer_crc(session, producer, number), producer.encode())


def _kept(session: int, name: str, row: PendingExample) -> tuple[Any, ...]:
    return (
        session,
        row.expires,
        row.learnt,
        integrity.pending_crc(session, name, *row),
        name.encode(),
        row.blob,
    )
