"""Samples that are learnt in the very callback in which they came: no task, no coroutine.

Most requests to learn come in one piece, are short, and are for a session in memory that nobody
else holds. Such a request is a function call, and another one when the store has spoken. Whatever
is not so plain, or is wrong, is left to the app as if nothing had been tried; so is what the store
refused, to be done again on a fresh copy of the session.
"""

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from starlette.types import Scope

from service import answers
from service.context import Context, Room
from service.front import SAMPLES, SAMPLES_ROUTE, Front
from service.logs import id_of
from service.problems import Problem
from service.replies import ROUTE, SESSION, Reply, Whole, refusal
from service.routes.asked import asked_of
from service.routes.samples import DECODERS, kind_of
from service.sessions.actor import Session
from service.sessions.batch import Learnt
from service.sessions.committer import Receipt
from service.sessions.waiting import SHORT, Moved, check_stored

log = logging.getLogger("service")

FAILED = refusal(Problem("internal", "the failure was logged"))


class AtOnce:
    """Takes requests that came in one piece, before the app has seen anything of them."""

    def __init__(self, front: Front, context: Context) -> None:
        self._front, self._context = front, context

    def __call__(self, scope: Scope, whole: Whole) -> bool:
        """Serve a request; False, and nothing done, if it is for the app."""
        samples = SAMPLES.fullmatch(scope["path"])
        if samples is None or len(whole.body) >= SHORT or log.isEnabledFor(logging.DEBUG):
            return False
        try:
            begun = self._begun(samples[1], scope, whole)
        except Problem:
            return False  # the app comes upon it too, and tells it
        except Exception:
            log.exception("request failed", extra={"path": scope["path"]})
            whole.answer(*FAILED)
            return True
        if begun is not None:
            begun.commit.then(begun.settle)
        return begun is not None

    def _begun(self, name: str, scope: Scope, whole: Whole) -> "_Begun | None":
        """Learn ahead of the store; None, and nothing done, if it is not so plain."""
        started, context = time.perf_counter(), self._context
        headers: dict[bytes, bytes] = dict(scope["headers"])
        decode = DECODERS.get(kind_of(headers.get(b"content-type", b"")))
        session = context.sessions.at_hand(name)
        if decode is None or session is None or b"origin" in headers or not whole.ready:
            return None
        self._front.admit(scope)
        asked, room, begun = asked_of(scope["query_string"], headers), context.room(), None
        samples = decode(whole.body, session.features)
        room.take(len(whole.body))
        try:
            begun = session.learn_now(samples, asked.ticket, asked.if_match, asked.predictions)
        finally:
            if begun is None:
                room.leave()
        if begun is None:
            return None
        context.noted(session, samples.n, begun[0].accepted)
        scope[ROUTE], scope[SESSION] = SAMPLES_ROUTE, session
        request_id = id_of(headers.get(b"x-request-id"))
        account = partial(self._front.account, scope, request_id)
        return _Begun(*begun, whole, session, asked.theta, room, request_id, account, started)


class _Begun(NamedTuple):
    """A request whose samples are learnt, and wait for the store."""

    learnt: Learnt
    commit: Receipt[Any]
    whole: Whole
    session: Session
    theta: bool
    room: Room
    request_id: str
    account: Callable[[int, float], None]
    started: float

    def settle(self, outcome: Any) -> None:
        """The store has spoken: answer, or let the app go through it all again."""
        self.room.leave()
        self.session.turns.waiting -= 1
        try:
            status, headers, body = self._answer(outcome)
        except Moved:
            self.whole.leave()
            return
        self.whole.answer(status, [*headers, (b"x-request-id", self.request_id.encode())], body)
        self.account(status, time.perf_counter() - self.started)

    def _answer(self, outcome: Any) -> Reply:
        try:
            check_stored(outcome)
            body = answers.of_learning(self.session, self.learnt, self.theta)
            return 200, answers.headers_of(self.learnt), body
        except Moved:
            raise
        except Problem as problem:
            return refusal(problem)
        except Exception:
            log.exception("request failed", extra={"request_id": self.request_id})
            return FAILED
