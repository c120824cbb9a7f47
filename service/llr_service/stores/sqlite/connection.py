"""What is asked of an SQLite connection, so that tests can put their own in its place."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, cast

from llr_service.stores.store import Damaged, StoreError, StoreFull, StoreInUse, StoreUnavailable

Row = tuple[Any, ...]

MOST_ROWS = 64
"""Rows of a statement, at most."""
PREPARED = 512
"""Statements that stay prepared: one for each number of rows, of a handful of tables."""


class Cursor(Protocol):
    """Rows of an answer."""

    def __iter__(self) -> Iterator[Row]:
        """One row after the other."""
        ...

    def fetchall(self) -> list[Row]:
        """All the rows."""
        ...

    def close(self) -> None:
        """Discard the rows that were not read."""
        ...


class Connection(Protocol):
    """An open database. Its errors are `sqlite3.Error`, with SQLite's own code."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...

    @property
    def total_changes(self) -> int:
        """How many rows this connection has changed so far."""
        ...

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Cursor:
        """Run a statement."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


Connect = Callable[[Path], Connection]


def connect(path: Path) -> Connection:
    """A connection that starts no transactions of its own.

    It may be opened in one thread and used in another, though never in two at once.
    """
    made = sqlite3.connect(
        path,
        timeout=0,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=PREPARED,
    )
    return cast(Connection, made)


def run_all(db: Connection, sql: str, rows: Sequence[Row]) -> None:
    """Run a statement for many rows, whose place in it is `{}`, a few dozen at a time.

    A statement a row would do. But each one gives up the interpreter and asks for it again, and to
    be given it costs both who waits and who gives more than the statement does.
    """
    for at in range(0, len(rows), MOST_ROWS):
        some = rows[at : at + MOST_ROWS]
        db.execute(_for_many(sql, len(some), len(some[0])), [*chain.from_iterable(some)])


@lru_cache(PREPARED)
def _for_many(sql: str, rows: int, columns: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return sql.format(", ".join([row] * rows))


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
    """Whether an error is transient, rather than a sign of damaged data."""
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
