"""Whose turn it is with a session, and how many wait for theirs."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from service.problems import Problem
from service.sessions.waiting import RETRY


class Turns:
    """Those who wait for a session, at most so many, and whose turn it is.

    Attributes:
        waiting: how many wait for the session, for their turn or for the store.
        queued: how many wait for their turn or have it.
    """

    __slots__ = ("_most", "_turn", "queued", "waiting")

    def __init__(self, most: int) -> None:
        self._most = most
        self._turn = asyncio.Lock()
        self.waiting = self.queued = 0

    def admit(self) -> None:
        """Refuse one more if too many wait."""
        if self.waiting >= self._most:
            raise Problem("unavailable", "too many requests wait for this session", headers=RETRY)

    @contextmanager
    def attended(self) -> Iterator[None]:
        """While somebody waits for the session, as one of so many."""
        self.admit()
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
