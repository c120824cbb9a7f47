"""Waiting for the store, and for work that is done in a thread."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from llr_service.problems import Problem
from llr_service.sessions.committer import Receipt
from llr_service.stores.store import Conflict, Damaged, StoreError, StoreFull, Written

R = TypeVar("R")

LONG = 100_000
"""Bytes of a batch above which learning leaves the event loop for a thread."""

SHORT = LONG // 2
"""Bytes of a body below which it is read in the event loop."""

TRIES = 24
"""How often work is begun before the sender is sent away."""

RETRY = {"Retry-After": "1"}


class Moved(Problem):
    """This copy of a session is not the session any more, and did nothing of what it was to do."""

    def __init__(self) -> None:
        super().__init__("unavailable", "the session moves too fast, send again", headers=RETRY)


async def durable(commit: Receipt[Any]) -> None:
    """Wait for the store. Cancelling the one who waits does not cancel the commit."""
    check_stored(await commit.outcome())


def check_stored(outcome: Any) -> None:
    """Raise what the sender is told unless it was stored: `Moved` if others were first."""
    if isinstance(outcome, Written):
        return
    if isinstance(outcome, StoreFull):
        raise Problem("disk-full", "nothing was stored: make room, then send again") from outcome
    if isinstance(outcome, StoreError):
        detail = "the store failed: send the same again, with its producer and seq"
        raise Problem("unavailable", detail, headers=RETRY) from outcome
    if isinstance(outcome, Conflict):
        raise Moved
    if isinstance(outcome, Exception):
        raise outcome


async def told(answer: Awaitable[R]) -> R:
    """What the store says, with its failures as problems; damage is for the caller."""
    try:
        return await answer
    except StoreFull as full:
        raise Problem("disk-full", "nothing was stored: make room, then try again") from full
    except Damaged:
        raise
    except StoreError as failure:
        raise Problem("unavailable", "the store failed, try again", headers=RETRY) from failure


async def to_the_end(work: Coroutine[Any, Any, R]) -> R:
    """Wait for work that cannot be called off; who is cancelled meanwhile waits for it first."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def in_thread_if_long(body: bytes, work: Callable[..., R], *arguments: Any) -> R:
    """Work on a body; on a long one in a thread, so that others are served meanwhile."""
    if len(body) < SHORT:
        return work(*arguments)
    return await asyncio.to_thread(work, *arguments)
