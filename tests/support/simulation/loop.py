"""An event loop without a selector, real time or threads.

asyncio promises that what is ready runs in the order in which it became ready; that stays. Where a
real loop looks for what came from outside, this one asks the world: that is where another order is
possible, and where the world decides.
"""

import asyncio
from collections.abc import Callable
from typing import Any

START = 1_700_000_000.0
"""The time at which every simulation starts, in seconds since 1970."""

Outside = Callable[[float | None], float]
"""What happens outside meanwhile, at most for so many seconds; returns how many went by."""


class _Selector:
    """The place where the loop waits for the outside."""

    def __init__(self, loop: "SimulatedLoop") -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[Any]:
        passed = self._loop.outside(timeout)  # which may set the clock itself
        self._loop.now += passed
        return []


class SimulatedLoop(asyncio.BaseEventLoop):
    """A loop whose time is a number.

    Attributes:
        now: the time, in seconds since 1970.
        outside: what is asked wherever a real loop would look at its sockets.
    """

    def __init__(self, outside: Outside, now: float) -> None:
        super().__init__()
        self.now, self.outside = now, outside
        self.jobs = list[Callable[[], None]]()
        self._selector = _Selector(self)
        self._clock_resolution = 1e-6  # of a float at this time; a timer would never be due else

    def time(self) -> float:
        """The simulated time."""
        return self.now

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Any, *args: Any
    ) -> "asyncio.Future[Any]":
        """Queue work for the executor; the world decides when it is done and when that is known."""
        known = self.create_future()
        self.jobs.append(lambda: self._work(known, func, args))
        return known

    def _work(self, known: "asyncio.Future[Any]", func: Any, args: Any) -> None:
        tell: Callable[[Any], None]
        try:
            outcome, tell = func(*args), known.set_result
        except Exception as error:  # as an executor does, it goes to whoever waits
            outcome, tell = error, known.set_exception
        self.jobs.append(lambda: None if known.done() else tell(outcome))

    def _process_events(self, event_list: Any) -> None:
        """There are none: the outside does what it does in `select`."""

    def _write_to_self(self) -> None:
        """Nothing sleeps that would have to be woken."""


async def in_executor(func: Any, *args: Any, **_: Any) -> Any:
    """What stands for `anyio.to_thread.run_sync`."""
    return await asyncio.get_running_loop().run_in_executor(None, func, *args)
