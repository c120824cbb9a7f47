"""Sessions from one store to another: all they have, to the last bit.

A session is built up in its new place step by step, in an order that shows how far it came. So what
a killed move left behind is taken up where it was, and what is not the beginning of the session is
somebody else's and is left alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from llr_service.stores.places import place
from llr_service.stores.store import (
    Append,
    Change,
    Conflict,
    Create,
    Entry,
    Keep,
    Listed,
    Replace,
    Store,
    Stored,
    StoreError,
)

PAGE = 2**23
"""Bytes that are written, or read of a log, at a time."""
TOGETHER = 200
"""Sessions that are moved together."""


class Move:
    """A move of all sessions; source and destination may be lists, each with its own places."""

    def __init__(self, source: Sequence[Store], destination: Sequence[Store]) -> None:
        self._source, self._destination = source, destination

    def listed(self) -> list[Listed]:
        """All there is to move. Raises `StoreError` if something cannot be read."""
        found = [row for store in self._source for row in _listed(store)]
        there = sum(store.count() for store in self._source)
        if len(found) != there:
            raise StoreError(
                f"{there - len(found)} of {there} sessions are damaged: `llr doctor` tells which"
            )
        return sorted(found)

    def move(self, names: Iterable[str]) -> Iterator[int]:
        """Move sessions, or what is still missing of them, some at a time.

        Yields for each whether anything was. Raises `StoreError` if the destination has another one
        of that name.
        """
        for some in _batches(map(self._session, names)):
            missing = [session for session in some if not session.there_already()]
            for store in self._destination:
                _move([session for session in missing if session.destination is store])
            yield from (session in missing for session in some)

    def _session(self, name: str) -> "_Session":
        source = self._source[place(name, len(self._source))]
        destination = self._destination[place(name, len(self._destination))]
        return _Session(name, source, _known(source, name), destination)


class _Session:
    """A session on its way."""

    def __init__(self, name: str, source: Store, stored: Stored, destination: Store) -> None:
        self.name, self.stored = name, stored
        self.source, self.destination = source, destination

    @property
    def nbytes(self) -> int:
        """How large it is, but for what its log keeps."""
        return len(self.stored.snapshot or b"") + sum(len(entry.blob) for entry in self.stored.tail)

    def there_already(self) -> bool:
        """Whether the destination has it, the same to the last bit but for its number."""
        there, stored = self.destination.load(self.name), self.stored
        if there is None or replace(there, id=stored.id, stamp=stored.stamp) != stored:
            return False
        logs = _kept_log(self.source, stored, 0), _kept_log(self.destination, there, 0)
        return all(one == other for one, other in zip_longest(*logs))

    def created(self) -> Create | None:
        """How it begins; None if it has begun."""
        if self.destination.load(self.name) is not None:
            return None
        return Create(self.name, self.stored.config, producers=self.stored.producers)

    def changes(self) -> Iterator[Change]:
        """What is still to do: the log that is kept, the snapshot, the tail, the kept ids."""
        stored, there = self.stored, _known(self.destination, self.name)
        if not self._begins(there):
            raise StoreError(f"the destination has another session {self.name}")
        number, at = there.id, there.t
        if stored.snapshot is not None and there.snapshot is None:
            for entry in _kept_log(self.source, stored, at):
                yield Append(number, *entry)
            at = max(at, stored.retained.samples)
            n, keeps = stored.snapshot_t - at, stored.retained
            yield Replace(number, at, n, stored.snapshot, retained=keeps)
            at = stored.snapshot_t
        yield from (Append(number, *entry) for entry in stored.tail if entry.t >= at)
        if stored.kept:
            yield Keep(number, stored.t, tuple(stored.kept.items()))

    def _begins(self, there: Stored) -> bool:
        """Whether what is there is a part of the session, as a move leaves it."""
        stored = self.stored
        if (there.config, there.producers) != (stored.config, stored.producers) or there.kept:
            return False
        if there.snapshot is not None or stored.snapshot is None:
            tail = stored.tail[: len(there.tail)]
            state = replace(there, id=stored.id, stamp=stored.stamp, kept=stored.kept)
            return state == replace(stored, t=there.t, tail=tail)
        logged = _kept_log(self.source, stored, 0)
        return all(entry == next(logged, None) for entry in there.tail)


def _move(sessions: Sequence[_Session]) -> None:
    """Build up sessions of one destination, and see that they are what they were."""
    if not sessions:
        return
    store = sessions[0].destination
    creates = (session.created() for session in sessions)
    _write(store, (create for create in creates if create is not None))
    _write(store, (change for session in sessions for change in session.changes()))
    for session in sessions:
        if not session.there_already():
            raise StoreError(f"session {session.name} is not the same after it was moved")


def _batches(sessions: Iterable[_Session]) -> Iterator[list[_Session]]:
    some, size = list[_Session](), 0
    for session in sessions:
        some.append(session)
        size += session.nbytes
        if size > PAGE or len(some) == TOGETHER:
            yield some
            some, size = [], 0
    if some:
        yield some


def _write(store: Store, changes: Iterable[Change]) -> None:
    """Write changes, so many bytes at a time."""
    some, size = list[Change](), 0
    for change in changes:
        some.append(change)
        size += _size(change)
        if size > PAGE:
            _write_all(store, some)
            some, size = [], 0
    if some:
        _write_all(store, some)


def _write_all(store: Store, changes: Sequence[Change]) -> None:
    for result in store.write(changes):
        if isinstance(result, Conflict):
            raise StoreError(f"the destination is in use: {result.reason}")


def _size(change: Change) -> int:
    blob = change.blob if isinstance(change, Append) else b""
    return 100 + len(change.snapshot if isinstance(change, Replace) else blob)


def _kept_log(store: Store, stored: Stored, at: int) -> Iterator[Entry]:
    """What the log had to keep, from t on."""
    end = stored.retained.samples
    while at < end:
        some = store.entries(stored.id, at, end, PAGE)
        if not some:
            raise StoreError(f"session number {stored.id} went while it was read")
        yield from some
        at = some[-1].t + some[-1].n


def _listed(store: Store) -> Iterator[Listed]:
    after = ""
    while some := store.list(after, TOGETHER):
        yield from some
        after = some[-1].name


def _known(store: Store, name: str) -> Stored:
    stored = store.load(name)
    if stored is None:
        raise StoreError(f"session {name} went while it was moved")
    return stored
