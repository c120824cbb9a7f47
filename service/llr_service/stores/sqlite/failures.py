"""What SQLite's errors mean to those who use the store."""

import sqlite3

from llr_service.stores.store import Damaged, StoreError, StoreFull, StoreInUse, StoreUnavailable

ERRORS = (sqlite3.Error, MemoryError, UnicodeDecodeError)
"""What a statement may raise; the last one when a damaged schema is quoted in a message."""

DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
PASSING = LOCKED | {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
}
OF_ONE_CHANGE = {
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_TOOBIG,
}


def code(error: BaseException) -> int:
    """SQLite's primary code of an error, `SQLITE_ERROR` if it has none."""
    if isinstance(error, MemoryError):
        return sqlite3.SQLITE_NOMEM
    if isinstance(error, UnicodeDecodeError):
        return sqlite3.SQLITE_CORRUPT
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def passing(error: BaseException) -> bool:
    """Whether an error says something about the moment, not about what is stored."""
    return code(error) in PASSING


def meaning(error: BaseException, where: object) -> StoreError:
    """The store's error for one of SQLite's; `where` is the file or the session."""
    kind = code(error)
    if kind == sqlite3.SQLITE_FULL:
        return StoreFull(f"{where}: no room on the disk")
    if passing(error):
        return StoreUnavailable(f"{where}: {error}")
    if kind in DAMAGE:
        return Damaged(f"{where}: {error}")
    return StoreError(f"{where}: {error}")


def at_opening(error: BaseException, path: object) -> StoreError:
    """The same while a file is being opened, when the lock and the format come to light."""
    if code(error) in LOCKED:
        return StoreInUse(f"{path} is in use by another process")
    if code(error) == sqlite3.SQLITE_NOTADB:
        return StoreError(f"{path} is not a database")
    return meaning(error, f"{path} cannot be opened")
