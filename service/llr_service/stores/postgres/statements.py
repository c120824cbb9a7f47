"""One statement for any number of changes, made of the parts a group has need of.

Rows come as arrays, a column each, so that a part is prepared once whatever their number. First the
sessions are locked, in the order of their numbers; unless all are where their changes expect
them, nothing is written.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from asyncpg import Connection

from llr_service.stores.postgres.plan import Rows


class Part(NamedTuple):
    """A part: its columns, each with its type, and what is done with rows `r` of them."""

    columns: tuple[tuple[str, str], ...]
    sql: str


def _part(columns: str, sql: str) -> Part:
    pairs = (column.split() for column in columns.split(", "))
    return Part(tuple((name, kind) for name, kind in pairs), sql)


PATIENCE = """SELECT set_config(
    'idle_in_transaction_session_timeout', current_setting('statement_timeout'), true)"""
"""For one transaction: to the server a service is idle until all of a statement has come."""
LOCK = "SELECT id, t, stamp FROM sessions WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE"
PARTS = {
    "moves": _part(
        "id bigint, was_t bigint, was bigint, t bigint, stamp bigint, t_crc bigint,"
        " snapshot_t bigint",
        """there AS MATERIALIZED (
            SELECT s.id FROM {rows}
            JOIN sessions AS s ON s.id = r.id AND s.t = r.was_t AND s.stamp = r.was
            ORDER BY s.id FOR UPDATE OF s
        ), fits AS MATERIALIZED (
            SELECT count(*) = cardinality($1) AS yes FROM there
        ), moved AS (
            UPDATE sessions AS s SET t = r.t, stamp = r.stamp, t_crc = r.t_crc,
                snapshot_t = coalesce(r.snapshot_t, s.snapshot_t)
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
        "session bigint, expires bigint, learnt boolean, crc bigint, id bytea, blob bytea",
        """shelved AS (INSERT INTO kept (session, expires, learnt, crc, id, blob)
            SELECT r.* FROM {rows} WHERE {fits}
            ON CONFLICT (session, id) DO UPDATE SET expires = excluded.expires,
                learnt = excluded.learnt, crc = excluded.crc, blob = excluded.blob)""",
    ),
    "forgotten": _part(
        "session bigint, id bytea",
        """forgotten AS (DELETE FROM kept USING {rows}
            WHERE kept.session = r.session AND kept.id = r.id AND {fits})""",
    ),
}
NUMBERS = "SELECT nextval(pg_get_serial_sequence('sessions', 'id')) FROM generate_series(1, $1)"
CREATE = """INSERT INTO sessions (id, t, stamp, t_crc, snapshot_t, crc, name, config)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],
        $6::bigint[], $7::bytea[], $8::bytea[])
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


async def run(connection: Connection, rows: Mapping[str, Rows]) -> bool:
    """Run the parts that have rows; whether all sessions were where they had to be."""
    names = tuple(name for name, some in rows.items() if some)
    columns = [column for name in names for column in zip(*rows[name], strict=True)]
    return not names or bool(await connection.fetchval(_statement(names), *columns))


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


async def create(connection: Connection, rows: Rows) -> set[int]:
    """Make sessions; returns those whose names were free."""
    return {row[0] for row in await connection.fetch(CREATE, *zip(*rows, strict=True))}


async def numbers(connection: Connection, count: int) -> list[Any]:
    """So many numbers that no session ever had."""
    return [row[0] for row in await connection.fetch(NUMBERS, count)]
