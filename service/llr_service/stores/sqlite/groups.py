"""Groups of changes: all together if they fit, one by one if they do not.

Whatever is wrong with one change shall not be the others' trouble. So an error is told apart: about
the store, and the group fails; about one change, and it is tried again by itself.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from itertools import groupby

from llr_service.stores import checksums
from llr_service.stores.sqlite.changes import MisfitError, Result, append_all, apply, keep_all
from llr_service.stores.sqlite.connection import Connection
from llr_service.stores.sqlite.failures import DAMAGE, OF_ONE_CHANGE, code
from llr_service.stores.store import Append, Change, Conflict, Create, Damaged, Keep


class DamageError(Exception):
    """A change came upon damage."""

    def __init__(self, change: Change, reason: object) -> None:
        super().__init__(f"{reason}")
        self.whose = whose(change)


UNFIT = (
    MisfitError,
    Damaged,
    OverflowError,
    UnicodeError,
    checksums.NotPacked,
    sqlite3.Error,
)


def of_one_change(error: BaseException) -> bool:
    """Whether an error is about one change of the group, and not about the store."""
    return not isinstance(error, sqlite3.Error) or code(error) in OF_ONE_CHANGE


def together(db: Connection, group: Sequence[Change]) -> list[Result]:
    """Apply a group; appends that follow each other go at once. Raises one of `UNFIT`."""
    results: list[Result] = []
    for kind, run in groupby(group, type):
        if kind is Append:
            results += append_all(db, [change for change in run if isinstance(change, Append)])
        elif kind is Keep:
            results += keep_all(db, [change for change in run if isinstance(change, Keep)])
        else:
            results += [apply(db, change) for change in run]
    return results


def one_by_one(
    db: Connection, group: Sequence[Change], refused: Mapping[int | str, Conflict]
) -> list[Result]:
    """Apply a group so that a change that fails leaves nothing and the others stay.

    Those of the sessions in `refused` are left out. Raises `DamageError` when a session has to be:
    SQLite writes nothing more in a transaction that came upon damage.
    """
    return [refused.get(whose(change)) or _alone(db, change) for change in group]


def whose(change: Change) -> int | str:
    """The session a change is about: its number, or the name it shall have."""
    return change.name if isinstance(change, Create) else change.session


def _alone(db: Connection, change: Change) -> Result:
    db.execute("SAVEPOINT one")
    try:
        result = apply(db, change)
    except UNFIT as error:
        if code(error) in DAMAGE:
            raise DamageError(change, error) from error
        if not of_one_change(error):
            raise
        db.execute("ROLLBACK TO one")
        result = Conflict(f"it cannot be kept: {error}")
    db.execute("RELEASE one")
    return result
