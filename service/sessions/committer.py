"""The one thread that touches the store, and the group commit.

Whatever waits when the thread comes round goes to the store as one group, so that one fsync serves
all of it. Coroutines hand over a change and get a future; a group's futures are settled together.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from service.metrics import Metrics
from service.stores.store import Change, Conflict, Store, StoreError, Written

R = TypeVar("R")

MOST = 1024
"""Changes in a group."""


class Committer:
    """Owns the store. Make it inside a running event loop; `close` ends its thread."""

    def __init__(self, store: Store, metrics: Metrics) -> None:
        self._store = store
        self._metrics = metrics
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[tuple[Any, asyncio.Future[Any]] | None] = (
            queue.SimpleQueue()
        )
        self._thread = threading.Thread(target=self._run, name="committer", daemon=True)
        self._thread.start()

    def commit(self, change: Change) -> "asyncio.Future[Written | Conflict]":
        """Queue a change; the future is settled when it is durable, or fails with a StoreError."""
        return self._hand_over(change)

    def call(self, question: Callable[[Store], R]) -> "asyncio.Future[R]":
        """Ask the store something, after all changes queued so far."""
        return self._hand_over(question)

    async def close(self) -> None:
        """Finish what is queued, then let go of the store."""
        self._waiting.put(None)
        await asyncio.to_thread(self._thread.join)

    def _hand_over(self, work: Any) -> "asyncio.Future[Any]":
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.put((work, future))
        return future

    def _run(self) -> None:
        """The thread: take what waits, changes in groups and questions between them."""
        going = True
        while going:
            batch = [self._waiting.get()]
            while len(batch) < MOST:
                try:
                    batch.append(self._waiting.get_nowait())
                except queue.Empty:
                    break
            if None in batch:
                going = False
            self._serve([item for item in batch if item is not None])
        self._store.close()

    def _serve(self, batch: list[tuple[Any, asyncio.Future[Any]]]) -> None:
        done: list[tuple[asyncio.Future[Any], Any]] = []
        group: list[tuple[Change, asyncio.Future[Any]]] = []
        for work, future in batch:
            if not callable(work):
                group.append((work, future))
                continue
            done += self._write(group)
            group = []
            done.append((future, _answer(work, self._store)))
        done += self._write(group)
        self._loop.call_soon_threadsafe(_settle, done)

    def _write(
        self, group: list[tuple[Change, asyncio.Future[Any]]]
    ) -> list[tuple[asyncio.Future[Any], Any]]:
        if not group:
            return []
        started = time.perf_counter()
        outcome = _answer(lambda store: store.write([change for change, _ in group]), self._store)
        self._metrics.committed(len(group), time.perf_counter() - started)
        if isinstance(outcome, Exception):
            return [(future, outcome) for _, future in group]
        return [(future, result) for (_, future), result in zip(group, outcome, strict=True)]


def _answer(question: Callable[[Store], Any], store: Store) -> Any:
    """What the store says, or the exception it raised."""
    try:
        return question(store)
    except StoreError as failure:
        return failure
    except Exception as failure:  # a bug must not end the only writer
        return StoreError(repr(failure))


def _settle(done: list[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, outcome in done:
        if future.cancelled():
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
            future.exception()  # nobody may be waiting any more
        else:
            future.set_result(outcome)
