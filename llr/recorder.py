"""One row of a learner's past, written by the kernel: t, log η, η, loss, regret, then θ."""

from llr.compiled import apart
from llr.layout import ETA, LOG_ETA, LOSS, POINTS, REGRET, THETA, T
from llr.types import Counts, Vector

COLUMNS = 5


@apart
def record(history: Vector, counts: Counts, scalars: Vector, V: Vector) -> None:
    """Keep the state as it is, with as many coordinates of θ as the row has room for."""
    row = history[counts[POINTS]]
    row[0] = counts[T]
    row[1] = scalars[LOG_ETA]
    row[2] = scalars[ETA]
    row[3] = scalars[LOSS]
    row[4] = scalars[REGRET]
    for c in range(row.size - COLUMNS):
        row[COLUMNS + c] = V[THETA, c // V.shape[2], c % V.shape[2]]
    counts[POINTS] += 1
