"""The store as sessions use it: a writer, a reader of versions, and their errors as problems."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

from llr_service.metrics import Metrics
from llr_service.problems import RETRY_AFTER, Problem
from llr_service.sessions.committer import CommitFuture, Committer, call_store
from llr_service.stores.store import (
    BackupCapable,
    Conflict,
    Damaged,
    MultiWriter,
    SessionSummary,
    Sized,
    Store,
    StoreError,
    StoreFull,
    Version,
    Written,
)

R = TypeVar("R")

MAX_TRIES = 24
"""How often work is tried before the sender has to send it again."""


class VersionConflict(Problem):
    """The copy of a session is stale: it changed nothing, and the work needs the current copy."""

    def __init__(self) -> None:
        detail = "the session changes too fast, send again"
        super().__init__("unavailable", detail, headers=RETRY_AFTER)


def not_found(name: str) -> Problem:
    """The problem of a name that no session has."""
    return Problem("session-not-found", f"PUT /v1/sessions/{name} creates it")


async def wait_durable(commit: CommitFuture[Any]) -> None:
    """Wait for a commit. Cancelling the wait does not cancel the commit."""
    raise_for_outcome(await commit.outcome())


def raise_for_outcome(outcome: Any) -> None:
    """Raise the problem of a change that was not stored: `VersionConflict` if it came too late."""
    if isinstance(outcome, Written):
        return
    if isinstance(outcome, StoreFull):
        raise Problem("disk-full", "nothing was stored: make room, then send again") from outcome
    if isinstance(outcome, StoreError):
        detail = "the store failed: send the same again, with its producer and seq"
        raise Problem("unavailable", detail, headers=RETRY_AFTER) from outcome
    if isinstance(outcome, Conflict):
        raise VersionConflict
    if isinstance(outcome, Exception):
        raise outcome


async def store_result(answer: Awaitable[R]) -> R:
    """Wait for the store and turn its errors into problems, except `Damaged`."""
    try:
        return await answer
    except StoreFull as full:
        raise Problem("disk-full", "nothing was stored: make room, then try again") from full
    except Damaged:
        raise
    except StoreError as failure:
        detail = "the store failed, try again"
        raise Problem("unavailable", detail, headers=RETRY_AFTER) from failure


class VersionReader:
    """Looks up versions in a thread of its own, so that readers do not wait for writers.

    Make it inside a running event loop. Requests that arrive while a look-up runs share the next
    one: an answer is never older than its request.
    """

    def __init__(self, store: MultiWriter, metrics: Metrics) -> None:
        self._store, self._metrics, self._loop = store, metrics, asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "versions")
        self._requested: dict[str, CommitFuture[Version | None]] = {}
        self._busy = False

    async def read(self, name: str) -> Version | None:
        """Read which session has a name and its version; None if there is none."""
        future = self._requested.get(name)
        if future is None:
            future = self._requested[name] = CommitFuture()
            if not self._busy:
                self._busy = True
                self._loop.call_soon(self._start)
        return await future.wait()

    async def close(self) -> None:
        """Close the store after the last answer."""
        await self._loop.run_in_executor(self._thread, self._store.close)
        self._thread.shutdown(wait=False)

    def _start(self) -> None:
        requested, self._requested = self._requested, {}
        self._busy = bool(requested)
        if requested:
            answer = self._loop.run_in_executor(self._thread, self._look_up, [*requested])
            answer.add_done_callback(lambda done: self._finish(requested, done.result()))

    def _look_up(self, names: list[str]) -> Mapping[str, Version] | StoreError:
        return call_store(lambda store: store.versions(names), self._store, self._metrics)

    def _finish(
        self,
        requested: dict[str, CommitFuture[Version | None]],
        found: Mapping[str, Version] | StoreError,
    ) -> None:
        self._start()
        for name, future in requested.items():
            future.set_result(found if isinstance(found, StoreError) else found.get(name))


@dataclass(frozen=True)
class Storage:
    """The store of the sessions.

    Attributes:
        committer: writes and reads, in one thread.
        versions: reads what other processes changed; None if the store has a single writer.
    """

    committer: Committer
    versions: VersionReader | None = None

    @property
    def shared(self) -> bool:
        """Whether other processes change the sessions too."""
        return self.versions is not None

    async def list(self, after: str, limit: int) -> list[SessionSummary]:
        """List at most `limit` sessions whose names follow `after`, in order."""
        return await self.committer.call(lambda store: store.list(after, limit)).wait()

    async def list_replays(self, after: str, limit: int) -> Sequence[SessionSummary]:
        """List the sessions whose configs have the store's `REPLAY_MARK`."""
        return await self.committer.call(lambda store: store.list_replays(after, limit)).wait()

    async def count(self) -> int:
        """Count the sessions; this is slow with many."""
        return await self.committer.call(lambda store: store.count()).wait()

    async def size(self) -> int:
        """Measure the store's bytes; 0 if it takes no room on a disk."""
        return await self.committer.call(_size).wait()

    async def ready(self) -> None:
        """Return when the store answers. Raises a `StoreError`."""
        if self.versions is not None:  # a look-up does not wait for writers
            await self.versions.read("")
        else:
            await self.list("", 1)

    async def backup(self) -> BinaryIO | None:
        """Copy the store as it is now; None if the engine has its own tools for that."""
        return await self.committer.call(_backup).wait()


def _size(store: Store) -> int:
    return store.size() if isinstance(store, Sized) else 0


def _backup(store: Store) -> BinaryIO | None:
    return store.backup() if isinstance(store, BackupCapable) else None
