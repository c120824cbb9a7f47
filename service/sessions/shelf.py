"""What a session keeps under ids: x until its label comes, then that it came."""

import heapq
from collections.abc import Mapping
from hashlib import blake2b

from service.stores.store import Kept, Shelved

OVERHEAD = 400
"""Bytes an id takes beside its x: its place here, its text, its times."""

FEW = 64
"""Times that were overtaken and may stay, beside one for each that was not."""

MOST_DUE = 1_000_000
"""Bytes of what has expired that are dealt with at a time."""


class Shelf:
    """What is kept, by id, and in the order in which it expires.

    Attributes:
        nbytes: how much memory it takes, roughly.
        waiting: how many ids wait for their label.

    >>> shelf = Shelf({"a": Kept(expires=5, learnt=False, blob=b"x")})
    >>> shelf.due(4), shelf.due(5)
    ([], ['a'])
    """

    def __init__(self, kept: Mapping[str, Kept]) -> None:
        self._kept: dict[str, Kept] = {}
        self._expiring: list[tuple[int, str]] = []
        self.nbytes = self.waiting = 0
        ordered = sorted(kept.items(), key=lambda item: item[1].expires)
        self.put(tuple(ordered))

    def get(self, name: str) -> Kept | None:
        """What is kept under an id, None if nothing is."""
        return self._kept.get(name)

    def put(self, shelved: Shelved) -> None:
        """Keep and forget."""
        for name, row in shelved:
            self._count(name, self._kept.pop(name, None), -1)
            if row is not None:
                self._kept[name] = row
                heapq.heappush(self._expiring, (row.expires, name))
            self._count(name, row, 1)
        if len(self._expiring) > 2 * len(self._kept) + FEW:
            self._expiring = [(row.expires, name) for name, row in self._kept.items()]
            heapq.heapify(self._expiring)

    def due(self, now: int) -> list[str]:
        """Ids that have expired, the first to do so first; some of them if they are many."""
        found: list[tuple[int, str]] = []
        size = 0
        while self._expiring and self._expiring[0][0] <= now and size < MOST_DUE:
            expires, name = heapq.heappop(self._expiring)
            row = self._kept.get(name)
            if row is not None and row.expires == expires:  # else it is of an earlier time
                found.append((expires, name))
                size += cost(name, row)
        for one in found:
            heapq.heappush(self._expiring, one)
        return [name for _, name in found]

    def known_longest(self, nbytes: int) -> list[str]:
        """Ids that were learnt, first those learnt first, of so many bytes or all there are."""
        found: list[str] = []
        for name, row in self._kept.items():  # in the order in which they came or were learnt
            if nbytes <= 0:
                break
            if row.learnt:
                found.append(name)
                nbytes -= cost(name, row)
        return found

    @property
    def first(self) -> Kept | None:
        """Something that waits for its label, None if nothing does."""
        return next((row for row in self._kept.values() if not row.learnt), None)

    @property
    def first_due(self) -> int | None:
        """When there may be something due, None if nothing is kept."""
        return self._expiring[0][0] if self._expiring else None

    def _count(self, name: str, row: Kept | None, sign: int) -> None:
        if row is not None:
            self.nbytes += sign * cost(name, row)
            self.waiting += sign * (not row.learnt)


def cost(name: str, row: Kept) -> int:
    """The bytes that are kept under an id, roughly."""
    return OVERHEAD + len(name) + len(row.blob)


def mark(blob: bytes) -> bytes:
    """What is left of an x once it is learnt: enough to tell it from another."""
    return blake2b(blob, digest_size=16).digest()


def holds(row: Kept, blob: bytes) -> bool:
    """Whether a row is about this very x."""
    return row.blob == (mark(blob) if row.learnt else blob)
