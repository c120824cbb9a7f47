"""How a file becomes a store: its folder, its lock, its settings, its version."""

import os
from pathlib import Path

from llr_service.stores.sqlite.connection import Connect, Connection
from llr_service.stores.sqlite.failures import ERRORS, at_opening
from llr_service.stores.sqlite.schema import migrate, version
from llr_service.stores.store import StoreError, StoreUnavailable

PAGES_IN_WAL = 4000
BYTES_OF_WAL = 32 * 2**20
SETTINGS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",
    f"PRAGMA wal_autocheckpoint = {PAGES_IN_WAL}",
    f"PRAGMA journal_size_limit = {BYTES_OF_WAL}",
    "PRAGMA cache_size = -32768",
    "PRAGMA cell_size_check = ON",
    "PRAGMA secure_delete = FAST",
)


def opened(path: Path, connect: Connect) -> Connection:
    """A connection that has the file for itself, at the version of this service."""
    make_folder(path.parent)
    try:
        db = connect(path)
    except ERRORS as error:
        raise at_opening(error, path) from error
    try:
        _prepare(db)
    except ERRORS as error:
        db.close()
        raise at_opening(error, path) from error
    except StoreError as error:
        db.close()
        raise type(error)(f"{path} cannot be used: {error}") from None
    return db


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, so that a power cut does not take them away again."""
    try:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for made in missing:
            _sync(made.parent)
    except OSError as error:
        raise StoreUnavailable(f"the folder {folder} cannot be made: {error.strerror}") from error


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _prepare(db: Connection) -> None:
    """Lock, then look, then change."""
    db.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    version(db)
    [(mode,)] = db.execute("PRAGMA journal_mode = WAL").fetchall()
    if mode != "wal":
        raise StoreUnavailable(f"its journal mode is {mode}, not wal")
    for setting in SETTINGS:
        db.execute(setting).fetchall()
    migrate(db)
