"""A Postgres server below the driver: the statements of the engine on tables in memory.

The engine, its connection and its statements are the real ones. `connect` stands for the driver's:
it returns a connection that knows each statement by its text and raises psycopg's own errors. A
transaction is a copy of the tables, so a connection that breaks within one leaves nothing.
"""

import copy
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Any

from llr_service.stores.postgres import connection as checks
from llr_service.stores.postgres import read, schema, write
from llr_service.stores.store import REPLAY_MARK
from psycopg import OperationalError, errors

Row = dict[str, Any]
Rows = list[Row]
STATEMENTS = {
    write._statement(names): names
    for names in chain.from_iterable(
        combinations(write.PARTS, n) for n in range(1, len(write.PARTS) + 1)
    )
}
"""The parts of each statement that the engine puts together."""


@dataclass
class Tables:
    """What is stored."""

    sessions: dict[int, Row] = field(default_factory=dict)
    snapshots: dict[int, Row] = field(default_factory=dict)
    log: dict[tuple[int, int], Row] = field(default_factory=dict)
    producers: dict[tuple[int, bytes], Row] = field(default_factory=dict)
    kept: dict[tuple[int, bytes], Row] = field(default_factory=dict)
    discarded: set[int] = field(default_factory=set)

    def named(self, name: bytes) -> Row | None:
        """The session that has a name."""
        return next((row for row in self.sessions.values() if row["name"] == name), None)

    def of(self, table: str, session: int) -> Rows:
        """The rows of a session."""
        return [row for row in getattr(self, table).values() if row["session"] == session]


@dataclass
class Chances:
    """How often a statement fails: for a broken line before or after it, or for another reason.

    `late`: the line breaks, and the statement is run when its sender has long given up.
    """

    cut: float = 0.0
    lost: float = 0.0
    full: float = 0.0
    deadlock: float = 0.0
    late: float = 0.0

    def end(self) -> None:
        """From now on nothing fails."""
        self.cut = self.lost = self.full = self.deadlock = self.late = 0.0


class Server:
    """The database that all connections share."""

    def __init__(self, lot: random.Random, chances: Chances) -> None:
        self.tables, self.chances, self._lot = Tables(), chances, lot
        self._ids = 0
        self.late = list[Callable[[], Rows]]()

    def arrive(self) -> None:
        """Run a statement that was on its way when its line broke; the server checks it then."""
        self.late.pop(self._lot.randrange(len(self.late)))()

    def connect(self, dsn: str, seconds: float) -> "Connection":
        """A connection, unless the line is broken."""
        if self._lot.random() < self.chances.cut:
            raise OperationalError("simulated: no host answers")
        return Connection(self)

    def draw(self) -> str:
        """What goes wrong with a statement; empty if nothing does."""
        drawn, chances = self._lot.random(), self.chances
        for kind in ("cut", "lost", "full", "deadlock", "late"):
            drawn -= getattr(chances, kind)
            if drawn < 0:
                return kind
        return ""

    def reserve(self, count: int) -> list[int]:
        """Numbers that no session ever had."""
        self._ids += count
        return [*range(self._ids - count + 1, self._ids + 1)]


class Connection:
    """A connection as the engine uses it."""

    def __init__(self, server: Server) -> None:
        self.closed, self.deadline = False, 0.0
        self._server, self._within = server, 0

    def close(self) -> None:
        """Hang up."""
        self.closed = True

    def is_alive(self) -> bool:
        """Whether nobody has hung up."""
        return not self.closed

    def execute(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run a statement whose rows are not wanted."""
        self.rows(sql, *values)

    def value(self, sql: str, *values: Any) -> Any:
        """The first column of the first row."""
        rows = self.rows(sql, *values)
        return next(iter(rows[0].values())) if rows else None

    def rows(self, sql: str, *values: Any) -> Rows:
        """Run a statement, or fail."""
        if self.closed:
            raise OperationalError("simulated: the connection is closed")
        if sql in STATEMENTS:
            work: Callable[[], Rows] = lambda: self._write(STATEMENTS[sql], values)  # noqa: E731
        elif sql in WRITES:
            work = lambda: WRITES[sql](self._server, *values)  # noqa: E731
        else:
            return READS[sql](self._server, *values)
        if self._within:
            self._fail(("cut", "full", "deadlock"))
            return work()
        with self.transaction(work if sql in STATEMENTS else None):
            return work()

    @contextmanager
    def transaction(self, alone: Callable[[], Rows] | None = None) -> Iterator[None]:
        """All of it or nothing; at its end the answer may be lost.

        A statement that is `alone` in it may also arrive after its sender has given up.
        """
        server, before = self._server, copy.deepcopy(self._server.tables)
        self._within += 1
        try:
            if self._within == 1:
                self._fail(("cut", "full", "deadlock", "late"), alone)
            yield
        except BaseException:
            server.tables = before
            raise
        finally:
            self._within -= 1
        if not self._within:
            self._fail(("lost",))

    def _fail(self, kinds: tuple[str, ...], alone: Callable[[], Rows] | None = None) -> None:
        kind = self._server.draw()
        if kind not in kinds:
            return
        if kind == "late" and alone is not None:
            self._server.late.append(alone)
        if kind == "full":
            raise errors.DiskFull("simulated: no room")
        if kind == "deadlock":
            raise errors.DeadlockDetected("simulated: another transaction goes on")
        self.closed = True
        raise OperationalError(f"simulated: the line broke, {kind}")

    def _write(self, names: Sequence[str], arrays: Sequence[Any]) -> Rows:
        """The statement of a plan: its parts, if all sessions are where they have to be."""
        tables, left = self._server.tables, [*arrays]
        parts: Mapping[str, Rows] = {
            name: _zipped([left.pop(0) for _ in columns], [title for title, _ in columns])
            for name, columns in ((name, write.PARTS[name].columns) for name in names)
        }
        moves = parts.get("moves", [])
        if not all(_fits(tables.sessions.get(row["id"]), row) for row in moves):
            return [{"yes": False}]
        for name, rows in parts.items():
            for row in rows:
                PUT[name](tables, row)
        return [{"yes": True}]


def _zipped(columns: Sequence[Sequence[Any]], titles: Sequence[str]) -> Rows:
    return [dict(zip(titles, row, strict=True)) for row in zip(*columns, strict=True)]


def _fits(found: Row | None, move: Row) -> bool:
    return found is not None and (found["t"], found["version"]) == (move["was_t"], move["was"])


def _move(tables: Tables, row: Row) -> None:
    found = tables.sessions[row["id"]]
    found |= {name: row[name] for name in ("t", "version", "t_crc")}
    if row["snapshot_t"] != write.NO_SNAPSHOT:
        found["snapshot_t"] = row["snapshot_t"]


def _cut(tables: Tables, row: Row) -> None:
    for key in [one for one in tables.log if one[0] == row["session"] and one[1] >= row["t"]]:
        del tables.log[key]


def _forget(tables: Tables, row: Row) -> None:
    tables.kept.pop((row["session"], row["id"]), None)


PUT: dict[str, Callable[[Tables, Row], None]] = {
    "moves": _move,
    "cut": _cut,
    "log": lambda tables, row: tables.log.update({(row["session"], row["t"]): row}),
    "snapshots": lambda tables, row: tables.snapshots.update({row["session"]: row}),
    "producers": lambda tables, row: tables.producers.update(
        {(row["session"], row["producer"]): row}
    ),
    "kept": lambda tables, row: tables.kept.update({(row["session"], row["id"]): row}),
    "forgotten": _forget,
}


def _create(server: Server, *columns: Any) -> Rows:
    made = Rows()
    for row in _zipped(columns, [title for title, _ in write.CREATED]):
        if server.tables.named(row["name"]) is None:
            absent = row["snapshot_t"] == write.NO_SNAPSHOT
            found = row | {"snapshot_t": None if absent else row["snapshot_t"]}
            server.tables.sessions[row["id"]] = found
            made.append({"id": row["id"]})
    return made


def _delete(server: Server, gone: Sequence[int]) -> Rows:
    tables = server.tables
    for session in gone:
        tables.sessions.pop(session, None)
        tables.snapshots.pop(session, None)
        tables.discarded.add(session)
        for table in (tables.producers, tables.kept):
            for key in [one for one in table if one[0] == session]:
                del table[key]
    return []


def _tidy(server: Server, most: int) -> Rows:
    tables = server.tables
    for session in sorted(tables.discarded)[:1]:
        keys = sorted(key for key in tables.log if key[0] == session)[:most]
        for key in keys:
            del tables.log[key]
        if len(keys) < most:
            tables.discarded.discard(session)
        return [{"count": 1}]
    return [{"count": 0}]


def _load(server: Server, name: bytes) -> Rows:
    tables, head = server.tables, server.tables.named(name)
    if head is None:
        return []
    session, start = head["id"], head["snapshot_t"] or 0
    rows = [_row("head", session, head["t"], head["version"], head["t_crc"], head, None, "config")]
    rows[0]["snapshot_t"] = head["snapshot_t"]
    rows += [
        _row("snapshot", session, one["t"], one["retained"], one["retained_bytes"], one, None)
        for one in tables.of("snapshots", session)
    ]
    rows += [
        _row("entry", session, one["t"], one["n"], None, one, None)
        for one in tables.of("log", session)
        if one["t"] >= start
    ]
    rows += [
        _row("producer", session, one["next"], None, None, one, one["producer"])
        for one in tables.of("producers", session)
    ]
    rows += [
        _row("kept", session, one["expires"], int(one["learnt"]), None, one, one["id"])
        for one in tables.of("kept", session)
    ]
    return rows


def _row(
    kind: str, session: int, a: Any, b: Any, c: Any, of: Row, text: Any, blob: str = "blob"
) -> Row:
    return {
        "kind": kind,
        "session": session,
        "a": a,
        "b": b,
        "c": c,
        "crc": of["crc"],
        "text": text,
        "blob": of.get(blob),
        "snapshot_t": None,
    }


def _listed(server: Server, after: bytes, limit: int, mark: bytes = b"") -> Rows:
    rows = sorted(server.tables.sessions.values(), key=lambda row: bytes(row["name"]))
    return [row for row in rows if row["name"] > after and mark in row["config"]][:limit]


def _log(server: Server, session: int, start: int, end: int, limit: int) -> Rows:
    rows = sorted(server.tables.of("log", session), key=lambda row: int(row["t"]))
    return [row for row in rows if start <= row["t"] < end][:limit]


def _positions(server: Server, sessions: Sequence[int]) -> Rows:
    return [server.tables.sessions[one] for one in sessions if one in server.tables.sessions]


ABOUT = {
    "version": checks.OLDEST,
    "standby": False,
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "remote_apply",
}
WRITES: dict[str, Callable[..., Rows]] = {
    write.CREATE: _create,
    write.DELETE: _delete,
    write.TIDY: _tidy,
}
READS: dict[str, Callable[..., Rows]] = {
    checks.SET: lambda server, *_: [],
    checks.ABOUT: lambda server: [ABOUT],
    "SELECT pg_try_advisory_lock_shared($1::int, $2::int)": lambda server, *_: [{"held": True}],
    schema.THERE: lambda server, _: [{"there": 1}],
    "SELECT version FROM llr.version": lambda server: [{"version": schema.KNOWN}],
    write.PATIENCE: lambda server: [],
    write.LOCK: _positions,
    write.NUMBERS: lambda server, count: [{"id": one} for one in server.reserve(count)],
    read.LOAD: _load,
    read.LIST: _listed,
    read.LIST_REPLAYS: lambda server, after, limit: _listed(server, after, limit, REPLAY_MARK),
    read.VERSIONS: lambda server, names: [
        row for row in server.tables.sessions.values() if row["name"] in names
    ],
    read.LOG: _log,
    read.THERE: lambda server, session: _positions(server, [session]),
    "SELECT count(*) FROM sessions": lambda server: [{"count": len(server.tables.sessions)}],
}
