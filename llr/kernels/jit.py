"""Decorators that compile the paper's formulas with numba, and the disk cache of the kernels.

* `inline_jit` compiles a scalar formula (a model's loss, a rate's update) and inlines it;
* `jit` compiles a large formula and leaves it a function of its own;
* `inline_source` copies a formula into its one caller before that is compiled;
* `simd_loop` compiles a loop over coordinates whose sums may be reordered, so that it is SIMD;
* `kernel` makes an entry point that Python calls: compiled once and kept on disk;
* `dispatch` makes one function of a registry's formulas, chosen by an integer;
* `specialize` copies a formula with other functions in place of its globals.

numba never finds a kernel in its disk cache if the kernel receives functions as arguments or closes
over them. It does find a kernel that calls a dispatcher, or functions that are globals.

**The disk cache.** numba looks only at a kernel's own file to decide whether a cached copy is still
good, so the folder is named after a digest of every source file of this package and of numba's
version: an edit anywhere compiles again. numba can use a folder only if it may write to it, and
falls back to one beside the sources otherwise, which knows nothing of the digest. So a folder that
cannot be written (an image, a shared installation) is copied to a temporary one.
"""

import contextlib
import functools
import hashlib
import inspect
import os
import shutil
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numba

PACKAGE = Path(__file__).parent.parent


@functools.cache
def cache_folder() -> Path:
    """A folder for this version of the kernels that can be written to.

    `LLR_KERNELS` says where, else it is in the user's cache folder.
    """
    home = os.environ.get("LLR_KERNELS")
    wanted = (Path(home) if home else _user_cache() / "llr") / f"kernels-{source_digest()}"
    return wanted if _writable(wanted) else _copy_of(wanted)


def source_digest() -> str:
    """What the kernels depend on: numba and every source file; `compat` has no kernels."""
    found = hashlib.sha256(numba.__version__.encode())
    for source in sorted({*PACKAGE.rglob("*.py")} - {*(PACKAGE / "compat").rglob("*.py")}):
        found.update(source.read_bytes())
    return found.hexdigest()[:16]


@contextlib.contextmanager
def use_cache() -> Iterator[None]:
    """Let numba decorate with this folder, and restore its setting afterwards."""
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(cache_folder())
    try:
        yield
    finally:
        settings.CACHE_DIR = before


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())


def _writable(wanted: Path) -> bool:
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=wanted):
            return True
    except OSError:
        return False


def _copy_of(wanted: Path) -> Path:
    room = Path(tempfile.mkdtemp(prefix="llr-kernels-"))
    with contextlib.suppress(OSError, shutil.Error):
        shutil.copytree(wanted, room, dirs_exist_ok=True)
    return room


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


def inline_jit(formula: F) -> F:
    """Compile a scalar formula exactly as it is written, inlined into its callers."""
    return _compiled(formula, forceinline=True)  # type: ignore[no-any-return]


def jit(formula: F) -> F:
    """Compile a formula that is large, seldom called, or called in many places; never inline it.

    Kernels that call it compile faster; each call takes a few nanoseconds more.
    """
    return _compiled(formula)  # type: ignore[no-any-return]


def inline_source(formula: F) -> F:
    """Copy a formula into its caller before the caller is compiled.

    For a large formula with one caller: it is compiled once, not twice.
    """
    plain = getattr(formula, "py_func", formula)
    return _compiled(plain, inline="always")  # type: ignore[no-any-return]


def simd_loop(over_coordinates: F) -> F:
    """Compile a loop whose sums may be reordered and fused; NaN and infinity stay themselves."""
    return _compiled(  # type: ignore[no-any-return]
        over_coordinates, forceinline=True, fastmath={"reassoc", "contract"}
    )


def _compiled(formula: Callable[..., Any], **options: Any) -> Any:
    """Compile it, without wrappers for Python if it takes a tuple of arrays."""
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
        with use_cache():
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
            mark = cache_folder() / f"{self._compiled.__name__}.compiled"
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
    kernels of `llr.kernels.block` decide it by the size of the block.
    """
    return lambda entry: Kernel(entry, signature, long)


def specialize(
    formula: Callable[..., Any], name: str, **functions: Callable[..., Any]
) -> Callable[..., Any]:
    """Copy a formula under another name, with these functions in place of its globals.

    The copy keeps its file and line, so numba finds each copy of a kernel in the disk cache under
    its own name.
    """
    copy = types.FunctionType(formula.__code__, formula.__globals__ | functions, name)
    copy.__qualname__, copy.__doc__ = name, formula.__doc__
    copy.__annotations__ = formula.__annotations__
    return copy


def dispatch(
    functions: Sequence[Callable[..., Any]], compile_with: Callable[..., Any] = inline_jit
) -> Callable[..., Any]:
    """One compiled `pick(k, *arguments)` that calls `functions[k](*arguments)`.

    >>> double, square = inline_jit(lambda x: 2.0 * x), inline_jit(lambda x: x * x)
    >>> pick = dispatch([double, square])
    >>> pick(0, 5.0), pick(1, 5.0)
    (10.0, 25.0)
    """
    names = list(inspect.signature(functions[0]).parameters)
    arguments = ", ".join(names)
    lines = [f"def pick(which, {arguments}):"]
    lines += [f"    if which == {k}: return f_{k}({arguments})" for k in range(len(functions) - 1)]
    lines += [f"    return f_{len(functions) - 1}({arguments})"]
    scope: dict[str, Any] = {f"f_{k}": one for k, one in enumerate(functions)}
    exec("\n".join(lines), scope)  # noqa: S102 - five lines of our own, written above
    pick: Callable[..., Any] = scope["pick"]
    return compile_with(pick)  # type: ignore[no-any-return]
