"""A message of a WebSocket: samples as in a body, perhaps with the number of the first of them."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from llr_service.problems import Problem
from llr_service.routes.learning import JSON, NPY, submit
from llr_service.routes.params import LearnParams, number
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Pending, Ticket
from llr_service.sessions.course import Begun, Course

SEQ, INNER = rb'\s*"seq"\s*:\s*(?P<seq>[^\s,}"]+)\s*', rb'\s*"samples"\s*:(?P<samples>.*)'
NUMBERED = [
    re.compile(rb"\s*\{" + SEQ + b"," + INNER + rb"\}\s*", re.DOTALL),
    re.compile(rb"\s*\{" + INNER + b"," + SEQ + rb"\}\s*", re.DOTALL),
]
"""An object of `seq` and `samples`. What is inside has to be JSON of its own, so there is but one
way to read it, and it is read as if it had come alone."""


class Message(NamedTuple):
    """What came: a body, what it is, and the number of its first sample if it says so."""

    body: bytes
    kind: str
    seq: str | None = None

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> "Message":
        """The message of an ASGI event.

        >>> Message.of({"text": '{"seq": 7, "samples": [{"y": 1}]}'})
        Message(body=b' [{"y": 1}]', kind='application/json', seq='7')
        """
        if event.get("text") is None:
            return cls(event["bytes"], NPY)
        body = event["text"].encode()
        for form in NUMBERED if b'"samples"' in body else ():
            if found := form.fullmatch(body):
                return cls(found["samples"], JSON, found["seq"].decode())
        return cls(body, JSON)


class SequenceTracker:
    """The numbers of a stream's samples: as a message says, else on from the one before."""

    def __init__(self, producer: str | None, seq: int | None) -> None:
        self._producer, self._next = producer, seq

    def ticket(self, seq: str | None) -> Ticket | None:
        """What is said of a message with this number, or with none."""
        if self._producer is None and seq is None:
            return None
        if self._producer is None:
            raise _wrong("open the stream with ?producer= to number its samples")
        first = self._next if seq is None else number(seq)
        if first is None:
            raise _wrong("say it in the message, or open the stream with ?producer=&seq=")
        return Ticket(self._producer, first)

    def used(self, ticket: Ticket | None, n: int) -> None:
        """So many numbers are used; a refused message uses none."""
        if ticket is not None:
            self._next = ticket.seq + n


async def begin(
    message: Message, course: Course, numbers: SequenceTracker, predictions: bool
) -> tuple[Begun, int]:
    """Learn from a message ahead of the store; with how many samples it had.

    `Course.finish` has to follow.
    """
    body, kind, seq = message
    params = LearnParams(numbers.ticket(seq), predictions=predictions, admitted=True)
    sent = 0

    async def learn(session: Session) -> Pending:
        nonlocal sent
        pending, sent = await submit(session, kind, body, params)
        return pending

    try:
        begun = await course.begin(learn)
    except Problem as problem:
        for error in problem.errors if seq is not None else ():
            error["pointer"] = "/samples" + error.get("pointer", "")
        raise
    numbers.used(params.ticket, sent)
    return begun, sent


def _wrong(detail: str) -> Problem:
    return Problem("invalid", f"seq: {detail}", [{"pointer": "/seq", "detail": detail}])
