"""The pump: takes messages from a source, learns the new ones, acknowledges them; batch by batch.

A batch does not wait to fill: it is what arrived while the previous one was learnt. A message waits
for one batch at most, and more load makes larger batches. Back-pressure is that the pump takes
messages only when it can send them: all others wait at the source.
"""

import asyncio
import re
from enum import StrEnum
from itertools import groupby

from llr_cli.options import BadData
from llr_client import Diverged, Problem
from llr_client.errors import Invalid, Malformed, TooLarge

from llr_connect.channels import Channels, ProducerChannel
from llr_connect.messages import Message
from llr_connect.source import Source
from llr_connect.status import Status

DEFAULT_BATCH = 500
MAX_REQUESTS = 32
"""Requests of a batch in flight, which has one for each session and producer."""
REFUSED = (Diverged, Invalid, Malformed, TooLarge)
"""Permanent problems of the samples themselves."""


class Policy(StrEnum):
    """What to do with messages that cannot be learnt."""

    STOP = "stop"
    SKIP = "skip"


class Pump:
    """Feeds sessions from a source.

    Args:
        source: the source of messages.
        channels: the channels to sessions.
        status: the counters and messages for the user.
        bad: what to do with a message that is refused.
        missing: what to do when messages are missing.
    """

    def __init__(
        self, source: Source, channels: Channels, status: Status, bad: Policy, missing: Policy
    ) -> None:
        self._source, self._channels, self._status = source, channels, status
        self._bad, self._missing = bad, missing

    async def batch(self, messages: list[Message]) -> None:
        """Learn a batch, each channel's messages in order, and acknowledge it."""
        channels: dict[tuple[str | None, str], list[Message]] = {}
        for message in messages:
            channels.setdefault((message.session, message.producer), []).append(message)
        at_once = asyncio.Semaphore(MAX_REQUESTS)

        async def process(some: list[Message]) -> None:
            async with at_once:
                await self._process(some)

        ended = await asyncio.gather(*map(process, channels.values()), return_exceptions=True)
        for error in ended:
            if error is not None:
                raise error

    async def _process(self, messages: list[Message]) -> None:
        first = messages[0]
        channel = await self._channels.of(first.topic, first.producer, first.session)
        done: list[Message] = []
        try:
            for fit, group in groupby(messages, key=lambda message: not message.wrong):
                if fit:
                    await self._learn_new(channel, list(group), done)
                else:
                    for message in group:
                        await self._reject(channel, message, done)
        finally:
            await self._source.acknowledge(channel, done)

    async def _learn_new(
        self, channel: ProducerChannel, messages: list[Message], done: list[Message]
    ) -> None:
        """Learn the new messages among some, between which numbers may be missing."""
        run: list[Message] = []
        for message in messages:
            if self._is_known(channel, message, len(run)):
                done.append(message)
                continue
            if self._follows_gap(channel, message, len(run)):
                await self._learn(channel, run, done)
                run = []
                await self._skip_missing(channel, message)
            run.append(message)
        await self._learn(channel, run, done)

    async def _reject(
        self, channel: ProducerChannel, message: Message, done: list[Message]
    ) -> None:
        """Skip a message without a sample, unless it was skipped before."""
        if not self._is_known(channel, message, 0):
            if self._follows_gap(channel, message, 0):
                await self._skip_missing(channel, message)
            await self._skip(channel, message, message.wrong)
        done.append(message)

    async def _learn(
        self, channel: ProducerChannel, run: list[Message], done: list[Message]
    ) -> None:
        """Learn new messages; find and skip those that are refused."""
        while run:
            try:
                new = await channel.learn([message.sample or {} for message in run])
                problem, learnt = None, len(run)
                self._status.repeated += learnt - new
            except REFUSED as refused:
                problem, learnt = refused, refused.learnt
                new = learnt
            self._count_learnt(channel, run[:learnt], done, new)
            run = run[learnt:]
            if problem is None:
                return
            at = failed_index(problem, len(run))
            if at is None:  # the problem names no sample: bisect
                half = len(run) // 2
                await self._learn(channel, run[:half], done)
                run = run[half:]
            elif at:
                await self._learn(channel, run[:at], done)
                run = run[at:]
            else:
                await self._skip(channel, run[0], reason(problem))
                done.append(run[0])
                run = run[1:]

    def _count_learnt(
        self, channel: ProducerChannel, messages: list[Message], done: list[Message], new: int
    ) -> None:
        channel.acked += len(messages)
        channel.expected += len(messages)
        if channel.sparse and messages and messages[-1].number is not None:
            channel.expected = messages[-1].number + 1
        channel.has_numbers = channel.has_numbers or bool(messages)
        done += messages
        self._status.moved(new)

    def _is_known(self, channel: ProducerChannel, message: Message, before: int) -> bool:
        """Whether a numbered message was learnt or skipped before, or is in the present batch."""
        ahead = 0 if channel.sparse else before
        if message.number is None or message.number >= channel.expected + ahead:
            return False
        if channel.sparse:  # offsets are never given twice
            self._status.repeated += 1
        else:
            self._status.again(channel.producer, message.number)
        return True

    @staticmethod
    def _follows_gap(channel: ProducerChannel, message: Message, before: int) -> bool:
        """Whether messages are missing before this one."""
        if channel.sparse or message.number is None:
            return message.lost > 0
        return message.number > channel.expected + before

    async def _skip_missing(self, channel: ProducerChannel, message: Message) -> None:
        """Apply the policy to messages missing before this one; none if it is the first."""
        dense = message.number is not None and not channel.sparse
        numbers = range(channel.expected, message.number or 0) if dense else None
        count = message.lost if numbers is None else len(numbers)
        missing = f"{count:,} messages" + (f" from number {numbers.start}" if numbers else "")
        if channel.has_numbers or numbers is None:
            if self._missing is Policy.STOP:
                raise BadData(
                    f"{missing} of {channel.producer} are missing before {message.place}:"
                    " look for them, or go on without them with --missing skip"
                )
            self._status.missing += count
            self._status.say(f"{missing} of {channel.producer} are missing before {message.place}")
        else:
            self._status.say(f"{channel.producer} begins with {message.place}")
        await self._source.skip(channel, "never came", numbers, None)
        if numbers is not None:
            channel.expected, channel.has_numbers = numbers.stop, True

    async def _skip(self, channel: ProducerChannel, message: Message, reason: str) -> None:
        if self._bad is Policy.STOP:
            raise BadData(
                f"{message.place} cannot be learnt: {reason}; go on without such messages with"
                " --bad skip"
            )
        numbers = None if message.number is None else range(message.number, message.number + 1)
        await self._source.skip(channel, reason, numbers, message)
        if numbers is not None:
            channel.expected, channel.has_numbers = numbers.stop, True
        self._status.left_out += 1
        self._status.say(f"{message.place} is left out: {reason}")


def failed_index(problem: Problem, count: int) -> int | None:
    """The index of the sample a problem is about; None if it names none of several.

    >>> failed_index(Problem("no", errors=[{"pointer": "/3/y", "detail": "no"}]), 5)
    3
    """
    for error in problem.errors:
        index = re.match(r"/(\d+)(/|$)", error.get("pointer", ""))
        if index and int(index[1]) < count:
            return int(index[1])
    return 0 if count == 1 else None


def reason(problem: Problem) -> str:
    """The reason of a problem, for the user."""
    return "; ".join(error["detail"] for error in problem.errors[:1]) or problem.detail
