"""What is asked of an SQLite connection, so that tests can put their own in its place."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

Row = tuple[Any, ...]


class Cursor(Protocol):
    """Rows of an answer."""

    def __iter__(self) -> Iterator[Row]:
        """One row after the other."""
        ...

    def fetchall(self) -> list[Row]:
        """All the rows."""
        ...

    def close(self) -> None:
        """Give up what was not read."""
        ...


class Connection(Protocol):
    """An open database. Its errors are `sqlite3.Error`, with SQLite's own code."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Cursor:
        """Run a statement."""
        ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> Cursor:
        """Run a statement once for each row."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


Connect = Callable[[Path], Connection]


def connect(path: Path) -> Connection:
    """A connection that starts no transactions of its own.

    It may be opened in one thread and used in another, though never in two at once.
    """
    made = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    return cast(Connection, made)


def changed(db: Connection) -> int:
    """How many rows this connection has changed so far."""
    [(rows,)] = db.execute("SELECT total_changes()").fetchall()
    return int(rows)
