"""The store between the committer and an engine: it records what became durable, and fails by lot.

What the engine said it stored is the truth that answers are compared with. Samples are known by
their numbers, which are in their x, so the log of a session tells its whole order.
"""

import random
from collections.abc import Mapping, Sequence
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
    Update,
    Version,
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
        samples: (number, label, weight) of each sample since; None where the log does not tell.
        version: of its last change, as far as is known.
        doubtful: by version, the changes of writes that failed and may have been stored.
        deleted: whether its deletion was stored.
    """

    session: int
    name: str
    config: bytes
    base: int
    producers: dict[str, int]
    next: dict[str, int] = field(default_factory=dict)
    samples: list[tuple[int, float, float] | None] = field(default_factory=list)
    version: int = 0
    doubtful: dict[int, Update] = field(default_factory=dict)
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

    @property
    def inner(self) -> Any:
        """The engine."""
        return self._inner

    def _fail_reading(self) -> None:
        if self._lot.random() < self._faults.read:
            raise StoreUnavailable("simulated: failed to read")


class SharedRecorder(Recorder):
    """The same for an engine that several processes share."""

    def versions(self, names: Sequence[str]) -> Mapping[str, Version]:
        """Look up versions."""
        self._fail_reading()
        found: Mapping[str, Version] = self.inner.versions(names)
        return found


class Truth:
    """All sessions there ever were, as the store told of them.

    Attributes:
        lines: by number of the session.
        faults: what the store itself did wrong.
    """

    def __init__(self) -> None:
        self.lines: dict[int, Line] = {}
        self.faults: list[str] = []
        self._creating: dict[tuple[str, int], CreateSession] = {}
        self._deleting: set[int] = set()

    def doubt(self, group: Sequence[Change]) -> None:
        """A group is being written: from now on it may be there."""
        for change in group:
            if isinstance(change, CreateSession):
                self._creating[change.name, change.version] = change
            elif isinstance(change, DeleteSession):
                self._deleting.add(change.session)
            elif isinstance(change, Update) and (line := self.lines.get(change.session)):
                line.doubtful[change.check.new] = change

    def stored(self, group: Sequence[Change], results: Sequence[Result]) -> None:
        """A group was written, with these results."""
        for change, result in zip(group, results, strict=True):
            if isinstance(change, Update) and (line := self.lines.get(change.session)):
                line.doubtful.pop(change.check.new, None)
            if not isinstance(result, Written):
                continue
            if isinstance(change, CreateSession):
                self._create(result.session, change)
            elif isinstance(change, DeleteSession):
                self.lines[change.session].deleted = True
            else:
                self._follow(self.lines[change.session], change)

    def loaded(self, name: str, found: StoredSession | None) -> None:
        """A session was read: what was stored has to be there, and nothing else."""
        self._forget(name, None if found is None else found.id)
        if found is None:
            return
        line = self.lines.get(found.id)
        if line is None:
            line = self._create(found.id, self._creating[name, found.version])
        self._catch_up(line, found.version)
        if (found.t, found.version) != (line.t, line.version):
            self.faults.append(f"{name}: {line.t} samples were stored, {found.t} read")
        line.next = dict(found.producers)

    def _forget(self, name: str, session: int | None) -> None:
        """A name stands for this session: a write that failed has deleted the one before."""
        for line in self.lines.values():
            if line.name == name and line.session != session and not line.deleted:
                line.deleted = True
                if line.session not in self._deleting:
                    self.faults.append(f"{name}: session {line.session} is gone, and not deleted")

    def _create(self, session: int, change: CreateSession) -> Line:
        self._forget(change.name, session)
        known, start = dict(change.producers), (change.t, dict(change.producers))
        line = Line(session, change.name, change.config, *start, known, version=change.version)
        self.lines[session] = line
        return line

    def _follow(self, line: Line, change: Update) -> None:
        """A change was stored, and what it follows, too."""
        self._catch_up(line, change.check.expected)
        if change.check.expected != line.version:
            self.faults.append(f"{line.name}: stored a change that does not follow the last one")
        self._apply(line, change)

    def _catch_up(self, line: Line, version: int) -> None:
        """Changes of writes that failed are stored if one that follows them is."""
        missing = list[Update]()
        while version != line.version and version in line.doubtful:
            missing.append(line.doubtful.pop(version))
            version = missing[-1].check.expected
        for change in reversed(missing):
            self._apply(line, change)

    def _apply(self, line: Line, change: Update) -> None:
        line.version = change.check.new
        if not isinstance(change, AppendSamples | WriteSnapshot):
            return
        if change.t != line.t:
            self.faults.append(f"{line.name}: at {line.t}, stored what was learnt at {change.t}")
        line.samples += numbers(change.blob, change.n)
        if change.producer is not None:
            line.next[change.producer[0]] = change.producer[1]


def numbers(blob: bytes | None, n: int) -> list[tuple[int, float, float] | None]:
    """The numbers of samples, their labels and their weights, as a log entry has them."""
    if blob is None:
        return [None] * n
    samples = unpack_samples(blob)
    first = np.asarray(samples.X)[:, 0].tolist()
    weights = [1.0] * n if samples.weights is None else np.asarray(samples.weights).tolist()
    rows = zip(first, samples.y.tolist(), weights, strict=True)
    return [(round(x / SCALE), float(y), float(w)) for x, y, w in rows]
