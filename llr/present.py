"""Samples that name the few features they have: those columns are brought together for a step.

A table V[column, row, score] keeps all numbers of a feature side by side. For a sample its columns
are copied into W[row, score, i], the form in which every step has its vectors, and back again after
the step. So a step costs what the features present cost, whatever else is known.
"""

from llr.compiled import loop, woven
from llr.types import Counts, Vector


@woven
def gathered(V: Vector, columns: Counts, room: Vector) -> Vector:
    """W with these columns of V, in the room behind the 2·n numbers that a step works with."""
    n, rows, scores = columns.size, V.shape[1], V.shape[2]
    W = room[2 * n : (2 + rows * scores) * n]
    _gather(V.reshape(V.size), rows * scores, columns, W)
    return W.reshape(rows, scores, n)


@woven
def scatter(W: Vector, columns: Counts, V: Vector) -> None:
    """Put the columns of W back where they came from."""
    _scatter(W.reshape(W.size), V.shape[1] * V.shape[2], columns, V.reshape(V.size))


@loop
def _gather(V: Vector, m: int, columns: Counts, W: Vector) -> None:
    """Fill W, m × n, with these columns of V, which have m numbers each; four at a time."""
    n = columns.size
    for i in range(n):
        column, last = m * columns[i], m * columns[i] + m
        at = i
        while column + 4 <= last:
            a, b, c, d = V[column], V[column + 1], V[column + 2], V[column + 3]
            W[at], W[at + n], W[at + 2 * n], W[at + 3 * n] = a, b, c, d
            column, at = column + 4, at + 4 * n
        while column < last:
            W[at] = V[column]
            column, at = column + 1, at + n


@loop
def _scatter(W: Vector, m: int, columns: Counts, V: Vector) -> None:
    """The way back."""
    n = columns.size
    for i in range(n):
        column, last = m * columns[i], m * columns[i] + m
        at = i
        while column + 4 <= last:
            a, b, c, d = W[at], W[at + n], W[at + 2 * n], W[at + 3 * n]
            V[column], V[column + 1], V[column + 2], V[column + 3] = a, b, c, d
            column, at = column + 4, at + 4 * n
        while column < last:
            V[column] = W[at]
            column, at = column + 1, at + n


def room(V: Vector, most: int) -> int:
    """How many numbers of room the steps on samples of so many features need."""
    rows, scores = int(V.shape[1]), int(V.shape[2])
    return (2 + rows * scores) * most
