"""`POST /v1/sessions/{name}/predict`: predict without learning; with an id, x is kept for later."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import orjson

from llr import SampleError
from llr_service.app_state import AppState
from llr_service.codec import Query, decode_query
from llr_service.http.auth import Role, require
from llr_service.http.request import Request
from llr_service.http.responses import JSON, Response
from llr_service.http.routing import direct_route
from llr_service.problems import Problem
from llr_service.routes.request_schemas import PREDICT
from llr_service.schemas import Prediction
from llr_service.sessions import late
from llr_service.sessions.actor import Session
from llr_service.sessions.kept_rows import rows_of
from llr_service.sessions.learners import check_kind, width_of
from llr_service.sessions.present import upon
from llr_service.sessions.roster import new_team
from llr_service.sessions.waiting import in_thread_if_long

Keep = Callable[[Session], Awaitable[int]]
ALONE = {"/ids/0": "/id", "/x/0": "/x"}
"""Where the first of many stands if it comes alone."""


@direct_route(
    "POST",
    "/v1/sessions/{name}/predict",
    Role.READ,
    operation_id="predict",
    tag="learning",
    content=PREDICT,
    body_required=False,
    response=Prediction,
)
async def predict(request: Request) -> Response:
    """A mean or probability for a row of features, or for many; with an id x is kept."""
    state, session = request.state, await request.current_session()
    body = await request.body()
    if body and request.content_type not in PREDICT:
        raise Problem("unsupported-type", f"send {' or '.join(PREDICT)}")
    work = (session, body, state.settings.max_dim)
    query, t, answer = await in_thread_if_long(body, _predicted, *work)
    if query.ids:
        require(request.caller.role, Role.WRITE)
        rows = await in_thread_if_long(body, rows_of, query.rows, len(query.ids))
        await _kept(session, state, query, partial(late.keep, query.ids, rows, t))
    return Response(200, [JSON], answer)


def _predicted(session: Session, body: bytes, max_dim: int) -> tuple[Query, int, bytes]:
    """At which t, and the answer. What is published never changes: another thread may read it."""
    query = decode_query(body, session.config.features)
    rows: tuple[Any, ...] = () if query.rows is None else (query.rows,)
    try:
        team = session.published or new_team(session.config, width_of(query.rows), max_dim)
        check_kind(team.champion, query.rows)
        found = team.champion.predict(*rows)
    except SampleError as wrong:
        place = "/x" if query.single or wrong.index is None else f"/x/{wrong.index}"
        raise Problem("invalid", str(wrong), [{"pointer": place, "detail": wrong.reason}]) from None
    predictions = found.tolist()
    if query.rows is not None and query.single:
        predictions = predictions[0]
    members = {"name": session.name, "t": team.t, "predictions": predictions}
    return query, team.t, orjson.dumps(members)


async def _kept(session: Session, here: AppState, query: Query, keep: Keep) -> None:
    """Keep the rows; what is wrong with one is told by its place in the body."""

    async def kept_on(session: Session) -> int:
        new = await keep(session)
        here.sessions.touched(session)
        return new

    try:
        await upon(here.sessions, session, kept_on, bool)
    except Problem as problem:
        for error in problem.errors if query.single else ():
            error["pointer"] = ALONE.get(error["pointer"], error["pointer"])
        raise
