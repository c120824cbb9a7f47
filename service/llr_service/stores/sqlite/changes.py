"""Changes become rows: one change of any kind, or many of those that come often at once."""

from collections.abc import Iterable, Sequence

from llr_service.stores import checksums
from llr_service.stores.limits import no_session, not_there, taken, unfit
from llr_service.stores.sqlite.connection import Connection, changed, run_all
from llr_service.stores.sqlite.discarding import discard
from llr_service.stores.sqlite.reading import find
from llr_service.stores.store import (
    CUT,
    Append,
    Change,
    Conflict,
    Create,
    Delete,
    Keep,
    Replace,
    Retained,
    Shelved,
    Written,
)

Result = Written | Conflict

MOVE = """UPDATE sessions SET t = v.column1, t_crc = v.column2 FROM (VALUES {}) AS v
    WHERE id = v.column3 AND sessions.t = v.column4"""
MOVE_SNAPSHOT = "UPDATE sessions SET t = ?, t_crc = ?, snapshot_t = ? WHERE id = ? AND t = ?"
SHORTEN = "DELETE FROM log WHERE session = ? AND t >= ?"
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


class MisfitError(Exception):
    """One of many changes did not fit."""


def append_all(db: Connection, appends: Sequence[Append]) -> list[Result]:
    """A few statements for any number of appends. Raises `MisfitError` unless all fit."""
    moves, before = _moves(appends), changed(db)
    run_all(db, MOVE, moves)
    if changed(db) - before != len(moves):
        raise MisfitError
    _log(db, [(a.session, a.t, a.n, a.blob) for a in appends])
    numbers = {(a.session, a.producer[0]): a.producer[1] for a in appends if a.producer}
    _number(db, [(*whose, number) for whose, number in numbers.items()])
    _shelve(db, [(a.session, a.kept) for a in appends if a.kept])
    return [Written(a.session) for a in appends]


def keep_all(db: Connection, keeps: Sequence[Keep]) -> list[Result]:
    """Keep and forget for any number of changes. Raises `MisfitError` unless all fit."""
    for session, t in {(keep.session, keep.t) for keep in keeps}:
        if not _is_at(db, session, t):
            raise MisfitError
    _shelve(db, [(keep.session, keep.kept) for keep in keeps])
    return [Written(keep.session) for keep in keeps]


def _moves(appends: Sequence[Append]) -> list[tuple[int, int, int, int]]:
    """Each session goes once, from where its first append starts to where its last one ends."""
    spans: dict[int, tuple[int, int]] = {}
    for append in appends:
        start, end = spans.get(append.session, (append.t, append.t))
        if end != append.t:
            raise MisfitError
        spans[append.session] = (start, append.t + append.n)
    crc = checksums.of_head
    return [(end, crc(session, end), session, start) for session, (start, end) in spans.items()]


def apply(db: Connection, change: Change) -> Result:
    """Apply one change. It may raise when half done, never be in conflict when half done."""
    wrong = unfit(change)
    if wrong:
        return Conflict(wrong)
    match change:
        case Create():
            return _create(db, change)
        case Append():
            return _append(db, change)
        case Replace():
            return _replace(db, change)
        case Keep():
            return _keep(db, change)
        case Delete():
            return _delete(db, change)


def _append(db: Connection, change: Append) -> Result:
    try:
        return append_all(db, [change])[0]
    except MisfitError:
        return _elsewhere(db, change)


def _keep(db: Connection, change: Keep) -> Result:
    try:
        return keep_all(db, [change])[0]
    except MisfitError:
        return _elsewhere(db, change)


def _replace(db: Connection, change: Replace) -> Result:
    session, t = change.session, change.t + change.n
    before = changed(db)
    db.execute(MOVE_SNAPSHOT, (t, checksums.of_head(session, t), t, session, change.t))
    if changed(db) == before:
        return _elsewhere(db, change)
    db.execute(SHORTEN, (session, change.retained.samples))
    _log(db, [] if change.blob is None else [(session, change.t, change.n, change.blob)])
    _keep_snapshot(db, session, t, change.snapshot, change.retained)
    _number(db, [(session, *change.producer)] if change.producer else [])
    _shelve(db, [(session, change.kept)])
    return Written(session)


def _create(db: Connection, change: Create) -> Result:
    name, config, t = change.name, change.config, change.t
    if find(db, name):
        return Conflict(taken(name))
    snapshot_t = None if change.snapshot is None else t
    values = (t, snapshot_t, name, checksums.of_name(name), config)
    [(session,)] = db.execute(SESSION, values).fetchall()
    checks = (checksums.of_head(session, t), checksums.of_session(session, name, config))
    db.execute(SESSION_CHECKED, (*checks, session))
    if change.snapshot is not None:
        _keep_snapshot(db, session, t, change.snapshot)
    _number(db, [(session, *producer) for producer in change.producers.items()])
    return Written(session)


def _delete(db: Connection, change: Delete) -> Result:
    before = changed(db)
    db.execute("DELETE FROM sessions WHERE id = ?", (change.session,))
    if changed(db) == before:
        return Conflict(no_session(change.session))
    for table in ("snapshots", "producers", "kept"):
        db.execute(f"DELETE FROM {table} WHERE session = ?", (change.session,))  # noqa: S608
    discard(db, change.session)
    return Written(change.session)


def _keep_snapshot(
    db: Connection, session: int, t: int, blob: bytes, retained: Retained = CUT
) -> None:
    crc = checksums.of_snapshot(session, t, blob, retained)
    db.execute(SNAPSHOT, (session, t, *retained, blob, crc))


def _log(db: Connection, entries: Iterable[tuple[int, int, int, bytes]]) -> None:
    crc = checksums.of_entry
    run_all(db, ENTRY, [(*entry, crc(*entry)) for entry in entries])


def _number(db: Connection, producers: Iterable[tuple[int, str, int]]) -> None:
    crc = checksums.of_producer
    run_all(db, PRODUCER, [(*producer, crc(*producer)) for producer in producers])


def _shelve(db: Connection, shelved: Sequence[tuple[int, Shelved]]) -> None:
    """What is kept under each id after all of these, one after the other."""
    last = {(session, name): row for session, kept in shelved for name, row in kept}
    rows = [(*whose, *row) for whose, row in last.items() if row is not None]
    run_all(db, KEPT, [(*row, checksums.of_kept(*row)) for row in rows])
    run_all(db, FORGOTTEN, [whose for whose, row in last.items() if row is None])


def _is_at(db: Connection, session: int, t: int) -> bool:
    return bool(db.execute(THERE, (session, t)).fetchall())


def _elsewhere(db: Connection, change: Append | Replace | Keep) -> Conflict:
    rows = db.execute("SELECT t FROM sessions WHERE id = ?", (change.session,)).fetchall()
    return Conflict(not_there(change, rows[0][0] if rows else None))
