"""What numba has no cheap word for: memory in another shape, memory asked for early, and the GIL.

numba's own `reshape` calls a function at every use, as it may have to copy. Here it never has to:
the memory is contiguous, and as long as the shape says. And numba's kernels give up the GIL always
or never, where it depends on the size of a block whether that pays.
"""

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
