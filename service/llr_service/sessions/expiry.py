"""Sessions that expire: deleted when no sample came for their `expire_seconds`.

A session is looked at when it may be due, not before: the heap has the time of the next look at
each. Sessions that this process creates or loads are known at once; those of the store are found
at the start, and once an hour, since another process may have created them. A deletion names the
version that was looked at, so a session that learns meanwhile stays.
"""

import asyncio
import heapq
import logging
from collections.abc import Callable

from llr_service.problems import Problem
from llr_service.sessions.config import created_of, from_stored
from llr_service.sessions.registry import SessionRegistry

log = logging.getLogger("llr_service")

MARK, UNSET = b'"expire_seconds":', b'"expire_seconds":null'
"""The bytes of a stored config that names the key, and of one that leaves it unset."""
PAGE, PAUSE = 500, 0.02
"""Sessions that are listed at a time, and seconds in which others have the store meanwhile."""
AGAIN_MS = 1000
"""Milliseconds after which a session that was busy is looked at again."""


class Expiry:
    """Finds the sessions of a registry that expire, and deletes those that are due."""

    def __init__(self, registry: SessionRegistry, clock: Callable[[], float]) -> None:
        self._registry, self._clock = registry, clock
        self._looks: list[tuple[int, str]] = []
        self._known: set[str] = set()

    async def scan(self) -> None:
        """Find the sessions of the store that expire."""
        after = ""
        while rows := await self._registry.list(after, PAGE):
            for row in rows:
                if MARK in row.config and UNSET not in row.config and row.name not in self._known:
                    config, _ = from_stored(row.config)
                    seconds = config.expire_seconds or 0
                    self._look(row.name, created_of(row.config) + int(1000 * seconds))
            after = rows[-1].name
            await asyncio.sleep(PAUSE)

    async def sweep(self) -> None:
        """Delete what is due."""
        while self._registry.expiring:
            name = self._registry.expiring.pop()
            if name not in self._known:
                self._look(name, 0)
        now = self._now()
        while self._looks and self._looks[0][0] <= now:
            _, name = heapq.heappop(self._looks)
            self._known.discard(name)
            try:
                await self._examine(name)
            except Problem as problem:
                if problem.kind.name != "session-not-found":
                    self._look(name, now + AGAIN_MS)

    async def _examine(self, name: str) -> None:
        """Delete a session if it is due, or plan the next look at it."""
        session = self._registry.peek(name) or await self._registry.get_current(name)
        expires = session.expires
        if expires is None:
            return
        if expires > self._now():
            self._look(name, expires)
        elif session.busy:
            self._look(name, self._now() + AGAIN_MS)
        elif await self._registry.delete_unchanged(session):
            log.info("session expired", extra={"session": name, "t": session.t})
        else:
            await self._registry.evict_if_stale(session)
            self._look(name, self._now() + AGAIN_MS)

    def _look(self, name: str, at: int) -> None:
        self._known.add(name)
        heapq.heappush(self._looks, (at, name))

    def _now(self) -> int:
        return int(1000 * self._clock())
