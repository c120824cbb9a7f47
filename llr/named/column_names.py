"""Which column a feature has: by first appearance, and beyond the most that are known by a hash."""

import zlib
from collections.abc import Sequence
from itertools import repeat
from operator import itemgetter

import numpy as np

from llr.named.feature_rows import RESERVED
from llr.types import Counts

UNKNOWN = -1


class Names:
    """The names of columns, in their order. Only ever added to, so older versions share it.

    The first `most` names have a column each. Any other name shares the column of its hash with
    whatever else has that hash; such a column is called `#` and its number.

    >>> names = Names(most=2, bits=4)
    >>> columns, added = names.columns(["b", "a", "c"], known=0)
    >>> columns.tolist(), added
    ([0, 1, 2], ['b', 'a', '#15'])
    """

    def __init__(self, most: int, bits: int, known: Sequence[str] = ()) -> None:
        self.most, self.bits = most, bits
        self._names = list(known)
        self._index = {name: column for column, name in enumerate(self._names)}

    def first(self, known: int) -> list[str]:
        """The first so many names."""
        return self._names[:known]

    def add(self, names: Sequence[str]) -> None:
        """Give these the next columns."""
        first = len(self._names)
        self._names.extend(names)  # first: a reader that finds one of them has to see it is new
        self._index.update((name, first + at) for at, name in enumerate(names))

    def copy(self, known: int) -> "Names":
        """The first so many, to go another way."""
        return Names(self.most, self.bits, self._names[:known])

    def columns(self, names: Sequence[str], known: int) -> tuple[Counts, list[str]]:
        """The columns of these names after the first `known`, and which have to be added for it."""
        found, all_known = self._all_found(names, known)
        if all_known:
            return found, []
        added: dict[str, int] = {}
        for at in np.flatnonzero(found >= known).tolist():
            found[at] = self._next(names[at], known, added)
        return found, list(added)

    def find(self, names: Sequence[str], known: int) -> Counts:
        """The columns of these names among the first `known`, UNKNOWN for those that have none."""
        columns, all_known = self._all_found(names, known)
        if all_known:
            return columns
        if known >= self.most:
            for at in np.flatnonzero(columns >= known).tolist():
                columns[at] = self._index.get(self.hashed(names[at]), known)
        columns[columns >= known] = UNKNOWN
        return columns

    def hashed(self, name: str) -> str:
        """The name of the column that this one shares."""
        return f"{RESERVED}{zlib.crc32(name.encode()) % (1 << self.bits)}"

    def _all_found(self, names: Sequence[str], known: int) -> tuple[Counts, bool]:
        """The columns of these names, or `known` or more, and whether it is clear that none is."""
        index = self._index
        try:
            found = np.array(itemgetter(*names, *names[:1])(index), np.int64)[:-1]
        except (KeyError, TypeError):  # not all are known, or there are none
            columns = map(index.get, names, repeat(known))
            return np.fromiter(columns, np.int64, len(names)), False
        return found, known == len(self._names)

    def _next(self, name: str, known: int, added: dict[str, int]) -> int:
        if known + len(added) >= self.most:
            name = self.hashed(name)
            column = self._index.get(name, known)
            if column < known:
                return column
        return added.setdefault(name, known + len(added))
