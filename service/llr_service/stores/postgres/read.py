"""Reading sessions, and believing only what fits together.

A session is read by one statement, so that no commit can change it in between.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llr_service.stores import integrity
from llr_service.stores.integrity import WHOLE_LOG, contiguous_entries
from llr_service.stores.postgres import schema
from llr_service.stores.postgres.driver import Byteas, Row, TimedConnection
from llr_service.stores.store import (
    Damaged,
    Entry,
    PendingExample,
    Retained,
    SessionSummary,
    StoredSession,
    Version,
)
from llr_service.stores.validation import not_text

LOAD = """WITH head AS (SELECT * FROM sessions WHERE name = $1)
    SELECT 'head' AS kind, id AS session, t AS a, version AS b, t_crc AS c, crc,
        NULL::bytea AS text, config AS blob, snapshot_t FROM head
    UNION ALL SELECT 'snapshot', session, s.t, retained, retained_bytes, s.crc, NULL, blob, NULL
        FROM snapshots AS s JOIN head ON id = session
    UNION ALL SELECT 'entry', session, l.t, n, NULL, l.crc, NULL, blob, NULL
        FROM log AS l JOIN head ON id = session AND l.t >= coalesce(snapshot_t, 0)
    UNION ALL SELECT 'producer', session, next, NULL, NULL, p.crc, producer, NULL, NULL
        FROM producers AS p JOIN head ON id = session
    UNION ALL SELECT 'kept', session, expires, learnt::int, NULL, k.crc, k.id, blob, NULL
        FROM kept AS k JOIN head ON head.id = session"""
LISTED = "SELECT id, name, config, t, version, crc, t_crc FROM sessions"
LIST = f"{LISTED} WHERE name > $1 ORDER BY name LIMIT $2"
LIST_REPLAYS = f"{LISTED} WHERE name > $1 AND {schema.IS_REPLAY} ORDER BY name LIMIT $2"
VERSIONS = "SELECT name, id, version FROM sessions WHERE name = ANY($1::bytea[])"
LOG = """SELECT t, n, blob, crc FROM log WHERE session = $1 AND t >= $2 AND t < $3
    ORDER BY t LIMIT $4"""
THERE = "SELECT 1 FROM sessions WHERE id = $1"
AT_A_TIME = 256
"""Entries of a log that are asked for at once."""


def load(connection: TimedConnection, name: str) -> StoredSession | None:
    """All that is known of a session, None if there is none. Raises `Damaged`."""
    if not_text(name):
        return None
    rows = connection.rows(LOAD, name.encode())
    head = next((row for row in rows if row["kind"] == "head"), None)
    return None if head is None else _stored(name, head, rows)


def _stored(name: str, head: Row, rows: Sequence[Row]) -> StoredSession:
    number, t, whose = head["session"], head["a"], f"session {name}"
    _same(head["crc"], integrity.session_crc(number, name, head["blob"]), whose, "its config")
    _same(head["c"], integrity.position_crc(number, t), whose, "its t")
    snapshot_t, snapshot, retained = _snapshot(head, _of(rows, "snapshot"), whose)
    tail = sorted(_entry(row, row["a"], row["b"], whose) for row in _of(rows, "entry"))
    return StoredSession(
        id=number,
        config=head["blob"],
        t=t,
        snapshot=snapshot,
        snapshot_t=snapshot_t,
        tail=tuple(contiguous_entries(tail, snapshot_t, t, WHOLE_LOG, whose)),
        producers=dict(_producer(row, whose) for row in _of(rows, "producer")),
        pending=dict(_kept(row, whose) for row in _of(rows, "kept")),
        retained=retained,
        version=head["b"],
    )


def _of(rows: Iterable[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["kind"] == kind]


def _snapshot(head: Row, rows: Sequence[Row], whose: str) -> tuple[int, bytes | None, Retained]:
    if [row["a"] for row in rows] != [t for t in [head["snapshot_t"]] if t is not None]:
        raise Damaged(f"{whose}: its snapshot is missing or of another time")
    for row in rows:
        retained, t, blob = Retained(row["b"], row["c"]), row["a"], row["blob"]
        crc = integrity.snapshot_crc(row["session"], t, blob, retained)
        _same(row["crc"], crc, whose, "its snapshot")
        return t, blob, retained
    return 0, None, Retained()


def _entry(row: Row, t: int, n: int, whose: str) -> Entry:
    crc = integrity.entry_crc(row["session"], t, n, row["blob"])
    _same(row["crc"], crc, whose, f"its log at {t}")
    return Entry(t, n, row["blob"])


def _producer(row: Row, whose: str) -> tuple[str, int]:
    producer, number = _text(row["text"], whose), row["a"]
    crc = integrity.producer_crc(row["session"], producer, number)
    _same(row["crc"], crc, whose, "a producer")
    return producer, number


def _kept(row: Row, whose: str) -> tuple[str, PendingExample]:
    name, kept = _text(row["text"], whose), PendingExample(row["a"], bool(row["b"]), row["blob"])
    _same(row["crc"], integrity.pending_crc(row["session"], name, *kept), whose, "what it keeps")
    return name, kept


def read_log(
    connection: TimedConnection, session: int, start: int, end: int, nbytes: int
) -> list[Entry] | None:
    """A page of a log, None if there is no such session. Raises `Damaged`."""
    if connection.value(THERE, session) is None:
        return None
    whose, found, at, size = f"session number {session}", list[Entry](), start, 0
    while at < end and size < nbytes:
        rows = connection.rows(LOG, session, at, end, AT_A_TIME)
        some = [_logged(row, session, whose) for row in rows]
        found, size = found + some, size + sum(len(entry.blob) for entry in some)
        if len(rows) < AT_A_TIME:
            break
        at = some[-1].t + 1
    try:
        return [*contiguous_entries(found, start, end, nbytes, whose)]
    except Damaged:
        if connection.value(THERE, session) is None:  # deleted while it was read
            return None
        raise


def _logged(row: Row, session: int, whose: str) -> Entry:
    t, n, blob = row["t"], row["n"], row["blob"]
    _same(row["crc"], integrity.entry_crc(session, t, n, blob), whose, f"its log at {t}")
    return Entry(t, n, blob)


def listed(
    connection: TimedConnection, after: str, limit: int, asked: str = LIST
) -> list[SessionSummary]:
    """At most `limit` sessions whose names follow `after`, without those that are damaged."""
    found, last = list[SessionSummary](), after.encode()
    while missing := limit - len(found):
        rows = connection.rows(asked, last, missing)
        found += [_listed(row) for row in rows if _whole(row)]
        if len(rows) < missing:
            break
        last = rows[-1]["name"]
    return found


def _listed(row: Row) -> SessionSummary:
    return SessionSummary(row["name"].decode(), row["config"], row["t"], row["version"])


def _whole(row: Row) -> bool:
    try:
        crc = integrity.session_crc(row["id"], row["name"].decode(), row["config"])
    except UnicodeDecodeError:
        return False
    return bool(crc == row["crc"] and row["t_crc"] == integrity.position_crc(row["id"], row["t"]))


def versions(connection: TimedConnection, names: Sequence[str]) -> Mapping[str, Version]:
    """Which sessions have these names at present."""
    asked = {name.encode(): name for name in names if not not_text(name)}
    rows = connection.rows(VERSIONS, Byteas(asked))
    return {asked[row["name"]]: Version(row["id"], row["version"]) for row in rows}


def count(connection: TimedConnection) -> int:
    """How many sessions there are."""
    return int(connection.value("SELECT count(*) FROM sessions"))


SIZE = """SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"""


def size(connection: TimedConnection) -> int:
    """The bytes of the tables and of their indexes."""
    return int(connection.value(SIZE))


def _text(text: bytes, whose: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise Damaged(f"{whose}: a name of its rows is not text") from error


def _same(stored: Any, computed: int, whose: str, what: str) -> None:
    if stored != computed:
        raise Damaged(f"{whose}: {what} does not match its checksum")
