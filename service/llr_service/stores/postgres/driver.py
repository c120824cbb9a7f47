"""The driver: a connection of psycopg that waits no longer than it may, and arrays as parameters.

Statements have Postgres's own placeholders, `$1`. Results and arrays travel in binary: psycopg's
own arrays take twenty times as long, and the type of one of numbers depends on the largest.
"""

import select
import time
from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any

import numpy as np
import psycopg
from psycopg import OperationalError, RawCursor
from psycopg.abc import RV, PQGen
from psycopg.adapt import Dumper
from psycopg.errors import _WaitTimeout
from psycopg.pq import ConnStatus, Format
from psycopg.rows import TupleRow, dict_row

Row = dict[str, Any]

INTERVAL = 0.1
"""Seconds between looks for a signal while the server is waited for."""
SHORTEST, LONGEST = 2, 5
"""Seconds a host has to answer when it is connected to; libpq takes no fewer."""
FOREVER = 2.0**30


class TimedConnection(psycopg.Connection[TupleRow]):
    """A connection that is closed if an answer does not come by its deadline.

    Attributes:
        deadline: until when answers are waited for, by `time.monotonic`.
    """

    deadline = FOREVER

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """Run a statement; its rows by the names of their columns."""
        return self.cursor(row_factory=dict_row, binary=True).execute(sql, values).fetchall()

    def value(self, sql: str, *values: Any) -> Any:
        """Run a statement; the first column of its first row, None if it has no rows."""
        row = self.cursor(binary=True).execute(sql, values).fetchone()
        return None if row is None else row[0]

    def wait(self, gen: PQGen[RV], interval: float = INTERVAL, timeout: float | None = None) -> RV:
        """Wait for the server as psycopg does, until the deadline if that is sooner."""
        left = max(self.deadline - time.monotonic(), 0.0)
        try:
            return super().wait(gen, interval, left if timeout is None else min(left, timeout))
        except _WaitTimeout:
            self.close()  # what it waits for may come later, and would be taken for another answer
            raise OperationalError("no answer in time") from None

    def is_alive(self) -> bool:
        """Whether the server has not hung up since it was last used, without asking it."""
        try:
            if select.select([self.pgconn.socket], [], [], 0)[0]:
                self.pgconn.consume_input()
                self.pgconn.consume_input()
        except (psycopg.Error, OSError, ValueError):
            return False
        return self.pgconn.status == ConnStatus.OK


def connect(dsn: str, seconds: float) -> TimedConnection:
    """Connect to the first host that takes writes; each has so many seconds to answer."""
    connection = TimedConnection.connect(
        dsn,
        autocommit=True,
        cursor_factory=RawCursor,
        application_name="llr",
        connect_timeout=max(SHORTEST, min(LONGEST, round(seconds))),
        target_session_attrs="read-write",
    )
    for dumper in (_BigintsDumper, _ByteasDumper):
        connection.adapters.register_dumper(dumper.of, dumper)
    return connection


class Bigints(tuple[int, ...]):
    """Numbers that go to the server as one `bigint[]`."""


class Byteas(tuple[bytes, ...]):
    """Bytes that go to the server as one `bytea[]`."""


_HEAD = Struct("!iiIii")
"""Dimensions, whether there are nulls, the type of the elements, how many, and the first index."""
_SIZE = Struct("!i")
_CELL = np.dtype([("size", ">i4"), ("value", ">i8")])


class _ArrayDumper(Dumper):
    format = Format.BINARY
    of: type
    element: int
    cells: Callable[[Any], bytes]

    def dump(self, obj: Any) -> bytes:
        if not obj:
            return _HEAD.pack(0, 0, self.element, 0, 0)[:12]
        return _HEAD.pack(1, 0, self.element, len(obj), 1) + self.cells(obj)


class _BigintsDumper(_ArrayDumper):
    of, oid, element = Bigints, 1016, 20

    def cells(self, obj: Sequence[int]) -> bytes:
        cells = np.empty(len(obj), _CELL)
        cells["size"], cells["value"] = 8, obj
        return cells.tobytes()


class _ByteasDumper(_ArrayDumper):
    of, oid, element = Byteas, 1001, 17

    def cells(self, obj: Sequence[bytes]) -> bytes:
        return b"".join([part for one in obj for part in (_SIZE.pack(len(one)), one)])
