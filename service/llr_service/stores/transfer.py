"""Sessions from one store to another: all they have, to the last bit.

A session is built up in its new place step by step, in an order that shows how far it came. So what
a killed move left behind is taken up where it was, and a session that is not a prefix
of the source is left unchanged.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from secrets import randbits

from llr_service.stores.store import (
    AppendSamples,
    Change,
    Conflict,
    CreateSession,
    Entry,
    SessionSummary,
    Store,
    StoredSession,
    StoreError,
    UpdatePending,
    VersionCheck,
    WriteSnapshot,
)

PAGE = 2**23
"""Bytes that are written, or read of a log, at a time."""
VERSION_BITS = 62
"""Bits of the first version of a session, with room for those that follow."""
TOGETHER = 200
"""Sessions that are moved together."""


class StoreTransfer:
    """Copies all sessions of one store, or of several, into another."""

    def __init__(self, sources: Sequence[Store], destination: Store) -> None:
        self._sources, self._destination = sources, destination
        self._found: dict[str, Store] = {}

    def listed(self) -> list[SessionSummary]:
        """List all there is to move. Raises `StoreError` if something cannot be read."""
        rows = list[SessionSummary]()
        for store in self._sources:
            some = [*_listed(store)]
            if len(some) != store.count():
                raise StoreError(
                    f"{store.count() - len(some)} of {store.count()} sessions are damaged:"
                    " `llr doctor` tells which"
                )
            for row in some:
                if row.name in self._found:
                    raise StoreError(f"two of the sources have a session {row.name}")
                self._found[row.name] = store
            rows += some
        return sorted(rows)

    def move(self, names: Iterable[str]) -> Iterator[int]:
        """Move sessions that were listed, or what is still missing of them, some at a time.

        Yields for each whether anything was. Raises `StoreError` if the destination has another one
        of that name.
        """
        for some in _batches(map(self._session, names)):
            missing = [session for session in some if not session.there_already()]
            _move(missing)
            yield from (session in missing for session in some)

    def _session(self, name: str) -> "_Transfer":
        source = self._found[name]
        return _Transfer(name, source, _known(source, name), self._destination)


class _Transfer:
    """A session on its way."""

    def __init__(self, name: str, source: Store, stored: StoredSession, destination: Store) -> None:
        self.name, self.stored = name, stored
        self.source, self.destination = source, destination

    @property
    def nbytes(self) -> int:
        """Its size in bytes, without the log."""
        return len(self.stored.snapshot or b"") + sum(len(entry.blob) for entry in self.stored.tail)

    def there_already(self) -> bool:
        """Whether the destination has it, the same to the last bit but for its number."""
        there, stored = self.destination.load(self.name), self.stored
        if there is None or replace(there, id=stored.id, version=stored.version) != stored:
            return False
        logs = _kept_log(self.source, stored, 0), _kept_log(self.destination, there, 0)
        return all(one == other for one, other in zip_longest(*logs))

    def created(self) -> CreateSession | None:
        """How it begins; None if it has begun."""
        if self.destination.load(self.name) is not None:
            return None
        stored, version = self.stored, randbits(VERSION_BITS)
        return CreateSession(self.name, stored.config, producers=stored.producers, version=version)

    def changes(self) -> Iterator[Change]:
        """What is still to do: the log that is kept, the snapshot, the tail, the kept ids."""
        stored, there = self.stored, _known(self.destination, self.name)
        if not self._begins(there):
            raise StoreError(f"the destination has another session {self.name}")
        number, at, checks = there.id, there.t, _checks(there.version)
        if stored.snapshot is not None and there.snapshot is None:
            for entry in _kept_log(self.source, stored, at):
                yield AppendSamples(number, *entry, check=next(checks))
            at = max(at, stored.retained.samples)
            n, keeps = stored.snapshot_t - at, stored.retained
            yield WriteSnapshot(number, at, n, stored.snapshot, check=next(checks), retained=keeps)
            at = stored.snapshot_t
        for entry in stored.tail:
            if entry.t >= at:
                yield AppendSamples(number, *entry, check=next(checks))
        if stored.pending:
            yield UpdatePending(number, stored.t, tuple(stored.pending.items()), next(checks))

    def _begins(self, there: StoredSession) -> bool:
        """Whether the destination has a part of the session, as an interrupted move leaves it."""
        stored = self.stored
        if (there.config, there.producers) != (stored.config, stored.producers) or there.pending:
            return False
        if there.snapshot is not None or stored.snapshot is None:
            tail = stored.tail[: len(there.tail)]
            state = replace(there, id=stored.id, version=stored.version, pending=stored.pending)
            return state == replace(stored, t=there.t, tail=tail)
        logged = _kept_log(self.source, stored, 0)
        return all(entry == next(logged, None) for entry in there.tail)


def _checks(version: int) -> Iterator[VersionCheck]:
    """The version checks of changes that follow each other."""
    while True:
        yield VersionCheck(version, version + 1)
        version += 1


def _move(sessions: Sequence[_Transfer]) -> None:
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


def _batches(sessions: Iterable[_Transfer]) -> Iterator[list[_Transfer]]:
    some, size = list[_Transfer](), 0
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
    blob = change.blob if isinstance(change, AppendSamples) else b""
    return 100 + len(change.snapshot if isinstance(change, WriteSnapshot) else blob)


def _kept_log(store: Store, stored: StoredSession, at: int) -> Iterator[Entry]:
    """What the log had to keep, from t on."""
    end = stored.retained.samples
    while at < end:
        some = store.read_log(stored.id, at, end, PAGE)
        if not some:
            raise StoreError(f"session number {stored.id} went while it was read")
        yield from some
        at = some[-1].t + some[-1].n


def _listed(store: Store) -> Iterator[SessionSummary]:
    after = ""
    while some := store.list(after, TOGETHER):
        yield from some
        after = some[-1].name


def _known(store: Store, name: str) -> StoredSession:
    stored = store.load(name)
    if stored is None:
        raise StoreError(f"session {name} went while it was moved")
    return stored
