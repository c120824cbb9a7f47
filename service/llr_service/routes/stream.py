"""`WS /v1/sessions/{name}/stream`: samples in, one answer per message out, in order.

Messages are learnt while earlier ones become durable, a bounded number of them; then nothing is
read until an answer went out. An invalid message is answered with its error. A failure of the
session, the service or the sender ends the stream, with a code that says why.
"""

import asyncio
import contextlib
import logging
import re
from collections.abc import Mapping
from itertools import permutations
from typing import Any, NamedTuple

import orjson
from starlette.types import Receive, Scope, Send

from llr_service import serializers
from llr_service.app_state import AppState
from llr_service.codec import Samples
from llr_service.http.auth import ANYBODY, KEY, Access, ApiKey, Role
from llr_service.http.bodies import BodyBudget
from llr_service.problems import Problem
from llr_service.routes.learning import (
    JSON,
    NPY,
    LearnParams,
    StreamParams,
    number,
    stream_params,
    submit,
)
from llr_service.sessions.batch import PendingCommit, SequenceId
from llr_service.sessions.consistency import InFlight, OrderedPipeline
from llr_service.sessions.session import Session

AHEAD, HEAVY = 64, 4 * 1024**2
"""Messages of a stream that are learnt before the first of them is answered, and bytes of them and
of the states they leave; a single one may be heavier."""


class FlowControl:
    """How much is under way."""

    def __init__(self) -> None:
        self._messages = self._bytes = 0
        self._eased = asyncio.Event()

    def add(self, size: int) -> None:
        """A message of this weight was begun."""
        self._messages += 1
        self._bytes += size

    def remove(self, size: int) -> None:
        """It was answered."""
        self._messages -= 1
        self._bytes -= size
        self._eased.set()

    async def room(self) -> None:
        """Wait until another message may be begun."""
        while self._messages >= AHEAD or self._bytes >= HEAVY:
            self._eased.clear()
            await self._eased.wait()


MEMBERS = {
    "seq": rb'\s*"seq"\s*:\s*(?P<seq>[^\s,}"]+)\s*',
    "next": rb'\s*"next"\s*:\s*(?P<next>[^\s,}"]+)\s*',
    "samples": rb'\s*"samples"\s*:(?P<samples>.*)',
}
NUMBERED = [
    re.compile(rb"\s*\{" + b",".join(MEMBERS[name] for name in names) + rb"\}\s*", re.DOTALL)
    for size in (3, 2)
    for names in permutations(MEMBERS, size)
    if "samples" in names
]
"""An object of `samples` and `seq`, `next` or both. What is inside has to be JSON of its own, so
there is but one way to read it, and it is read as if it had come alone."""


class Message(NamedTuple):
    """What came: a body, what it is, and the number of its first sample if it says so."""

    body: bytes
    kind: str
    seq: str | None = None
    next: str | None = None

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> "Message":
        """The message of an ASGI event.

        >>> Message.of({"text": '{"seq": 7, "samples": [{"y": 1}]}'})
        Message(body=b' [{"y": 1}]', kind='application/json', seq='7', next=None)
        """
        if event.get("text") is None:
            return cls(event["bytes"], NPY)
        body = event["text"].encode()
        for form in NUMBERED if b'"samples"' in body else ():
            if found := form.fullmatch(body):
                members = found.groupdict()
                numbers = (members.get(name) for name in ("seq", "next"))
                said = (None if each is None else each.decode() for each in numbers)
                return cls(members["samples"], JSON, *said)
        return cls(body, JSON)


class SequenceTracker:
    """The numbers of a stream's samples: as a message says, else on from the one before.

    Attributes:
        next: the number after the last message that was not refused, None before the first.
    """

    def __init__(self, producer: str | None, seq: int | None) -> None:
        self._producer, self.next = producer, seq

    def sequence(self, message: Message) -> SequenceId | None:
        """What a message says of its numbers, None if the stream has no producer."""
        if self._producer is None and message.seq is None and message.next is None:
            return None
        if self._producer is None:
            raise _wrong("open the stream with ?producer= to number its samples")
        seq = None if message.seq is None else number(message.seq)
        following = None if message.next is None else number(message.next, "next")
        return SequenceId(self._producer, seq, following)

    def used(self, sequence: SequenceId | None, samples: Samples) -> None:
        """Continue after the numbers of these samples."""
        if sequence is None:
            return
        if sequence.seq is None and samples.numbers is None:
            sequence = sequence._replace(seq=self.next)
        self.next = sequence.end(samples)


async def begin(
    message: Message, pipeline: OrderedPipeline, numbers: SequenceTracker, asked: StreamParams
) -> tuple[InFlight, int]:
    """Learn from a message ahead of the store; with how many samples it had."""
    body, kind, *own = message
    sequence = numbers.sequence(message)
    params = LearnParams(
        sequence,
        predictions=asked.predictions,
        admitted=True,
        columns=asked.columns if kind == NPY else None,
        follows=numbers.next if sequence is not None and sequence.seq is None else None,
    )
    sent = Samples.none()

    async def learn(session: Session) -> PendingCommit:
        nonlocal sent
        pending, sent = await submit(session, kind, body, params)
        return pending

    try:
        in_flight = await pipeline.submit(learn)
    except Problem as problem:
        for error in problem.errors:
            if "parameter" in error:  # a message has no query: it is a member
                error["pointer"] = "/" + error.pop("parameter")
            elif own != [None, None]:
                error["pointer"] = "/samples" + error.get("pointer", "")
        raise
    numbers.used(sequence, sent)
    return in_flight, sent.n


def _wrong(detail: str) -> Problem:
    return Problem("invalid", f"seq: {detail}", [{"pointer": "/seq", "detail": detail}])


log = logging.getLogger("llr_service")

MAX_CONSECUTIVE_ERRORS = 100
"""Messages refused in a row after which the sender is not listened to any more."""
GOING_AWAY, FAILED = 1001, 1011
CODES = {"session-not-found": 4404, "internal": FAILED, "damaged": FAILED}
CODES |= dict.fromkeys(("unavailable", "relearning", "too-many", "disk-full"), 1013)
ENDING = CODES.keys() - {"too-many"}
"""Problems of one message that end the stream: no other would fare better."""
WRONG = 1008
"""The code of all other problems: it is the sender's to do better."""


class WebSocketEndpoint:
    """The endpoint. One per app."""

    path = "/v1/sessions/{name}/stream"
    access = Access(Role.WRITE)

    def __init__(self, context: AppState) -> None:
        self._context = context

    async def __call__(self, name: str, scope: Scope, receive: Receive, send: Send) -> int | None:
        """Learn from a WebSocket that was accepted; returns the code it was closed with."""
        here, problem = self._context, None
        here.metrics.stream_opened()
        here.streams += 1
        try:
            if here.streams > here.settings.max_streams:
                raise Problem("too-many", "too many open streams")
            await _Connection(here, name, scope, receive, send).run()
        except OSError:
            return None  # the client has disconnected
        except Problem as why:
            problem = why
        except Exception:
            log.exception("stream failed", extra={"session": name})
            problem = Problem("internal", "the failure was logged")
        finally:
            here.streams -= 1
            here.metrics.stream_closed()
        return None if problem is None else await self._close(problem, send)

    async def _close(self, problem: Problem, send: Send) -> int | None:
        """Send the problem, then close."""
        code = CODES.get(problem.kind.name, WRONG)
        reason = problem.kind.title
        with contextlib.suppress(OSError):
            if self._context.draining and code != FAILED:
                code, reason = GOING_AWAY, "The service stops"
            else:
                await send({"type": "websocket.send", "text": _text({"error": problem.body()})})
            await send({"type": "websocket.close", "code": code, "reason": reason})
        return code


class _InFlight(NamedTuple):
    """A message on its way to its answer."""

    outcome: InFlight | Problem
    room: BodyBudget
    size: int


class _Connection:
    """One stream: a reader that learns ahead, and a writer that answers."""

    def __init__(
        self, context: AppState, name: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._asked = stream_params(scope["query_string"])
        self._caller: ApiKey = scope.get(KEY, ANYBODY)
        self._numbers = SequenceTracker(self._asked.producer, self._asked.seq)
        self._context, self._name = context, name
        self._receive, self._send = receive, send
        self._ahead: asyncio.Queue[_InFlight | None] = asyncio.Queue()
        self._window = FlowControl()
        self._refused = 0

    async def run(self) -> None:
        """Answer message after message until the other side leaves. Raises why it is to end."""
        registry = self._context.sessions
        session = await registry.get(self._name)
        try:
            async with OrderedPipeline(registry, session) as pipeline:
                reader = asyncio.create_task(self._read(pipeline))
                try:
                    while (taken := await self._ahead.get()) is not None:
                        await self._answer(pipeline, taken)
                        self._window.remove(taken.size)
                    await reader
                finally:
                    reader.cancel()
                    await asyncio.wait([reader])
        finally:
            self._release_rest()

    async def _read(self, pipeline: OrderedPipeline) -> None:
        """Learn from messages as they come. All that was begun is answered before it ends."""
        try:
            while (message := await self._next()) is not None:
                taken = await self._begun(pipeline, message)
                self._window.add(taken.size)
                self._ahead.put_nowait(taken)
                await self._window.room()
        finally:
            self._ahead.put_nowait(None)

    async def _next(self) -> Message | None:
        """The next message, None when the other side has left. 503 when the service stops."""
        event = await self._context.cancel_on_shutdown(self._receive())
        self._context.keys.check(self._caller)
        return Message.of(event) if event["type"] == "websocket.receive" else None

    async def _begun(self, pipeline: OrderedPipeline, message: Message) -> _InFlight:
        """A message that was learnt ahead of the store, or refused."""
        with contextlib.ExitStack() as held:
            room = held.enter_context(BodyBudget(self._context))
            room.reserve(len(message.body))
            outcome: InFlight | Problem
            size = len(message.body)
            try:
                if self._context.limiter is not None:
                    self._context.limiter.take(self._caller)
                outcome, sent = await begin(message, pipeline, self._numbers, self._asked)
                learnt = outcome.pending.learnt
                self._context.record_accepted(outcome.session, sent, learnt.accepted)
                size += learnt.ensemble.nbytes
            except Problem as problem:
                if problem.kind.name in ENDING:
                    raise
                outcome = problem
            held.pop_all()
        return _InFlight(outcome, room, size)

    async def _answer(self, pipeline: OrderedPipeline, taken: _InFlight) -> None:
        """Answer a message once it is durable, or say what is wrong with it."""
        outcome, room, _ = taken
        with room:
            if isinstance(outcome, Problem):
                text, self._refused = _refusal(pipeline.session, outcome), self._refused + 1
                status = outcome.kind.status
            else:
                learnt = await outcome.result()
                text = serializers.learn_response(
                    pipeline.session, learnt, self._asked.theta
                ).decode()
                status, self._refused = 200, 0
        self._context.metrics.message(status)
        await self._send({"type": "websocket.send", "text": text})
        if self._refused >= MAX_CONSECUTIVE_ERRORS:
            raise Problem("invalid", f"{MAX_CONSECUTIVE_ERRORS} messages in a row were refused")

    def _release_rest(self) -> None:
        """Give back the memory of messages that get no answer."""
        while not self._ahead.empty():
            if (left := self._ahead.get_nowait()) is not None:
                left.room.release()


def _refusal(session: Session, problem: Problem) -> str:
    """An answer in the shape of all others, with the problem in it."""
    members = {"name": session.name, "t": session.t, "accepted": 0, "duplicate": False}
    return _text(members | {"error": problem.body()})


def _text(members: dict[str, object]) -> str:
    return orjson.dumps(members).decode()
