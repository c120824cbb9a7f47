"""The connection to the database: it is checked when it is made, and made again when it is lost."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

import psycopg

from llr_service.stores.postgres import schema
from llr_service.stores.postgres.driver import TimedConnection, connect
from llr_service.stores.postgres.errors import ERRORS, certain, meaning
from llr_service.stores.postgres.schema import LOCKS, lock_of
from llr_service.stores.postgres.url import Address
from llr_service.stores.store import StoreError, StoreInUse, StoreUnavailable

log = logging.getLogger("llr_service")
R = TypeVar("R")
Work = Callable[[TimedConnection], R]

PAUSE = 0.25
"""Seconds after a failure to connect in which it is not tried again."""
HOUR = 3600.0
"""Seconds that tables may take to be made or changed."""
GRACE = 2.0
"""Seconds the server has to give up by itself, beyond which it is not waited for."""


class PostgresConnection:
    """A connection that comes back by itself. Used by one thread at a time."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._connection: TimedConnection | None = None
        self._failed: tuple[float, StoreError] | None = None

    def run(self, work: Work[R], where: object = "") -> R:
        """Do some work on the connection.

        Raises a `StoreError`. Unless the server reported itself what failed, the connection is
        given up.
        """
        connection = self._connected()
        try:
            return work(self._timed(connection))
        except ERRORS as error:
            if not certain(error) or connection.closed:
                self.close()
            raise meaning(error, where or self._address.shown) from error
        except BaseException:
            self.close()
            raise

    def connect(self) -> None:
        """Connect if that was not done. Raises a `StoreError`."""
        self._connected()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _timed(self, connection: TimedConnection, seconds: float | None = None) -> TimedConnection:
        """The connection with the time it has for the next piece of work."""
        most = self._address.timeout + GRACE if seconds is None else seconds
        connection.deadline = time.monotonic() + most
        return connection

    def _connected(self) -> TimedConnection:
        if self._connection is not None and not self._connection.is_alive():
            self.close()
        if self._connection is None:
            self._connection = self._reconnected()
        return self._connection

    def _reconnected(self) -> TimedConnection:
        """A new connection to a server that is as it has to be."""
        if self._failed and time.monotonic() - self._failed[0] < PAUSE:
            raise self._failed[1]
        try:
            connection = self._opened()
        except StoreError as failure:
            if self._failed is None:
                log.warning("the database cannot be used", extra={"why": str(failure)})
            self._failed = time.monotonic(), failure
            raise
        if self._failed is not None:
            log.info("the database is back", extra={"database": self._address.shown})
        self._failed = None
        return connection

    def _opened(self) -> TimedConnection:
        connection = open_connection(self._address)
        try:
            self._make_ready(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_ready(self, connection: TimedConnection) -> None:
        address = self._address
        try:
            prepare(self._timed(connection), address)
            old = schema.version(self._timed(connection), address.schema)
            if address.migrate and old < schema.KNOWN:
                schema.migrate(self._timed(connection, HOUR), address.schema)
            schema.check(self._timed(connection), address.schema)
            claim_schema(connection, address)
        except StoreError as refusal:
            raise type(refusal)(f"{address.shown} cannot be used: {refusal}") from None
        except ERRORS as error:
            raise meaning(error, f"{address.shown} cannot be used") from error


def open_connection(address: Address) -> TimedConnection:
    """A connection to the first host that takes writes. Raises a `StoreError`."""
    try:
        return connect(address.dsn, address.timeout)
    except psycopg.ProgrammingError:  # its text may have the password
        raise StoreError(f"{address.shown}: libpq does not take this URL or its options") from None
    except ERRORS as error:
        why = STANDBY if "read-only" in str(error) else f"cannot be reached: {error}"
        raise StoreUnavailable(f"{address.shown}: {why}") from error


OLDEST = 140000
ABOUT = """SELECT current_setting('server_version_num')::int AS version,
    pg_is_in_recovery() AS standby,
    current_setting('fsync') AS fsync,
    current_setting('full_page_writes') AS full_page_writes,
    current_setting('synchronous_commit') AS synchronous_commit"""
WHOLE_TABLES = ("enable_seqscan", "enable_hashjoin", "enable_mergejoin")
"""Ways to go through all of a table: plans are made while tables are small, and kept."""
IDLE = 1.0
"""Seconds after which the server ends an idle transaction, because others wait for its locks."""
ALIVE = {"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3"}
"""Seconds of silence after which the server asks for a sign of life, how often, and how many times.

A host that is gone without a word would else keep its lock for hours.
"""
STANDBY = "it is a standby or read-only: name the primary, reads come from there too"
SET = "SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS s(name, value)"
NEEDED = {
    "fsync": "a power cut of its machine would lose or spoil everything",
    "full_page_writes": "a power cut of its machine could leave torn pages",
    "synchronous_commit": "it acknowledges what is not on its disk",
}


def settings(address: Address) -> dict[str, str]:
    """The settings of a connection: its timeouts and its schema."""
    most, idle = (f"{int(1000 * each)}ms" for each in (address.timeout, min(IDLE, address.timeout)))
    return {
        "search_path": address.schema,
        "statement_timeout": most,
        "lock_timeout": most,
        "idle_in_transaction_session_timeout": idle,
        "tcp_user_timeout": most,
        **ALIVE,
        "plan_cache_mode": "force_generic_plan",
        **dict.fromkeys(WHOLE_TABLES, "off"),
        "jit": "off",
    }


def prepare(connection: TimedConnection, address: Address) -> None:
    """Apply the settings of a connection and check its server."""
    apply_settings(connection, address)
    verify_durability(connection)


def apply_settings(connection: TimedConnection, address: Address) -> None:
    """Apply the settings with a statement: a pooler does not pass on startup options."""
    wanted = settings(address)
    connection.rows(SET, [*wanted], [*wanted.values()])


def verify_durability(connection: TimedConnection) -> None:
    """Refuse a server that may lose acknowledged commits, and require synchronous ones."""
    [about] = connection.rows(ABOUT)
    if about["standby"]:
        raise StoreUnavailable(STANDBY)
    if about["version"] < OLDEST:
        raise StoreError(f"it is of version {about['version'] // 10000}, too old")
    for name, why in NEEDED.items():
        if about[name] == "off":
            raise StoreError(f"its setting {name} is off: {why}. Set {name} = on")
    if about["synchronous_commit"] != "remote_apply":
        connection.execute("SET synchronous_commit = on")


def claim_schema(connection: TimedConnection, address: Address) -> None:
    """Lock the schema, shared with other services or exclusively. Raises `StoreInUse`."""
    how = "pg_try_advisory_lock" + ("" if address.alone else "_shared")
    asked = f"SELECT {how}($1::int, $2::int)"
    if not connection.value(asked, LOCKS, lock_of(address.schema, "use")):
        who = "a service" if address.alone else "a move to or from it"
        raise StoreInUse(f"it is in use by {who}")
