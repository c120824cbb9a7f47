"""Work on the current copy of a session, which other replicas may change at the same time.

A copy in memory may be behind the store. A change proves itself: the store refuses one that does
not follow its last. Any other answer, such as a state, a duplicate or a refusal, holds only if the
copy is neither behind the store nor ahead of a store that lost something, so the store's version is
read. If the versions differ, the copy is discarded, the session is loaded, and the work is done
again inside the same request. A store that has a single writer is not asked. A refusal waits, in
either case, until the state that it rests on is stored.
"""

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Self, TypeVar

from llr_service.problems import Problem
from llr_service.sessions.batch import LearnResult, PendingCommit
from llr_service.sessions.registry import SessionRegistry
from llr_service.sessions.session import Session, SessionPin
from llr_service.sessions.storage import MAX_TRIES, VersionConflict, not_found
from llr_service.stores.store import SessionSummary

R = TypeVar("R")

MIN_BACKOFF, MAX_BACKOFF = 0.001, 0.064
"""Seconds between two tries: a random part of a bound that doubles."""
STATELESS = frozenset({"unavailable", "disk-full", "internal", "damaged", "relearning"})
"""Problems that do not depend on the state of the session."""

Work = Callable[[Session], Awaitable[R]]
Submit = Callable[[Session], Awaitable[PendingCommit]]
"""Learns a batch on a copy, ahead of the store."""


async def get_latest(registry: SessionRegistry, name: str) -> Session:
    """Get a session that is not older than anything acknowledged before this call."""
    for attempt in range(MAX_TRIES):
        session = registry.get_cached(name) or await registry.get(name)
        if not await registry.evict_if_stale(session):
            return session
        await backoff(attempt)
    raise VersionConflict


async def get_replacement(registry: SessionRegistry, session: Session) -> Session:
    """Get the copy that replaced a discarded one; 404 if its name is another session's now."""
    current = registry.get_cached(session.name) or await registry.get(session.name)
    if current.id != session.id:
        raise not_found(session.name)
    return current


async def get_listed(registry: SessionRegistry, row: SessionSummary) -> Session | None:
    """Get the copy in memory of a listed session, not older than the list; None without one."""
    session = registry.peek(row.name)
    if session is None or session.log.stored_version == row.version:
        return session
    return None if await registry.evict_if_stale(session) else session


async def get_flushed(registry: SessionRegistry, session: Session) -> Session:
    """Get the latest copy of a session once all of its state is durable.

    Raises `session-not-found` if its name is another session's now.
    """
    number = session.id
    for attempt in range(MAX_TRIES):
        session = await get_latest(registry, session.name)
        if session.id != number:
            raise not_found(session.name)
        with suppress(VersionConflict):
            await session.flush()
            return session
        await backoff(attempt)
    raise VersionConflict


async def run_with_retry(
    registry: SessionRegistry, session: Session, work: Work[R], was_stored: Callable[[R], bool]
) -> R:
    """Run work on a session, again if the copy it ran on was stale.

    Args:
        registry: the sessions in memory.
        session: the copy to begin with.
        work: the work; it changes nothing unless the change is stored.
        was_stored: whether a result stored something, which proves that the copy was current.
    """
    for attempt in range(MAX_TRIES):
        if session.discarded:
            session = await get_replacement(registry, session)
        try:
            result = await work(session)
            if was_stored(result) or not await registry.evict_if_stale(session):
                return result
        except VersionConflict:
            pass
        except Problem as problem:
            if not await is_stale_error(registry, session, problem):
                raise
        await backoff(attempt)
    raise VersionConflict


async def is_stale_error(registry: SessionRegistry, session: Session, problem: Problem) -> bool:
    """Whether a problem was raised on a stale copy, so that a retry may not raise it."""
    if problem.kind.name in STATELESS:
        return False
    try:
        await session.flush()  # the problem may rest on a change that fails to be stored
    except Problem:
        return True
    return await registry.evict_if_stale(session)


def was_learnt(learnt: LearnResult) -> bool:
    """Whether a batch had new samples, which were stored."""
    return learnt.accepted > 0


async def backoff(attempt: int) -> None:
    """Wait for a random time before the next try; not at all after the first."""
    if attempt:
        bound = min(MIN_BACKOFF * 2**attempt, MAX_BACKOFF)
        await asyncio.sleep(random.uniform(0.0, bound))  # noqa: S311


class InFlight:
    """A batch of a pipeline: learnt on one copy of the session, and on its way to the store.

    Attributes:
        session: the copy that learnt it.
        pending: its commit.
    """

    __slots__ = ("_pipeline", "_submit", "pending", "session")

    def __init__(
        self, pipeline: "OrderedPipeline", session: Session, submit: Submit, pending: PendingCommit
    ) -> None:
        self._pipeline, self._submit = pipeline, submit
        self.session, self.pending = session, pending

    async def result(self) -> LearnResult:
        """Wait until the batch is durable; learn it again if its copy turned out to be stale."""
        return await self._pipeline._result_of(self, self._submit)


class OrderedPipeline:
    """Learns the batches of one sender in order, while earlier ones become durable.

    Results are taken in the order of submission. When the copy that batches were learnt on turns
    out to be stale, each is learnt again when its result is taken, and no other is learnt before
    all of them: the order stays the same whichever copy learns. Batches whose results are never
    taken are left to the store; leaving the `with` block waits for them.
    """

    def __init__(self, registry: SessionRegistry, session: Session) -> None:
        self._registry, self._pin = registry, SessionPin(session)
        self._in_flight: deque[InFlight] = deque()
        self._empty = asyncio.Event()

    @property
    def session(self) -> Session:
        """The copy that learns the next batch."""
        return self._pin.session

    async def submit(self, submit: Submit) -> InFlight:
        """Learn a batch ahead of the store."""
        for attempt in range(MAX_TRIES):
            session = await self._current_copy()
            try:
                pending = await submit(session)
            except VersionConflict:
                pass
            except Problem as problem:
                if not await is_stale_error(self._registry, session, problem):
                    raise
            else:
                in_flight = InFlight(self, session, submit, pending)
                self._in_flight.append(in_flight)
                return in_flight
            await backoff(attempt)
        raise VersionConflict

    async def __aenter__(self) -> Self:
        self._pin.__enter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            while self._in_flight:
                with suppress(Problem):
                    await self._in_flight.popleft().pending.durable()
        finally:
            self._pin.__exit__()

    async def _result_of(self, in_flight: InFlight, submit: Submit) -> LearnResult:
        if not self._in_flight or self._in_flight[0] is not in_flight:
            raise RuntimeError("results are taken once each, in the order of submission")
        try:
            with suppress(VersionConflict):
                learnt = await in_flight.pending.durable()
                if was_learnt(learnt) or not await self._registry.evict_if_stale(in_flight.session):
                    return learnt
            again = partial(learn_durably, submit)
            return await run_with_retry(self._registry, in_flight.session, again, was_learnt)
        finally:
            self._in_flight.popleft()
            if not self._in_flight:
                self._empty.set()

    async def _current_copy(self) -> Session:
        """The copy to learn on; a new one only after the batches of the last one are done."""
        while self.session.discarded:
            while self._in_flight:
                self._empty.clear()
                await self._empty.wait()
            self._pin.move(await get_replacement(self._registry, self.session))
        return self.session


async def learn_durably(submit: Submit, session: Session) -> LearnResult:
    """Learn a batch on one copy and wait until it is durable."""
    return await (await submit(session)).durable()
