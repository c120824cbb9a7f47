"""The store that forgets: everything is kept in this process and gone with it."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter

from llr_service.stores.integrity import contiguous_entries
from llr_service.stores.store import (
    NOT_RETAINED,
    REPLAY_MARK,
    AppendSamples,
    Change,
    Conflict,
    CreateSession,
    DeleteSession,
    Entry,
    PendingExample,
    Retained,
    SessionSummary,
    StoredSession,
    StoreError,
    UpdatePending,
    WriteSnapshot,
    Written,
)
from llr_service.stores.validation import Position, find_conflict, name_taken, no_session, validate


@dataclass
class _Record:
    """What is kept of a session, to be changed in place."""

    name: str
    config: bytes
    t: int
    snapshot: bytes | None
    snapshot_t: int
    version: int
    log: list[Entry] = field(default_factory=list)
    retained: Retained = NOT_RETAINED
    producers: dict[str, int] = field(default_factory=dict)
    pending: dict[str, PendingExample] = field(default_factory=dict)

    def since(self, t: int) -> int:
        """Where the entries of the log begin that start at t or later."""
        return bisect_left(self.log, t, key=attrgetter("t"))


class Memory:
    """A store without durability, for trying things out. Its URL is `memory:`.

    >>> from llr_service.stores.store import CreateSession
    >>> store = Memory()
    >>> store.write([CreateSession("demo", b"{}")])
    [Written(session=1)]
    >>> store.load("demo").t
    0
    """

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._names: list[str] = []
        self._sessions: dict[int, _Record] = {}
        self._last = 0

    @classmethod
    def at(cls, url: str) -> "Memory":
        """The store a URL names."""
        if url != "memory:":
            raise StoreError(f"{url}: a store in memory has no place, its URL is memory:")
        return cls()

    def write(self, group: Sequence[Change]) -> list[Written | Conflict]:
        """Apply a group of changes, each for itself."""
        return [self._apply(change) for change in group]

    def load(self, name: str) -> StoredSession | None:
        """All that is known of a session, None if there is none."""
        number = self._ids.get(name)
        if number is None:
            return None
        kept = self._sessions[number]
        return StoredSession(
            id=number,
            config=kept.config,
            t=kept.t,
            snapshot=kept.snapshot,
            snapshot_t=kept.snapshot_t,
            tail=tuple(kept.log[kept.since(kept.snapshot_t) :]),
            producers=dict(kept.producers),
            pending=dict(kept.pending),
            version=kept.version,
            retained=kept.retained,
        )

    def read_log(self, session: int, start: int, end: int, nbytes: int) -> Sequence[Entry] | None:
        """The log from t = start up to t = end, None if there is no such session."""
        kept = self._sessions.get(session)
        if kept is None:
            return None
        entries = islice(kept.log, kept.since(start), kept.since(end))
        return [*contiguous_entries(entries, start, end, nbytes, f"session {kept.name}")]

    def list(self, after: str, limit: int) -> list[SessionSummary]:
        """At most `limit` sessions whose names follow `after`, in order."""
        return [*islice(self._listed(after), limit)]

    def list_replays(self, after: str, limit: int) -> Sequence[SessionSummary]:
        """Those of the list whose configs have the `MARK`."""
        return [*islice((row for row in self._listed(after) if REPLAY_MARK in row.config), limit)]

    def count(self) -> int:
        """How many sessions there are."""
        return len(self._names)

    def close(self) -> None:
        """Let go of the store, which here is nothing to do."""

    def _listed(self, after: str) -> Iterator[SessionSummary]:
        for name in islice(self._names, bisect_right(self._names, after), None):
            kept = self._sessions[self._ids[name]]
            yield SessionSummary(name, kept.config, kept.t, kept.version)

    def _apply(self, change: Change) -> Written | Conflict:
        wrong = validate(change)
        if wrong:
            return Conflict(wrong)
        if isinstance(change, CreateSession):
            return self._create(change)
        if isinstance(change, DeleteSession):
            return self._delete(change)
        return self._update(change)

    def _create(self, change: CreateSession) -> Written | Conflict:
        if change.name in self._ids:
            return Conflict(name_taken(change.name))
        self._last += 1
        self._ids[change.name] = self._last
        insort(self._names, change.name)
        start = change.t, change.snapshot, change.t, change.version
        kept = _Record(change.name, change.config, *start)
        kept.producers.update(change.producers)
        self._sessions[self._last] = kept
        return Written(self._last)

    def _update(self, change: AppendSamples | WriteSnapshot | UpdatePending) -> Written | Conflict:
        kept = self._sessions.get(change.session)
        conflict = find_conflict(change, None if kept is None else Position(kept.t, kept.version))
        if conflict is not None or kept is None:
            return conflict or Conflict(no_session(change.session))
        kept.version = change.check.new
        if not isinstance(change, UpdatePending):
            _learn(kept, change)
        for name, row in change.pending:
            kept.pending.pop(name, None)
            if row is not None:
                kept.pending[name] = row
        return Written(change.session)

    def _delete(self, change: DeleteSession) -> Written | Conflict:
        kept = self._sessions.get(change.session)
        conflict = find_conflict(change, None if kept is None else Position(kept.t, kept.version))
        if conflict is not None or kept is None:
            return conflict or Conflict(no_session(change.session))
        del self._sessions[change.session]
        del self._ids[kept.name]
        self._names.remove(kept.name)
        return Written(change.session)


def _learn(kept: _Record, change: AppendSamples | WriteSnapshot) -> None:
    kept.t += change.n
    if isinstance(change, WriteSnapshot):
        del kept.log[kept.since(change.retained.samples) :]
        kept.snapshot, kept.snapshot_t = change.snapshot, kept.t
        kept.retained = change.retained
    if change.blob is not None:
        kept.log.append(Entry(change.t, change.n, change.blob))
    if change.producer:
        kept.producers.update([change.producer])
