"""Many batches of one sender, in order, while earlier ones are on their way to the store.

Each is begun ahead of the store and finished in the order of its coming. When the copy they were
learnt on turns out to be behind, what was begun on it is done again when it is to be finished, one
after the other, and nothing more is begun before: the order stays, whatever copy there is.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple, Self

from llr_service.problems import Problem
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Learnt, Pending
from llr_service.sessions.hub import Hub
from llr_service.sessions.present import again, outdated, pause, stored, upon
from llr_service.sessions.seat import Seat
from llr_service.sessions.waiting import TRIES, Moved

Begin = Callable[[Session], Awaitable[Pending]]
"""How a batch is learnt on a copy, ahead of the store."""


class Begun(NamedTuple):
    """A batch that was begun: on which copy, how to do it again, and what waits for the store."""

    session: Session
    work: Begin
    pending: Pending


class Course:
    """The way of one sender's batches. Use it with `with`, and finish all that was begun."""

    def __init__(self, hub: Hub, session: Session) -> None:
        self._hub, self._seat = hub, Seat(session)
        self._open = 0
        self._all_done = asyncio.Event()

    @property
    def session(self) -> Session:
        """The copy that batches are begun on."""
        return self._seat.session

    async def begin(self, work: Begin) -> Begun:
        """Learn from a batch ahead of the store. `finish` or `let_go` has to follow."""
        for attempt in range(TRIES):
            session = await self._present()
            try:
                pending = await work(session)
                self._open += 1
                return Begun(session, work, pending)
            except Moved:
                pass
            except Problem as problem:
                if not await outdated(self._hub, session, problem):
                    raise
            await pause(attempt)
        raise Moved

    async def finish(self, begun: Begun) -> Learnt:
        """What came of a batch, once it is durable."""
        try:
            return await self._finished(begun)
        finally:
            self._done()

    async def let_go(self, begun: Begun) -> None:
        """Wait for a batch whose sender is told nothing any more."""
        try:
            await begun.session.finish(begun.pending)
        finally:
            self._done()

    def __enter__(self) -> Self:
        self._seat.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._seat.__exit__()

    async def _finished(self, begun: Begun) -> Learnt:
        with suppress(Moved):
            learnt = await begun.session.finish(begun.pending)
            if stored(learnt) or not await self._hub.stale(begun.session):
                return learnt
        return await upon(self._hub, begun.session, partial(_whole, begun.work), stored)

    async def _present(self) -> Session:
        """The copy to begin on; a new one only when all that was begun on the last is done."""
        while self.session.gone:
            while self._open:
                self._all_done.clear()
                await self._all_done.wait()
            self._seat.move(await again(self._hub, self.session))
        return self.session

    def _done(self) -> None:
        self._open -= 1
        if not self._open:
            self._all_done.set()


async def _whole(work: Begin, session: Session) -> Learnt:
    return await session.finish(await work(session))
