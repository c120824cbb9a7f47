"""The protocol of sources, and retries while one is unreachable."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from llr_cli.options import SHORT_PATIENCE
from llr_client import Unreachable
from llr_client.retries import Backoff, Clock

from llr_connect.channels import Channels, Journal, ProducerChannel
from llr_connect.messages import Message
from llr_connect.status import Status

R = TypeVar("R")


class Source(Protocol):
    """A source of messages. To add one, implement it and add a line in `__init__.py`.

    Attributes:
        name: the source's name.
        batch: the most messages at once; None leaves that to the caller.
        journal: the journal of skipped messages, if it uses one.
        notice: a message to the user at the start; empty for none.
        sparse: whether numbers have holes, as offsets have; each sample has its own `seq` then.
    """

    name: str
    batch: int | None
    journal: Journal | None
    notice: str
    sparse: bool

    async def start(self, channels: Channels, status: Status) -> None:
        """Connect, and find the position to continue from."""

    async def take(self, most: int) -> list[Message]:
        """Wait for messages, in order; an empty list means the end."""

    async def acknowledge(self, channel: ProducerChannel, messages: list[Message]) -> None:
        """Acknowledge messages that are learnt or skipped: they need not be delivered again."""

    async def skip(
        self, channel: ProducerChannel, why: str, numbers: range | None, message: Message | None
    ) -> None:
        """Record a skipped message; it is durable when this returns."""

    def lag(self) -> int | None:
        """The number of waiting messages; None if it is unknown."""

    async def close(self) -> None:
        """Disconnect."""


async def retry_while_away(
    attempt: Callable[[], Awaitable[R]],
    lost: tuple[type[Exception], ...],
    where: str,
    status: Status,
) -> R:
    """Run an attempt and retry it with growing pauses while the peer is unreachable.

    Args:
        attempt: the attempt.
        lost: the errors that mean the peer is unreachable.
        where: the peer's address for messages, without a password.
        status: its patience limits the retries, once it runs; at the start a few seconds do, so
            that a wrong address is reported soon.
    """
    backoff = Backoff(status.patience if status.running else SHORT_PATIENCE, Clock())
    while True:
        try:
            return await attempt()
        except lost as error:
            away = Unreachable(f"{where} does not answer: {error or type(error).__name__}")
            pause = backoff.pause(away)
            if pause is None:
                raise away from error
            status.waiting(away, pause)
            await asyncio.sleep(pause)
