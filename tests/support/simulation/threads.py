"""The committer's thread as two steps: it works on a batch, and the loop hears of it."""

from collections.abc import Callable
from typing import Any

from llr_service.stores.store import StoreUnavailable


class Dead:
    """The store of a process that is gone."""

    def close(self) -> None:
        """Nothing is open."""

    def __getattr__(self, name: str) -> Any:
        raise StoreUnavailable("simulated: the process is gone")


class SimulatedThread:
    """What stands for `threading.Thread` in the committer's module.

    The loop and the thread share a queue and the outcome of a batch, nothing else; so a batch that
    is worked on as a whole, at any time after it was queued, and whose outcome is heard at any time
    after that, is all that a real thread can do.
    """

    started: "list[SimulatedThread]" = []  # noqa: RUF012

    def __init__(self, target: Callable[[], None], name: str, daemon: bool) -> None:
        self._committer: Any = getattr(target, "__self__", None)
        self._done: Any = None
        self._ended = False

    def start(self) -> None:
        """Be known to the world."""
        self.started.append(self)

    def join(self) -> None:
        """It has nothing to wait for: the store is closed before."""

    @property
    def ready(self) -> bool:
        """Whether there is a step to take."""
        return not self._ended and (self._done is not None or not self._committer._batches.empty())

    @property
    def idle(self) -> bool:
        """Whether nothing is queued, worked on or to be heard."""
        return self._ended or not (self.ready or self._committer._busy)

    def step(self) -> None:
        """Let the loop hear of a batch, or work on one and then on what was deferred."""
        committer = self._committer
        if self._done is not None:
            done, self._done = self._done, None
            committer._loop.call_soon_threadsafe(committer._finish, done)
            return
        batch = committer._batches.get_nowait()
        if batch is None:
            self._ended = True
            return
        self._done = committer._serve(batch)
        committer._run_maintenance()

    def kill(self) -> None:
        """Let nothing that it is given reach the store any more."""
        self._committer._store, self._committer._maintainable = Dead(), None
