"""What Postgres's errors mean to those who use the store."""

import asyncio

from asyncpg import InterfaceError, InternalClientError, PostgresError
from asyncpg import exceptions as pg

from llr_service.stores.store import Damaged, StoreError, StoreFull, StoreUnavailable

ERRORS = (PostgresError, InterfaceError, InternalClientError, OSError, asyncio.TimeoutError)
"""What a statement may raise."""

OF_ONE_CHANGE = (
    pg.DataError,
    pg.IntegrityConstraintViolationError,
    pg.ProgramLimitExceededError,
)
AGAIN = (pg.DeadlockDetectedError, pg.SerializationError)
"""Nothing was stored, and only because somebody else was quicker."""

DAMAGE = (pg.DataCorruptedError, pg.IndexCorruptedError)
OF_THE_TABLES = (pg.UndefinedTableError, pg.UndefinedColumnError, pg.InvalidSchemaNameError)


def certain(error: BaseException) -> bool:
    """Whether the server said itself that a statement failed, and goes on listening."""
    ends = (
        pg.PostgresConnectionError,
        pg.OperatorInterventionError,
        pg.ReadOnlySQLTransactionError,
    )
    server = isinstance(error, PostgresError)
    return (server and not isinstance(error, ends)) or isinstance(error, pg.QueryCanceledError)


def meaning(error: BaseException, where: object) -> StoreError:
    """The store's error for one of Postgres's; `where` is the database or the session."""
    said = f"{where}: {str(error) or 'no answer in time'}"
    if isinstance(error, pg.DiskFullError):
        return StoreFull(f"{where}: no room on the database's disk")
    if isinstance(error, DAMAGE):
        return Damaged(said)
    if isinstance(error, OF_THE_TABLES):
        return StoreError(f"{said}: run `llr migrate`")
    return StoreUnavailable(said)
