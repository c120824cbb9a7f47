"""Whose turn it is with a session, and how many wait for theirs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from llr_service.problems import Problem
from llr_service.sessions.waiting import RETRY


class Turns:
    """Those who wait for a session, at most so many, and whose turn it is.

    Attributes:
        waiting: how many wait for the session, for their turn or for the store.
        queued: how many wait for their turn or have it.
        closed: makes what those are told who come while the session is not to be changed; None
            while it may be.
    """

    __slots__ = ("_most", "_turn", "closed", "queued", "waiting")

    def __init__(self, most: int) -> None:
        self._most = most
        self._turn = asyncio.Lock()
        self.waiting = self.queued = 0
        self.closed: Callable[[], Problem] | None = None

    def admit(self) -> None:
        """Refuse one more if too many wait, or the session is closed."""
        self.check_open()
        if self.waiting >= self._most:
            raise Problem("unavailable", "too many requests wait for this session", headers=RETRY)

    def check_open(self) -> None:
        """Refuse if the session is not to be changed, nor copied as if it were whole."""
        if self.closed is not None:
            raise self.closed()

    def enter(self, admitted: bool) -> None:
        """Wait for the session from now on: as one of so many, unless admitted before."""
        if self.closed is not None or (self.waiting >= self._most and not admitted):
            self.admit()
        self.waiting += 1

    @contextmanager
    def attended(self) -> Iterator[None]:
        """While somebody waits for the session, as one of so many."""
        self.admit()
        with self.held():
            yield

    @contextmanager
    def held(self) -> Iterator[None]:
        """While the session is not to leave memory."""
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1

    @asynccontextmanager
    async def line(self) -> AsyncIterator[None]:
        """Queue for the session; inside it is one's turn."""
        self.queued += 1
        try:
            async with self._turn:
                yield
        finally:
            self.queued -= 1
