"""Loops over the coordinates of vectors: products, updates, and columns of named features.

A sample with named features has only a few columns of the table; a step works on those alone.

A table V[column, row, score] keeps all numbers of a feature side by side. For a sample its columns
are copied into W[row, score, i], the form in which every step has its vectors, and back again after
the step. So a step costs what the features present cost, whatever else is known.
"""

from llr.kernels.intrinsics import ask_for, four_in, four_out, shaped, two_in, two_out
from llr.kernels.jit import inline_source, simd_loop
from llr.types import Counts, Vector


@simd_loop
def dot(a: Vector, x: Vector) -> float:
    """a·x over the length of a."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * x[i]
    return total


@simd_loop
def dots(a: Vector, b: Vector, x: Vector) -> tuple[float, float]:
    """a·x and b·x in one pass."""
    to_a, to_b = 0.0, 0.0
    for i in range(x.size):
        to_a += a[i] * x[i]
        to_b += b[i] * x[i]
    return to_a, to_b


@simd_loop
def move(v: Vector, scale: float, step: float, x: Vector) -> None:
    """v ← scale · (v + step·x)."""
    for i in range(x.size):
        v[i] = scale * (v[i] + step * x[i])


@simd_loop
def pull(v: Vector, scale: float, step: float, x: Vector, share: float, s: Vector) -> None:
    """v ← scale · (v + step·x + share·s)."""
    for i in range(x.size):
        v[i] = scale * (v[i] + step * x[i] + share * s[i])


@simd_loop
def probe(v: Vector) -> float:
    """0 if every coordinate is finite, else NaN."""
    total = 0.0
    for i in range(v.size):
        total += 0.0 * v[i]
    return total


LINE = 8


@inline_source
def gather(V: Vector, more: int, columns: Counts, room: Vector) -> Vector:
    """W with these columns of V and `more` rows, in the room behind 2·n numbers for the step."""
    n, rows, scores = columns.size, V.shape[1], V.shape[2]
    W = room[2 * n : (2 + (rows + more) * scores) * n]
    _gather(shaped(V, (V.size,)), rows * scores, columns, W)
    return shaped(W, (rows + more, scores, n))  # type: ignore[no-any-return]


@inline_source
def scatter(W: Vector, columns: Counts, V: Vector) -> None:
    """Put the columns of W back where they came from."""
    _scatter(shaped(W, (W.size,)), V.shape[1] * V.shape[2], columns, shaped(V, (V.size,)))


@simd_loop
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


@simd_loop
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


@simd_loop
def prefetch(V: Vector, columns: Counts) -> None:
    """Prefetch these columns of V if they fill cache lines."""
    m, flat = V.shape[1] * V.shape[2], shaped(V, (V.size,))
    for i in range(columns.size if m >= LINE else 0):
        ask_for(flat, m * columns[i])


def scratch_size(V: Vector, more: int, most: int) -> int:
    """How many numbers of scratch the steps on samples of so many features need."""
    rows, scores = int(V.shape[1]), int(V.shape[2])
    return (2 + (rows + more) * scores) * most
