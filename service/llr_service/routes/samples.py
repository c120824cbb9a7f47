"""`POST /v1/sessions/{name}/samples` and `…/labels`: learn from samples, or from delayed labels.

JSON, npy and Arrow are taken whole or not at all, NDJSON in blocks as it arrives. A label is learnt
with the x that was kept under its id, once.
"""

from collections.abc import Callable
from typing import Any

from llr.classes import Classes
from llr_service import serializers
from llr_service.codec import Labels, decode_label_lines, decode_labels
from llr_service.http.auth import Role
from llr_service.http.request import Request
from llr_service.http.responses import Response
from llr_service.http.routing import direct_route
from llr_service.problems import Problem
from llr_service.routes.learning import JSON, NDJSON, WHOLE, learn_params, submit
from llr_service.routes.ndjson import learn_stream
from llr_service.routes.request_schemas import COLUMN_NAMES, LABELS, LEARN_PARAMETERS, SAMPLES
from llr_service.schemas import Answer
from llr_service.sessions import delayed_labels
from llr_service.sessions.batch import LearnResult, in_thread_if_long
from llr_service.sessions.consistency import run_with_retry, was_learnt
from llr_service.sessions.session import Session


@direct_route(
    "POST",
    "/v1/sessions/{name}/samples",
    Role.WRITE,
    operation_id="learn",
    tag="learning",
    content=SAMPLES,
    parameters=[*LEARN_PARAMETERS, COLUMN_NAMES],
    response=Answer,
    also={
        NDJSON: {"schema": {"type": "string", "description": "With that Accept, a line a block."}}
    },
)
async def learn(request: Request) -> Response | None:
    """Learn.

    One sample, many, or a stream. 200: applied exactly once, and on disk. A WebSocket at
    `/v1/sessions/{name}/stream` takes the same, an answer a message.
    """
    kind, params = (
        request.content_type,
        learn_params(request.scope["query_string"], request.headers),
    )
    session = await request.find_session()
    if kind == NDJSON:
        return await learn_stream(request, session, params)
    if kind not in WHOLE:
        raise Problem("unsupported-type", f"send {', '.join(SAMPLES)}")
    body = await request.body()

    async def work(session: Session) -> LearnResult:
        pending, sent = await submit(session, kind, body, params)
        learnt = await pending.durable()
        request.state.record_accepted(session, sent.n, learnt.accepted)
        return learnt

    learnt = await run_with_retry(request.state.sessions, session, work, was_learnt)
    return serializers.learn_reply(session, learnt, params.theta)


Decoder = Callable[[bytes, Classes | None], Labels]
DECODERS: dict[str, Decoder] = {JSON: decode_labels, NDJSON: decode_label_lines}


@direct_route(
    "POST",
    "/v1/sessions/{name}/labels",
    Role.WRITE,
    operation_id="label",
    tag="learning",
    content=LABELS,
    parameters=LEARN_PARAMETERS[3:],
    response=Answer,
)
async def label(request: Request) -> Response:
    """Send late labels, one or many: learn from what was kept with their predictions."""
    session = await request.find_session()
    params = learn_params(request.scope["query_string"], request.headers)
    if params.sequence is not None:
        detail = "labels are numbered by their ids: leave producer and seq out"
        raise Problem("invalid", detail, [{"parameter": "producer", "detail": detail}])
    body = await request.body()
    decode = DECODERS.get(request.content_type)
    if decode is None:
        if body:
            raise Problem("unsupported-type", f"send {' or '.join(LABELS)}")
        decode = decode_labels
    labels = await in_thread_if_long(body, decode, body, session.classes)

    async def work(session: Session) -> LearnResult:
        learnt = await delayed_labels.apply(labels, params.if_match, params.predictions, session)
        request.state.record_accepted(session, labels.y.size, learnt.accepted)
        return learnt

    try:
        learnt = await run_with_retry(request.state.sessions, session, work, was_learnt)
    except Problem as problem:
        for error in problem.errors:
            _place(error, labels)
        raise
    return serializers.learn_reply(session, learnt, params.theta)


def _place(error: dict[str, Any], labels: Labels) -> None:
    """Tell the place of a fault as the body has it: by line, or without a list around it."""
    _, place, *rest = error.get("pointer", "").split("/")
    if place.isdigit() and (labels.single or labels.lines is not None):
        error["pointer"] = "".join(f"/{step}" for step in rest)
        if labels.lines is not None:
            error["line"] = labels.lines[int(place)]
