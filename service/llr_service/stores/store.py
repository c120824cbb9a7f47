"""What a store is: a log and a snapshot per session, changed in groups, each group durable at once.

A store is plain, blocking and used by one thread (`sessions.committer`). It knows names,
numbers and bytes; what the bytes mean is the sessions' business.
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
    """What is stored for one session does not match its checksum, or has a hole."""


class Entry(NamedTuple):
    """Samples as they were learnt: `n` of them from t on, and the bytes they are kept as."""

    t: int
    n: int
    blob: bytes


class Kept(NamedTuple):
    """What is kept under an id for a label to come, or of one that was learnt.

    Attributes:
        expires: when it may be forgotten, in milliseconds since 1970.
        learnt: whether its label has come.
        blob: the bytes x is kept as; once learnt, whatever tells that x from another.
    """

    expires: int
    learnt: bool
    blob: bytes


class Retained(NamedTuple):
    """How many samples from the first one on a log keeps whatever the snapshot, and their bytes."""

    samples: int = 0
    bytes: int = 0


CUT = Retained()
"""A log that keeps nothing but its tail."""

Shelved = tuple[tuple[str, Kept | None], ...]
"""Ids, each with what is kept under it from now on; None to forget it."""


class Fence(NamedTuple):
    """Which change a change follows, where several processes share a store.

    Every change of a session has a stamp, a number no other has. Where a session is (t) does not
    tell which samples took it there, and what is kept for labels does not move it; its last stamp
    tells all of that. A store that one process has for itself may leave stamps out.

    Attributes:
        was: the stamp of the change before, 0 if that has none.
        stamp: that of the change itself.
    """

    was: int = 0
    stamp: int = 0


FREE = Fence()
"""The fence of a change that is not to be told from others."""


@dataclass(frozen=True)
class Stored:
    """All that is known of a session.

    Attributes:
        id: the session's number; a session created again under its name has another.
        config: its config as given, JSON.
        t: samples learnt in all.
        snapshot: the packed state at the time of the last snapshot, None if there is none.
        snapshot_t: samples learnt at that time, 0 without a snapshot.
        tail: samples learnt since, in order, without holes up to t.
        producers: for each producer, the number of its next sample.
        kept: for each id, what is kept under it.
        stamp: that of its last change, 0 if the store keeps none.
        retained: what the log had to keep as of the last snapshot; the tail is not among it.
    """

    id: int
    config: bytes
    t: int
    snapshot: bytes | None
    snapshot_t: int
    tail: tuple[Entry, ...]
    producers: Mapping[str, int]
    kept: Mapping[str, Kept] = field(default_factory=dict)
    stamp: int = 0
    retained: Retained = CUT


MARK = b'"relearn":["'
"""What the config of a session has that is to learn another's samples, and no other config has.

Engines keep an index of those that have it: another mark takes a migration.
"""


class Listed(NamedTuple):
    """A session as the list shows it."""

    name: str
    config: bytes
    t: int
    stamp: int = 0


class Head(NamedTuple):
    """Which session has a name at present, and the stamp of its last change."""

    session: int
    stamp: int


@dataclass(frozen=True)
class Create:
    """A new session, perhaps with a state from elsewhere. A conflict if the name is taken."""

    name: str
    config: bytes
    t: int = 0
    snapshot: bytes | None = None
    producers: Mapping[str, int] = field(default_factory=dict)
    stamp: int = 0


class Append(NamedTuple):
    """Samples learnt from t on go to the log. A conflict if the session is not at t.

    It also is one if the last change of the session is not that of the fence, here and below.

    `producer` is whose samples they were and the number of its next one; `kept` is what becomes of
    the ids whose labels they had.
    """

    session: int
    t: int
    n: int
    blob: bytes
    producer: tuple[str, int] | None = None
    kept: Shelved = ()
    fence: Fence = FREE


@dataclass(frozen=True)
class Replace:
    """n samples were learnt from t on, and this is the state after them: the log starts anew.

    Only the first `retained` samples stay in it. They have to be there, as whole entries; `blob`
    are those learnt now, None unless they are among them.
    """

    session: int
    t: int
    n: int
    snapshot: bytes
    producer: tuple[str, int] | None = None
    kept: Shelved = ()
    fence: Fence = FREE
    retained: Retained = CUT
    blob: bytes | None = None


@dataclass(frozen=True)
class Keep:
    """Something is kept or forgotten, and nothing learnt. A conflict if the session is not at t."""

    session: int
    t: int
    kept: Shelved
    fence: Fence = FREE


@dataclass(frozen=True)
class Delete:
    """The session and all that belongs to it goes. A conflict if there is none."""

    session: int


Change = Create | Append | Replace | Keep | Delete


class Written(NamedTuple):
    """A change was stored. `session` is the number of the session it was about."""

    session: int


class Conflict(NamedTuple):
    """A change was not stored, the others of its group were."""

    reason: str


class Store(Protocol):
    """A place to keep sessions.

    `write` takes a group of changes, applies them in order as one transaction, and returns when
    they are durable, with a result for each. If it raises, nothing of the group was stored, or it
    cannot be told: whoever goes on reads first what there is.
    """

    def write(self, group: Sequence[Change]) -> list[Written | Conflict]:
        """Store a group of changes, durably, each for itself."""
        ...

    def load(self, name: str) -> Stored | None:
        """All that is known of a session, None if there is none. Raises `Damaged`."""
        ...

    def entries(self, session: int, start: int, end: int, nbytes: int) -> Sequence[Entry] | None:
        """The log from t = start up to t = end, None if there is no such session.

        A page ends with the entry that makes up its `nbytes` bytes. Raises `Damaged` unless entries
        follow each other without a hole.
        """
        ...

    def list(self, after: str, limit: int) -> list[Listed]:
        """At most `limit` sessions whose names follow `after`, in order."""
        ...

    def marked(self, after: str, limit: int) -> Sequence[Listed]:
        """Those of the list whose configs have the `MARK`.

        It is asked often, and takes as long as there are such, however many others there are.
        """
        ...

    def count(self) -> int:
        """How many sessions there are."""
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...


@runtime_checkable
class Tidied(Store, Protocol):
    """A store that puts work off which would hold up others: what long logs leave, once deleted."""

    def tidy(self) -> bool:
        """Do a little of that, durably; whether there is more."""
        ...


@runtime_checkable
class Copied(Store, Protocol):
    """A store that makes copies of itself while it is used."""

    def copy(self) -> BinaryIO:
        """All that is stored at this moment, in a file that is gone once it is closed."""
        ...


class Seat(NamedTuple):
    """Which place of a list of stores one of them is: `at`, from 0 on, of so many `places`."""

    at: int
    places: int


@runtime_checkable
class Placed(Store, Protocol):
    """A store that remembers which place of which list it is."""

    def take_place(self, seat: Seat) -> None:
        """Be this place, now or as soon as it can be reached, unless it has another's sessions.

        Raises `StoreError` then; a store that could not be reached does at every later call.
        """
        ...


@runtime_checkable
class Shared(Store, Protocol):
    """A store that other processes change too: it keeps fences, and tells them."""

    def heads(self, names: Sequence[str]) -> Mapping[str, Head]:
        """Which sessions have these names at present; names of none are left out."""
        ...
