"""The store protocol: a log and a snapshot per session, written in groups, durable per group.

A store is blocking and is used by one thread (`sessions.committer`). It knows names, numbers and
bytes; the sessions know what the bytes mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple, Protocol, runtime_checkable


class StoreError(Exception):
    """The store cannot do what was asked. Nothing of the group was stored."""


class StoreFull(StoreError):
    """No room on the disk."""


class StoreUnavailable(StoreError):
    """The store cannot be reached or fails now; it may work again later."""


class StoreInUse(StoreError):
    """Another process has the store."""


class StoreTooNew(StoreError):
    """The store was written by a later version of this service."""


class Damaged(StoreError):
    """The rows of one session do not match their checksums, or one is missing."""


class Entry(NamedTuple):
    """A log entry: `n` samples learnt from t on, packed."""

    t: int
    n: int
    blob: bytes


class PendingExample(NamedTuple):
    """The features stored under an id for a label to come, or the trace of a label learnt.

    Attributes:
        expires: when it may be deleted, in milliseconds since 1970.
        learnt: whether its label has come.
        blob: x, packed; once learnt, enough to tell that x from another.
    """

    expires: int
    learnt: bool
    blob: bytes


class Retained(NamedTuple):
    """The first samples of a log that stay in spite of snapshots: how many, and their bytes."""

    samples: int = 0
    bytes: int = 0


NOT_RETAINED = Retained()
"""A log that holds nothing but its tail."""

PendingChanges = tuple[tuple[str, PendingExample | None], ...]
"""Ids, each with what is stored under it from now on; None deletes it."""


class VersionCheck(NamedTuple):
    """The version a change was computed from and the version it makes.

    A version is a number that no other change of any session has. t alone is not enough: it does
    not tell which samples led there, and pending examples, promotions and shadows leave it as it
    is.

    Attributes:
        expected: the version of the change before, 0 if that has none.
        new: the version of the change itself.
    """

    expected: int = 0
    new: int = 0


UNVERSIONED = VersionCheck()
"""The check of a change that follows one without a version and makes none."""


@dataclass(frozen=True)
class StoredSession:
    """A session as it is stored.

    Attributes:
        id: the session's number; a session created again under its name has another.
        config: its config as given, JSON.
        t: samples learnt in all.
        snapshot: the packed state at the time of the last snapshot, None if there is none.
        snapshot_t: samples learnt at that time, 0 without a snapshot.
        tail: samples learnt since, in order, without holes up to t.
        producers: for each producer, the number of its next sample.
        pending: the pending examples by id.
        version: the version of its last change, 0 if that has none.
        retained: what the log had to keep as of the last snapshot; the tail is not among it.
    """

    id: int
    config: bytes
    t: int
    snapshot: bytes | None
    snapshot_t: int
    tail: tuple[Entry, ...]
    producers: Mapping[str, int]
    pending: Mapping[str, PendingExample] = field(default_factory=dict)
    version: int = 0
    retained: Retained = NOT_RETAINED


REPLAY_MARK = b'"relearn":["'
"""The bytes that only the config of a replay session has: one that learns another's samples.

Engines have an index of such sessions: another mark takes a migration.
"""


class SessionSummary(NamedTuple):
    """A session as the list shows it."""

    name: str
    config: bytes
    t: int
    version: int = 0


class Version(NamedTuple):
    """The session that has a name at present, and the version of its last change."""

    session: int
    number: int


@dataclass(frozen=True)
class CreateSession:
    """A new session, with a state from elsewhere or none. A conflict if the name is taken."""

    name: str
    config: bytes
    t: int = 0
    snapshot: bytes | None = None
    producers: Mapping[str, int] = field(default_factory=dict)
    version: int = 0


class AppendSamples(NamedTuple):
    """Append the samples learnt from t on to the log. A conflict unless the session is at t.

    Here and below it is a conflict, too, if the session's version is not the expected one.
    `producer` names the sender and the number of its next sample; `pending` is what becomes of
    the ids whose labels the samples had.
    """

    session: int
    t: int
    n: int
    blob: bytes
    producer: tuple[str, int] | None = None
    pending: PendingChanges = ()
    check: VersionCheck = UNVERSIONED


@dataclass(frozen=True)
class WriteSnapshot:
    """Write the state after the n samples learnt from t on, and cut the log.

    Only the first `retained` samples stay in the log. They have to be there as whole entries;
    `blob` holds the samples learnt now, None unless they are retained.
    """

    session: int
    t: int
    n: int
    snapshot: bytes
    producer: tuple[str, int] | None = None
    pending: PendingChanges = ()
    check: VersionCheck = UNVERSIONED
    retained: Retained = NOT_RETAINED
    blob: bytes | None = None


@dataclass(frozen=True)
class UpdatePending:
    """Store and delete pending examples; nothing is learnt. A conflict unless at t."""

    session: int
    t: int
    pending: PendingChanges
    check: VersionCheck = UNVERSIONED


@dataclass(frozen=True)
class DeleteSession:
    """Delete a session and all its rows. A conflict if there is none.

    With a `version` it is a conflict, too, if the session's version is another one.
    """

    session: int
    version: int | None = None


Update = AppendSamples | WriteSnapshot | UpdatePending
"""A change of a session that exists, computed from its version."""
Change = CreateSession | Update | DeleteSession


class Written(NamedTuple):
    """A change was stored. `session` is the number of the session it was about."""

    session: int


class Conflict(NamedTuple):
    """A change was not stored, the others of its group were."""

    reason: str


Result = Written | Conflict


class Store(Protocol):
    """A store of sessions.

    `write` takes a group of changes, applies them in order as one transaction, and returns when
    they are durable, with a result for each. If it raises, nothing of the group was stored, or
    that is unknown: the caller reads what there is before it goes on.
    """

    def write(self, group: Sequence[Change]) -> list[Result]:
        """Store a group of changes durably; each succeeds or conflicts by itself."""
        ...

    def load(self, name: str) -> StoredSession | None:
        """Load a session, None if there is none. Raises `Damaged`."""
        ...

    def read_log(self, session: int, start: int, end: int, nbytes: int) -> Sequence[Entry] | None:
        """Read the log from t = start up to t = end, None if there is no such session.

        A page ends with the entry that makes up its `nbytes` bytes. Raises `Damaged` unless entries
        follow each other without a hole.
        """
        ...

    def list(self, after: str, limit: int) -> list[SessionSummary]:
        """List at most `limit` sessions whose names follow `after`, in order."""
        ...

    def list_replays(self, after: str, limit: int) -> Sequence[SessionSummary]:
        """List the sessions whose configs have the `REPLAY_MARK`.

        It is called often; its cost grows with the number of such sessions alone.
        """
        ...

    def count(self) -> int:
        """Count the sessions."""
        ...

    def close(self) -> None:
        """Close the store."""
        ...


@runtime_checkable
class Maintainable(Store, Protocol):
    """A store that defers work which would block writers: deleting long logs."""

    def run_maintenance(self) -> bool:
        """Do a part of the deferred work durably; whether there is more."""
        ...


@runtime_checkable
class BackupCapable(Store, Protocol):
    """A store that makes backups of itself while it is used."""

    def backup(self) -> BinaryIO:
        """Copy the store as it is at this moment into a file that is deleted once closed."""
        ...


@runtime_checkable
class Sized(Store, Protocol):
    """A store that takes room on a disk."""

    def size(self) -> int:
        """Measure the bytes of all that is stored, indexes and logs included."""
        ...


@runtime_checkable
class MultiWriter(Store, Protocol):
    """A store that other processes change too, and that reports the versions of sessions."""

    def versions(self, names: Sequence[str]) -> Mapping[str, Version]:
        """Look up the sessions that have these names at present; unknown names are left out."""
        ...
