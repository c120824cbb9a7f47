"""The store that forgets: everything is kept in this process and gone with it."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter

from llr_service.stores.limits import no_session, not_there, taken, unfit
from llr_service.stores.paging import page
from llr_service.stores.store import (
    CUT,
    MARK,
    Append,
    Change,
    Conflict,
    Create,
    Delete,
    Entry,
    Keep,
    Kept,
    Listed,
    Replace,
    Retained,
    Stored,
    StoreError,
    Written,
)


@dataclass
class _Session:
    """What is kept of a session, to be changed in place."""

    name: str
    config: bytes
    t: int
    snapshot: bytes | None
    snapshot_t: int
    stamp: int
    log: list[Entry] = field(default_factory=list)
    retained: Retained = CUT
    producers: dict[str, int] = field(default_factory=dict)
    shelf: dict[str, Kept] = field(default_factory=dict)

    def since(self, t: int) -> int:
        """Where the entries of the log begin that start at t or later."""
        return bisect_left(self.log, t, key=attrgetter("t"))


class Memory:
    """A store without durability, for trying things out. Its URL is `memory:`.

    >>> from llr_service.stores.store import Create
    >>> store = Memory()
    >>> store.write([Create("demo", b"{}")])
    [Written(session=1)]
    >>> store.load("demo").t
    0
    """

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._names: list[str] = []
        self._sessions: dict[int, _Session] = {}
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

    def load(self, name: str) -> Stored | None:
        """All that is known of a session, None if there is none."""
        number = self._ids.get(name)
        if number is None:
            return None
        kept = self._sessions[number]
        return Stored(
            id=number,
            config=kept.config,
            t=kept.t,
            snapshot=kept.snapshot,
            snapshot_t=kept.snapshot_t,
            tail=tuple(kept.log[kept.since(kept.snapshot_t) :]),
            producers=dict(kept.producers),
            kept=dict(kept.shelf),
            stamp=kept.stamp,
            retained=kept.retained,
        )

    def entries(self, session: int, start: int, end: int, nbytes: int) -> Sequence[Entry] | None:
        """The log from t = start up to t = end, None if there is no such session."""
        kept = self._sessions.get(session)
        if kept is None:
            return None
        entries = islice(kept.log, kept.since(start), kept.since(end))
        return [*page(entries, start, end, nbytes, f"session {kept.name}")]

    def list(self, after: str, limit: int) -> list[Listed]:
        """At most `limit` sessions whose names follow `after`, in order."""
        return [*islice(self._listed(after), limit)]

    def marked(self, after: str, limit: int) -> Sequence[Listed]:
        """Those of the list whose configs have the `MARK`."""
        return [*islice((row for row in self._listed(after) if MARK in row.config), limit)]

    def count(self) -> int:
        """How many sessions there are."""
        return len(self._names)

    def close(self) -> None:
        """Let go of the store, which here is nothing to do."""

    def _listed(self, after: str) -> Iterator[Listed]:
        for name in islice(self._names, bisect_right(self._names, after), None):
            kept = self._sessions[self._ids[name]]
            yield Listed(name, kept.config, kept.t, kept.stamp)

    def _apply(self, change: Change) -> Written | Conflict:
        wrong = unfit(change)
        if wrong:
            return Conflict(wrong)
        if isinstance(change, Create):
            return self._create(change)
        if isinstance(change, Delete):
            return self._delete(change)
        return self._go_on(change)

    def _create(self, change: Create) -> Written | Conflict:
        if change.name in self._ids:
            return Conflict(taken(change.name))
        self._last += 1
        self._ids[change.name] = self._last
        insort(self._names, change.name)
        start = change.t, change.snapshot, change.t, change.stamp
        kept = _Session(change.name, change.config, *start)
        kept.producers.update(change.producers)
        self._sessions[self._last] = kept
        return Written(self._last)

    def _go_on(self, change: Append | Replace | Keep) -> Written | Conflict:
        kept = self._sessions.get(change.session)
        if kept is None or (kept.t, kept.stamp) != (change.t, change.fence.was):
            return Conflict(not_there(change, kept.t if kept else None))
        kept.stamp = change.fence.stamp
        if not isinstance(change, Keep):
            _learn(kept, change)
        for name, row in change.kept:
            kept.shelf.pop(name, None)
            if row is not None:
                kept.shelf[name] = row
        return Written(change.session)

    def _delete(self, change: Delete) -> Written | Conflict:
        kept = self._sessions.pop(change.session, None)
        if kept is None:
            return Conflict(no_session(change.session))
        del self._ids[kept.name]
        self._names.remove(kept.name)
        return Written(change.session)


def _learn(kept: _Session, change: Append | Replace) -> None:
    kept.t += change.n
    if isinstance(change, Replace):
        del kept.log[kept.since(change.retained.samples) :]
        kept.snapshot, kept.snapshot_t = change.snapshot, kept.t
        kept.retained = change.retained
    if change.blob is not None:
        kept.log.append(Entry(change.t, change.n, change.blob))
    if change.producer:
        kept.producers.update([change.producer])
