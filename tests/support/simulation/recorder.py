"""The store between the committer and an engine: it records what became durable, and fails by lot.

What the engine said it stored is the truth that answers are compared with. Samples are known by
their numbers, which are in their x, so the log of a session tells its whole order.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from llr_service.codec import unpack_samples
from llr_service.stores.store import (
    AppendSamples,
    Change,
    CreateSession,
    DeleteSession,
    Entry,
    Result,
    SessionSummary,
    Store,
    StoredSession,
    StoreFull,
    StoreUnavailable,
    UpdatePending,
    WriteSnapshot,
    Written,
)

SCALE = 2.0**-16
"""What a sample's number is multiplied with to be its first feature; exact in both directions."""


@dataclass
class Line:
    """One session from its creation to its deletion: what was stored of it, in order.

    Attributes:
        session: its number in the store.
        name: its name.
        config: its config as stored.
        base: its t when it was created.
        producers: for each producer, the number of its next sample when it was created.
        next: for each producer, the number of its next sample, as far as is known.
        samples: (number, label) of each sample since; None where the log does not tell.
        doubt: how many samples may have been stored by writes that failed.
        deleted: whether its deletion was stored.
    """

    session: int
    name: str
    config: bytes
    base: int
    producers: dict[str, int]
    next: dict[str, int] = field(default_factory=dict)
    samples: list[tuple[int, float] | None] = field(default_factory=list)
    doubt: int = 0
    deleted: bool = False

    @property
    def t(self) -> int:
        """Samples learnt as far as is known."""
        return self.base + len(self.samples)


@dataclass
class Faults:
    """How often a write fails: before it, after it, for want of room."""

    before: float = 0.0
    after: float = 0.0
    full: float = 0.0
    read: float = 0.0

    def end(self) -> None:
        """From now on nothing fails."""
        self.before = self.after = self.full = self.read = 0.0


class Recorder:
    """A store that is another one, watched."""

    def __init__(self, inner: Store, lot: random.Random, faults: Faults, truth: "Truth") -> None:
        self._inner, self._lot, self._faults, self._truth = inner, lot, faults, truth

    def write(self, group: Sequence[Change]) -> list[Result]:
        """Write a group, or fail."""
        drawn, faults = self._lot.random(), self._faults
        if drawn < faults.full:
            raise StoreFull("simulated: no room")
        if drawn < faults.full + faults.before:
            raise StoreUnavailable("simulated: failed before it wrote")
        self._truth.doubt(group)
        results = self._inner.write(group)
        self._truth.stored(group, results)
        if drawn > 1 - faults.after:
            raise StoreUnavailable("simulated: failed after it wrote")
        return results

    def load(self, name: str) -> StoredSession | None:
        """Load a session."""
        self._fail_reading()
        found = self._inner.load(name)
        self._truth.loaded(name, found)
        return found

    def read_log(self, session: int, start: int, end: int, nbytes: int) -> Sequence[Entry] | None:
        """Read a part of a log."""
        self._fail_reading()
        return self._inner.read_log(session, start, end, nbytes)

    def list(self, after: str, limit: int) -> list[SessionSummary]:
        """List sessions."""
        self._fail_reading()
        return self._inner.list(after, limit)

    def list_replays(self, after: str, limit: int) -> Sequence[SessionSummary]:
        """List the sessions that learn another's samples."""
        self._fail_reading()
        return self._inner.list_replays(after, limit)

    def count(self) -> int:
        """Count the sessions."""
        return self._inner.count()

    def run_maintenance(self) -> bool:
        """Do a part of what was deferred."""
        run = getattr(self._inner, "run_maintenance", lambda: False)
        return bool(run())

    def close(self) -> None:
        """Close the engine."""
        self._inner.close()

    def _fail_reading(self) -> None:
        if self._lot.random() < self._faults.read:
            raise StoreUnavailable("simulated: failed to read")


class Truth:
    """All sessions there ever were, as the store told of them.

    Attributes:
        lines: by number of the session.
        faults: what the store itself did wrong.
    """

    def __init__(self) -> None:
        self.lines: dict[int, Line] = {}
        self.faults: list[str] = []
        self._creating: dict[str, CreateSession] = {}

    def doubt(self, group: Sequence[Change]) -> None:
        """A group is being written: from now on it may be there."""
        for change in group:
            if isinstance(change, CreateSession):
                self._creating[change.name] = change
            elif isinstance(change, AppendSamples | WriteSnapshot):
                self._doubt(change.session, change.n)

    def stored(self, group: Sequence[Change], results: Sequence[Result]) -> None:
        """A group was written, with these results."""
        for change, result in zip(group, results, strict=True):
            if isinstance(change, AppendSamples | WriteSnapshot):
                self._doubt(change.session, -change.n)
            if not isinstance(result, Written):
                continue
            if isinstance(change, CreateSession):
                self._create(result.session, change)
            elif isinstance(change, DeleteSession):
                self._line(change.session).deleted = True
            elif not isinstance(change, UpdatePending):
                self._learnt(self._line(change.session), change)

    def loaded(self, name: str, found: StoredSession | None) -> None:
        """A session was read: what was stored has to be there."""
        known = [one for one in self.lines.values() if one.name == name and not one.deleted]
        if found is None or all(one.session != found.id for one in known):
            for one in known:
                one.deleted = True  # a deletion of which nobody heard; rules say if there was one
        if found is None:
            return
        line = self.lines.get(found.id)
        if line is None:
            change = self._creating[name]
            line = self._create(found.id, change)
        if found.t < line.t or found.t > line.t + line.doubt:
            self.faults.append(f"{name}: stored {line.t} + {line.doubt}, read {found.t}")
        self._extend(line, found)

    def _create(self, session: int, change: CreateSession) -> Line:
        known = dict(change.producers)
        line = Line(session, change.name, change.config, change.t, known, dict(known))
        self.lines[session] = line
        return line

    def _doubt(self, session: int, n: int) -> None:
        if line := self.lines.get(session):
            line.doubt += n

    def _line(self, session: int) -> Line:
        return self.lines[session]

    def _learnt(self, line: Line, change: AppendSamples | WriteSnapshot) -> None:
        if change.t != line.t:
            self.faults.append(f"{line.name}: at {line.t}, stored what was learnt at {change.t}")
        line.samples += numbers(change.blob, change.n)
        if change.producer is not None:
            line.next[change.producer[0]] = change.producer[1]

    def _extend(self, line: Line, found: StoredSession) -> None:
        """Samples of a write that failed are there, too."""
        if found.t > line.t:
            missing = dict[int, Any]()
            for entry in found.tail:
                told = numbers(entry.blob, entry.n)
                missing |= {entry.t + i: one for i, one in enumerate(told)}
            line.samples += [missing.get(at) for at in range(line.t, found.t)]
        line.doubt, line.next = 0, dict(found.producers)


def numbers(blob: bytes | None, n: int) -> list[tuple[int, float] | None]:
    """The numbers of samples and their labels, as a log entry has them."""
    if blob is None:
        return [None] * n
    samples = unpack_samples(blob)
    first = np.asarray(samples.X)[:, 0].tolist()
    return [(round(x / SCALE), float(y)) for x, y in zip(first, samples.y.tolist(), strict=True)]
