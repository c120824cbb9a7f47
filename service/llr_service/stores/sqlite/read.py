"""Reading sessions, and believing only what fits together.

Rows have checksums. A row that is missing has none, so there is a second sign of each: a name is
found by two indexes, the log has to run up to t without a hole, the session says at what t its
snapshot is, how many producers it has and how much it keeps.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from llr_service.stores import integrity
from llr_service.stores.integrity import WHOLE_LOG, contiguous_entries
from llr_service.stores.sqlite import schema
from llr_service.stores.sqlite.connection import ERRORS, Connection, Row, passing
from llr_service.stores.store import (
    NOT_RETAINED,
    Damaged,
    Entry,
    PendingExample,
    Retained,
    SessionSummary,
    StoredSession,
)
from llr_service.stores.validation import not_text

HEAD = """SELECT id, name, config, t, version, snapshot_t, producers, kept, crc, t_crc
    FROM sessions"""
BY_NAME = f"{HEAD} INDEXED BY sessions_name WHERE name = ?"
BY_HASH = f"{HEAD} INDEXED BY sessions_hash WHERE hash = ?"
SNAPSHOT = "SELECT t, blob, retained, retained_bytes, crc FROM snapshots WHERE session = ?"
LOG = "SELECT t, n, blob, crc FROM log WHERE session = ? AND t >= ? AND t < ? ORDER BY t"
PRODUCERS = "SELECT producer, next, crc FROM producers WHERE session = ?"
KEPT = "SELECT id, expires, learnt, blob, crc FROM kept WHERE session = ?"
LISTED = "SELECT CAST(name AS BLOB), config, t, version, id, crc, t_crc FROM sessions"
LIST = f"{LISTED} WHERE name > ? ORDER BY name"
LIST_REPLAYS = (
    f"{LISTED} INDEXED BY sessions_marked WHERE name > ? AND {schema.IS_REPLAY} ORDER BY name"
)
NOT_READ = (AttributeError, TypeError, ValueError, integrity.NotPacked)
"""What comes of values of the wrong kind: a flipped bit can turn a number into text."""


class SessionRow(NamedTuple):
    """A row of `sessions`."""

    id: int
    name: str
    config: bytes
    t: int
    version: int
    snapshot_t: int | None
    producers: int
    kept: int
    crc: int
    t_crc: int


def find(db: Connection, name: str) -> SessionRow | None:
    """The row of a name, None if there is none."""
    if not_text(name):
        return None
    by_name = db.execute(BY_NAME, (name,)).fetchall()
    by_hash = db.execute(BY_HASH, (integrity.name_hash(name),)).fetchall()
    if by_name != [row for row in by_hash if row[1] == name]:
        raise Damaged(f"session {name}: the indexes differ on where it is")
    return SessionRow(*by_name[0]) if by_name else None


def load(db: Connection, name: str) -> StoredSession | None:
    """All that is known of a session, None if there is none. Raises `Damaged`."""
    with _believed(f"session {name}"):
        head = find(db, name)
        return head and _stored(db, head)


def read_log(
    db: Connection, session: int, start: int, end: int, nbytes: int
) -> Sequence[Entry] | None:
    """A page of a log, None if there is no such session. Raises `Damaged`."""
    with _believed(f"session number {session}") as whose:
        if not db.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchall():
            return None
        return [
            *contiguous_entries(_log(db, session, start, end, whose), start, end, nbytes, whose)
        ]


@contextmanager
def _believed(whose: str) -> Iterator[str]:
    """What is read inside and does not make sense is damage."""
    try:
        yield whose
    except (*ERRORS, *NOT_READ) as error:
        if passing(error):
            raise
        raise Damaged(f"{whose}: its rows cannot be read: {error}") from error


def listed(db: Connection, after: str, asked: str = LIST) -> Iterator[SessionSummary]:
    """The sessions whose names follow `after`, in order, without those that are damaged."""
    cursor = db.execute(asked, (after,))
    try:
        for row in cursor:
            found = _listed(row)
            if found:
                yield found
    finally:
        cursor.close()


def _listed(row: Row) -> SessionSummary | None:
    text, config, t, version, session, crc, t_crc = row
    try:
        name = text.decode()
        whole = crc == integrity.session_crc(session, name, config)
        return (
            SessionSummary(name, config, t, version)
            if whole and t_crc == integrity.position_crc(session, t)
            else None
        )
    except NOT_READ:
        return None


def _stored(db: Connection, head: SessionRow) -> StoredSession:
    _same(head.crc, integrity.session_crc(head.id, head.name, head.config), head, "its config")
    _same(head.t_crc, integrity.position_crc(head.id, head.t), head, "its t")
    snapshot_t, snapshot, retained = _snapshot(db, head)
    tail = _log(db, head.id, snapshot_t, WHOLE_LOG, f"session {head.name}")
    return StoredSession(
        id=head.id,
        config=head.config,
        t=head.t,
        snapshot=snapshot,
        snapshot_t=snapshot_t,
        tail=tuple(contiguous_entries(tail, snapshot_t, head.t, WHOLE_LOG, f"session {head.name}")),
        producers=_producers(db, head),
        pending=_kept(db, head),
        retained=retained,
        version=head.version,
    )


def _snapshot(db: Connection, head: SessionRow) -> tuple[int, bytes | None, Retained]:
    rows = db.execute(SNAPSHOT, (head.id,)).fetchall()
    if [row[0] for row in rows] != ([] if head.snapshot_t is None else [head.snapshot_t]):
        raise Damaged(f"session {head.name}: its snapshot is missing or of another time")
    for t, blob, samples, size, crc in rows:
        retained = Retained(samples, size)
        _same(crc, integrity.snapshot_crc(head.id, t, blob, retained), head, "its snapshot")
        return t, blob, retained
    return 0, None, NOT_RETAINED


def _log(db: Connection, session: int, start: int, end: int, whose: str) -> Iterator[Entry]:
    cursor = db.execute(LOG, (session, start, end))
    try:
        for t, n, blob, crc in cursor:
            if crc != integrity.entry_crc(session, t, n, blob):
                raise Damaged(f"{whose}: its log at {t} does not match its checksum")
            yield Entry(t, n, blob)
    finally:
        cursor.close()


def _producers(db: Connection, head: SessionRow) -> dict[str, int]:
    producers = {}
    for producer, number, crc in db.execute(PRODUCERS, (head.id,)).fetchall():
        _same(crc, integrity.producer_crc(head.id, producer, number), head, "a producer")
        producers[producer] = number
    if len(producers) != head.producers:
        raise Damaged(f"session {head.name}: {len(producers)} of {head.producers} producers")
    return producers


def _kept(db: Connection, head: SessionRow) -> dict[str, PendingExample]:
    kept = {}
    for name, expires, learnt, blob, crc in db.execute(KEPT, (head.id,)).fetchall():
        _same(
            crc, integrity.pending_crc(head.id, name, expires, learnt, blob), head, "what it keeps"
        )
        kept[name] = PendingExample(expires, bool(learnt), blob)
    if len(kept) != head.kept:
        raise Damaged(f"session {head.name}: {len(kept)} of the {head.kept} things it keeps")
    return kept


def _same(stored: int, computed: int, head: SessionRow, what: str) -> None:
    if stored != computed:
        raise Damaged(f"session {head.name}: {what} does not match its checksum")
