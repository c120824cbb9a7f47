"""The loops over coordinates that every step is made of."""

from llr.compiled import loop
from llr.types import Vector


@loop
def dot(a: Vector, x: Vector) -> float:
    """a·x over the length of a."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * x[i]
    return total


@loop
def dots(a: Vector, b: Vector, x: Vector) -> tuple[float, float]:
    """a·x and b·x in one pass."""
    to_a, to_b = 0.0, 0.0
    for i in range(x.size):
        to_a += a[i] * x[i]
        to_b += b[i] * x[i]
    return to_a, to_b


@loop
def move(v: Vector, scale: float, step: float, x: Vector) -> None:
    """v ← scale · (v + step·x)."""
    for i in range(x.size):
        v[i] = scale * (v[i] + step * x[i])


@loop
def pull(v: Vector, scale: float, step: float, x: Vector, share: float, s: Vector) -> None:
    """v ← scale · (v + step·x + share·s)."""
    for i in range(x.size):
        v[i] = scale * (v[i] + step * x[i] + share * s[i])


@loop
def probe(v: Vector) -> float:
    """0 if every coordinate is finite, else NaN."""
    total = 0.0
    for i in range(v.size):
        total += 0.0 * v[i]
    return total
