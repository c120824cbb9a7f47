"""The columns of a learner as they were at any moment, without a copy of all of them for each.

The newest version has its columns in a table, in place. When some of them are replaced, what they
were is kept for the versions before, which then read a column from the first moment since at whose
end it was replaced, and from the table if it never was. So going on costs what is replaced,
whatever is known; an old version costs what was replaced since, for as long as it is referenced,
and no more than a copy.

Reference: Baker, *Shallow binding makes functional arrays fast*, SIGPLAN Notices 26(8), 1991.
"""

import functools
import threading
import weakref
from collections.abc import Sequence

import numpy as np

from llr.kernels.block import reacquire, release
from llr.kernels.intrinsics import shaped
from llr.kernels.jit import CUBE, INT, NOTHING, READ_COUNTS, kernel
from llr.named.column_names import Names
from llr.state import aligned_empty
from llr.types import Counts, Vector

FIRST_ROOM = 64
MANY = 512
"""Columns from which on it pays that a copy of them starts on a cache line."""
NAME = 160
"""What a name costs in memory besides its characters."""


class Undo:
    """The time between two replacements of columns.

    Attributes:
        columns: those that were replaced at its end, none while it lasts.
        values: what they were until then.
        next: the moment after, None while it lasts.
    """

    columns: Counts
    values: Vector
    next: "Undo | None" = None

    def end(self, columns: Counts, values: Vector) -> "Undo":
        """Keep what is going to be replaced; returns the moment after."""
        self.columns, self.values, self.next = columns, values, Undo()
        return self.next

    @functools.cached_property
    def _order(self) -> Counts:
        return np.argsort(self.columns)

    def fill(self, out: Vector, wanted: Counts, left: Counts) -> Counts:
        """Write what was kept of the columns wanted; returns which of those left were not."""
        if not self.columns.size:
            return left
        ranked = self.columns[self._order]
        at = np.minimum(np.searchsorted(ranked, wanted[left]), ranked.size - 1)
        here = ranked[at] == wanted[left]
        out[left[here]] = self.values[self._order[at[here]]]
        rest: Counts = left[~here]
        return rest


class ColumnStore:
    """The columns of the newest version in place, and which older ones may still be held."""

    def __init__(self, names: Names, columns: Vector) -> None:
        self.names, self.columns = names, columns
        self.lock = threading.Lock()
        self.older: list[tuple[weakref.ref[VersionedColumns], int]] = []
        self.kept, self.limit = 0, 0

    def replace(self, columns: Counts, values: Vector, size: int) -> None:
        """Write these columns in place, with room for so many of them."""
        if size > len(self.columns):
            room = np.zeros((max(size, 2 * len(self.columns)), *self.columns.shape[1:]))
            room[: len(self.columns)] = self.columns
            self.columns = room
        store(columns, values, self.columns)

    def remember(self, version: "VersionedColumns", kept: int) -> None:
        """Another version is an old one, for which so many columns were kept."""
        self.older.append((weakref.ref(version), self.kept))
        self.kept += kept
        if self.kept > self.limit:
            self._relieve()

    def _relieve(self) -> None:
        """Where more is kept for old versions than copies of them would take, make copies."""
        held = [(version, since) for ref, since in self.older if (version := ref()) is not None]
        copies = sum(version.size for version, _ in held)
        if held and self.kept - held[0][1] > 2 * copies:
            for version, _ in held:
                version.part()
            held, copies = [], 0
        self.older = [(weakref.ref(version), since) for version, since in held]
        self.limit = self.kept + 2 * copies + FIRST_ROOM


class VersionedColumns:
    """The columns and their names at one moment; a value, which `replaced` leaves as it was.

    Attributes:
        size: how many columns there are.
        characters: how long their names are together.
    """

    def __init__(self, table: ColumnStore, size: int, characters: int, moment: Undo) -> None:
        self.size, self.characters = size, characters
        self._table, self._moment = table, moment
        self._own: Vector | None = None

    @classmethod
    def of(cls, names: Names, columns: Vector) -> "VersionedColumns":
        """A version in a table of its own with these columns, which all have names."""
        room = np.zeros((max(FIRST_ROOM, len(columns)), *columns.shape[1:]))
        room[: len(columns)] = columns
        characters = sum(map(len, names.first(len(columns))))
        return cls(ColumnStore(names, room), len(columns), characters, Undo())

    @property
    def nbytes(self) -> int:
        """How much memory columns and names take."""
        return self.size * (NAME + self._table.columns[:1].nbytes) + self.characters

    @property
    def newest(self) -> bool:
        """Whether none comes after it."""
        return self._own is None and self._moment.next is None

    @property
    def names(self) -> list[str]:
        """The names of all columns, in their order."""
        return self._table.names.first(self.size)

    def columns(self, names: Sequence[str]) -> tuple[Counts, list[str]]:
        """The columns that these names have or get, and the names to be added for it."""
        return self._table.names.columns(names, self.size)

    def find(self, names: Sequence[str]) -> Counts:
        """The columns of these names, −1 for those that have none."""
        return self._table.names.find(names, self.size)

    def read(self, wanted: Counts) -> Vector:
        """A copy of these columns; those that there are not yet, or −1, are 0."""
        table = self._table
        shape = (wanted.size, *table.columns.shape[1:])
        out: Vector = aligned_empty(shape) if wanted.size >= MANY else np.empty(shape)
        with table.lock:
            if self.newest:
                fetch(table.columns, wanted, self.size, out)
                return out
            out[:] = 0.0
            left = np.flatnonzero((wanted >= 0) & (wanted < self.size))
            moment = self._moment
            while moment.next is not None and left.size:
                left = moment.fill(out, wanted, left)
                moment = moment.next
            out[left] = self._in_place[wanted[left]]
        return out

    def whole(self) -> Vector:
        """A copy of all columns."""
        with self._table.lock:
            return self._whole()

    def copy(self) -> "VersionedColumns":
        """The same columns in a table of their own."""
        return VersionedColumns.of(self._table.names.copy(self.size), self.whole())

    def part(self) -> None:
        """Stop reading from what comes after: have a copy. The table is locked."""
        self._own = self._whole()
        self._moment = Undo()

    def replaced(self, columns: Counts, values: Vector, added: Sequence[str]) -> "VersionedColumns":
        """The version after this one, with new values in these columns and more names.

        Where there is a version after this one already, it gets a table of its own.
        """
        with self._table.lock:
            if self.newest:
                return self._replace(columns, values, added)
        return self.copy()._replace(columns, values, added)

    @property
    def _in_place(self) -> Vector:
        return self._table.columns if self._own is None else self._own

    def _whole(self) -> Vector:
        moment, past = self._moment, []
        while moment.next is not None:
            past.append(moment)
            moment = moment.next
        out: Vector = self._in_place[: self.size].copy()
        for moment in reversed(past):  # the first to have kept a column has the last word
            here = moment.columns < self.size
            out[moment.columns[here]] = moment.values[here]
        return out

    def _replace(self, columns: Counts, values: Vector, added: Sequence[str]) -> "VersionedColumns":
        table, size = self._table, self.size + len(added)
        there = columns[columns < self.size] if added else columns
        kept = np.empty((there.size, *table.columns.shape[1:]))
        fetch(table.columns, there, self.size, kept)
        moment = self._moment.end(there, kept)
        table.replace(columns, values, size)
        if added:
            table.names.add(added)
        table.remember(self, there.size)
        return VersionedColumns(table, size, self.characters + sum(map(len, added)), moment)


@kernel(NOTHING(CUBE, READ_COUNTS, INT, CUBE), long=False)
def fetch(table: Vector, wanted: Counts, size: int, out: Vector) -> None:
    """Fill `out` with these columns of the first `size`; any other is 0."""
    thread = release(out.size)
    m = out.shape[1] * out.shape[2]
    source, target = shaped(table, (table.size,)), shaped(out, (out.size,))
    for i in range(wanted.size):
        column = wanted[i]
        if 0 <= column < size:
            for k in range(m):
                target[m * i + k] = source[m * column + k]
        else:
            for k in range(m):
                target[m * i + k] = 0.0
    reacquire(thread, True)


@kernel(NOTHING(READ_COUNTS, CUBE, CUBE), long=False)
def store(columns: Counts, values: Vector, table: Vector) -> None:
    """Write the values of these columns into a table that has them all."""
    thread = release(values.size)
    m = values.shape[1] * values.shape[2]
    source, target = shaped(values, (values.size,)), shaped(table, (table.size,))
    for i in range(columns.size):
        column = columns[i]
        for k in range(m):
            target[m * column + k] = source[m * i + k]
    reacquire(thread, True)
