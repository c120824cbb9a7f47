"""Columns of a table copied out of it and into it, those of a few names as fast as of many."""

from llr.block import reacquire, release
from llr.compiled import CUBE, INT, NOTHING, READ_COUNTS, kernel
from llr.types import Counts, Vector
from llr.views import shaped


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
