"""Waiting for a what-if: when it is done, and when it never will be."""

from collections.abc import Callable

from llr_client.answers import Relearning, State
from llr_client.errors import RelearningStopped, SessionNotFound

Progress = Callable[[Relearning], None]


def is_done(state: State, progress: Progress | None) -> bool:
    """Whether a session has learnt all it was forked for. Raises if it stopped."""
    going = state.relearning
    if going is None:
        return True
    if progress is not None:
        progress(going)
    if going.stopped is not None:
        raise RelearningStopped(f"{state.name} stopped at t = {state.t}: {going.stopped}")
    return going.done >= going.of


def deleted(name: str) -> SessionNotFound:
    """It was deleted while it was waited for."""
    return SessionNotFound(f"{name} was deleted while it was waited for")
