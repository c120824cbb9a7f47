"""Groups of changes: one statement if they fit, in order within one transaction if they do not."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, cast

from asyncpg import Connection

from llr_service.stores import checksums
from llr_service.stores.limits import no_session, taken, unfit
from llr_service.stores.postgres import statements
from llr_service.stores.postgres.failures import AGAIN, OF_ONE_CHANGE
from llr_service.stores.postgres.plan import Move, Plan, Rows, producer_row, snapshot_row
from llr_service.stores.store import (
    Append,
    Change,
    Conflict,
    Create,
    Delete,
    Keep,
    Replace,
    Retained,
    StoreError,
    Written,
)

Result = Written | Conflict
Positions = dict[int, tuple[int, int]]

LARGEST = 1_000_000_000
"""Bytes of a change: Postgres has no room for 2**30 of them in a value or in a message."""
TOGETHER = 2**28
"""Bytes of blobs that go into one statement."""
SOON = 2**20
"""Bytes that are on their way to the server in no time."""
ROWS = 2000
"""Entries of a log that are deleted at a time: a log may have millions."""
TRIES = 4
"""How often a group is tried again that was rolled back for the sake of another's."""


async def write(connection: Connection, group: Sequence[Change]) -> list[Result]:
    """Store a group. Raises what the driver raises."""
    for _ in range(TRIES):
        with suppress(*AGAIN):
            return await _write(connection, group)
    return await _write(connection, group)


async def _write(connection: Connection, group: Sequence[Change]) -> list[Result]:
    wrong = [unfit(change) or _too_large(change) for change in group]
    fit = [change for change, why in zip(group, wrong, strict=True) if why is None]
    stored = iter(await _stored(connection, fit) if fit else [])
    return [next(stored) if why is None else Conflict(why) for why in wrong]


def _too_large(change: Change) -> str | None:
    """Why a change has no room in Postgres, None if it has."""
    size = _size(change)
    return f"Postgres takes {LARGEST} bytes at once, not {size}" if size > LARGEST else None


def _blobs(change: Change) -> Iterator[bytes]:
    if isinstance(change, Create):
        yield change.config
    if isinstance(change, Append | Replace) and change.blob is not None:
        yield change.blob
    if isinstance(change, Create | Replace) and change.snapshot is not None:
        yield change.snapshot
    if not isinstance(change, Create | Delete):
        yield from (row.blob for _, row in change.kept if row is not None)


async def _stored(connection: Connection, group: Sequence[Change]) -> list[Result]:
    plan = Plan()
    moves = [change for change in group if not isinstance(change, Create | Delete)]
    fits = len(moves) == len(group) and sum(map(_size, group)) <= TOGETHER
    if not fits or any(isinstance(plan.add(move), Conflict) for move in moves):
        return await _in_order(connection, group)
    with suppress(*OF_ONE_CHANGE):
        if await statements.run(connection, plan.rows()):
            return [Written(move.session) for move in moves]
    return await _in_order(connection, group)


def _size(change: Change) -> int:
    if isinstance(change, Append) and not change.kept:
        return len(change.blob)
    return sum(map(len, _blobs(change)))


async def _in_order(connection: Connection, group: Sequence[Change]) -> list[Result]:
    """Lock all sessions, then one run of changes after the other."""
    try:
        async with connection.transaction():
            at = await _locked(connection, group)
            return [one for run in _runs(group) for one in await _run(connection, run, at)]
    except OF_ONE_CHANGE:
        pass
    async with connection.transaction():
        at = await _locked(connection, group)
        return [await _alone(connection, change, at) for change in group]


async def _locked(connection: Connection, group: Sequence[Change]) -> Positions:
    if sum(map(_size, group)) > SOON:
        await connection.execute(statements.PATIENCE)
    sessions = {change.session for change in group if not isinstance(change, Create)}
    rows = await connection.fetch(statements.LOCK, sorted(sessions))
    return {session: (t, stamp) for session, t, stamp in rows}


async def _alone(connection: Connection, change: Change, at: Positions) -> Result:
    """One change, which may fail by itself."""
    try:
        async with connection.transaction():
            return (await _run(connection, [change], at))[0]
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
    return Keep if isinstance(change, Append | Replace | Keep) else type(change)


async def _run(connection: Connection, run: Sequence[Change], at: Positions) -> list[Result]:
    """Changes of one kind; `at` is where the sessions are, and is kept up to date."""
    if isinstance(run[0], Create):
        return await _create(connection, cast(Sequence[Create], run), at)
    if isinstance(run[0], Delete):
        return await _delete(connection, cast(Sequence[Delete], run), at)
    return await _move(connection, cast(Sequence[Move], run), at)


async def _move(connection: Connection, moves: Sequence[Move], at: Positions) -> list[Result]:
    plan = Plan(at)
    results = [plan.add(move) for move in moves]
    if not await statements.run(connection, plan.rows()):
        raise StoreError("a session moved although it is locked")
    at.update({session: course.at for session, course in plan.courses.items()})
    return results


async def _create(connection: Connection, group: Sequence[Create], at: Positions) -> list[Result]:
    ids = await statements.numbers(connection, len(group))
    named = [*zip(ids, group, strict=True)]
    in_order = sorted(named, key=lambda pair: pair[1].name.encode())
    made = await statements.create(connection, [_session(*pair) for pair in in_order])
    new = [pair for pair in named if pair[0] in made]
    await statements.run(connection, _states(new))
    at.update({session: (create.t, create.stamp) for session, create in new})
    return [
        Written(session) if session in made else Conflict(taken(create.name))
        for session, create in named
    ]


def _session(session: int, create: Create) -> tuple[Any, ...]:
    name, config, t = create.name, create.config, create.t
    head = (t, create.stamp, checksums.of_head(session, t))
    crc = checksums.of_session(session, name, config)
    snapshot_t = None if create.snapshot is None else t
    return (session, *head, snapshot_t, crc, name.encode(), config)


def _states(new: Sequence[tuple[int, Create]]) -> dict[str, Rows]:
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


async def _delete(connection: Connection, group: Sequence[Delete], at: Positions) -> list[Result]:
    results: list[Result] = []
    for delete in group:
        known = at.pop(delete.session, None) is not None
        reason = Conflict(no_session(delete.session))
        results.append(Written(delete.session) if known else reason)
    gone = [result.session for result in results if isinstance(result, Written)]
    await connection.execute(statements.DELETE, gone)
    return results


async def tidy(connection: Connection) -> bool:
    """Delete a part of what deleted sessions left of their logs; whether there was anything."""
    return bool(await connection.fetchval(statements.TIDY, ROWS))
