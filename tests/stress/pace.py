"""How long ordinary requests take while something else goes on."""

import math
import time
from collections.abc import Sequence

from .samples import Stream, as_json
from .wire import Wire

PATH = "/v1/sessions/{}/samples?theta=false"
SPARE = 0.05
"""Seconds below which a 99th percentile is not called slow: other processes cost as much."""


async def latencies(port: int, session: str, n: int) -> list[float]:
    """Seconds that each of n single samples took, one after the other; infinite if not 200."""
    stream, took = Stream(0), list[float]()
    async with await Wire.open(port) as wire:
        for number in range(n):
            body, kind = as_json(stream.rows(number, number + 1))
            started = time.perf_counter()
            answer = await wire.ask("POST", PATH.format(session), body, kind)
            seconds = time.perf_counter() - started
            took.append(seconds if answer.status == 200 else math.inf)
    return took


def p99(took: Sequence[float]) -> float:
    """The 99th percentile."""
    return sorted(took)[int(len(took) * 0.99)]


def held_up(before: Sequence[float], during: Sequence[float]) -> bool:
    """Whether the slowest requests take twice as long as before, and long enough to matter."""
    return p99(during) > max(2 * p99(before), SPARE)


def in_ms(seconds: float) -> float:
    """For a table."""
    return round(seconds * 1e3, 1)
