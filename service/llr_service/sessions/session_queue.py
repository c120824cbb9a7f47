"""The queue of one session: its bound, its lock, and the refusal while it replays samples."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from llr_service.problems import RETRY_AFTER, Problem
from llr_service.sessions.config import ReplaySource

MAX_RETRY_SECONDS = 60
"""The largest Retry-After of a session that replays samples."""


class SessionQueue:
    """Bounds the requests of a session and lets one at a time change it.

    Attributes:
        pending: requests that hold a slot: they wait for the lock or for the store.
        lock_waiters: requests that wait for the lock or hold it.
        read_only: makes the refusal of a change; None while the session may be changed.
    """

    __slots__ = ("_lock", "_max_pending", "lock_waiters", "pending", "read_only")

    def __init__(self, max_pending: int) -> None:
        self._max_pending = max_pending
        self._lock = asyncio.Lock()
        self.pending = self.lock_waiters = 0
        self.read_only: Callable[[], Problem] | None = None

    def check_writable(self) -> None:
        """Raise the refusal if the session is read-only."""
        if self.read_only is not None:
            raise self.read_only()

    def check_admission(self) -> None:
        """Raise a problem if the session is read-only or its queue is full."""
        self.check_writable()
        if self.pending >= self._max_pending:
            detail = "too many requests wait for this session"
            raise Problem("unavailable", detail, headers=RETRY_AFTER)

    def reserve(self, admitted: bool) -> None:
        """Take a slot, beyond the bound if `admitted`. `release` gives it back.

        `Session.submit` alone uses this pair, because its slot outlives the call: the commit
        releases it. Everything else uses `slot`.
        """
        if self.read_only is not None or (self.pending >= self._max_pending and not admitted):
            self.check_admission()
        self.pending += 1

    def release(self, _outcome: object = None) -> None:
        """Give a slot back; a callback of the commit that the slot was for."""
        self.pending -= 1

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold one of the bounded slots."""
        self.check_admission()
        with self.pin():
            yield

    @contextmanager
    def pin(self) -> Iterator[None]:
        """Keep the session in memory, without a bound."""
        self.pending += 1
        try:
            yield
        finally:
            self.pending -= 1

    @asynccontextmanager
    async def lock(self) -> AsyncIterator[None]:
        """Hold the session's lock; requests get it in the order of their arrival."""
        self.lock_waiters += 1
        try:
            async with self._lock:
                yield
        finally:
            self.lock_waiters -= 1


class ReplayStatus:
    """The progress of a session that learns the samples of another one.

    Attributes:
        source: the samples it learns.
        stopped: why it cannot continue, None while it can.
    """

    def __init__(self, source: ReplaySource, clock: Callable[[], float]) -> None:
        self.source, self._clock = source, clock
        self.stopped: str | None = None
        self._done, self._since = 0, clock()

    def block_changes(self, queue: SessionQueue, t: Callable[[], int]) -> None:
        """Make a session read-only until it has learnt those samples; `t` returns its t."""
        if t() < self.source.samples:
            queue.read_only = lambda: self.refusal(t())

    def to_json(self, t: int) -> dict[str, Any]:
        """The progress at t, as the session's state shows it."""
        name, _, samples = self.source
        return {"source": name, "done": min(t, samples), "of": samples, "stopped": self.stopped}

    def start(self, t: int) -> None:
        """Measure the speed from t on."""
        self._done, self._since = t, self._clock()

    def refusal(self, t: int) -> Problem:
        """The problem of a request that would change the session before it is done."""
        if self.stopped is not None:
            detail = f"the what-if stopped: {self.stopped}. Delete it, then fork again"
            return Problem("relearning-stopped", detail)
        name, _, samples = self.source
        detail = f"{t} of the {samples} samples of {name} are learnt: wait"
        wait = {"Retry-After": f"{self._seconds_left(t)}"}
        return Problem("relearning", detail, headers=wait, **self.to_json(t))

    def _seconds_left(self, t: int) -> int:
        done, elapsed = t - self._done, self._clock() - self._since
        left = elapsed * (self.source.samples - t) / done if done > 0 else 1.0
        return min(MAX_RETRY_SECONDS, max(1, math.ceil(left)))
