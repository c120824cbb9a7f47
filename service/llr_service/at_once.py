"""Samples that are learnt in the very callback in which they came: no task, no coroutine.

Most requests to learn come in one piece, are short, and are for a session in memory that nobody
else holds. Such a request is a function call, and another one when the store has spoken. Whatever
is not so plain, or is wrong, is left to the app as if nothing had been tried; so is what the store
refused, to be done again on a fresh copy of the session.
"""

import logging
import time
from typing import Any, NamedTuple

from starlette.types import Scope

from llr_service import answers
from llr_service.context import Context, Room
from llr_service.front import SAMPLES, SAMPLES_ROUTE, Front
from llr_service.logs import id_of
from llr_service.problems import Problem
from llr_service.replies import ROUTE, SESSION, Header, Whole, refusal
from llr_service.routes.asked import asked_of
from llr_service.routes.samples import DECODERS, kind_of
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Learnt
from llr_service.sessions.waiting import SHORT, Moved, check_stored

log = logging.getLogger("llr_service")


class AtOnce:
    """Takes requests that came in one piece, before the app has seen anything of them."""

    def __init__(self, front: Front, context: Context) -> None:
        self._front, self._context = front, context
        self._longest = min(SHORT - 1, context.settings.max_body)

    def __call__(self, scope: Scope, whole: Whole) -> bool:
        """Serve a request; False, and nothing done, if it is for the app."""
        samples = SAMPLES.fullmatch(scope["path"])
        if samples is None or len(whole.body) > self._longest or log.isEnabledFor(logging.DEBUG):
            return False
        request = _Request(self._front, scope, whole)
        try:
            return self._begun(samples[1], request)
        except Problem:
            return False  # the app comes upon it too, and tells it
        except Exception:
            request.fail()
            return True

    def _begun(self, name: str, request: "_Request") -> bool:
        """Learn ahead of the store; False, and nothing done, if it is not so plain."""
        headers, whole, context = request.headers, request.whole, self._context
        decode = DECODERS.get(kind_of(headers.get(b"content-type", b"")))
        if decode is None or b"origin" in headers or not whole.ready:
            return False
        self._front.admit(request.scope)
        session = context.sessions.at_hand(name)
        if session is None or session.turns.queued:
            return False
        asked, room, begun = asked_of(request.scope["query_string"], headers), context.room(), None
        samples = decode(whole.body, session.features)
        room.take(len(whole.body))
        try:
            begun = session.learn_now(samples, asked.ticket, asked.if_match, asked.predictions)
        finally:
            if begun is None:
                room.leave()
        if begun is None:
            return False
        learnt, commit = begun
        batch = _Batch(context, request, session, learnt, samples.n, asked.theta, room)
        commit.then(batch.settle)
        return True


class _Request:
    """A request that came in one piece, and how it is answered and accounted for."""

    __slots__ = ("_front", "_id", "_started", "headers", "scope", "whole")

    def __init__(self, front: Front, scope: Scope, whole: Whole) -> None:
        self._front, self._started = front, time.perf_counter()
        self.scope, self.whole = scope, whole
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self._id = id_of(self.headers.get(b"x-request-id"))

    def answer(self, status: int, headers: list[Header], body: bytes) -> None:
        """Write all of the answer."""
        self.scope[ROUTE] = SAMPLES_ROUTE
        self.whole.answer(status, [*headers, (b"x-request-id", self._id.encode())], body)
        self._front.account(self.scope, self._id, status, time.perf_counter() - self._started)

    def fail(self) -> None:
        """Answer that something went wrong which should not have, and log it."""
        log.exception("request failed", extra={"path": self.scope["path"], "request_id": self._id})
        self.answer(*refusal(Problem("internal", f"see the log for request {self._id}")))


class _Batch(NamedTuple):
    """Samples that are learnt, and wait for the store."""

    context: Context
    request: _Request
    session: Session
    learnt: Learnt
    sent: int
    theta: bool
    room: Room

    def settle(self, outcome: Any) -> None:
        """The store has spoken: answer, or let the app go through it all again."""
        self.room.leave()
        self.request.scope[SESSION] = self.session
        try:
            check_stored(outcome)
            self.context.noted(self.session, self.sent, self.learnt.accepted)
            body = answers.of_learning(self.session, self.learnt, self.theta)
            self.request.answer(200, answers.headers_of(self.learnt), body)
        except Moved:
            self.request.whole.leave()
        except Problem as problem:
            self.request.answer(*refusal(problem))
        except Exception:
            self.request.fail()
