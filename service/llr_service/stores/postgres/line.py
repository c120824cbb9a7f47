"""A line to the database: one connection, on an event loop that runs only while it is used."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from asyncpg import Connection

from llr_service.stores.postgres import schema, seating, server
from llr_service.stores.postgres.address import Address
from llr_service.stores.postgres.dialling import dial
from llr_service.stores.postgres.failures import ERRORS, certain, meaning
from llr_service.stores.store import Seat, StoreError

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


class Line:
    """A connection that comes back by itself. Used by one thread at a time.

    Attributes:
        seat: which place of a list the database has to be, None if that does not matter.
    """

    def __init__(self, address: Address) -> None:
        self.seat: Seat | None = None
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
            await _within(soon, connection, server.meet(connection, address))
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
        await server.take(connection, self._address)
        if self.seat is not None:
            await seating.take(connection, self.seat)

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
