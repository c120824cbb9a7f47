"""When to try again, and after how long: full jitter, exponential, within a patience.

Each pause is drawn evenly from nothing to a bound that doubles, so that clients which failed
together do not come back together. What the service asks for with Retry-After comes on top.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llr_client.errors import LLRError, Problem, Unreachable

FIRST, LONGEST = 0.1, 10.0
"""Seconds: the bound of the first pause, and of any."""

PASSING = {408, 429, 502, 503, 504, 507}
"""Statuses of what may pass by itself."""


@dataclass(frozen=True)
class Clock:
    """Time and chance, which tests make their own of.

    Attributes:
        now: seconds since some moment.
        sleep: waits so many seconds; for the asynchronous client it is awaited.
        random: a number from 0 to 1.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Any] = time.sleep
    random: Callable[[], float] = random.random


class Attempts:
    """The tries of one request."""

    def __init__(self, patience: float, clock: Clock) -> None:
        self._clock, self._end = clock, clock.now() + patience
        self._bound = FIRST

    def pause(self, error: LLRError) -> float | None:
        """Seconds until the next try; None if the error will not pass, or patience has ended."""
        if not passing(error):
            return None
        seconds = self._clock.random() * self._bound
        self._bound = min(2 * self._bound, LONGEST)
        if isinstance(error, Problem):
            seconds += error.retry_after or 0.0
        return seconds if self._clock.now() + seconds <= self._end else None


def passing(error: LLRError) -> bool:
    """Whether the same request may succeed later.

    >>> passing(Unreachable("nobody there")), passing(Problem("no", status=422))
    (True, False)
    """
    return isinstance(error, Unreachable) or getattr(error, "status", 0) in PASSING
