"""LLVM intrinsics that numba lacks: reshaped views, prefetch, 4 × 4 transposition, the GIL.

numba's own `reshape` calls a function at every use, because it may have to copy; a view of
contiguous memory never has to. numba's kernels release the GIL always or never; here it depends on
the size of the block whether that pays. A tile of four columns is read as vectors, transposed by
shuffles, and written as vectors; a loop over single numbers takes three times as long.

Tiles and prefetch save 21 to 38 % of a named `learn()` by `auto` on blocks of a linear model whose
names recur (14 to 29 % of a logistic one), and nothing where a call has one sample.
These are the favourable cases: of 9 cases of a whole named `learn()` of a block, 3 save 20 % or
more; the other 6 do not reach 20 %, and no case with single samples gains.
"""

from collections.abc import Callable, Sequence
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj

arrays: Any = arrayobj
code: Any = cgutils
written: Any = intrinsic
"""Decorates a function that writes machine code for its arguments' types."""


def _shaped(typing: Any, flat: Any, shape: Any) -> Any:  # noqa: ARG001
    made = types.Array(flat.dtype, len(shape), "C", readonly=not flat.mutable)

    def build(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        old = arrays.make_array(flat)(context, builder, arguments[0])
        new = arrays.make_array(made)(context, builder)
        sizes = code.unpack_tuple(builder, arguments[1])
        strides = [old.itemsize]
        for size in reversed(sizes[1:]):
            strides.insert(0, builder.mul(strides[0], size))
        arrays.populate_array(
            new,
            data=old.data,
            shape=sizes,
            strides=strides,
            itemsize=old.itemsize,
            meminfo=old.meminfo,
            parent=old.parent,
        )
        return new._getvalue()

    return made(flat, shape), build


def _ask_for(typing: Any, flat: Any, at: Any) -> Any:  # noqa: ARG001
    byte, number = code.voidptr_t, code.int32_t

    def build(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        array = arrays.make_array(flat)(context, builder, arguments[0])
        place = builder.bitcast(builder.gep(array.data, [arguments[1]]), byte)
        kind = code.ir.FunctionType(code.ir.VoidType(), [byte, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(prefetch, [place, number(1), number(3), number(1)])  # to write, for long, data
        return context.get_dummy_value()

    return types.void(flat, types.int64), build


shaped = written(_shaped)
"""(flat, shape): the numbers of a contiguous array in this shape; nothing is copied or checked."""

ask_for = written(_ask_for)
"""(flat, at): have the cache line with this number of a vector come near, without waiting."""


def _released(typing: Any) -> Any:  # noqa: ARG001
    def build(_context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        kind = code.ir.FunctionType(code.ir.IntType(64), [])
        return builder.call(_of_python(builder, kind, "PyEval_SaveThread"), arguments)

    return types.int64(), build


def _taken_back(typing: Any, thread: Any) -> Any:  # noqa: ARG001
    def build(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        kind = code.ir.FunctionType(code.ir.VoidType(), [code.ir.IntType(64)])
        builder.call(_of_python(builder, kind, "PyEval_RestoreThread"), arguments)
        return context.get_dummy_value()

    return types.void(types.int64), build


def _of_python(builder: Any, kind: Any, name: str) -> Any:
    """A function of Python's C interface; a pointer is as good as an integer of 64 bits."""
    return code.get_or_insert_function(builder.module, kind, name)


release_gil = written(_released)
"""release_gil() gives the GIL up and returns what `take_gil` needs; nothing may raise between."""
take_gil = written(_taken_back)
"""take_gil(thread) takes it back."""


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
