"""The one thread that touches the store, and the group commit.

Whatever waits when the thread is free goes to the store as one group, so that one fsync serves all
of it. Coroutines hand over a change and get a receipt; a group's receipts are settled together. The
loop and the thread meet twice a group, never for a single change: to wake a thread, and to have it
ask for the interpreter, costs more than to learn from a sample.
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

MOST = 1024
"""Changes in a group."""


class Receipt(Generic[R]):
    """For work on its way to the store. Any number may wait for it, and none can call it off."""

    __slots__ = ("_outcome", "_settled", "_then", "_waiting")

    _outcome: R | Exception

    def __init__(self) -> None:
        self._settled = False
        self._then: list[Callable[[Any], None]] = []
        self._waiting: list[asyncio.Future[None]] = []

    async def outcome(self) -> R | Exception:
        """What the store said or raised, as soon as it has."""
        if not self._settled:
            told: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(told)
            await told
        return self._outcome

    async def wait(self) -> R:
        """What the store said, as soon as it has. Raises what the store raised."""
        outcome = await self.outcome()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def then(self, follow: Callable[[Any], None]) -> None:
        """What to do when the store has spoken, in this order, before those who wait go on."""
        self._then.append(follow)

    def settle(self, outcome: R | Exception) -> None:
        """Tell all who wait. To be called in the loop."""
        self._outcome, self._settled = outcome, True
        then, self._then = self._then, []  # what follows may hold this: let go of each other
        for follow in then:
            try:
                follow(outcome)
            except Exception:  # it shall not be the trouble of others in its group
                log.exception("what follows a commit failed")
        for told in self._waiting:
            if not told.done():
                told.set_result(None)


Item = tuple[Any, Receipt[Any]]
Settled = tuple[Receipt[Any], Any]


class Committer:
    """Owns the store. Make it inside a running event loop; `close` ends its thread."""

    def __init__(self, store: Store, metrics: Metrics) -> None:
        self._store = store
        self._tidied = store if isinstance(store, Maintainable) else None
        self._metrics = metrics
        self._loop = asyncio.get_running_loop()
        self._waiting: list[Item] = []
        self._busy = False
        self._batches: queue.SimpleQueue[list[Item] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="committer", daemon=True)
        self._thread.start()

    def commit(self, change: Change) -> Receipt[Written | Conflict]:
        """Queue a change; the receipt is settled when it is durable, or with a StoreError."""
        return self._hand_over(change)

    def call(self, question: Callable[[Store], R]) -> Receipt[R]:
        """Ask the store something, after all changes queued so far."""
        return self._hand_over(question)

    async def close(self) -> None:
        """Finish what is queued, then let go of the store."""
        await self.call(lambda store: store.close()).wait()
        self._batches.put(None)
        await asyncio.to_thread(self._thread.join)

    def _hand_over(self, work: Any) -> Receipt[Any]:
        """Queue for the next batch. It starts after all that is ready to run in this loop."""
        receipt: Receipt[Any] = Receipt()
        self._waiting.append((work, receipt))
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._start)
        return receipt

    def _start(self) -> None:
        """Give the thread what waits, if anything does."""
        batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
        self._busy = bool(batch)
        if batch:
            self._batches.put(batch)

    def _finish(self, done: list[Settled]) -> None:
        """In the loop: the disk goes on with the next batch while this one is answered."""
        self._start()
        for receipt, outcome in done:
            receipt.settle(outcome)

    def _run(self) -> None:
        """The thread: a batch at a time, changes in groups and questions between them."""
        self._tidy()
        while (batch := self._batches.get()) is not None:
            self._loop.call_soon_threadsafe(self._finish, self._serve(batch))
            self._tidy()

    def _tidy(self) -> None:
        """Let the store do what it put off, until somebody wants something."""
        tidied = self._tidied
        while tidied is not None and self._batches.empty():
            if outcome_of(lambda _: tidied.run_maintenance(), tidied, self._metrics) is not True:
                return

    def _serve(self, batch: list[Item]) -> list[Settled]:
        done: list[Settled] = []
        group: list[Item] = []
        for work, receipt in batch:
            if not callable(work):
                group.append((work, receipt))
                continue
            done += self._write(group)
            group = []
            done.append((receipt, outcome_of(work, self._store, self._metrics)))
        return done + self._write(group)

    def _write(self, group: list[Item]) -> list[Settled]:
        if not group:
            return []
        started, changes = time.perf_counter(), [change for change, _ in group]
        outcome = outcome_of(lambda store: store.write(changes), self._store, self._metrics)
        if isinstance(outcome, StoreError):
            return [(receipt, outcome) for _, receipt in group]
        self._metrics.committed(len(group), time.perf_counter() - started)
        self._metrics.refused(sum(map(_overtaken, group, outcome)))
        return [(receipt, result) for (_, receipt), result in zip(group, outcome, strict=True)]


def _overtaken(item: Item, result: Written | Conflict) -> bool:
    """Whether a change was refused because others changed its session first."""
    return isinstance(result, Conflict) and isinstance(
        item[0], AppendSamples | WriteSnapshot | UpdatePending
    )


def outcome_of(question: Callable[[S], R], store: S, metrics: Metrics) -> R | StoreError:
    """What a store says, or its failure, which is counted unless one session is to blame."""
    try:
        return question(store)
    except Damaged as damage:
        return damage
    except Exception as failure:  # a bug must not end the only writer, nor leave anybody waiting
        metrics.store_failed()
        return failure if isinstance(failure, StoreError) else StoreError(repr(failure))
