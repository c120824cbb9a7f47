"""Changes become rows: one change of any kind, or many of those that come often at once."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from llr_service.stores import integrity
from llr_service.stores.sqlite.connection import (
    DAMAGE,
    OF_ONE_CHANGE,
    Connection,
    changed,
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
    PendingChanges,
    Retained,
    UpdatePending,
    WriteSnapshot,
    Written,
)
from llr_service.stores.validation import conflict_reason, name_taken, no_session, validate

Result = Written | Conflict

MOVE = """UPDATE sessions SET t = v.column1, t_crc = v.column2 FROM (VALUES {}) AS v
    WHERE id = v.column3 AND sessions.t = v.column4"""
MOVE_SNAPSHOT = "UPDATE sessions SET t = ?, t_crc = ?, snapshot_t = ? WHERE id = ? AND t = ?"
CUT_LOG = "DELETE FROM log WHERE session = ? AND t >= ?"
ENTRY = "INSERT INTO log (session, t, n, blob, crc) VALUES {}"
PRODUCER = """INSERT INTO producers (session, producer, next, crc) VALUES {}
    ON CONFLICT DO UPDATE SET next = excluded.next, crc = excluded.crc"""
KEPT = """INSERT INTO kept (session, id, expires, learnt, blob, crc) VALUES {}
    ON CONFLICT DO UPDATE SET expires = excluded.expires, learnt = excluded.learnt,
    blob = excluded.blob, crc = excluded.crc"""
FORGOTTEN = "DELETE FROM kept WHERE (session, id) IN (VALUES {})"
THERE = "SELECT 1 FROM sessions WHERE id = ? AND t = ?"
SNAPSHOT = """REPLACE INTO snapshots (session, t, retained, retained_bytes, blob, crc)
    VALUES (?, ?, ?, ?, ?, ?)"""
SESSION = """INSERT INTO sessions (t, t_crc, snapshot_t, name, hash, config, crc)
    VALUES (?, 0, ?, ?, ?, ?, 0) RETURNING id"""
SESSION_CHECKED = "UPDATE sessions SET t_crc = ?, crc = ? WHERE id = ?"


class ConflictError(Exception):
    """One of many changes did not fit."""


def append_all(db: Connection, appends: Sequence[AppendSamples]) -> list[Result]:
    """A few statements for any number of appends. Raises `MisfitError` unless all fit."""
    moves, before = _moves(appends), changed(db)
    run_all(db, MOVE, moves)
    if changed(db) - before != len(moves):
        raise ConflictError
    _log(db, [(a.session, a.t, a.n, a.blob) for a in appends])
    numbers = {(a.session, a.producer[0]): a.producer[1] for a in appends if a.producer}
    _number(db, [(*whose, number) for whose, number in numbers.items()])
    _shelve(db, [(a.session, a.pending) for a in appends if a.pending])
    return [Written(a.session) for a in appends]


def keep_all(db: Connection, keeps: Sequence[UpdatePending]) -> list[Result]:
    """Keep and forget for any number of changes. Raises `MisfitError` unless all fit."""
    for session, t in {(keep.session, keep.t) for keep in keeps}:
        if not _is_at(db, session, t):
            raise ConflictError
    _shelve(db, [(keep.session, keep.pending) for keep in keeps])
    return [Written(keep.session) for keep in keeps]


def _moves(appends: Sequence[AppendSamples]) -> list[tuple[int, int, int, int]]:
    """Each session goes once, from where its first append starts to where its last one ends."""
    spans: dict[int, tuple[int, int]] = {}
    for append in appends:
        start, end = spans.get(append.session, (append.t, append.t))
        if end != append.t:
            raise ConflictError
        spans[append.session] = (start, append.t + append.n)
    crc = integrity.position_crc
    return [(end, crc(session, end), session, start) for session, (start, end) in spans.items()]


def apply(db: Connection, change: Change) -> Result:
    """Apply one change. It may raise when half done, never be in conflict when half done."""
    wrong = validate(change)
    if wrong:
        return Conflict(wrong)
    match change:
        case CreateSession():
            return _create(db, change)
        case AppendSamples():
            return _append(db, change)
        case WriteSnapshot():
            return _replace(db, change)
        case UpdatePending():
            return _keep(db, change)
        case DeleteSession():
            return _delete(db, change)


def _append(db: Connection, change: AppendSamples) -> Result:
    try:
        return append_all(db, [change])[0]
    except ConflictError:
        return _elsewhere(db, change)


def _keep(db: Connection, change: UpdatePending) -> Result:
    try:
        return keep_all(db, [change])[0]
    except ConflictError:
        return _elsewhere(db, change)


def _replace(db: Connection, change: WriteSnapshot) -> Result:
    session, t = change.session, change.t + change.n
    before = changed(db)
    db.execute(MOVE_SNAPSHOT, (t, integrity.position_crc(session, t), t, session, change.t))
    if changed(db) == before:
        return _elsewhere(db, change)
    db.execute(CUT_LOG, (session, change.retained.samples))
    _log(db, [] if change.blob is None else [(session, change.t, change.n, change.blob)])
    _keep_snapshot(db, session, t, change.snapshot, change.retained)
    _number(db, [(session, *change.producer)] if change.producer else [])
    _shelve(db, [(session, change.pending)])
    return Written(session)


def _create(db: Connection, change: CreateSession) -> Result:
    name, config, t = change.name, change.config, change.t
    if find(db, name):
        return Conflict(name_taken(name))
    snapshot_t = None if change.snapshot is None else t
    values = (t, snapshot_t, name, integrity.name_hash(name), config)
    [(session,)] = db.execute(SESSION, values).fetchall()
    checks = (integrity.position_crc(session, t), integrity.session_crc(session, name, config))
    db.execute(SESSION_CHECKED, (*checks, session))
    if change.snapshot is not None:
        _keep_snapshot(db, session, t, change.snapshot)
    _number(db, [(session, *producer) for producer in change.producers.items()])
    return Written(session)


def _delete(db: Connection, change: DeleteSession) -> Result:
    before = changed(db)
    db.execute("DELETE FROM sessions WHERE id = ?", (change.session,))
    if changed(db) == before:
        return Conflict(no_session(change.session))
    for table in ("snapshots", "producers", "kept"):
        db.execute(f"DELETE FROM {table} WHERE session = ?", (change.session,))  # noqa: S608
    discard(db, change.session)
    return Written(change.session)


def _keep_snapshot(
    db: Connection, session: int, t: int, blob: bytes, retained: Retained = NOT_RETAINED
) -> None:
    crc = integrity.snapshot_crc(session, t, blob, retained)
    db.execute(SNAPSHOT, (session, t, *retained, blob, crc))


def _log(db: Connection, entries: Iterable[tuple[int, int, int, bytes]]) -> None:
    crc = integrity.entry_crc
    run_all(db, ENTRY, [(*entry, crc(*entry)) for entry in entries])


def _number(db: Connection, producers: Iterable[tuple[int, str, int]]) -> None:
    crc = integrity.producer_crc
    run_all(db, PRODUCER, [(*producer, crc(*producer)) for producer in producers])


def _shelve(db: Connection, shelved: Sequence[tuple[int, PendingChanges]]) -> None:
    """What is kept under each id after all of these, one after the other."""
    last = {(session, name): row for session, kept in shelved for name, row in kept}
    rows = [(*whose, *row) for whose, row in last.items() if row is not None]
    run_all(db, KEPT, [(*row, integrity.pending_crc(*row)) for row in rows])
    run_all(db, FORGOTTEN, [whose for whose, row in last.items() if row is None])


def _is_at(db: Connection, session: int, t: int) -> bool:
    return bool(db.execute(THERE, (session, t)).fetchall())


def _elsewhere(db: Connection, change: AppendSamples | WriteSnapshot | UpdatePending) -> Conflict:
    rows = db.execute("SELECT t FROM sessions WHERE id = ?", (change.session,)).fetchall()
    return Conflict(conflict_reason(change, rows[0][0] if rows else None))


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


def together(db: Connection, group: Sequence[Change]) -> list[Result]:
    """Apply a group; appends that follow each other go at once. Raises one of `UNFIT`."""
    results: list[Result] = []
    for kind, run in groupby(group, type):
        if kind is AppendSamples:
            results += append_all(
                db, [change for change in run if isinstance(change, AppendSamples)]
            )
        elif kind is UpdatePending:
            results += keep_all(db, [change for change in run if isinstance(change, UpdatePending)])
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
    return change.name if isinstance(change, CreateSession) else change.session


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


def go_on(db: Connection) -> bool:
    """Delete a part of what was noted; whether there was anything."""
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
