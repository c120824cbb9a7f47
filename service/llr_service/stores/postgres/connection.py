"""A line to the database: one connection, on an event loop that runs only while it is used."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import cycle
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg
from asyncpg import Connection
from asyncpg import exceptions as pg
from asyncpg.connect_utils import SessionAttribute

from llr_service.stores.postgres import schema
from llr_service.stores.postgres.errors import ERRORS, certain, meaning
from llr_service.stores.postgres.schema import LOCKS, lock_of
from llr_service.stores.postgres.url import Address
from llr_service.stores.store import StoreError, StoreInUse, StoreUnavailable

log = logging.getLogger("llr_service")
R = TypeVar("R")
Work = Callable[[Connection], Awaitable[R]]

PAUSE = 0.25
"""Seconds after a failure to connect in which it is not tried again."""
TURNS = 5
"""Turns of the loop in which a good-bye, the end of its stream and what follows are dealt with."""
HOUR = 3600.0
"""Seconds that tables may take to be made or changed."""
GRACE = 2.0
"""Seconds the server has to give up by itself, beyond which it is not waited for."""


class PostgresConnection:
    """A connection that comes back by itself. Used by one thread at a time."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._loop = asyncio.new_event_loop()
        self._connection: Connection | None = None
        self._failed: tuple[float, StoreError] | None = None

    def run(self, work: Work[R], where: object = "", seconds: float | None = None) -> R:
        """Do some work on the connection, within so many seconds.

        Raises a `StoreError`. Unless the server said itself what failed, the connection is given
        up.
        """
        most = self._address.timeout + GRACE if seconds is None else seconds
        try:
            return self._loop.run_until_complete(self._run(work, most))
        except ERRORS as error:
            if not certain(error):
                self._hang_up()
            raise meaning(error, where or self._address.shown) from error
        except BaseException:
            self._hang_up()
            raise

    def connect(self) -> None:
        """Connect if that was not done. Raises a `StoreError`."""
        self.run(_nothing)

    def close(self) -> None:
        """Hang up for good."""
        self._loop.run_until_complete(self._leave())
        self._loop.close()

    async def _run(self, work: Work[R], seconds: float) -> R:
        connection = await self._connected()
        return await _within(seconds, connection, work(connection))

    async def _connected(self) -> Connection:
        for _ in range(TURNS):  # what the server said while nobody listened is heard now
            await asyncio.sleep(0)
        if self._connection is not None and self._connection.is_closed():
            self._hang_up()
        if self._connection is None:
            self._connection = await self._dialled()
        return self._connection

    async def _dialled(self) -> Connection:
        """A new connection to a server that is as it has to be."""
        if self._failed and time.monotonic() - self._failed[0] < PAUSE:
            raise self._failed[1]
        try:
            connection = await self._opened()
        except StoreError as failure:
            if self._failed is None:
                log.warning("the database cannot be used", extra={"why": str(failure)})
            self._failed = time.monotonic(), failure
            raise
        if self._failed is not None:
            log.info("the database is back", extra={"database": self._address.shown})
        self._failed = None
        return connection

    async def _opened(self) -> Connection:
        connection = await dial(self._address)
        try:
            await self._made_ready(connection)
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def _made_ready(self, connection: Connection) -> None:
        address = self._address
        soon = address.timeout + GRACE
        try:
            await _within(soon, connection, meet(connection, address))
            old = await _within(soon, connection, schema.version(connection, address.schema))
            if address.migrate and old < schema.KNOWN:
                await _within(HOUR, connection, schema.migrate(connection, address.schema))
            await _within(soon, connection, self._entered(connection))
        except StoreError as refusal:
            raise type(refusal)(f"{address.shown} cannot be used: {refusal}") from None
        except ERRORS as error:
            raise meaning(error, f"{address.shown} cannot be used") from error

    async def _entered(self, connection: Connection) -> None:
        await schema.check(connection, self._address.schema)
        await take(connection, self._address)

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _leave(self) -> None:
        if self._connection is not None:
            try:
                await self._connection.close(timeout=GRACE)
            except ERRORS:
                self._connection.terminate()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


async def _within(seconds: float, connection: Connection, work: Awaitable[R]) -> R:
    """What comes of some work, if it comes in time; else its connection is cut, which ends it.

    To cancel it would not do: it would wait for the server once more, to end what it began.
    """
    doing = asyncio.ensure_future(work)
    await asyncio.wait([doing], timeout=seconds)
    if doing.done():
        return doing.result()
    connection.terminate()
    await asyncio.wait([doing], timeout=GRACE)
    doing.cancel()
    doing.add_done_callback(lambda done: done.cancelled() or done.exception())
    raise TimeoutError


async def _nothing(_: Connection) -> None:
    """What is done to have a connection."""


LONGEST = 5.0
"""Seconds a host has to answer, at most."""


async def dial(address: Address) -> Connection:
    """A connection to the first host that takes writes. Raises `StoreUnavailable`."""
    failures = []
    for dsn in each_host(address.dsn):
        try:
            return await asyncpg.connect(
                dsn,
                timeout=min(LONGEST, address.timeout),
                server_settings={"application_name": "llr"},
                target_session_attrs=SessionAttribute.read_write,
            )
        except pg.TargetServerAttributeNotMatched as error:
            failures.append(_failure(f"{address.shown}: {STANDBY}", error))
        except (*ERRORS, ValueError) as error:
            why = str(error) or "no answer in time"
            failures.append(_failure(f"{address.shown} cannot be reached: {why}", error))
    raise failures[-1]


def _failure(said: str, cause: Exception) -> StoreUnavailable:
    failure = StoreUnavailable(said)
    failure.__cause__ = cause
    return failure


def each_host(dsn: str) -> Iterator[str]:
    """The URL of each host of a URL.

    >>> [*each_host("postgresql://me@db1:1,db2/llr?sslmode=disable")]
    ['postgresql://me@db1:1/llr?sslmode=disable', 'postgresql://me@db2/llr?sslmode=disable']
    >>> [*each_host("postgresql://me@/llr?host=db1,db2&port=1,2")]
    ['postgresql://me@/llr?host=db1&port=1', 'postgresql://me@/llr?host=db2&port=2']
    """
    parts = urlsplit(dsn)
    who, at, hosts = parts.netloc.rpartition("@")
    if hosts:
        yield from (urlunsplit(parts._replace(netloc=who + at + one)) for one in hosts.split(","))
        return
    options = dict(parse_qsl(parts.query))
    ports = cycle(options.get("port", "").split(","))
    for host, port in zip(options.get("host", "").split(","), ports, strict=False):
        told = options | {name: one for name, one in (("host", host), ("port", port)) if one}
        yield urlunsplit(parts._replace(query=urlencode(told, safe="/")))


OLDEST = 140000
ABOUT = """SELECT current_setting('server_version_num')::int AS version,
    pg_is_in_recovery() AS standby,
    current_setting('fsync') AS fsync,
    current_setting('full_page_writes') AS full_page_writes,
    current_setting('synchronous_commit') AS synchronous_commit"""
WHOLE_TABLES = ("enable_seqscan", "enable_hashjoin", "enable_mergejoin")
"""Ways to go through all of a table: plans are made while tables are small, and kept."""
IDLE = 1.0
"""Seconds a service may be silent within a transaction, whose locks others wait for."""
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
    """How a connection is to be: what it may wait for, where the tables are."""
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


async def meet(connection: Connection, address: Address) -> None:
    """Say how the connection is to be, and see whom it is with."""
    await settle(connection, address)
    await trust(connection)


async def settle(connection: Connection, address: Address) -> None:
    """Set all that, by a statement: a pooler would not pass on what is asked at first."""
    wanted = settings(address)
    await connection.fetch(SET, [*wanted], [*wanted.values()])


async def trust(connection: Connection) -> None:
    """Refuse a server that does not keep what it acknowledges, and ask for the full promise."""
    [about] = await connection.fetch(ABOUT)
    if about["standby"]:
        raise StoreUnavailable(STANDBY)
    if about["version"] < OLDEST:
        raise StoreError(f"it is of version {about['version'] // 10000}, too old")
    for name, why in NEEDED.items():
        if about[name] == "off":
            raise StoreError(f"its setting {name} is off: {why}. Set {name} = on")
    if about["synchronous_commit"] != "remote_apply":
        await connection.execute("SET synchronous_commit = on")


async def take(connection: Connection, address: Address) -> None:
    """Have the store together with other services, or for oneself alone."""
    how = "pg_try_advisory_lock" + ("" if address.alone else "_shared")
    asked = f"SELECT {how}($1, $2)"
    if not await connection.fetchval(asked, LOCKS, lock_of(address.schema, "use")):
        who = "a service" if address.alone else "a move to or from it"
        raise StoreInUse(f"it is in use by {who}")
