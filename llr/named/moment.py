"""A link in the past of a table: what its columns were before the next replacement."""

import functools

import numpy as np

from llr.types import Counts, Vector


class Moment:
    """The time between two replacements of columns.

    Attributes:
        columns: those that were replaced at its end, none while it lasts.
        values: what they were until then.
        next: the moment after, None while it lasts.
    """

    columns: Counts
    values: Vector
    next: "Moment | None" = None

    def end(self, columns: Counts, values: Vector) -> "Moment":
        """Keep what is going to be replaced; returns the moment after."""
        self.columns, self.values, self.next = columns, values, Moment()
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
