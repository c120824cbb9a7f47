"""`POST /v1/sessions/{name}/labels`: learn from the x kept under an id, once."""

from collections.abc import Callable
from typing import Any

from llr_service import serializers
from llr_service.codec import Labels, decode_label_lines, decode_labels
from llr_service.http.auth import Role
from llr_service.http.request import Request
from llr_service.http.responses import Response
from llr_service.http.routing import direct_route
from llr_service.problems import Problem
from llr_service.routes.learning import JSON, NDJSON
from llr_service.routes.params import learn_params
from llr_service.routes.request_schemas import LABELS, LEARN_PARAMETERS
from llr_service.schemas import Answer
from llr_service.sessions import late
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Learnt
from llr_service.sessions.present import stored, upon
from llr_service.sessions.waiting import in_thread_if_long

DECODERS: dict[str, Callable[[bytes], Labels]] = {JSON: decode_labels, NDJSON: decode_label_lines}


@direct_route(
    "POST",
    "/v1/sessions/{name}/labels",
    Role.WRITE,
    operation_id="label",
    tag="learning",
    content=LABELS,
    parameters=LEARN_PARAMETERS[2:],
    response=Answer,
)
async def label(request: Request) -> Response:
    """Late labels, one or many: learn from what was kept with their predictions."""
    session = await request.find_session()
    params = learn_params(request.scope["query_string"], request.headers)
    if params.ticket is not None:
        detail = "labels are numbered by their ids: leave producer and seq out"
        raise Problem("invalid", detail, [{"parameter": "producer", "detail": detail}])
    body = await request.body()
    decode = DECODERS.get(request.content_type)
    if decode is None:
        if body:
            raise Problem("unsupported-type", f"send {' or '.join(LABELS)}")
        decode = decode_labels
    labels = await in_thread_if_long(body, decode, body)

    async def work(session: Session) -> Learnt:
        learnt = await late.label(labels, params.if_match, params.predictions, session)
        request.state.record_accepted(session, labels.y.size, learnt.accepted)
        return learnt

    try:
        learnt = await upon(request.state.sessions, session, work, stored)
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
