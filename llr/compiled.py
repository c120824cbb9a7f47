"""How the paper's formulas become machine code: parts, loops, kernels, and the fold of a registry.

* a **part** is a scalar formula (a model's loss, a rate's update), compiled strictly;
* a **loop** runs over the coordinates of a vector and may reorder its sums, so that it is SIMD;
* a **kernel** is an entry point called from Python: compiled once, kept on disk, free of the GIL;
* `fold` turns the parts of a registry into one function that picks the k-th of them.

A kernel that receives its parts as arguments, or closes over them, is never found in numba's disk
cache by a new process. A kernel that calls a *folded* function with an integer is. numba looks only
at the kernel's own file to decide whether a cached copy is still good, so the folder is named after
a digest of every source file of this package and of numba's version: an edit anywhere recompiles.
"""

import contextlib
import functools
import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent

# argument types of kernels: numbers, and C-contiguous aligned arrays to read or to write
INT, REAL, NOTHING, TRUTH = numba.int64, numba.float64, numba.void, numba.boolean
THREE_REALS: Any = numba.types.UniTuple(REAL, 3)  # type: ignore[no-untyped-call]
COUNTS = numba.int64[::1]
VECTOR, MATRIX, CUBE = numba.float64[::1], numba.float64[:, ::1], numba.float64[:, :, ::1]
READ_VECTOR = numba.types.Array(numba.float64, 1, "C", readonly=True)
READ_MATRIX = numba.types.Array(numba.float64, 2, "C", readonly=True)


OPTIONS: dict[str, Any] = {
    "_nrt": False,  # arrays are borrowed: no reference counts, and so slices cost nothing
    "error_model": "numpy",  # x/0 is infinite or NaN, as in the arrays around it
}


def part(formula: F) -> F:
    """Compile a scalar formula exactly as it is written."""
    return numba.njit(forceinline=True, **OPTIONS)(formula)  # type: ignore[no-any-return]


def loop(over_coordinates: F) -> F:
    """Compile a loop whose sums may be reordered and fused; NaN and infinity stay themselves."""
    reordered = numba.njit(forceinline=True, fastmath={"reassoc", "contract"}, **OPTIONS)
    return reordered(over_coordinates)  # type: ignore[no-any-return]


class Kernel:
    """An entry point for one signature, compiled or fetched from disk at its first call."""

    _announced = False
    _all: ClassVar[list["Kernel"]] = []

    def __init__(self, entry: Callable[..., Any], signature: Any) -> None:
        functools.update_wrapper(self, entry)
        self._signature = signature
        self._ready = False
        Kernel._all.append(self)
        with _numba_cache_in(cache_folder()):
            self._compiled = numba.njit(cache=True, nogil=True, **OPTIONS)(entry)

    def __call__(self, *arguments: Any) -> Any:
        """Run it."""
        if not self._ready:
            self.prepare()
        return self._compiled(*arguments)

    def prepare(self) -> None:
        """Compile, or fetch from disk; say so on stderr if this machine has not done it before."""
        if self._ready:
            return
        mark = cache_folder() / f"{self._compiled.__name__}.compiled"
        if not mark.exists() and not Kernel._announced:
            Kernel._announced = True
            sys.stderr.write("llr: compiling its kernels, once on this machine (under a minute)\n")
            sys.stderr.flush()
        self._compiled.compile(self._signature)
        self._compiled.disable_compile()  # writable arrays are good for arguments that are read
        with contextlib.suppress(OSError):  # a read-only folder: it will be compiled again
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
        self._ready = True


def prepare() -> None:
    """Compile every kernel now, or fetch it from disk, so that no first call has to wait."""
    for one in Kernel._all:
        one.prepare()


def kernel(signature: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Make an entry point with these argument types; it releases the GIL while it runs."""
    return lambda entry: Kernel(entry, signature)


def fold(parts: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """One compiled `pick(k, *arguments)` that calls `parts[k](*arguments)`.

    >>> double, square = part(lambda x: 2.0 * x), part(lambda x: x * x)
    >>> pick = fold([double, square])
    >>> pick(0, 5.0), pick(1, 5.0)
    (10.0, 25.0)
    """
    names = list(inspect.signature(parts[0]).parameters)
    arguments = ", ".join(names)
    lines = [f"def pick(k, {arguments}):"]
    lines += [f"    if k == {k}: return part_{k}({arguments})" for k in range(len(parts) - 1)]
    lines += [f"    return part_{len(parts) - 1}({arguments})"]
    scope: dict[str, Any] = {f"part_{k}": one for k, one in enumerate(parts)}
    exec("\n".join(lines), scope)  # noqa: S102 - five lines of our own, written above
    pick: Callable[..., Any] = scope["pick"]
    return part(pick)


@functools.cache
def cache_folder() -> Path:
    """Where this version of the kernels is kept: `LLR_KERNELS`, or the user's cache folder."""
    home = os.environ.get("LLR_KERNELS")
    root = Path(home) if home else _user_cache() / "llr"
    return root / f"kernels-{_digest()}"


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _digest() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(PACKAGE.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


@contextlib.contextmanager
def _numba_cache_in(folder: Path) -> Iterator[None]:
    """Numba reads the setting when it decorates a function; nobody else should see it changed."""
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        settings.CACHE_DIR = before
