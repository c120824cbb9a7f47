"""The kernels that go over numbers once: to find what must not be there, to compare with labels."""

import math

from llr import models
from llr.compiled import (
    CUBE,
    INT,
    NOTHING,
    READ_MATRIX,
    READ_VECTOR,
    REAL,
    TRUTH,
    VECTOR,
    kernel,
)
from llr.types import Vector
from llr.vectors import probe


@kernel(TRUTH(CUBE, VECTOR, VECTOR), long=False)
def is_finite(V: Vector, scalars: Vector, statistics: Vector) -> bool:
    """Whether every number of the state is finite."""
    total = probe(scalars) + probe(statistics)
    for row in range(V.shape[0]):
        for k in range(V.shape[1]):
            total += probe(V[row, k])
    return total == 0.0


@kernel(INT(READ_MATRIX), long=False)
def first_not_finite(X: Vector) -> int:
    """The first row with a number that is not finite, or −1."""
    for i in range(X.shape[0]):
        if probe(X[i]) != 0.0:
            return i
    return -1


@kernel(INT(INT, REAL, READ_VECTOR), long=False)
def first_refused(model: int, p: float, y: Vector) -> int:
    """The first label that is not finite or not in the model's domain, or −1."""
    for i in range(y.size):
        if not math.isfinite(y[i]) or not models.admits(model, y[i], p):
            return i
    return -1


@kernel(NOTHING(INT, REAL, READ_VECTOR, VECTOR), long=False)
def subtract_least(model: int, p: float, y: Vector, losses: Vector) -> None:
    """Leave of each loss what is beyond the least that its label allows, 0 or more."""
    for i in range(y.size):
        losses[i] = max(losses[i] - models.least(model, y[i], p), 0.0)
