"""A what-if on its way: how far a session is with learning another one's samples anew."""

import math
import time
from collections.abc import Callable
from typing import Any

from llr_service.problems import Problem
from llr_service.sessions.origin import Origin
from llr_service.sessions.turns import Turns

LONGEST = 60
"""Seconds one is asked to wait, at most."""


class Relearning:
    """What a session re-learns, and why it stopped if it did.

    Attributes:
        origin: what it re-learns.
        stopped: why it cannot go on, None while it can.
    """

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.stopped: str | None = None
        self._done, self._since = 0, time.monotonic()

    def close(self, turns: Turns, t: Callable[[], int]) -> None:
        """Let nobody change a session until it has learnt those samples; `t` says how far it is."""
        if t() < self.origin.of:
            turns.closed = lambda: self.refusal(t())

    def shown(self, t: int) -> dict[str, Any]:
        """As the session's state tells it when t samples are learnt."""
        source, _, of = self.origin
        return {"source": source, "done": min(t, of), "of": of, "stopped": self.stopped}

    def begin(self, t: int) -> None:
        """It goes on, at t."""
        self._done, self._since = t, time.monotonic()

    def refusal(self, t: int) -> Problem:
        """What those are told who want to change the session meanwhile."""
        if self.stopped is not None:
            detail = f"the what-if stopped: {self.stopped}. Delete it, then fork again"
            return Problem("relearning-stopped", detail)
        detail = f"{t} of the {self.origin.of} samples of {self.origin.source} are learnt: wait"
        wait = {"Retry-After": f"{self._seconds_left(t)}"}
        return Problem("relearning", detail, headers=wait, **self.shown(t))

    def _seconds_left(self, t: int) -> int:
        done, elapsed = t - self._done, time.monotonic() - self._since
        left = elapsed * (self.origin.of - t) / done if done > 0 else 1.0
        return min(LONGEST, max(1, math.ceil(left)))
