"""`WS /v1/sessions/{name}/stream`: samples in, one answer a message out, in order.

Messages are learnt while earlier ones become durable, a bounded number of them; then nothing is
read until an answer went out. What is wrong with a message is its answer. What is wrong with the
session, the service or the sender ends the stream, with a code that says why.
"""

import asyncio
import contextlib
import logging
from typing import NamedTuple

from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from llr_service import serializers
from llr_service.app_state import AppState
from llr_service.http.auth import Access, Role
from llr_service.http.budget import BodyBudget
from llr_service.problems import Problem
from llr_service.routes.flow_control import FlowControl
from llr_service.routes.message import Message, SequenceTracker, begin
from llr_service.routes.params import stream_params
from llr_service.sessions.actor import Session
from llr_service.sessions.course import Begun, Course

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
            await _Connection(here, name, scope["query_string"], receive, send).run()
        except OSError:
            return None  # nobody is there any more
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
        """Say why, then close."""
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

    outcome: Begun | Problem
    room: BodyBudget
    size: int


class _Connection:
    """One stream: a reader that learns ahead, and a writer that answers."""

    def __init__(
        self, context: AppState, name: str, query: bytes, receive: Receive, send: Send
    ) -> None:
        self._asked = stream_params(query)
        self._numbers = SequenceTracker(self._asked.producer, self._asked.seq)
        self._context, self._name = context, name
        self._receive, self._send = receive, send
        self._ahead: asyncio.Queue[_InFlight | None] = asyncio.Queue()
        self._window = FlowControl()
        self._refused = 0

    async def run(self) -> None:
        """Answer message after message until the other side leaves. Raises why it is to end."""
        hub = self._context.sessions
        with Course(hub, await hub.get(self._name)) as course:
            reader = asyncio.create_task(self._read(course))
            try:
                while (taken := await self._ahead.get()) is not None:
                    await self._answer(course, taken)
                    self._window.remove(taken.size)
                await reader
            finally:
                reader.cancel()
                await asyncio.wait([reader])
                await self._let_go(course)

    async def _read(self, course: Course) -> None:
        """Learn from messages as they come. All that was begun is answered before it ends."""
        try:
            while (message := await self._next()) is not None:
                taken = await self._begun(course, message)
                self._window.add(taken.size)
                self._ahead.put_nowait(taken)
                await self._window.room()
        finally:
            self._ahead.put_nowait(None)

    async def _next(self) -> Message | None:
        """The next message, None when the other side has left. 503 when the service stops."""
        event = await self._context.cancel_on_shutdown(self._receive())
        return Message.of(event) if event["type"] == "websocket.receive" else None

    async def _begun(self, course: Course, message: Message) -> _InFlight:
        """A message that was learnt ahead of the store, or refused."""
        with contextlib.ExitStack() as held:
            room = held.enter_context(BodyBudget(self._context))
            room.reserve(len(message.body))
            outcome: Begun | Problem
            size = len(message.body)
            try:
                predictions = self._asked.predictions
                outcome, sent = await begin(message, course, self._numbers, predictions)
                learnt = outcome.pending.learnt
                self._context.record_accepted(outcome.session, sent, learnt.accepted)
                size += learnt.team.nbytes
            except Problem as problem:
                if problem.kind.name in ENDING:
                    raise
                outcome = problem
            held.pop_all()
        return _InFlight(outcome, room, size)

    async def _answer(self, course: Course, taken: _InFlight) -> None:
        """Answer a message once it is durable, or say what is wrong with it."""
        outcome, room, _ = taken
        with room:
            if isinstance(outcome, Problem):
                text, self._refused = _refusal(course.session, outcome), self._refused + 1
                status = outcome.kind.status
            else:
                learnt = await course.finish(outcome)
                text = serializers.learn_response(
                    course.session, learnt, self._asked.theta
                ).decode()
                status, self._refused = 200, 0
        self._context.metrics.message(status)
        await self._send({"type": "websocket.send", "text": text})
        if self._refused >= MAX_CONSECUTIVE_ERRORS:
            raise Problem("invalid", f"{MAX_CONSECUTIVE_ERRORS} messages in a row were refused")

    async def _let_go(self, course: Course) -> None:
        """Wait for what nobody is told of any more."""
        while not self._ahead.empty():
            if (left := self._ahead.get_nowait()) is not None:
                with left.room, contextlib.suppress(Problem):
                    if isinstance(left.outcome, Begun):
                        await course.let_go(left.outcome)


def _refusal(session: Session, problem: Problem) -> str:
    """An answer in the shape of all others, with the problem in it."""
    members = {"name": session.name, "t": session.t, "accepted": 0, "duplicate": False}
    return _text(members | {"error": problem.body()})


def _text(members: dict[str, object]) -> str:
    return to_json(members, inf_nan_mode="null").decode()
