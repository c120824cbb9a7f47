"""What a session keeps under ids: x until its label comes, then that it came.

Under the empty id, which nobody can give, it keeps how many labels came and how many did not.
"""

import heapq
from collections.abc import Mapping
from itertools import islice
from struct import Struct
from typing import NamedTuple

from llr_service.sessions.moments import DIGEST, Passed, digest, passed, x_of
from llr_service.stores.store import PendingChanges, PendingExample

OVERHEAD = 400
"""Bytes an id takes beside its x: its place here, its text, its times."""

FEW = 64
"""Times that were overtaken and may stay, beside one for each that was not."""

MOST_DUE = 1_000_000
"""Bytes of what has expired that are dealt with at a time."""


COUNTS, NEVER = "", 2**63 - 1
_COUNTS = Struct("<qq")


class Counts(NamedTuple):
    """Labels of a session that came and were learnt, and those that did not come in time."""

    learnt: int = 0
    expired: int = 0


class Shelf:
    """What is kept, by id, and in the order in which it expires.

    Attributes:
        nbytes: how much memory it takes, roughly.
        waiting: how many ids wait for their label.
        counts: how many have stopped waiting.

    >>> shelf = Shelf({"a": PendingExample(expires=5, learnt=False, blob=b"x")})
    >>> shelf.due(4), shelf.due(5)
    ([], ['a'])
    """

    def __init__(self, kept: Mapping[str, PendingExample]) -> None:
        self._kept: dict[str, PendingExample] = {}
        self._expiring: list[tuple[int, str]] = []
        self.nbytes = self.waiting = 0
        self.counts = Counts()
        ordered = sorted(kept.items(), key=lambda item: item[1].expires)
        self.put(tuple(ordered))

    def get(self, name: str) -> PendingExample | None:
        """What is kept under an id, None if nothing is. While it waits its blob is x alone."""
        row = self._kept.get(name)
        return row if row is None or row.learnt else row._replace(blob=x_of(row.blob))

    def stored(self, name: str) -> PendingExample | None:
        """What is kept under an id as the store has it, None if nothing is."""
        return self._kept.get(name)

    def size(self, name: str) -> int:
        """How many bytes are kept under an id, none if it is not known."""
        row = self._kept.get(name)
        return 0 if row is None else len(row.blob)

    def counted(self, learnt: int = 0, expired: int = 0) -> PendingChanges:
        """What is to be kept when so many more have come, or expired."""
        counts = _COUNTS.pack(self.counts.learnt + learnt, self.counts.expired + expired)
        return ((COUNTS, PendingExample(NEVER, True, counts)),)

    def passed(self, most: int) -> list[Passed]:
        """When the last labels were predicted for and learnt, the first of them first."""
        known = (passed(row.blob) for row in reversed(self._kept.values()) if row.learnt)
        last = islice((each for each in known if each is not None), most)
        return sorted(last, key=lambda each: each.learnt.t)

    def put(self, shelved: PendingChanges) -> None:
        """Keep and forget."""
        for name, row in shelved:
            if name == COUNTS:
                self.counts = Counts(*_COUNTS.unpack(row.blob)) if row else Counts()
                continue
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

    def overdue(self, now: int) -> bool:
        """Whether something may have expired."""
        return bool(self._expiring) and self._expiring[0][0] <= now

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
    def first(self) -> PendingExample | None:
        """Something that waits for its label, None if nothing does."""
        found = next((name for name, row in self._kept.items() if not row.learnt), None)
        return None if found is None else self.get(found)

    @property
    def first_due(self) -> int | None:
        """When there may be something due, None if nothing is kept."""
        return self._expiring[0][0] if self._expiring else None

    def _count(self, name: str, row: PendingExample | None, sign: int) -> None:
        if row is not None:
            self.nbytes += sign * cost(name, row)
            self.waiting += sign * (not row.learnt)


def cost(name: str, row: PendingExample) -> int:
    """The bytes that are kept under an id, roughly."""
    of_x = row.blob[:DIGEST] if row.learnt else x_of(row.blob)
    return OVERHEAD + len(name) + len(of_x)


def holds(row: PendingExample, x: bytes) -> bool:
    """Whether a row is about this very x."""
    return row.blob[:DIGEST] == digest(x) if row.learnt else x_of(row.blob) == x
