"""How the paper's formulas become machine code: parts, loops, kernels, and the fold of a registry.

* a **part** is a scalar formula (a model's loss, a rate's update), compiled strictly;
* a large part is left **apart** from what calls it, or **woven** into the one place that does;
* a **loop** runs over the coordinates of a vector and may reorder its sums, so that it is SIMD;
* a **kernel** is an entry point called from Python: compiled once and kept on disk;
* `fold` turns the parts of a registry into one function that picks the k-th of them;
* `with_parts` makes copies of a formula that differ in the parts they call.

A kernel that receives its parts as arguments, or closes over them, is never found in numba's disk
cache by a new process. A kernel that calls a *folded* function with an integer is, and so is one
whose parts are globals.
"""

import contextlib
import functools
import inspect
import sys
import threading
import types
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

import numba

from llr import kernel_cache

F = TypeVar("F", bound=Callable[..., Any])


# argument types of kernels: numbers, and C-contiguous aligned arrays to read or to write
INT, REAL, NOTHING, TRUTH = numba.int64, numba.float64, numba.void, numba.boolean
PAIR: Any = numba.types.UniTuple(REAL, 2)  # type: ignore[no-untyped-call]
COUNTS = numba.int64[::1]
VECTOR, MATRIX, CUBE = numba.float64[::1], numba.float64[:, ::1], numba.float64[:, :, ::1]
READ_COUNTS = numba.types.Array(numba.int64, 1, "C", readonly=True)
READ_VECTOR = numba.types.Array(numba.float64, 1, "C", readonly=True)
READ_MATRIX = numba.types.Array(numba.float64, 2, "C", readonly=True)


OPTIONS: dict[str, Any] = {
    "_nrt": False,  # arrays are borrowed: no reference counts, and so slices cost nothing
    "error_model": "numpy",  # x/0 is infinite or NaN, as in the arrays around it
}


def part(formula: F) -> F:
    """Compile a scalar formula exactly as it is written."""
    return _compiled(formula, forceinline=True)  # type: ignore[no-any-return]


def apart(formula: F) -> F:
    """A part that stays a function of its own: large, or seldom called, or called in many places.

    A kernel is compiled the faster, and runs the slower by a few nanoseconds a call.
    """
    return _compiled(formula)  # type: ignore[no-any-return]


def woven(formula: F) -> F:
    """A part that is written into what calls it before that is compiled, not compiled alone first.

    For a large part, or a formula, that is called in one place: compiling is done once, not twice.
    """
    plain = getattr(formula, "py_func", formula)
    return _compiled(plain, inline="always")  # type: ignore[no-any-return]


def loop(over_coordinates: F) -> F:
    """Compile a loop whose sums may be reordered and fused; NaN and infinity stay themselves."""
    return _compiled(  # type: ignore[no-any-return]
        over_coordinates, forceinline=True, fastmath={"reassoc", "contract"}
    )


def _compiled(formula: Callable[..., Any], **options: Any) -> Any:
    """What takes a tuple of arrays is never called from Python, and is spared the way in."""
    kinds = inspect.get_annotations(formula).values()
    if any(isinstance(kind, type) and issubclass(kind, tuple) for kind in kinds):
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(**OPTIONS, **options)(formula)


class Kernel:
    """An entry point for one signature, compiled or fetched from disk at its first call.

    Its arguments must be of the types in its signature; only their dimensions are checked. To find
    out the types of arguments at every call takes numba as long as a step of ten features.
    """

    _all: ClassVar[list["Kernel"]] = []
    _turn = threading.Lock()
    _announced = False

    def __init__(self, entry: Callable[..., Any], signature: Any, long: bool) -> None:
        functools.update_wrapper(self, entry)
        self._signature = signature
        self._ready, self._run = False, self._first_call
        with kernel_cache.in_use():
            self._compiled = numba.njit(cache=True, nogil=long, **OPTIONS)(entry)
        Kernel._all.append(self)

    def __call__(self, *arguments: Any) -> Any:
        """Run it."""
        return self._run(*arguments)

    def _first_call(self, *arguments: Any) -> Any:
        self.prepare()
        return self._compiled(*arguments)

    def prepare(self) -> None:
        """Compile, or fetch from disk; say so on stderr if this machine has not done it before."""
        with Kernel._turn:
            if self._ready:
                return
            mark = kernel_cache.folder() / f"{self._compiled.__name__}.compiled"
            if not mark.exists() and not Kernel._announced:
                Kernel._announced = True
                sys.stderr.write("llr: compiling its kernels, once on this machine: a minute\n")
                sys.stderr.flush()
            run = self._compiled.compile(self._signature)
            self._compiled.disable_compile()  # writable arrays will do for those that are read
            with contextlib.suppress(OSError):
                mark.touch()
            self._ready, self._run = True, run


def prepare() -> None:
    """Compile every kernel now, or fetch it from disk, so that no first call has to wait."""
    for one in Kernel._all:
        one.prepare()


def kernel(signature: Any, long: bool = True) -> Callable[[Callable[..., Any]], Kernel]:
    """Make an entry point with these argument types.

    It releases the GIL while it runs if it always runs for `long`. One that only has a look at
    numbers does not: to get the GIL back from another thread would take longer than the look. The
    kernels of `llr.block` decide it by the size of the block.
    """
    return lambda entry: Kernel(entry, signature, long)


def with_parts(
    formula: Callable[..., Any], name: str, **parts: Callable[..., Any]
) -> Callable[..., Any]:
    """The same formula by another name, with these parts in place of its globals of their names.

    It is in the same file at the same line, so the copies of a kernel are found in the disk cache,
    each under its name.
    """
    copy = types.FunctionType(formula.__code__, formula.__globals__ | parts, name)
    copy.__qualname__, copy.__doc__ = name, formula.__doc__
    copy.__annotations__ = formula.__annotations__
    return copy


def fold(
    parts: Sequence[Callable[..., Any]], as_a: Callable[..., Any] = part
) -> Callable[..., Any]:
    """One compiled `pick(k, *arguments)` that calls `parts[k](*arguments)`.

    >>> double, square = part(lambda x: 2.0 * x), part(lambda x: x * x)
    >>> pick = fold([double, square])
    >>> pick(0, 5.0), pick(1, 5.0)
    (10.0, 25.0)
    """
    names = list(inspect.signature(parts[0]).parameters)
    arguments = ", ".join(names)
    lines = [f"def pick(place, {arguments}):"]
    lines += [f"    if place == {k}: return part_{k}({arguments})" for k in range(len(parts) - 1)]
    lines += [f"    return part_{len(parts) - 1}({arguments})"]
    scope: dict[str, Any] = {f"part_{k}": one for k, one in enumerate(parts)}
    exec("\n".join(lines), scope)  # noqa: S102 - five lines of our own, written above
    pick: Callable[..., Any] = scope["pick"]
    return as_a(pick)  # type: ignore[no-any-return]
