"""`POST /v1/sessions/{name}/samples`: learn. From the socket to the disk, in one read.

Plain ASGI, called by the front: the hottest route. JSON and npy bodies are taken whole or not at
all; NDJSON is learnt and acknowledged in blocks as it arrives.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from pydantic_core import from_json
from starlette.types import Receive, Scope

from llr_service import serializers
from llr_service.app_state import AppState
from llr_service.codec import Samples, decode_json, decode_npy
from llr_service.http.responses import SESSION, ResponseWriter
from llr_service.problems import Problem
from llr_service.routes.ndjson import NdjsonEndpoint
from llr_service.routes.params import LearnParams, learn_params
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Learnt
from llr_service.sessions.present import stored, upon
from llr_service.sessions.waiting import in_thread_if_long

JSON, NDJSON, NPY = "application/json", "application/x-ndjson", "application/x-npy"
Decoder = Callable[[bytes, bool], Samples]
DECODERS: dict[str, Decoder] = {JSON: decode_json, NPY: decode_npy}


class LearnEndpoint:
    """The endpoint. One per app."""

    def __init__(self, context: AppState) -> None:
        self._context, self._streamed = context, NdjsonEndpoint(context)

    async def __call__(
        self, name: str, scope: Scope, receive: Receive, answer: ResponseWriter
    ) -> None:
        """Learn from the body of a request."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        kind = kind_of(headers.get(b"content-type", b""))
        asked = learn_params(scope["query_string"], headers)
        hub = self._context.sessions
        session = hub.at_hand(name) or await hub.get(name)
        scope[SESSION] = session
        if kind == NDJSON:
            await self._streamed(session, asked, scope, receive, answer)
            return
        if kind not in DECODERS:
            raise Problem("unsupported-type", f"send {JSON}, {NDJSON} or {NPY}")
        with self._context.room() as room:
            body = await room.body(scope, receive)
            learn = partial(self._learn, kind, body, asked)
            learnt = await upon(hub, session, learn, stored)
        await serializers.send(answer, session, learnt, asked.theta)

    async def _learn(self, kind: str, body: bytes, asked: LearnParams, session: Session) -> Learnt:
        """Learn from a whole body on a copy of the session."""
        samples = await in_thread_if_long(body, DECODERS[kind], body, session.features)
        try:
            learnt = await session.learn(samples, asked.ticket, asked.if_match, asked.predictions)
        except Problem as problem:
            raise by_pointer(problem, body, kind) from None
        self._context.record_accepted(session, samples.n, learnt.accepted)
        return learnt


@lru_cache(maxsize=256)
def kind_of(content_type: bytes) -> str:
    """What a body says it is."""
    return content_type.partition(b";")[0].strip().lower().decode("latin-1")


def by_pointer(problem: Problem, body: bytes, kind: str) -> Problem:
    """Places among the samples as pointers into the body they came in."""
    sent: Any = from_json(body) if kind == JSON else []
    for error in problem.errors:
        _, index, *rest = error.get("pointer", "").split("/")
        if isinstance(sent, dict) and index.isdigit():
            single = not isinstance(sent.get("y"), list)
            error["pointer"] = "/".join(["", *rest] if single else ["", *rest, index])
    return problem
