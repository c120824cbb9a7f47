"""Tiles of four columns: from numbers side by side in a column to numbers side by side in a row.

A loop that moves single numbers takes three times as long, so these few lines are written in the
language of the machine: a tile is read as vectors, turned by shuffles, and written as vectors.
"""

from collections.abc import Callable, Sequence
from typing import Any

from numba import types

from llr.views import arrays, code, written

Build = Callable[[Any, Sequence[Any]], list[Any]]
ir = code.ir
NUMBER = 8


def _shuffled(builder: Any, one: Any, other: Any, *places: int) -> Any:
    kind = ir.VectorType(ir.IntType(32), len(places))
    return builder.shuffle_vector(one, other, ir.Constant(kind, list(places)))


def _turned(builder: Any, tile: Sequence[Any]) -> list[Any]:
    """Four vectors of four numbers, rows for columns."""
    a, b, c, d = tile
    even = [_shuffled(builder, *pair, 0, 4, 2, 6) for pair in ((a, b), (c, d))]
    odd = [_shuffled(builder, *pair, 1, 5, 3, 7) for pair in ((a, b), (c, d))]
    first = [_shuffled(builder, *half, 0, 1, 4, 5) for half in (even, odd)]
    return first + [_shuffled(builder, *half, 2, 3, 6, 7) for half in (even, odd)]


def _two_rows(builder: Any, tile: Sequence[Any]) -> list[Any]:
    """Two rows of four numbers, from four columns of two."""
    a, b, c, d = tile
    halves = [_shuffled(builder, *pair, 0, 1, 2, 3) for pair in ((a, b), (c, d))]
    return [_shuffled(builder, *halves, *places) for places in ((0, 2, 4, 6), (1, 3, 5, 7))]


def _four_columns(builder: Any, tile: Sequence[Any]) -> list[Any]:
    """Four columns of two numbers, from two rows of four."""
    return [_shuffled(builder, *tile, place, place + 4) for place in range(4)]


def _vector(context: Any, builder: Any, kind: Any, array: Any, at: Any, size: int) -> Any:
    """Where `size` numbers of an array stand as one vector."""
    data = arrays.make_array(kind)(context, builder, array).data
    vector = ir.VectorType(ir.DoubleType(), size).as_pointer()
    return builder.bitcast(builder.gep(data, [at]), vector)


def _tile(rows: int, out: bool, turned: Build) -> Any:
    """(V, a, b, c, d, W, at, n): so many numbers from a, b, c and d on in V, and rows of W."""

    def move(typing: Any, V: Any, a: Any, b: Any, c: Any, d: Any, W: Any, at: Any, n: Any) -> Any:  # noqa: ARG001
        def build(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            V_, *columns, W_, at_, n_ = arguments
            begins = [builder.add(at_, builder.mul(n_, n_.type(row))) for row in range(rows)]
            in_V = [_vector(context, builder, V, V_, column, rows) for column in columns]
            in_W = [_vector(context, builder, W, W_, begin, 4) for begin in begins]
            source, target = (in_W, in_V) if out else (in_V, in_W)
            tile = [builder.load(place, align=NUMBER) for place in source]
            for vector, place in zip(turned(builder, tile), target, strict=True):
                builder.store(vector, place, align=NUMBER)
            return context.get_dummy_value()

        whole = types.int64
        return types.void(V, whole, whole, whole, whole, W, whole, whole), build

    return written(move)


four_in, four_out = _tile(4, False, _turned), _tile(4, True, _turned)
two_in, two_out = _tile(2, False, _two_rows), _tile(2, True, _four_columns)
