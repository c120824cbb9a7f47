"""`POST /v1/sessions/{name}/samples`: learn. JSON and npy whole, NDJSON in blocks as it arrives."""

from llr_service import serializers
from llr_service.http.auth import Role
from llr_service.http.request import Request
from llr_service.http.responses import Response
from llr_service.http.routing import direct_route
from llr_service.problems import Problem
from llr_service.routes.learning import DECODERS, NDJSON, submit
from llr_service.routes.ndjson import learn_stream
from llr_service.routes.params import learn_params
from llr_service.routes.request_schemas import LEARN_PARAMETERS, SAMPLES
from llr_service.schemas import Answer
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Learnt
from llr_service.sessions.present import stored, upon


@direct_route(
    "POST",
    "/v1/sessions/{name}/samples",
    Role.WRITE,
    operation_id="learn",
    tag="learning",
    content=SAMPLES,
    parameters=LEARN_PARAMETERS,
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
    if kind not in DECODERS:
        raise Problem("unsupported-type", f"send {', '.join(SAMPLES)}")
    body = await request.body()

    async def work(session: Session) -> Learnt:
        pending, sent = await submit(session, kind, body, params)
        learnt = await session.finish(pending)
        request.state.record_accepted(session, sent, learnt.accepted)
        return learnt

    learnt = await upon(request.state.sessions, session, work, stored)
    return serializers.learn_reply(session, learnt, params.theta)
