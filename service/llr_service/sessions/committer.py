"""The committer: the one thread that uses the store, and its group commit.

All changes that are queued when the thread is free go to the store as one group, so that one fsync
serves all of them. A coroutine queues a change and gets a future; the futures of a group are done
at the same time. The event loop and the thread synchronize twice a group, never for a single
change: waking a thread and switching the interpreter costs more than learning from a sample.
"""

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from llr_service.metrics import Metrics
from llr_service.stores.store import (
    AppendSamples,
    Change,
    Conflict,
    Damaged,
    Maintainable,
    Store,
    StoreError,
    UpdatePending,
    WriteSnapshot,
    Written,
)

log = logging.getLogger("llr_service")

R = TypeVar("R")
S = TypeVar("S", bound=Store)

MAX_GROUP = 1024
"""Changes in a group."""


class CommitFuture(Generic[R]):
    """The outcome of work for the store. Several may wait for it; none of them can cancel it."""

    __slots__ = ("_callbacks", "_done", "_outcome", "_waiting")

    _outcome: R | Exception

    def __init__(self) -> None:
        self._done = False
        self._callbacks: list[Callable[[Any], None]] = []
        self._waiting: list[asyncio.Future[None]] = []

    async def outcome(self) -> R | Exception:
        """Wait for the store; returns its result, or the exception that it raised."""
        if not self._done:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter
        return self._outcome

    async def wait(self) -> R:
        """Wait for the store; returns its result, or raises its exception."""
        outcome = await self.outcome()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def add_callback(self, callback: Callable[[Any], None]) -> None:
        """Call with the outcome: in this order, before the coroutines that wait; now if done."""
        if self._done:
            callback(self._outcome)
        else:
            self._callbacks.append(callback)

    def set_result(self, outcome: R | Exception) -> None:
        """Set the outcome and wake the coroutines that wait. Call it in the event loop."""
        self._outcome, self._done = outcome, True
        callbacks, self._callbacks = self._callbacks, []  # they may refer to this: break the cycle
        for callback in callbacks:
            try:
                callback(outcome)
            except Exception:  # it must not affect the others of its group
                log.exception("a callback of a commit failed")
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)


Item = tuple[Any, CommitFuture[Any]]
Outcome = tuple[CommitFuture[Any], Any]


class Committer:
    """Owns the store. Make it inside a running event loop; `close` ends its thread."""

    def __init__(self, store: Store, metrics: Metrics) -> None:
        self._store = store
        self._maintainable = store if isinstance(store, Maintainable) else None
        self._metrics = metrics
        self._loop = asyncio.get_running_loop()
        self._waiting: list[Item] = []
        self._busy = False
        self._batches: queue.SimpleQueue[list[Item] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="committer", daemon=True)
        self._thread.start()

    def commit(self, change: Change) -> CommitFuture[Written | Conflict]:
        """Queue a change; the future is done when the change is durable or has failed."""
        return self._enqueue(change)

    def call(self, query: Callable[[Store], R]) -> CommitFuture[R]:
        """Queue a query; it runs after all changes queued so far."""
        return self._enqueue(query)

    async def close(self) -> None:
        """Finish what is queued, then close the store."""
        await self.call(lambda store: store.close()).wait()
        self._batches.put(None)
        await asyncio.to_thread(self._thread.join)

    def _enqueue(self, work: Any) -> CommitFuture[Any]:
        """Queue work for the next batch, which starts after the callbacks that are ready now."""
        future: CommitFuture[Any] = CommitFuture()
        self._waiting.append((work, future))
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._start)
        return future

    def _start(self) -> None:
        """Hand the queued work to the thread, if there is any."""
        batch, self._waiting = self._waiting[:MAX_GROUP], self._waiting[MAX_GROUP:]
        self._busy = bool(batch)
        if batch:
            self._batches.put(batch)

    def _finish(self, done: list[Outcome]) -> None:
        """In the event loop: start the next batch, then announce the outcomes of this one."""
        self._start()
        for future, outcome in done:
            future.set_result(outcome)

    def _run(self) -> None:
        """In the thread: serve batch after batch, changes in groups and queries between them."""
        self._run_maintenance()
        while (batch := self._batches.get()) is not None:
            self._loop.call_soon_threadsafe(self._finish, self._serve(batch))
            self._run_maintenance()

    def _run_maintenance(self) -> None:
        """Let the store do deferred work until the next batch arrives."""
        maintainable = self._maintainable
        while maintainable is not None and self._batches.empty():
            if (
                call_store(lambda _: maintainable.run_maintenance(), maintainable, self._metrics)
                is not True
            ):
                return

    def _serve(self, batch: list[Item]) -> list[Outcome]:
        done: list[Outcome] = []
        group: list[Item] = []
        for work, future in batch:
            if not callable(work):
                group.append((work, future))
                continue
            done += self._write(group)
            group = []
            done.append((future, call_store(work, self._store, self._metrics)))
        return done + self._write(group)

    def _write(self, group: list[Item]) -> list[Outcome]:
        if not group:
            return []
        started, changes = time.perf_counter(), [change for change, _ in group]
        outcome = call_store(lambda store: store.write(changes), self._store, self._metrics)
        if isinstance(outcome, StoreError):
            return [(future, outcome) for _, future in group]
        self._metrics.committed(len(group), time.perf_counter() - started)
        self._metrics.refused(sum(map(_is_conflict, group, outcome)))
        return [(future, result) for (_, future), result in zip(group, outcome, strict=True)]


def _is_conflict(item: Item, result: Written | Conflict) -> bool:
    """Whether a change was refused because another one of its session came first."""
    return isinstance(result, Conflict) and isinstance(
        item[0], AppendSamples | WriteSnapshot | UpdatePending
    )


def call_store(query: Callable[[S], R], store: S, metrics: Metrics) -> R | StoreError:
    """Call a store; returns its result or its error, which is counted unless it is `Damaged`."""
    try:
        return query(store)
    except Damaged as damage:
        return damage
    except Exception as failure:  # a bug must neither end the only writer nor block the futures
        metrics.store_failed()
        return failure if isinstance(failure, StoreError) else StoreError(repr(failure))
