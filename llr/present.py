"""Samples that name the few features they have: those columns are brought together for a step.

A table V[column, row, score] keeps all numbers of a feature side by side. For a sample its columns
are copied into W[row, score, i], the form in which every step has its vectors, and back again after
the step. So a step costs what the features present cost, whatever else is known.
"""

from llr.compiled import loop, woven
from llr.tiles import four_in, four_out, two_in, two_out
from llr.types import Counts, Vector
from llr.views import ask_for, shaped

LINE = 8


@woven
def gathered(V: Vector, more: int, columns: Counts, room: Vector) -> Vector:
    """W with these columns of V and `more` rows, in the room behind 2·n numbers for the step."""
    n, rows, scores = columns.size, V.shape[1], V.shape[2]
    W = room[2 * n : (2 + (rows + more) * scores) * n]
    _gather(shaped(V, (V.size,)), rows * scores, columns, W)
    return shaped(W, (rows + more, scores, n))  # type: ignore[no-any-return]


@woven
def scatter(W: Vector, columns: Counts, V: Vector) -> None:
    """Put the columns of W back where they came from."""
    _scatter(shaped(W, (W.size,)), V.shape[1] * V.shape[2], columns, shaped(V, (V.size,)))


@loop
def _gather(V: Vector, m: int, columns: Counts, W: Vector) -> None:
    """Fill W, m × n, with these columns of V, which have m numbers each, two or more."""
    n, tall = columns.size, 4 if m >= 4 else 2
    for i in range(n if n < 4 else 0):
        for k in range(m):
            W[k * n + i] = V[m * columns[i] + k]
    for tile in range(0, n if n >= 4 else 0, 4):
        i = min(tile, n - 4)  # the last tile may move some columns twice
        a, b, c, d = m * columns[i], m * columns[i + 1], m * columns[i + 2], m * columns[i + 3]
        for high in range(0, m, tall):
            k = min(high, m - tall)
            if tall == 4:
                four_in(V, a + k, b + k, c + k, d + k, W, k * n + i, n)
            else:
                two_in(V, a + k, b + k, c + k, d + k, W, k * n + i, n)


@loop
def _scatter(W: Vector, m: int, columns: Counts, V: Vector) -> None:
    """The way back."""
    n, tall = columns.size, 4 if m >= 4 else 2
    for i in range(n if n < 4 else 0):
        for k in range(m):
            V[m * columns[i] + k] = W[k * n + i]
    for tile in range(0, n if n >= 4 else 0, 4):
        i = min(tile, n - 4)  # the last tile may move some columns twice
        a, b, c, d = m * columns[i], m * columns[i + 1], m * columns[i + 2], m * columns[i + 3]
        for high in range(0, m, tall):
            k = min(high, m - tall)
            if tall == 4:
                four_out(V, a + k, b + k, c + k, d + k, W, k * n + i, n)
            else:
                two_out(V, a + k, b + k, c + k, d + k, W, k * n + i, n)


@loop
def expect(V: Vector, columns: Counts) -> None:
    """Have these columns of V come near while something else is done, if they fill cache lines."""
    m, flat = V.shape[1] * V.shape[2], shaped(V, (V.size,))
    for i in range(columns.size if m >= LINE else 0):
        ask_for(flat, m * columns[i])


def room(V: Vector, more: int, most: int) -> int:
    """How many numbers of room the steps on samples of so many features need."""
    rows, scores = int(V.shape[1]), int(V.shape[2])
    return (2 + (rows + more) * scores) * most
