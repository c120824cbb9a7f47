"""Retries: exponential backoff with full jitter, within a time limit.

Each pause is uniform between 0 and a bound that doubles, so that clients that failed together do
not retry together. The service's Retry-After is added.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llr_client.errors import LLRError, Problem, Unreachable

FIRST_PAUSE, MAX_PAUSE = 0.1, 10.0
"""The bounds of the first and of any pause, in seconds."""

FIRST_PATIENCE, PATIENCE = 3.0, 60.0
"""Default seconds of retries: until the service has answered for the first time, and afterwards."""

RETRYABLE_STATUSES = {408, 429, 502, 503, 504, 507}
"""HTTP statuses of temporary failures."""


@dataclass(frozen=True)
class Clock:
    """Time, sleep and random numbers; tests pass their own.

    Attributes:
        now: a monotonic time in seconds.
        sleep: pauses for a number of seconds; the asyncio client awaits it.
        random: a random number from 0 to 1.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Any] = time.sleep
    random: Callable[[], float] = random.random


class Backoff:
    """The pauses between the attempts of one request.

    Attributes:
        patience: seconds from the start after which there is no further attempt.
    """

    def __init__(self, patience: float, clock: Clock) -> None:
        self._clock, self._start = clock, clock.now()
        self.patience = patience
        self._bound = FIRST_PAUSE

    def pause(self, error: LLRError) -> float | None:
        """Seconds until the next attempt; None if the error is permanent or patience has ended."""
        if not is_retryable(error):
            return None
        seconds = self._clock.random() * self._bound
        self._bound = min(2 * self._bound, MAX_PAUSE)
        if isinstance(error, Problem):
            seconds += error.retry_after or 0.0
        return seconds if self._clock.now() + seconds <= self._start + self.patience else None


def is_retryable(error: LLRError) -> bool:
    """Whether the same request may succeed later.

    >>> is_retryable(Unreachable("timed out")), is_retryable(Problem("no", status=422))
    (True, False)
    """
    return isinstance(error, Unreachable) or getattr(error, "status", 0) in RETRYABLE_STATUSES
