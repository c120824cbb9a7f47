"""What Postgres's errors mean to the store."""

from psycopg import DataError, Error, IntegrityError, errors

from llr_service.stores.store import Damaged, StoreError, StoreFull, StoreUnavailable

ERRORS = (Error, OSError)
"""What a statement may raise."""

OF_ONE_CHANGE = (DataError, IntegrityError, errors.ProgramLimitExceeded)
AGAIN = (errors.DeadlockDetected, errors.SerializationFailure)
"""Nothing was stored, and only because another writer was quicker."""

DAMAGE = (errors.DataCorrupted, errors.IndexCorrupted)
OF_THE_TABLES = (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName)
LOST = ("08", "57", "25006")
"""How the codes of errors start after which a connection is not used again."""


def certain(error: BaseException) -> bool:
    """Whether the server reported itself that a statement failed, and goes on listening."""
    code = error.sqlstate if isinstance(error, Error) else None
    cancelled = isinstance(error, errors.QueryCanceled)
    return cancelled or (code is not None and not code.startswith(LOST))


def meaning(error: BaseException, where: object) -> StoreError:
    """The store's error for one of Postgres's; `where` is the database or the session."""
    said = f"{where}: {error}"
    if isinstance(error, errors.DiskFull):
        return StoreFull(f"{where}: no room on the database's disk")
    if isinstance(error, DAMAGE):
        return Damaged(said)
    if isinstance(error, OF_THE_TABLES):
        return StoreError(f"{said}: run `llr migrate`")
    return StoreUnavailable(said)
