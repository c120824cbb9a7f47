"""`POST /v1/sessions/{name}/labels`: learn from the x kept under an id, once."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Response

from llr_service import serializers
from llr_service.app_state import AppStateDep, Name
from llr_service.codec import Labels, decode_label_lines, decode_labels
from llr_service.problems import Problem
from llr_service.routes.params import learn_params
from llr_service.schemas import Answer
from llr_service.sessions import late
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Learnt
from llr_service.sessions.present import stored, upon
from llr_service.sessions.waiting import in_thread_if_long

NDJSON = "application/x-ndjson"
router = APIRouter(prefix="/v1/sessions", tags=["learning"])


@router.post(
    "/{name}/labels",
    responses={200: {"model": Answer}},
    response_class=Response,
    operation_id="label",
)
async def label(name: Name, here: AppStateDep, request: Request) -> Response:
    """Late labels, one or many: learn from what was kept with their predictions."""
    session = await here.sessions.get(name)
    asked = learn_params(request.scope["query_string"], dict(request.scope["headers"]))
    if asked.ticket is not None:
        detail = "labels are numbered by their ids: leave producer and seq out"
        raise Problem("invalid", detail, [{"parameter": "producer", "detail": detail}])
    body = await request.body()
    labels = await in_thread_if_long(body, _decoder(request), body)

    async def learn(session: Session) -> Learnt:
        learnt = await late.label(labels, asked.if_match, asked.predictions, session)
        here.record_accepted(session, labels.y.size, learnt.accepted)
        return learnt

    try:
        learnt = await upon(here.sessions, session, learn, stored)
    except Problem as problem:
        for error in problem.errors:
            _place(error, labels)
        raise
    told = serializers.learn_response(session, learnt, asked.theta)
    etag = {"ETag": f'"{learnt.team.t}"'}
    return Response(told, headers=etag, media_type="application/json")


def _decoder(request: Request) -> Callable[[bytes], Labels]:
    """How the body is to be read; JSON unless it says that it comes in lines."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return decode_label_lines if kind == NDJSON else decode_labels


def _place(error: dict[str, Any], labels: Labels) -> None:
    """Tell the place of a fault as the body has it: by line, or without a list around it."""
    _, place, *rest = error.get("pointer", "").split("/")
    if place.isdigit() and (labels.single or labels.lines is not None):
        error["pointer"] = "".join(f"/{step}" for step in rest)
        if labels.lines is not None:
            error["line"] = labels.lines[int(place)]
