"""One row of a learner's past, written by the kernel, and the range since the last one.

A row is t, log η, η, loss, regret, then coordinates of θ, then the least and the largest of η, of
the loss and of θ's first coordinates since the row before: what swings at every sample would not
show in every stride-th row. The range widens sample by sample where a step writes θ in place;
where θ is only written when somebody looks, its range is that of the rows.
"""

from llr.compiled import apart, loop, part
from llr.layout import ETA, LOG_ETA, LOSS, POINTS, REGRET, THETA, T
from llr.types import Counts, Vector
from llr.views import shaped

COLUMNS = 5
RANGED = 8
"""Coordinates of θ whose range is kept."""
NUMBERS = 2
"""What has a range before them: η and the loss."""


@loop
def _widen(low: Vector, high: Vector, values: Vector) -> None:
    for i in range(low.size):
        low[i] = values[i] if values[i] < low[i] else low[i]
        high[i] = values[i] if values[i] > high[i] else high[i]


@part
def widen_numbers(named: bool, since: Vector, scalars: Vector, V: Vector) -> None:  # noqa: ARG001
    """Take η and the loss into the range since the last row."""
    eta, loss = scalars[ETA], scalars[LOSS]
    since[0, 0], since[1, 0] = min(since[0, 0], eta), max(since[1, 0], eta)
    since[0, 1], since[1, 1] = min(since[0, 1], loss), max(since[1, 1], loss)


@part
def widen(named: bool, since: Vector, scalars: Vector, V: Vector) -> None:
    """The same, and θ, unless V has only the columns of a sample of named features."""
    widen_numbers(named, since, scalars, V)
    if not named:
        _widen(since[0][NUMBERS:], since[1][NUMBERS:], shaped(V, (V.size,)))  # θ is first in V


@apart
def record(history: Vector, counts: Counts, scalars: Vector, since: Vector, V: Vector) -> None:
    """Keep the state as it is, with as many coordinates of θ as the row has room for."""
    row = history[counts[POINTS]]
    row[0] = counts[T]
    row[1] = scalars[LOG_ETA]
    row[2] = scalars[ETA]
    row[3] = scalars[LOSS]
    row[4] = scalars[REGRET]
    widen(False, since, scalars, V)
    end = row.size - since.size
    for c in range(end - COLUMNS):
        row[COLUMNS + c] = V[THETA, c // V.shape[2], c % V.shape[2]]
    for side in range(2):
        for c in range(since.shape[1]):
            row[end + side * since.shape[1] + c] = since[side, c]
            since[side, c] = row[COLUMNS + c - NUMBERS] if c >= NUMBERS else row[2 + c]
    counts[POINTS] += 1
