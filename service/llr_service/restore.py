"""`python -m llr_service.restore`, which is `llr restore`: put a backup in the place of a store.

The copy is checked first. Files of another store, its log above all, are never mixed with it.
"""

import argparse
import fcntl
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from llr_service.settings import Settings
from llr_service.stores.sqlite import PREFIX
from llr_service.stores.sqlite.checks import check_all
from llr_service.stores.sqlite.commit_witness import clear_generation
from llr_service.stores.store import StoreError, StoreInUse

PARTS = ("", "-wal", "-acked")
"""What the files of a store end with."""
FIRST_LOCK_BYTE, LOCK_BYTES = 0x40000000, 512
"""The bytes of a file that SQLite locks."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Restore; returns the exit code."""
    parser = argparse.ArgumentParser(prog="llr restore", description=__doc__)
    parser.add_argument("copy", type=Path, help="the backup, an SQLite file")
    parser.add_argument("--store", help="the URL of the store; LLR_STORE if left out")
    parser.add_argument("--replace", action="store_true", help="set aside the files that are there")
    given = parser.parse_args(arguments)
    try:
        url = given.store or Settings.from_cli([], prog="llr restore").store
        for line in restore(given.copy, _path(url), given.replace):
            sys.stdout.write(f"{line}\n")
    except (OSError, StoreError, ValueError) as failure:
        sys.stderr.write(f"llr restore: {failure}\n")
        return 1
    return 0


def restore(copy: Path, store: Path, replace: bool) -> list[str]:
    """Put a copy in the place of a store; returns what was done. Raises `StoreError`."""
    copy = copy.resolve()
    if not copy.is_file():
        raise StoreError(f"there is no file {copy}")
    log = _part(copy, "-wal")
    if log.exists() and log.stat().st_size:
        raise StoreError(f"{copy} has a log, {log.name}: stop its service, or take a backup of it")
    there = [part for part in (_part(store, end) for end in PARTS) if part.exists()]
    if there and not replace:
        names = ", ".join(part.name for part in there)
        raise StoreError(
            f"{names} of another store lie in {store.parent}: nothing was changed."
            " Move them away, or set them aside with --replace"
        )
    _refuse_if_in_use(store)
    aside = [part.with_name(f"{part.name}-replaced") for part in there]
    if taken := [path.name for path in aside if path.exists()]:
        raise StoreError(f"{', '.join(taken)} would be overwritten: move them away first")
    sessions = _checked(copy, new := _part(store, "-checking"))
    _replace(store, new, list(zip(there, aside, strict=True)))
    moved = [f"{part} is now {path.name}" for part, path in zip(there, aside, strict=True)]
    return [*moved, f"{store} is now {copy.name}, checked: {sessions} sessions"]


def _replace(store: Path, new: Path, aside: list[tuple[Path, Path]]) -> None:
    """Set the files of a store aside and put another one in its place.

    While `-restoring` is there no service opens the store, so a kill at any moment leaves nothing
    that passes for it. The log goes before the file it belongs to: without its file it is refused.
    """
    restoring = _part(store, "-restoring")
    new.rename(restoring)
    _sync(store.parent)
    for part, path in sorted(aside, reverse=True):
        part.rename(path)
    _sync(store.parent)
    restoring.rename(store)
    _sync(store.parent)


def _refuse_if_in_use(store: Path) -> None:
    """Raise `StoreInUse` if a process has SQLite's lock of a file."""
    if not store.exists():
        return
    with store.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, LOCK_BYTES, FIRST_LOCK_BYTE)
        except OSError:
            raise StoreInUse(f"{store} is in use by another process: stop it first") from None


def _checked(copy: Path, new: Path) -> int:
    """Copy a file and read every session of it. Raises `StoreError` if something is damaged."""
    _remove(new)
    try:
        shutil.copyfile(copy, new)
        found = check_all(new)
        if damaged := [each for each in found if each.damage]:
            first = damaged[0]
            whose = f"session {first.name}" if first.name else "the copy"
            raise StoreError(f"{copy} is damaged, nothing was changed: {whose}: {first.damage}")
        clear_generation(new)
        with new.open("rb") as file:
            os.fsync(file.fileno())
    except BaseException:
        _remove(new)
        raise
    _remove(new, PARTS[1:])
    return len(found)


def _remove(path: Path, ends: Sequence[str] = PARTS) -> None:
    for end in ends:
        _part(path, end).unlink(missing_ok=True)


def _path(url: str) -> Path:
    if not url.startswith(PREFIX):
        raise StoreError("a file is restored; a database has its own tools, such as pg_restore")
    return Path(url.removeprefix(PREFIX)).resolve()


def _part(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main())
