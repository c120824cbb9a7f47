"""What is asked of an SQLite connection, so that tests can put their own in its place."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, cast

Row = tuple[Any, ...]

SIZES = (64, 16, 4, 1)
"""Rows of a statement: few sizes, so that each is prepared once."""


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


def run_all(db: Connection, sql: str, rows: Sequence[Row]) -> None:
    """Run a statement for many rows, whose place in it is `{}`, a few dozen at a time.

    A statement at a time would do. But each one gives up the interpreter and asks for it again,
    and to be given it costs both who waits and who gives more than the statement does.
    """
    at = 0
    for size in SIZES:
        while len(rows) - at >= size:
            some = rows[at : at + size]
            db.execute(_for_many(sql, size, len(some[0])), [*chain.from_iterable(some)])
            at += size


@lru_cache
def _for_many(sql: str, rows: int, columns: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return sql.format(", ".join([row] * rows))


def changed(db: Connection) -> int:
    """How many rows this connection has changed so far."""
    [(rows,)] = db.execute("SELECT total_changes()").fetchall()
    return int(rows)
