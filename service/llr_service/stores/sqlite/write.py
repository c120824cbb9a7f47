"""Groups of changes become rows: all in a few statements, or one by one if some do not fit.

A change that fails must not fail the others of its group. So errors are distinguished: an error of
the store fails the group; an error of one change has that change tried by itself.

The log of a deleted session goes a part at a time: it may have a million rows, and deleting them at
once would block all writers. A long one is noted in `discarded`, in the transaction that deletes
the session, and `collect_logs` deletes it later.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from llr_service.stores import integrity
from llr_service.stores.plan import BatchPlan, SessionPlan
from llr_service.stores.sqlite.connection import (
    DAMAGE,
    OF_ONE_CHANGE,
    Connection,
    code,
    run_all,
)
from llr_service.stores.sqlite.read import find
from llr_service.stores.store import (
    NOT_RETAINED,
    AppendSamples,
    Change,
    Conflict,
    CreateSession,
    Damaged,
    DeleteSession,
    Result,
    Retained,
    Update,
    Written,
)
from llr_service.stores.validation import Position, find_conflict, name_taken, validate

MOVE = """UPDATE sessions SET t = v.column1, t_crc = v.column2, version = v.column3,
        snapshot_t = coalesce(v.column4, snapshot_t)
    FROM (VALUES {}) AS v
    WHERE id = v.column5 AND sessions.t = v.column6 AND sessions.version = v.column7"""
"""Only a session that is where its change expects it moves."""
POSITION = "SELECT id, t, version FROM sessions WHERE id = ?"
CUT_LOG = "DELETE FROM log WHERE session = ? AND t >= ?"
ENTRY = "INSERT INTO log (session, t, n, blob, crc) VALUES {}"
PRODUCER = """INSERT INTO producers (session, producer, next, crc) VALUES {}
    ON CONFLICT DO UPDATE SET next = excluded.next, crc = excluded.crc"""
PENDING = """INSERT INTO kept (session, id, expires, learnt, blob, crc) VALUES {}
    ON CONFLICT DO UPDATE SET expires = excluded.expires, learnt = excluded.learnt,
    blob = excluded.blob, crc = excluded.crc"""
NO_LONGER_PENDING = "DELETE FROM kept WHERE (session, id) IN (VALUES {})"
SNAPSHOT = """REPLACE INTO snapshots (session, t, retained, retained_bytes, blob, crc)
    VALUES (?, ?, ?, ?, ?, ?)"""
SESSION = """INSERT INTO sessions (t, t_crc, version, snapshot_t, name, hash, config, crc)
    VALUES (?, 0, ?, ?, ?, ?, ?, 0) RETURNING id"""
SESSION_CHECKED = "UPDATE sessions SET t_crc = ?, crc = ? WHERE id = ?"


class ConflictError(Exception):
    """One of many changes does not follow the last one of its session."""


class DamageError(Exception):
    """A change came upon damage."""

    def __init__(self, change: Change, reason: object) -> None:
        super().__init__(f"{reason}")
        self.whose = whose(change)


UNFIT = (
    ConflictError,
    Damaged,
    OverflowError,
    UnicodeError,
    integrity.NotPacked,
    sqlite3.Error,
)


def of_one_change(error: BaseException) -> bool:
    """Whether an error is about one change of the group, and not about the store."""
    return not isinstance(error, sqlite3.Error) or code(error) in OF_ONE_CHANGE


def whose(change: Change) -> int | str:
    """The session a change is about: its number, or the name it shall have."""
    return change.name if isinstance(change, CreateSession) else change.session


def apply_batch(db: Connection, group: Sequence[Change]) -> list[Result]:
    """Apply a group; updates that follow each other go together. Raises one of `UNFIT`."""
    results: list[Result] = []
    for updates, run in groupby(group, lambda change: isinstance(change, Update)):
        if updates:
            results += update_all(db, [change for change in run if isinstance(change, Update)])
        else:
            results += [apply(db, change) for change in run]
    return results


def apply_individually(
    db: Connection, group: Sequence[Change], refused: Mapping[int | str, Conflict]
) -> list[Result]:
    """Apply a group so that a change that fails leaves nothing and the others stay.

    Those of the sessions in `refused` are left out. Raises `DamageError` when a session has to be:
    SQLite writes nothing more in a transaction that came upon damage.
    """
    return [refused.get(whose(change)) or _alone(db, change) for change in group]


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


def apply(db: Connection, change: Change) -> Result:
    """Apply one change. It may raise when half done, never be in conflict when half done."""
    wrong = validate(change)
    if wrong:
        return Conflict(wrong)
    if isinstance(change, CreateSession):
        return _create(db, change)
    if isinstance(change, DeleteSession):
        return _delete(db, change)
    rows = db.execute(POSITION, (change.session,)).fetchall()
    plan = BatchPlan({session: Position(t, version) for session, t, version in rows})
    result = plan.add(change)
    if isinstance(result, Written):
        _write(db, plan)
    return result


def update_all(db: Connection, updates: Sequence[Update]) -> list[Result]:
    """A few statements for any number of updates. Raises `ConflictError` unless all follow."""
    plan = BatchPlan()
    for change in updates:
        if not isinstance(change, AppendSamples) and validate(change):
            raise ConflictError
        if isinstance(plan.add(change), Conflict):
            raise ConflictError
    _write(db, plan)
    return [Written(change.session) for change in updates]


def _write(db: Connection, plan: BatchPlan) -> None:
    """Write the rows of a plan. Raises `ConflictError` if a session is not where it starts."""
    plans, before = plan.sessions.items(), db.total_changes
    run_all(db, MOVE, [_move(session, one) for session, one in plans])
    if db.total_changes - before != len(plans):
        raise ConflictError
    for session, one in plans:
        if one.cut is not None:
            db.execute(CUT_LOG, (session, one.cut))
        if one.snapshot is not None:
            t, blob, retained = one.snapshot
            _write_snapshot(db, session, t, blob, retained)
    _write_log(db, ((session, *entry) for session, one in plans for entry in one.log))
    _write_producers(
        db, ((session, *each) for session, one in plans for each in one.producers.items())
    )
    _write_pending(db, plans)


def _move(session: int, plan: SessionPlan) -> tuple[int | None, ...]:
    t, version = plan.end
    snapshot_t = plan.snapshot[0] if plan.snapshot else None
    crc = integrity.position_crc(session, t)
    return (t, crc, version, snapshot_t, session, *plan.start)


def _create(db: Connection, change: CreateSession) -> Result:
    name, config, t = change.name, change.config, change.t
    if find(db, name):
        return Conflict(name_taken(name))
    snapshot_t = None if change.snapshot is None else t
    values = (t, change.version, snapshot_t, name, integrity.name_hash(name), config)
    [(session,)] = db.execute(SESSION, values).fetchall()
    checks = (integrity.position_crc(session, t), integrity.session_crc(session, name, config))
    db.execute(SESSION_CHECKED, (*checks, session))
    if change.snapshot is not None:
        _write_snapshot(db, session, t, change.snapshot)
    _write_producers(db, ((session, *producer) for producer in change.producers.items()))
    return Written(session)


def _delete(db: Connection, change: DeleteSession) -> Result:
    rows = db.execute(POSITION, (change.session,)).fetchall()
    conflict = find_conflict(change, next((Position(*row[1:]) for row in rows), None))
    if conflict is not None:
        return conflict
    db.execute("DELETE FROM sessions WHERE id = ?", (change.session,))
    for table in ("snapshots", "producers", "kept"):
        db.execute(f"DELETE FROM {table} WHERE session = ?", (change.session,))  # noqa: S608
    discard(db, change.session)
    return Written(change.session)


def _write_snapshot(
    db: Connection, session: int, t: int, blob: bytes, retained: Retained = NOT_RETAINED
) -> None:
    crc = integrity.snapshot_crc(session, t, blob, retained)
    db.execute(SNAPSHOT, (session, t, *retained, blob, crc))


def _write_log(db: Connection, entries: Iterable[tuple[int, int, int, bytes]]) -> None:
    crc = integrity.entry_crc
    run_all(db, ENTRY, [(*entry, crc(*entry)) for entry in entries])


def _write_producers(db: Connection, producers: Iterable[tuple[int, str, int]]) -> None:
    crc = integrity.producer_crc
    run_all(db, PRODUCER, [(*producer, crc(*producer)) for producer in producers])


def _write_pending(db: Connection, plans: Iterable[tuple[int, SessionPlan]]) -> None:
    rows, gone = list[tuple[int, str, int, bool, bytes]](), list[tuple[int, str]]()
    for session, plan in plans:
        for name, row in plan.pending.items():
            if row is None:
                gone.append((session, name))
            else:
                rows.append((session, name, *row))
    run_all(db, PENDING, [(*row, integrity.pending_crc(*row)) for row in rows])
    run_all(db, NO_LONGER_PENDING, gone)


ROWS = 500
BYTES = 2**20
"""How much of a log goes at a time."""

SIZES = "SELECT t, length(blob) FROM log WHERE session = ? ORDER BY t LIMIT ?"
SHORTEN = "DELETE FROM log WHERE session = ? AND t <= ?"
LEFT = "SELECT 1 FROM log WHERE session = ? LIMIT 1"
NOTE = "INSERT OR IGNORE INTO discarded (session) VALUES (?)"
NOTED = """SELECT session, EXISTS (SELECT 1 FROM sessions WHERE id = session) FROM discarded
    ORDER BY session LIMIT 1"""
DONE = "DELETE FROM discarded WHERE session = ?"


def discard(db: Connection, session: int) -> None:
    """Delete the log of a session that is no more, or note that it is to go."""
    if _shortened(db, session):
        db.execute(NOTE, (session,))


def collect_logs(db: Connection) -> bool:
    """Delete a part of the rows noted for deletion; returns whether there were any."""
    for session, lives in db.execute(NOTED).fetchall():
        if lives or not _shortened(db, session):  # what lives was never noted: a flipped bit
            db.execute(DONE, (session,))
        return True
    return False


def _shortened(db: Connection, session: int) -> bool:
    """Delete a part of a log; whether there is more of it."""
    last, size = None, 0
    for t, nbytes in db.execute(SIZES, (session, ROWS)).fetchall():
        last, size = t, size + nbytes
        if size >= BYTES:
            break
    if last is None:
        return False
    db.execute(SHORTEN, (session, last))
    return bool(db.execute(LEFT, (session,)).fetchall())
