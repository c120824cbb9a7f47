"""The way of every message: taken, found new, learnt, settled; one batch at a time.

There is no waiting for a batch to fill: what has come while the last one was learnt is the next.
So a message waits for one batch at most, and more load makes larger batches. Nothing is taken that
is not sent at once, which is all the back-pressure there is: what waits, waits at the source.
"""

import asyncio
import re
from enum import StrEnum
from itertools import groupby

from llr_cli.connection import BadData
from llr_client import Diverged, Problem
from llr_client.errors import Invalid, Malformed, TooLarge

from llr_connect.lane import Lane, Lanes
from llr_connect.message import Message
from llr_connect.source import Source
from llr_connect.status import Status

BATCH = 500
REFUSED = (Diverged, Invalid, Malformed, TooLarge)
"""Problems of the samples themselves, which the same again will have again."""


class Policy(StrEnum):
    """What to do about messages that cannot be learnt."""

    STOP = "stop"
    SKIP = "skip"


class Feed:
    """A source and the sessions it feeds.

    Args:
        source: where messages come from.
        lanes: where they go.
        status: who is told how it goes.
        bad: what to do about a message that is refused.
        missing: what to do about messages that never came.
    """

    def __init__(
        self, source: Source, lanes: Lanes, status: Status, bad: Policy, missing: Policy
    ) -> None:
        self._source, self._lanes, self._status = source, lanes, status
        self._bad, self._missing = bad, missing

    async def batch(self, messages: list[Message]) -> None:
        """Learn messages, each lane's in order, and settle all that came of it."""
        lanes: dict[str, list[Message]] = {}
        for message in messages:
            lanes.setdefault(message.producer, []).append(message)
        ended = await asyncio.gather(*map(self._lane, lanes.values()), return_exceptions=True)
        for error in ended:
            if error is not None:
                raise error

    async def _lane(self, messages: list[Message]) -> None:
        lane = await self._lanes.of(messages[0].topic, messages[0].producer)
        done: list[Message] = []
        try:
            for fit, some in groupby(messages, key=lambda message: not message.wrong):
                if fit:
                    await self._samples(lane, list(some), done)
                else:
                    for message in some:
                        await self._misfit(lane, message, done)
        finally:
            await self._source.settle(lane, done)

    async def _samples(self, lane: Lane, messages: list[Message], done: list[Message]) -> None:
        """Learn what is new of some messages, which may have numbers missing between them."""
        run: list[Message] = []
        for message in messages:
            if self._is_known(lane, message, len(run)):
                done.append(message)
                continue
            if self._is_late(lane, message, len(run)):
                await self._learn(lane, run, done)
                run = []
                await self._pass_over(lane, message)
            run.append(message)
        await self._learn(lane, run, done)

    async def _misfit(self, lane: Lane, message: Message, done: list[Message]) -> None:
        """A message that is no sample: whether it came before is asked all the same."""
        if not self._is_known(lane, message, 0):
            if self._is_late(lane, message, 0):
                await self._pass_over(lane, message)
            await self._leave_out(lane, message, message.wrong)
        done.append(message)

    async def _learn(self, lane: Lane, run: list[Message], done: list[Message]) -> None:
        """Learn messages that are all new; one that is refused is looked for and left out."""
        while run:
            try:
                await lane.learn([message.sample or {} for message in run])
                problem, learnt = None, len(run)
            except REFUSED as refused:
                problem, learnt = refused, refused.learnt
            self._moved(lane, run[:learnt], done)
            run = run[learnt:]
            if problem is None:
                return
            at = culprit(problem, len(run))
            if at is None:  # it does not say which: halve until there is one
                half = len(run) // 2
                await self._learn(lane, run[:half], done)
                run = run[half:]
            elif at:
                await self._learn(lane, run[:at], done)
                run = run[at:]
            else:
                await self._leave_out(lane, run[0], why(problem))
                done.append(run[0])
                run = run[1:]

    def _moved(self, lane: Lane, messages: list[Message], done: list[Message]) -> None:
        lane.acked += len(messages)
        lane.expected += len(messages)
        lane.begun = lane.begun or bool(messages)
        done += messages
        self._status.moved(len(messages))

    def _is_known(self, lane: Lane, message: Message, before: int) -> bool:
        """Whether a numbered message was learnt or left out before, or is about to be."""
        if message.number is None or message.number >= lane.expected + before:
            return False
        self._status.again(lane.producer, message.number)
        return True

    @staticmethod
    def _is_late(lane: Lane, message: Message, before: int) -> bool:
        """Whether messages are missing before this one."""
        expected = lane.expected + before
        return message.lost > 0 or (message.number is not None and message.number > expected)

    async def _pass_over(self, lane: Lane, message: Message) -> None:
        """Messages before this one are missing: unless none ever came, that is for the policy."""
        numbers = None if message.number is None else range(lane.expected, message.number)
        count = message.lost if numbers is None else len(numbers)
        told = f"{count:,} messages" + (f" from number {numbers.start}" if numbers else "")
        if lane.begun or numbers is None:
            if self._missing is Policy.STOP:
                raise BadData(
                    f"{told} of {lane.producer} are missing before {message.place}: look for them,"
                    " or go on without them with --missing skip"
                )
            self._status.missing += count
            self._status.say(f"{told} of {lane.producer} are missing before {message.place}")
        else:
            self._status.say(f"{lane.producer} begins with {message.place}")
        await self._source.leave_out(lane, "never came", numbers, None)
        if numbers is not None:
            lane.expected, lane.begun = numbers.stop, True

    async def _leave_out(self, lane: Lane, message: Message, reason: str) -> None:
        if self._bad is Policy.STOP:
            raise BadData(
                f"{message.place} cannot be learnt: {reason}; go on without such messages with"
                " --bad skip"
            )
        numbers = None if message.number is None else range(message.number, message.number + 1)
        await self._source.leave_out(lane, reason, numbers, message)
        if numbers is not None:
            lane.expected, lane.begun = numbers.stop, True
        self._status.left_out += 1
        self._status.say(f"{message.place} is left out: {reason}")


def culprit(problem: Problem, among: int) -> int | None:
    """Which sample a problem is about; None if it does not say, and there are several.

    >>> culprit(Problem("no", errors=[{"pointer": "/3/y", "detail": "no"}]), 5)
    3
    """
    for error in problem.errors:
        index = re.match(r"/(\d+)(/|$)", error.get("pointer", ""))
        if index and int(index[1]) < among:
            return int(index[1])
    return 0 if among == 1 else None


def why(problem: Problem) -> str:
    """The reason of a refusal, for people."""
    return "; ".join(error["detail"] for error in problem.errors[:1]) or problem.detail
