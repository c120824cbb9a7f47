"""A plan of what a group of changes leaves: the last state of each session it touches.

Changes of one session follow each other, and only what is left after the last one is written: the
last number of a producer, the last snapshot, no entry that a snapshot makes superfluous.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from llr_service.stores.store import (
    AppendSamples,
    Entry,
    PendingExample,
    Result,
    Retained,
    Update,
    UpdatePending,
    WriteSnapshot,
    Written,
)
from llr_service.stores.validation import Position, find_conflict


@dataclass
class SessionPlan:
    """A session's position before and after its changes, and the rows they write."""

    start: Position
    end: Position
    snapshot: tuple[int, bytes, Retained] | None = None
    cut: int | None = None
    log: list[Entry] = field(default_factory=list)
    producers: dict[str, int] = field(default_factory=dict)
    pending: dict[str, PendingExample | None] = field(default_factory=dict)

    def apply(self, change: Update) -> None:
        """Add a change that follows the last one."""
        t = change.t
        if not isinstance(change, UpdatePending):
            t += change.n
            self._learn(change, t)
        self.end = Position(t, change.check.new)
        if change.pending:
            self.pending.update(change.pending)

    def _learn(self, change: AppendSamples | WriteSnapshot, t: int) -> None:
        if change.blob is not None:
            self.log.append(Entry(change.t, change.n, change.blob))
        if change.producer:
            self.producers[change.producer[0]] = change.producer[1]
        if isinstance(change, WriteSnapshot):
            keeps = change.retained.samples
            self.snapshot = (t, change.snapshot, change.retained)
            self.cut = keeps if self.cut is None else min(keeps, self.cut)
            self.log = [entry for entry in self.log if entry.t < keeps]


class BatchPlan:
    """The plans of the sessions of a group.

    Args:
        found: where the sessions are; None to trust the first change of each, whose position the
            engine compares when it writes.
    """

    def __init__(self, found: Mapping[int, Position] | None = None) -> None:
        self._found = found
        self.sessions: dict[int, SessionPlan] = {}

    def add(self, change: Update) -> Result:
        """Add a change if it follows the last one of its session."""
        plan = self.sessions.get(change.session)
        if plan is not None:
            position: Position | None = plan.end
        elif self._found is None:
            position = Position(change.t, change.check.expected)
        else:
            position = self._found.get(change.session)
        conflict = find_conflict(change, position)
        if conflict is not None:
            return conflict
        if plan is None:
            start = Position(change.t, change.check.expected)
            plan = self.sessions[change.session] = SessionPlan(start, start)
        plan.apply(change)
        return Written(change.session)
