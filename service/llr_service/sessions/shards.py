"""The databases of a store, one or several, each with a committer of its own.

A session lives in one of them, told by its name, so that commits grow with databases and one that
is away takes no more than its own sessions with it.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from heapq import merge
from itertools import islice
from operator import attrgetter
from typing import Any, BinaryIO, NamedTuple, TypeVar

from llr_service.sessions.committer import Committer
from llr_service.sessions.heads import Heads
from llr_service.stores.places import place
from llr_service.stores.store import Copied, Listed, Store, StoreError

R = TypeVar("R")


class Shard(NamedTuple):
    """A database: who writes, and who tells what others did if others may."""

    committer: Committer
    heads: Heads | None

    async def answers(self) -> None:
        """Return when it answers, by the shortest way to it. Raises a `StoreError`."""
        if self.heads is not None:
            await self.heads.of("")
        else:
            await self.committer.call(lambda store: store.list("", 1)).wait()


class Shards:
    """All databases of a store, in the order of its list.

    Attributes:
        told: who tell what others did, of each database that has others.
        shared: whether any has.
    """

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._shards = shards
        self.told = [shard.heads for shard in shards if shard.heads]
        self.shared = bool(self.told)

    def of(self, name: str) -> Committer:
        """Who writes for a name."""
        return self._of(name).committer

    def heads(self, name: str) -> Heads | None:
        """Who tells what others did to a session, None if there are no others."""
        return self._of(name).heads

    async def list(self, after: str, limit: int) -> list[Listed]:
        """At most `limit` sessions whose names follow `after`, in order, of all databases."""
        return [*await self._merged(lambda store: store.list(after, limit), limit)]

    async def marked(self, after: str, limit: int) -> Sequence[Listed]:
        """Those of the list whose configs have the store's `MARK`."""
        return [*await self._merged(lambda store: store.marked(after, limit), limit)]

    async def count(self) -> int:
        """How many sessions there are in all databases. It takes the longer the more there are."""
        return sum(await asyncio.gather(*self._ask(lambda store: store.count())))

    async def ready(self) -> None:
        """Return as soon as one of the databases answers. Raises a `StoreError` if none does."""
        asked = [asyncio.ensure_future(shard.answers()) for shard in self._shards]
        failure = StoreError("there is no database")
        try:
            for answer in asyncio.as_completed(asked):
                try:
                    return await answer
                except StoreError as one:
                    failure = one
            raise failure
        finally:
            for each in asked:
                each.cancel()
                each.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def copy(self) -> BinaryIO | None:
        """A copy of the store as it is now, None if it is copied by other means."""
        [shard, *others] = self._shards
        return None if others else await shard.committer.call(_copy).wait()

    async def _merged(
        self, page: Callable[[Store], Sequence[Listed]], limit: int
    ) -> Iterator[Listed]:
        """The first rows of all databases, of a page of each."""
        pages = await asyncio.gather(*self._ask(page))
        return islice(merge(*pages, key=attrgetter("name")), limit)

    def _of(self, name: str) -> Shard:
        return self._shards[place(name, len(self._shards))]

    def _ask(self, question: Callable[[Store], R]) -> Iterator[Coroutine[Any, Any, R]]:
        return (shard.committer.call(question).wait() for shard in self._shards)


def _copy(store: Store) -> BinaryIO | None:
    return store.copy() if isinstance(store, Copied) else None
