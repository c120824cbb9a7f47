"""One pass over numbers that finds invalid ones."""

import math

from llr import models
from llr.kernels.jit import (
    COUNTS,
    INT,
    READ_COUNTS,
    READ_MATRIX,
    READ_VECTOR,
    REAL,
    jit,
    kernel,
)
from llr.kernels.vectors import probe
from llr.types import Counts, Vector


@kernel(INT(READ_MATRIX), long=False)
def first_not_finite(X: Vector) -> int:
    """The first row with a number that is not finite, or −1."""
    for i in range(X.shape[0]):
        if probe(X[i]) != 0.0:
            return i
    return -1


@jit
def refused(model: int, p: float, y: Vector) -> int:
    """The first label that is not finite or not in the model's domain, or −1."""
    for i in range(y.size):
        if not math.isfinite(y[i]) or not models.admits(model, y[i], p):
            return i
    return -1


@jit
def not_weights(w: Vector) -> int:
    """The first weight that is negative or not finite, or −1."""
    for i in range(w.size):
        if not 0.0 <= w[i] < math.inf:
            return i
    return -1


@kernel(INT(READ_VECTOR), long=False)
def first_not_weight(w: Vector) -> int:
    """The same, for Python."""
    return not_weights(w)


@kernel(INT(INT, REAL, READ_VECTOR), long=False)
def first_refused(model: int, p: float, y: Vector) -> int:
    """The same, for Python."""
    return refused(model, p, y)


@kernel(INT(READ_COUNTS, READ_COUNTS, COUNTS), long=False)
def first_unsound(starts: Counts, columns: Counts, seen: Counts) -> int:
    """The first sample whose columns are not those of `llr.NamedRows`, or −1; n if names are left.

    `seen` has room for a number for each name.
    """
    known, seen[:] = 0, -1
    for i in range(starts.size - 1):
        if not 0 <= starts[i] <= starts[i + 1] <= columns.size:
            return i
        for j in range(starts[i], starts[i + 1]):
            column = columns[j]
            if not 0 <= column <= known or column >= seen.size or seen[column] == i:
                return i
            known += column == known
            seen[column] = i
    return starts.size - 1 if known < seen.size else -1
