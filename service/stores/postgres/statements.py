"""One statement for any number of changes, made of the parts a group has need of.

Rows come as arrays, a column each, so that a part is prepared once whatever their number. All parts
hang on `fit`: the sessions that are locked, and are where their changes expect them.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from asyncpg import Connection

from service.stores.postgres.plan import Rows


class Part(NamedTuple):
    """A part: its columns, each with its type, and what is done with rows `r` of them."""

    columns: tuple[tuple[str, str], ...]
    sql: str


def _part(columns: str, sql: str) -> Part:
    pairs = (column.split() for column in columns.split(", "))
    return Part(tuple((name, kind) for name, kind in pairs), sql)


_MOVE = "t bigint, stamp bigint, t_crc bigint, snapshot_t bigint"
_LOG = "session bigint, t bigint, n bigint, crc bigint, blob bytea"
_SNAPSHOTS = (
    "session bigint, t bigint, retained bigint, retained_bytes bigint, crc bigint, blob bytea"
)
_PRODUCERS = "session bigint, next bigint, crc bigint, producer bytea"
_KEPT = "session bigint, expires bigint, learnt boolean, crc bigint, id bytea, blob bytea"

LOCK = "SELECT id, t, stamp FROM sessions WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE"
PARTS = {
    "moves": _part(
        f"id bigint, was_t bigint, was bigint, {_MOVE}",
        """there AS MATERIALIZED (
            SELECT id, t, stamp FROM sessions WHERE id = ANY($1) ORDER BY id FOR UPDATE
        ), fit AS MATERIALIZED (
            SELECT r.* FROM {rows}
            JOIN there ON there.id = r.id AND there.t = r.was_t AND there.stamp = r.was
        ), moved AS (
            UPDATE sessions AS s SET t = r.t, stamp = r.stamp, t_crc = r.t_crc,
                snapshot_t = coalesce(r.snapshot_t, s.snapshot_t)
            FROM fit AS r WHERE s.id = r.id
        )""",
    ),
    "cut": _part(
        "session bigint, t bigint",
        """cut AS (DELETE FROM log USING {of_fit}
            WHERE log.session = r.session AND log.t >= r.t)""",
    ),
    "log": _part(
        _LOG,
        """logged AS (INSERT INTO log (session, t, n, crc, blob)
            SELECT r.* FROM {of_fit})""",
    ),
    "snapshots": _part(
        _SNAPSHOTS,
        """kept_states AS (
            INSERT INTO snapshots (session, t, retained, retained_bytes, crc, blob)
            SELECT r.* FROM {of_fit}
            ON CONFLICT (session) DO UPDATE SET t = excluded.t, retained = excluded.retained,
                retained_bytes = excluded.retained_bytes, crc = excluded.crc,
                blob = excluded.blob)""",
    ),
    "producers": _part(
        _PRODUCERS,
        """numbered AS (INSERT INTO producers (session, next, crc, producer)
            SELECT r.* FROM {of_fit}
            ON CONFLICT (session, producer) DO UPDATE
            SET next = excluded.next, crc = excluded.crc)""",
    ),
    "kept": _part(
        _KEPT,
        """shelved AS (INSERT INTO kept (session, expires, learnt, crc, id, blob)
            SELECT r.* FROM {of_fit}
            ON CONFLICT (session, id) DO UPDATE SET expires = excluded.expires,
                learnt = excluded.learnt, crc = excluded.crc, blob = excluded.blob)""",
    ),
    "forgotten": _part(
        "session bigint, id bytea",
        """forgotten AS (DELETE FROM kept USING {of_fit}
            WHERE kept.session = r.session AND kept.id = r.id)""",
    ),
    "sessions": _part(
        f"id bigint, {_MOVE}, crc bigint, name bytea, config bytea",
        """fit AS (INSERT INTO sessions (id, t, stamp, t_crc, snapshot_t, crc, name, config)
            SELECT r.* FROM {rows} ON CONFLICT (name) DO NOTHING RETURNING id)""",
    ),
}
NUMBERS = "SELECT nextval(pg_get_serial_sequence('sessions', 'id')) FROM generate_series(1, $1)"
DELETE = """WITH gone AS (DELETE FROM sessions WHERE id = ANY($1::bigint[]) RETURNING id),
    no_snapshot AS (DELETE FROM snapshots USING gone WHERE session = gone.id),
    no_log AS (DELETE FROM log USING gone WHERE session = gone.id),
    no_producers AS (DELETE FROM producers USING gone WHERE session = gone.id)
    DELETE FROM kept USING gone WHERE session = gone.id"""


async def run(connection: Connection, rows: Mapping[str, Rows]) -> set[int]:
    """Run the parts that have rows; returns the sessions that fitted."""
    names = tuple(name for name, some in rows.items() if some)
    columns = [column for name in names for column in zip(*rows[name], strict=True)]
    return {row[0] for row in await connection.fetch(_statement(names), *columns)}


@lru_cache
def _statement(names: Sequence[str]) -> str:
    parts, at = list[str](), 1
    for name in names:
        columns, sql = PARTS[name]
        arrays = ", ".join(f"${at + i}::{kind}[]" for i, (_, kind) in enumerate(columns))
        titles = ", ".join(title for title, _ in columns)
        rows = f"unnest({arrays}) AS r({titles})"
        parts.append(sql.format(rows=rows, of_fit=f"{rows} JOIN fit ON fit.id = r.session"))
        at += len(columns)
    return " ".join(["WITH", ", ".join(parts), "SELECT id FROM fit"])


async def numbers(connection: Connection, count: int) -> list[Any]:
    """So many numbers that no session ever had."""
    return [row[0] for row in await connection.fetch(NUMBERS, count)]
