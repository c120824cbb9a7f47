"""Rate limits: a token bucket for each key."""

import math
import time
from collections.abc import Callable

from llr_service.http.auth import ApiKey
from llr_service.problems import Problem


class RateLimiter:
    """Lets each key do `rate` requests a second, and `burst` at once after a pause.

    A bucket is one number: the time at which it is full again (the generic cell rate algorithm).

    Args:
        rate: requests a second.
        burst: the size of the bucket.
        clock: what tells the seconds.
    """

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._interval, self._clock = 1 / rate, clock
        self._room = (burst - 1) * self._interval
        self._full_at: dict[str, float] = {}

    def take(self, key: ApiKey) -> None:
        """Take a token from the key's bucket. Raises `rate-limited` if there is none."""
        now = self._clock()
        full_at = max(self._full_at.get(key.name, now), now)
        wait = full_at - now - self._room
        if wait > 1e-9:
            seconds = math.ceil(wait)
            raise Problem(
                "rate-limited",
                f"the key {key.name} may do {1 / self._interval:g} requests a second here:"
                f" try again in {seconds} s",
                headers={"Retry-After": str(seconds)},
                retry_after=seconds,
            )
        self._full_at[key.name] = full_at + self._interval
