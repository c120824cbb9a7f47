"""Work on the present copy of a session, where others may change the session at the same time.

A copy in memory is a guess. What it wrote proves itself: the store refuses what does not follow its
last change. Whatever else is answered, a state, a duplicate, a refusal, holds only if the copy is
not behind the store, nor ahead of one that lost something, so the store is asked. If it is, the
copy is dropped, the session loaded, and the work done again, inside the same request. A store that
one process has for itself is not asked.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from llr_service.problems import Problem
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Learnt
from llr_service.sessions.hub import Hub
from llr_service.sessions.loading import not_found
from llr_service.sessions.waiting import TRIES, Moved
from llr_service.stores.store import SessionSummary

R = TypeVar("R")

SHORTEST, LONGEST = 0.001, 0.064
"""Seconds that are waited between two tries, at most; a part of them that is drawn by lot."""
AT_ONCE = frozenset({"unavailable", "disk-full", "internal", "damaged"})
"""Problems that say nothing about where the session is."""

Work = Callable[[Session], Awaitable[R]]


async def fresh(hub: Hub, name: str) -> Session:
    """A session, not older than anything that was acknowledged before this was called."""
    for attempt in range(TRIES):
        session = hub.at_hand(name) or await hub.get(name)
        if not await hub.stale(session):
            return session
        await pause(attempt)
    raise Moved


async def again(hub: Hub, session: Session) -> Session:
    """The copy in memory that has taken the place of this one; 404 if its name went to another."""
    present = hub.at_hand(session.name) or await hub.get(session.name)
    if present.id != session.id:
        raise not_found(session.name)
    return present


async def as_listed(hub: Hub, row: SessionSummary) -> Session | None:
    """The copy of a session that a list has, not older than the list; None if there is none."""
    session = hub.peek(row.name)
    if session is None or session.journal.stored == row.version:
        return session
    return None if await hub.stale(session) else session


async def settled(hub: Hub, session: Session) -> Session:
    """A session all of whose state is durable, and of which nothing is missing."""
    for attempt in range(TRIES):
        session = await fresh(hub, session.name)
        with suppress(Moved):
            await session.settled()
            return session
        await pause(attempt)
    raise Moved


async def upon(hub: Hub, session: Session, work: Work[R], proven: Callable[[R], bool]) -> R:
    """What comes of work on a session, done again if it was done on a copy that was behind.

    Args:
        hub: the sessions.
        session: the copy to begin with.
        work: what to do; it changes nothing unless it is stored.
        proven: whether something was stored, which proves that the copy was not behind.
    """
    for attempt in range(TRIES):
        if session.gone:
            session = await again(hub, session)
        try:
            found = await work(session)
            if proven(found) or not await hub.stale(session):
                return found
        except Moved:
            pass
        except Problem as problem:
            if not await outdated(hub, session, problem):
                raise
        await pause(attempt)
    raise Moved


async def outdated(hub: Hub, session: Session, problem: Problem) -> bool:
    """Whether a problem was found on a copy that is behind, so that it may be none."""
    if problem.kind.name in AT_ONCE or not hub.shared:
        return False
    try:
        await session.settled()  # it may have been found on what was not stored in the end
    except Moved:
        return True
    return await hub.stale(session)


def stored(learnt: Learnt) -> bool:
    """Whether something of a batch was new, and so was stored."""
    return learnt.accepted > 0


async def pause(attempt: int) -> None:
    """Let others go first, some longer than others; not at all after the first try."""
    if attempt:
        longest = min(SHORTEST * 2**attempt, LONGEST)
        await asyncio.sleep(random.uniform(0.0, longest))  # noqa: S311
