"""What a source is, and how long one that is away is waited for."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from llr_cli.connection import SHORT
from llr_client import Unreachable
from llr_client.retries import Attempts, Clock

from llr_connect.journal import Journal
from llr_connect.lane import Lane, Lanes
from llr_connect.message import Message
from llr_connect.status import Status

R = TypeVar("R")


class Source(Protocol):
    """Where messages come from. To add one, write it and give it a line in `__init__`.

    Attributes:
        name: what it is called.
        batch: the most messages it gives at once; None leaves that to the caller.
        journal: where what is left out is kept, if that is a file.
        notice: what people ought to know when it starts, if anything.
    """

    name: str
    batch: int | None
    journal: Journal | None
    notice: str

    async def start(self, lanes: Lanes, status: Status) -> None:
        """Connect, and find the place to go on from."""

    async def take(self, most: int) -> list[Message]:
        """What has come, in order: at least one message, or none at the end."""

    async def settle(self, lane: Lane, messages: list[Message]) -> None:
        """These are learnt or left out, for good: they need not come again."""

    async def leave_out(
        self, lane: Lane, why: str, numbers: range | None, message: Message | None
    ) -> None:
        """Keep what is left out; it is safe when this returns."""

    def lag(self) -> int | None:
        """Messages that wait; None if nobody knows."""

    async def close(self) -> None:
        """Disconnect."""


async def keep_trying(
    attempt: Callable[[], Awaitable[R]],
    lost: tuple[type[Exception], ...],
    where: str,
    status: Status,
) -> R:
    """What an attempt returns, tried again with growing pauses while the other side is away.

    Args:
        attempt: what is tried.
        lost: the errors that say it is away.
        where: its address, as it may be shown.
        status: knows how patient we are: at the start only a little, to tell of a wrong address.
    """
    attempts = Attempts(status.patience if status.running else SHORT, Clock())
    while True:
        try:
            return await attempt()
        except lost as error:
            away = Unreachable(f"{where} does not answer: {error or type(error).__name__}")
            pause = attempts.pause(away)
            if pause is None:
                raise away from error
            status.waiting(away, pause)
            await asyncio.sleep(pause)
