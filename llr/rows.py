"""A block of samples as kernels take it."""

from typing import NamedTuple

import numpy as np

from llr import present
from llr.types import Counts, Vector

NONE = np.empty(0, np.int64)
NO_NUMBERS, NO_ROWS = np.empty(0), np.empty((0, 1))
"""What a kernel is given in place of what nobody asked for."""


class Rows(NamedTuple):
    """The features of some samples.

    Attributes:
        X: a row a sample; of samples with named features one row, of all their values.
        starts: of those, where each sample begins, and where the last one ends.
        columns: of those, which column each value belongs to.
        shown: of those, the columns that go into the history.
    """

    X: Vector
    starts: Counts = NONE
    columns: Counts = NONE
    shown: Counts = NONE

    def part(self, low: int, high: int) -> "Rows":
        """The samples from `low` up to `high`."""
        if self.starts.size:
            return self._replace(starts=self.starts[low : high + 1])
        return self._replace(X=self.X[low:high])

    def room(self, vectors: Vector, more: int, own: int) -> Vector:
        """What steps on these vectors need as scratch, if named with so many rows more.

        If not named, `own` numbers more.
        """
        if not self.starts.size:
            return np.empty(2 * self.X.shape[1] + own)
        return np.empty(present.room(vectors, more, self._widest))

    @property
    def _widest(self) -> int:
        """How many columns are brought together at a time, at most."""
        if self.starts.size == 2:
            return max(self.columns.size, self.shown.size)
        return int(np.diff(self.starts).max(initial=self.shown.size))
