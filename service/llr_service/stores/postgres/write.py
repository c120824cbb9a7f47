"""Groups of changes: one statement if they fit, in order within one transaction if they do not."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple, cast

from llr_service.stores import integrity
from llr_service.stores.plan import BatchPlan, SessionPlan
from llr_service.stores.postgres.driver import Bigints, Byteas, TimedConnection
from llr_service.stores.postgres.errors import AGAIN, OF_ONE_CHANGE
from llr_service.stores.store import (
    AppendSamples,
    Change,
    Conflict,
    CreateSession,
    DeleteSession,
    PendingExample,
    Result,
    Retained,
    StoreError,
    Update,
    UpdatePending,
    WriteSnapshot,
    Written,
)
from llr_service.stores.validation import Position, find_conflict, name_taken, validate

Positions = dict[int, Position]
Rows = list[tuple[Any, ...]]

LARGEST = 1_000_000_000
"""Bytes of a change: Postgres has no room for 2**30 of them in a value or in a message."""
TOGETHER = 2**28
"""Bytes of blobs that go into one statement."""
SOON = 2**20
"""Bytes that are on their way to the server in no time."""
ROWS = 2000
"""Entries of a log that are deleted at a time: a log may have millions."""
NO_SNAPSHOT = -1
"""In place of the t of a snapshot that there is not."""
TRIES = 4
"""How often a group is tried again that was rolled back for the sake of another's."""


def write(connection: TimedConnection, group: Sequence[Change]) -> list[Result]:
    """Store a group. Raises what the driver raises."""
    for _ in range(TRIES):
        with suppress(*AGAIN):
            return _write(connection, group)
    return _write(connection, group)


def _write(connection: TimedConnection, group: Sequence[Change]) -> list[Result]:
    wrong = [validate(change) or _too_large(change) for change in group]
    fit = [change for change, why in zip(group, wrong, strict=True) if why is None]
    stored = iter(_stored(connection, fit) if fit else [])
    return [next(stored) if why is None else Conflict(why) for why in wrong]


def _too_large(change: Change) -> str | None:
    """Why a change has no room in Postgres, None if it has."""
    size = _size(change)
    return f"Postgres takes {LARGEST} bytes at once, not {size}" if size > LARGEST else None


def _blobs(change: Change) -> Iterator[bytes]:
    if isinstance(change, CreateSession):
        yield change.config
    if isinstance(change, AppendSamples | WriteSnapshot) and change.blob is not None:
        yield change.blob
    if isinstance(change, CreateSession | WriteSnapshot) and change.snapshot is not None:
        yield change.snapshot
    if not isinstance(change, CreateSession | DeleteSession):
        yield from (row.blob for _, row in change.pending if row is not None)


def _stored(connection: TimedConnection, group: Sequence[Change]) -> list[Result]:
    plan = BatchPlan()
    moves = [change for change in group if not isinstance(change, CreateSession | DeleteSession)]
    fits = len(moves) == len(group) and sum(map(_size, group)) <= TOGETHER
    if not fits or any(isinstance(plan.add(move), Conflict) for move in moves):
        return _in_order(connection, group)
    with suppress(*OF_ONE_CHANGE):
        if run_statement(connection, plan_rows(plan)):
            return [Written(move.session) for move in moves]
    return _in_order(connection, group)


def _size(change: Change) -> int:
    if isinstance(change, AppendSamples) and not change.pending:
        return len(change.blob)
    return sum(map(len, _blobs(change)))


def _in_order(connection: TimedConnection, group: Sequence[Change]) -> list[Result]:
    """Lock all sessions, then one run of changes after the other."""
    try:
        with connection.transaction():
            at = _locked(connection, group)
            return [one for run in _runs(group) for one in _run(connection, run, at)]
    except OF_ONE_CHANGE:
        pass
    with connection.transaction():
        at = _locked(connection, group)
        return [_alone(connection, change, at) for change in group]


def _locked(connection: TimedConnection, group: Sequence[Change]) -> Positions:
    if sum(map(_size, group)) > SOON:
        connection.execute(PATIENCE)
    sessions = {change.session for change in group if not isinstance(change, CreateSession)}
    rows = connection.rows(LOCK, Bigints(sorted(sessions)))
    return {row["id"]: Position(row["t"], row["version"]) for row in rows}


def _alone(connection: TimedConnection, change: Change, at: Positions) -> Result:
    """One change, which may fail by itself."""
    try:
        with connection.transaction():
            return (_run(connection, [change], at))[0]
    except OF_ONE_CHANGE as error:
        return Conflict(f"it cannot be kept: {error}")


def _runs(group: Sequence[Change]) -> Iterator[list[Change]]:
    """Changes that may go together: of one kind, and not too many bytes."""
    for _, run in groupby(group, _kind):
        some, size = list[Change](), 0
        for change in run:
            size += _size(change)
            if some and size > TOGETHER:
                yield some
                some, size = [], _size(change)
            some.append(change)
        yield some


def _kind(change: Change) -> type:
    return (
        UpdatePending
        if isinstance(change, AppendSamples | WriteSnapshot | UpdatePending)
        else type(change)
    )


def _run(connection: TimedConnection, run: Sequence[Change], at: Positions) -> list[Result]:
    """Changes of one kind; `at` is where the sessions are, and is kept up to date."""
    if isinstance(run[0], CreateSession):
        return _create(connection, cast(Sequence[CreateSession], run), at)
    if isinstance(run[0], DeleteSession):
        return _delete(connection, cast(Sequence[DeleteSession], run), at)
    return _move(connection, cast(Sequence[Update], run), at)


def _move(connection: TimedConnection, moves: Sequence[Update], at: Positions) -> list[Result]:
    plan = BatchPlan(at)
    results = [plan.add(move) for move in moves]
    if not run_statement(connection, plan_rows(plan)):
        raise StoreError("a session moved although it is locked")
    at.update({session: one.end for session, one in plan.sessions.items()})
    return results


def _create(
    connection: TimedConnection, group: Sequence[CreateSession], at: Positions
) -> list[Result]:
    ids = reserve_ids(connection, len(group))
    named = [*zip(ids, group, strict=True)]
    in_order = sorted(named, key=lambda pair: pair[1].name.encode())
    made = insert_sessions(connection, [_session(*pair) for pair in in_order])
    new = [pair for pair in named if pair[0] in made]
    run_statement(connection, _states(new))
    at.update({session: Position(create.t, create.version) for session, create in new})
    return [
        Written(session) if session in made else Conflict(name_taken(create.name))
        for session, create in named
    ]


def _session(session: int, create: CreateSession) -> tuple[Any, ...]:
    name, config, t = create.name, create.config, create.t
    head = (t, create.version, integrity.position_crc(session, t))
    crc = integrity.session_crc(session, name, config)
    snapshot_t = NO_SNAPSHOT if create.snapshot is None else t
    return (session, *head, snapshot_t, crc, name.encode(), config)


def _states(new: Sequence[tuple[int, CreateSession]]) -> dict[str, Rows]:
    return {
        "snapshots": [
            snapshot_row(session, create.t, create.snapshot, Retained())
            for session, create in new
            if create.snapshot is not None
        ],
        "producers": [
            producer_row(session, *one)
            for session, create in new
            for one in create.producers.items()
        ],
    }


def _delete(
    connection: TimedConnection, group: Sequence[DeleteSession], at: Positions
) -> list[Result]:
    results: list[Result] = []
    for delete in group:
        conflict = find_conflict(delete, at.get(delete.session))
        results.append(conflict or Written(delete.session))
        if conflict is None:
            del at[delete.session]
    gone = [result.session for result in results if isinstance(result, Written)]
    connection.execute(DELETE, [Bigints(gone)])
    return results


def run_maintenance(connection: TimedConnection) -> bool:
    """Delete a part of what deleted sessions left of their logs; whether there was anything."""
    return bool(connection.value(TIDY, ROWS))


Columns = tuple[tuple[str, str], ...]
"""The columns of a part, each with its type: `bigint` or `bytea`."""
ARRAYS: dict[str, type[Bigints | Byteas]] = {"bigint": Bigints, "bytea": Byteas}


class Part(NamedTuple):
    """A part: its columns, and what is done with rows `r` of them."""

    columns: Columns
    sql: str


def _columns(columns: str) -> Columns:
    pairs = (column.split() for column in columns.split(", "))
    return tuple((name, kind) for name, kind in pairs)


def _part(columns: str, sql: str) -> Part:
    return Part(_columns(columns), sql)


def _arrays(columns: Columns, rows: Rows) -> Iterator[Bigints | Byteas]:
    """Rows as an array for each column."""
    for (_, kind), column in zip(columns, zip(*rows, strict=True), strict=True):
        yield ARRAYS[kind](column)


PATIENCE = """SELECT set_config(
    'idle_in_transaction_session_timeout', current_setting('statement_timeout'), true)"""
"""For one transaction: to the server a service is idle until all of a statement has come."""
LOCK = "SELECT id, t, version FROM sessions WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE"
PARTS = {
    "moves": _part(
        "id bigint, was_t bigint, was bigint, t bigint, version bigint, t_crc bigint,"
        " snapshot_t bigint",
        """there AS MATERIALIZED (
            SELECT s.id FROM {rows}
            JOIN sessions AS s ON s.id = r.id AND s.t = r.was_t AND s.version = r.was
            ORDER BY s.id FOR UPDATE OF s
        ), fits AS MATERIALIZED (
            SELECT count(*) = cardinality($1) AS yes FROM there
        ), moved AS (
            UPDATE sessions AS s SET t = r.t, version = r.version, t_crc = r.t_crc,
                snapshot_t = coalesce(nullif(r.snapshot_t, -1), s.snapshot_t)
            FROM {rows} WHERE s.id = r.id AND {fits}
        )""",
    ),
    "cut": _part(
        "session bigint, t bigint",
        """cut AS (DELETE FROM log USING {rows}
            WHERE log.session = r.session AND log.t >= r.t AND {fits})""",
    ),
    "log": _part(
        "session bigint, t bigint, n bigint, crc bigint, blob bytea",
        """logged AS (INSERT INTO log (session, t, n, crc, blob)
            SELECT r.* FROM {rows} WHERE {fits})""",
    ),
    "snapshots": _part(
        "session bigint, t bigint, retained bigint, retained_bytes bigint, crc bigint, blob bytea",
        """kept_states AS (
            INSERT INTO snapshots (session, t, retained, retained_bytes, crc, blob)
            SELECT r.* FROM {rows} WHERE {fits}
            ON CONFLICT (session) DO UPDATE SET t = excluded.t, retained = excluded.retained,
                retained_bytes = excluded.retained_bytes, crc = excluded.crc,
                blob = excluded.blob)""",
    ),
    "producers": _part(
        "session bigint, next bigint, crc bigint, producer bytea",
        """numbered AS (INSERT INTO producers (session, next, crc, producer)
            SELECT r.* FROM {rows} WHERE {fits}
            ON CONFLICT (session, producer) DO UPDATE
            SET next = excluded.next, crc = excluded.crc)""",
    ),
    "kept": _part(
        "session bigint, expires bigint, learnt bigint, crc bigint, id bytea, blob bytea",
        """shelved AS (INSERT INTO kept (session, expires, learnt, crc, id, blob)
            SELECT session, expires, learnt <> 0, crc, r.id, blob FROM {rows} WHERE {fits}
            ON CONFLICT (session, id) DO UPDATE SET expires = excluded.expires,
                learnt = excluded.learnt, crc = excluded.crc, blob = excluded.blob)""",
    ),
    "forgotten": _part(
        "session bigint, id bytea",
        """forgotten AS (DELETE FROM kept USING {rows}
            WHERE kept.session = r.session AND kept.id = r.id AND {fits})""",
    ),
}
NUMBERS = """SELECT nextval(pg_get_serial_sequence('sessions', 'id')) AS id
    FROM generate_series(1, $1::bigint)"""
CREATED = _columns(
    "id bigint, t bigint, version bigint, t_crc bigint, snapshot_t bigint, crc bigint,"
    " name bytea, config bytea"
)
CREATE = """INSERT INTO sessions (id, t, version, t_crc, snapshot_t, crc, name, config)
    SELECT id, t, version, t_crc, nullif(snapshot_t, -1), crc, name, config
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],
        $6::bigint[], $7::bytea[], $8::bytea[])
        AS r(id, t, version, t_crc, snapshot_t, crc, name, config)
    ON CONFLICT (name) DO NOTHING RETURNING id"""
DELETE = """WITH gone AS (DELETE FROM sessions WHERE id = ANY($1::bigint[]) RETURNING id),
    no_snapshot AS (DELETE FROM snapshots USING gone WHERE session = gone.id),
    no_log AS (INSERT INTO discarded (session) SELECT id FROM gone),
    no_producers AS (DELETE FROM producers USING gone WHERE session = gone.id)
    DELETE FROM kept USING gone WHERE session = gone.id"""


TIDY = """WITH one AS (
        SELECT session FROM discarded ORDER BY session LIMIT 1 FOR UPDATE SKIP LOCKED
    ), part AS MATERIALIZED (
        SELECT session, t FROM log JOIN one USING (session) ORDER BY t LIMIT $1
    ), gone AS (
        DELETE FROM log USING part WHERE log.session = part.session AND log.t = part.t
    ), done AS (
        DELETE FROM discarded USING one
        WHERE discarded.session = one.session AND (SELECT count(*) FROM part) < $1
    )
    SELECT count(*) FROM one"""


def run_statement(connection: TimedConnection, rows: Mapping[str, Rows]) -> bool:
    """Run the parts that have rows; whether all sessions were where they had to be."""
    names = tuple(name for name, some in rows.items() if some)
    arrays = [array for name in names for array in _arrays(PARTS[name].columns, rows[name])]
    return not names or bool(connection.value(_statement(names), *arrays))


@lru_cache
def _statement(names: Sequence[str]) -> str:
    parts, at = list[str](), 1
    fits = "(SELECT yes FROM fits)" if "moves" in names else "true"
    for name in names:
        columns, sql = PARTS[name]
        arrays = ", ".join(f"${at + i}::{kind}[]" for i, (_, kind) in enumerate(columns))
        titles = ", ".join(title for title, _ in columns)
        parts.append(sql.format(rows=f"unnest({arrays}) AS r({titles})", fits=fits))
        at += len(columns)
    return " ".join(["WITH", ", ".join(parts), "SELECT", fits])


def insert_sessions(connection: TimedConnection, rows: Rows) -> set[int]:
    """Make sessions; returns those whose names were free."""
    made = connection.rows(CREATE, *_arrays(CREATED, rows))
    return {row["id"] for row in made}


def reserve_ids(connection: TimedConnection, count: int) -> list[int]:
    """So many numbers that no session ever had."""
    return [row["id"] for row in connection.rows(NUMBERS, count)]


def plan_rows(plan: BatchPlan) -> dict[str, Rows]:
    """The rows of each part of the statement."""
    sessions = sorted(plan.sessions.items())
    return {
        "moves": [_move_row(session, c) for session, c in sessions],
        "cut": [(session, c.cut) for session, c in sessions if c.cut is not None],
        "log": [entry_row(session, *entry) for session, c in sessions for entry in c.log],
        "snapshots": [snapshot_row(session, *c.snapshot) for session, c in sessions if c.snapshot],
        "producers": [
            producer_row(session, *one) for session, c in sessions for one in c.producers.items()
        ],
        "kept": [
            _pending_row(session, name, row)
            for session, c in sessions
            for name, row in c.pending.items()
            if row is not None
        ],
        "forgotten": [
            (session, name.encode())
            for session, c in sessions
            for name, row in c.pending.items()
            if row is None
        ],
    }


def _move_row(session: int, plan: SessionPlan) -> tuple[Any, ...]:
    t, version = plan.end
    snapshot_t = plan.snapshot[0] if plan.snapshot else NO_SNAPSHOT
    return (session, *plan.start, t, version, integrity.position_crc(session, t), snapshot_t)


def entry_row(session: int, t: int, n: int, blob: bytes) -> tuple[Any, ...]:
    """A row of `log`."""
    return (session, t, n, integrity.entry_crc(session, t, n, blob), blob)


def snapshot_row(session: int, t: int, blob: bytes, retained: Retained) -> tuple[Any, ...]:
    """A row of `snapshots`."""
    return (session, t, *retained, integrity.snapshot_crc(session, t, blob, retained), blob)


def producer_row(session: int, producer: str, number: int) -> tuple[Any, ...]:
    """A row of `producers`."""
    return (session, number, integrity.producer_crc(session, producer, number), producer.encode())


def _pending_row(session: int, name: str, row: PendingExample) -> tuple[Any, ...]:
    return (
        session,
        row.expires,
        row.learnt,
        integrity.pending_crc(session, name, *row),
        name.encode(),
        row.blob,
    )
