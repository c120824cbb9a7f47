"""Where compiled kernels are kept between processes.

numba looks only at a kernel's own file to decide whether a cached copy is still good, so the folder
is named after a digest of every source file of this package and of numba's version: an edit
anywhere compiles anew. numba can use a folder only if it may write to it, and falls back to one
beside the sources otherwise, which knows nothing of the digest. So a folder that cannot be written
(an image, a shared installation) is copied to a temporary one.
"""

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba

PACKAGE = Path(__file__).parent


@functools.cache
def folder() -> Path:
    """A folder for this version of the kernels that can be written to.

    `LLR_KERNELS` says where, else it is in the user's cache folder.
    """
    home = os.environ.get("LLR_KERNELS")
    wanted = (Path(home) if home else _user_cache() / "llr") / f"kernels-{digest()}"
    return wanted if _writable(wanted) else _copy_of(wanted)


def digest() -> str:
    """What the kernels depend on: numba and every source file."""
    found = hashlib.sha256(numba.__version__.encode())
    for source in sorted(PACKAGE.rglob("*.py")):
        found.update(source.read_bytes())
    return found.hexdigest()[:16]


@contextlib.contextmanager
def in_use() -> Iterator[None]:
    """Let numba decorate with this folder; nobody else should see its setting changed."""
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(folder())
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
