"""The examples of a session that wait for their labels, by id, and a trace of those labelled.

An example is stored when a prediction with an id is made: its x, and when it was predicted. Once
its label is learnt, a digest of x and both times remain until it expires, so that a second label
for the id is recognized. The empty id, which is not valid, holds the counts of labels.
"""

import heapq
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from struct import Struct
from typing import NamedTuple

import numpy as np

from llr import NamedRows
from llr.types import Vector
from llr_service.codec import Samples, named
from llr_service.codec.samples import NAMED, NOTHING
from llr_service.stores.store import PendingChanges, PendingExample

NUMBER = np.dtype("<f8")
MARK = bytes.fromhex("0141544c4c52f87f")
"""The first bytes of an example with its time: not a finite number, so no older x has them."""
DIGEST_BYTES = 16
OVERHEAD = 400
"""Bytes of memory that an id takes beside its x: its entries, its text, its times."""
MAX_OUTDATED = 64
"""Outdated expiry times that may stay in the heap, beside one for each id."""
MAX_EXPIRED_BYTES = 1_000_000
"""Bytes of expired examples that are returned at a time."""
COUNTS_ID, NEVER = "", 2**63 - 1

_WAITING, _LEARNT, _COUNTS = Struct("<8sqq"), Struct("<16sqqqq"), Struct("<qq")


class LabelMoment(NamedTuple):
    """A moment of a session: its t, and the time in milliseconds since 1970."""

    t: int
    at: int


class LabelTiming(NamedTuple):
    """The two moments of a learnt label: when its x was predicted, and when it was learnt."""

    predicted: LabelMoment
    learnt: LabelMoment


class LabelCounts(NamedTuple):
    """The labels of a session that were learnt, and those that did not arrive in time."""

    learnt: int = 0
    expired: int = 0


class LabelSummary(NamedTuple):
    """The labels of a session at one moment: those that wait, were learnt, and expired."""

    waiting: int = 0
    learnt: int = 0
    expired: int = 0


class PendingLabels:
    """The examples of a session by id, and in the order in which they expire.

    Attributes:
        nbytes: the memory they take, roughly.
        waiting: how many ids wait for their label.
        counts: the labels learnt and expired so far.
        summary: how many labels wait, were learnt, and expired.

    >>> pending = PendingLabels({"a": PendingExample(expires=5, learnt=False, blob=b"x")})
    >>> pending.expired(4), pending.expired(5)
    ([], ['a'])
    """

    def __init__(self, examples: Mapping[str, PendingExample]) -> None:
        self._examples: dict[str, PendingExample] = {}
        self._expiring: list[tuple[int, str]] = []
        self.nbytes = self.waiting = 0
        self.counts = LabelCounts()
        self.summary = LabelSummary()
        ordered = sorted(examples.items(), key=lambda item: item[1].expires)
        self.apply(tuple(ordered))

    def get(self, name: str) -> PendingExample | None:
        """Get the example of an id, None without one. While it waits its blob is x alone."""
        row = self._examples.get(name)
        return row if row is None or row.learnt else row._replace(blob=unpack_x(row.blob))

    def get_stored(self, name: str) -> PendingExample | None:
        """Get the example of an id as it is stored, None without one."""
        return self._examples.get(name)

    def size(self, name: str) -> int:
        """Bytes of the example of an id, 0 without one."""
        row = self._examples.get(name)
        return 0 if row is None else len(row.blob)

    def count(self, learnt: int = 0, expired: int = 0) -> PendingChanges:
        """The change that adds to the counts."""
        counts = _COUNTS.pack(self.counts.learnt + learnt, self.counts.expired + expired)
        return ((COUNTS_ID, PendingExample(NEVER, True, counts)),)

    def timings(self, most: int, end: int) -> list[LabelTiming]:
        """The timings of the last labels learnt before t = end, at most so many, ordered by t."""
        known = (unpack_timing(row.blob) for row in reversed(self._examples.values()) if row.learnt)
        last = islice((each for each in known if each and each.learnt.t < end), most)
        return sorted(last, key=lambda each: each.learnt.t)

    def apply(self, changes: PendingChanges) -> None:
        """Store and delete examples."""
        for name, row in changes:
            if name == COUNTS_ID:
                self.counts = LabelCounts(*_COUNTS.unpack(row.blob)) if row else LabelCounts()
                continue
            self._account(name, self._examples.pop(name, None), -1)
            if row is not None:
                self._examples[name] = row
                heapq.heappush(self._expiring, (row.expires, name))
            self._account(name, row, 1)
        if len(self._expiring) > 2 * len(self._examples) + MAX_OUTDATED:
            self._expiring = [(row.expires, name) for name, row in self._examples.items()]
            heapq.heapify(self._expiring)
        self.summary = LabelSummary(self.waiting, *self.counts)

    def expired(self, now: int) -> list[str]:
        """Ids that have expired, in order; not all of them if they are large."""
        found: list[tuple[int, str]] = []
        size = 0
        while self._expiring and self._expiring[0][0] <= now and size < MAX_EXPIRED_BYTES:
            expires, name = heapq.heappop(self._expiring)
            row = self._examples.get(name)
            if row is not None and row.expires == expires:  # else the time is outdated
                found.append((expires, name))
                size += cost(name, row)
        for one in found:
            heapq.heappush(self._expiring, one)
        return [name for _, name in found]

    def has_expired(self, now: int) -> bool:
        """Whether an example may have expired."""
        return bool(self._expiring) and self._expiring[0][0] <= now

    def oldest_learnt(self, nbytes: int) -> list[str]:
        """Ids whose labels were learnt, oldest first, of at least so many bytes or all of them."""
        found: list[str] = []
        for name, row in self._examples.items():  # in the order in which they were stored or learnt
            if nbytes <= 0:
                break
            if row.learnt:
                found.append(name)
                nbytes -= cost(name, row)
        return found

    @property
    def first(self) -> PendingExample | None:
        """An example that waits for its label, None if none does."""
        found = next((name for name, row in self._examples.items() if not row.learnt), None)
        return None if found is None else self.get(found)

    @property
    def next_expiry(self) -> int | None:
        """The earliest time at which an example may expire, None without examples."""
        return self._expiring[0][0] if self._expiring else None

    def _account(self, name: str, row: PendingExample | None, sign: int) -> None:
        if row is not None:
            self.nbytes += sign * cost(name, row)
            self.waiting += sign * (not row.learnt)


def cost(name: str, row: PendingExample) -> int:
    """The memory of an example, roughly."""
    of_x = row.blob[:DIGEST_BYTES] if row.learnt else unpack_x(row.blob)
    return OVERHEAD + len(name) + len(of_x)


def has_x(row: PendingExample, x: bytes) -> bool:
    """Whether an example has this x."""
    return row.blob[:DIGEST_BYTES] == digest(x) if row.learnt else unpack_x(row.blob) == x


def pack_rows(X: Vector | NamedRows | None, n: int) -> list[bytes]:
    """Pack each row of X; rows are empty for models without features."""
    if X is None:
        return [b""] * n
    if isinstance(X, NamedRows):
        return [_pad(named.pack(named.slice_rows(X, i, i + 1))) for i in range(n)]
    return [row.astype(NUMBER, copy=False).tobytes() for row in X]


def unpack_rows(rows: Sequence[bytes], y: Vector, w: Vector | None = None) -> Samples:
    """Unpack rows of one width into samples with these labels, and weights if not all are 1."""
    optional = NOTHING if w is None else {"w": w}
    if packed_width(rows[0]) == NAMED:
        return Samples(NamedRows.concat([named.unpack(row)[0] for row in rows]), y, optional)
    numbers = np.frombuffer(b"".join(rows), NUMBER).astype(np.float64)
    return Samples(numbers.reshape(len(rows), -1) if numbers.size else None, y, optional)


def packed_width(row: bytes) -> int:
    """The number of features of a packed row; 0 for models without, NAMED if they have names."""
    width, odd = divmod(len(row), NUMBER.itemsize)
    return NAMED if odd else width


def _pad(packed: bytes) -> bytes:
    """Make the length of a row with names differ from that of any row of numbers."""
    return packed if len(packed) % NUMBER.itemsize else packed + b"\0"


def pack_waiting(x: bytes, predicted: LabelMoment) -> bytes:
    """Pack an example that waits for its label.

    >>> unpack_x(pack_waiting(b"12345678", LabelMoment(7, 99)))
    b'12345678'
    """
    return _WAITING.pack(MARK, *predicted) + x


def unpack_x(blob: bytes) -> bytes:
    """The x of an example that waits."""
    return blob[_WAITING.size :] if blob.startswith(MARK) else blob


def digest(x: bytes) -> bytes:
    """The digest that remains of an x once it is learnt."""
    return blake2b(x, digest_size=DIGEST_BYTES).digest()


def pack_learnt(blob: bytes, when: LabelMoment) -> bytes:
    """Pack the trace of an example that is learnt now; without times if it was stored without."""
    found = digest(unpack_x(blob))
    if not blob.startswith(MARK):
        return found
    _, t, at = _WAITING.unpack_from(blob)
    return _LEARNT.pack(found, t, at, *when)


def unpack_timing(blob: bytes) -> LabelTiming | None:
    """The timing of a learnt label, None if it was stored without."""
    if len(blob) != _LEARNT.size:
        return None
    _, t, at, *when = _LEARNT.unpack(blob)
    return LabelTiming(LabelMoment(t, at), LabelMoment(*when))
