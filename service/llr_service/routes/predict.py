"""`POST /v1/sessions/{name}/predict`: predict without learning; with an id, x is kept for later."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import orjson

from llr import SampleError
from llr_service import serializers
from llr_service.app_state import AppState
from llr_service.codec import Query, decode_query
from llr_service.http.auth import Role, require
from llr_service.http.request import Request
from llr_service.http.responses import JSON, Response
from llr_service.http.routing import direct_route
from llr_service.problems import Problem
from llr_service.routes.learning import interval_of
from llr_service.routes.request_schemas import INTERVAL, PREDICT
from llr_service.schemas import Prediction
from llr_service.sessions import delayed_labels
from llr_service.sessions.batch import in_thread_if_long
from llr_service.sessions.consistency import run_with_retry
from llr_service.sessions.ensemble import AnyLearner, check_feature_kind, new_ensemble, width_of
from llr_service.sessions.pending_labels import pack_rows
from llr_service.sessions.session import Session

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
    parameters=[INTERVAL],
    response=Prediction,
)
async def predict(request: Request) -> Response:
    """Predict a mean or probability for a row of features, or for many; with an id x is kept."""
    state, session = request.state, await request.current_session()
    body = await request.body()
    if body and request.content_type not in PREDICT:
        raise Problem("unsupported-type", f"send {' or '.join(PREDICT)}")
    level = interval_of(request.scope["query_string"])
    work = (session, body, state.settings.max_dim, level)
    query, t, answer = await in_thread_if_long(body, _predicted, *work)
    if query.ids:
        require(request.caller.role, Role.WRITE)
        rows = await in_thread_if_long(body, pack_rows, query.rows, len(query.ids))
        await _kept(session, state, query, partial(delayed_labels.store, query.ids, rows, t))
    return Response(200, [JSON], answer)


def _predicted(
    session: Session, body: bytes, max_dim: int, level: float | None
) -> tuple[Query, int, bytes]:
    """At which t, and the answer. What is published never changes: another thread may read it."""
    query = decode_query(body, session.config.features)
    rows: tuple[Any, ...] = () if query.rows is None else (query.rows,)
    try:
        ensemble = session.published or new_ensemble(session.config, width_of(query.rows), max_dim)
        check_feature_kind(ensemble.champion, query.rows)
        found, expected = ensemble.champion.predict(*rows), None
        if level is not None:
            expected = _expected(ensemble.champion, query.rows, level)
    except SampleError as wrong:
        place = "/x" if query.single or wrong.index is None else f"/x/{wrong.index}"
        raise Problem("invalid", str(wrong), [{"pointer": place, "detail": wrong.reason}]) from None
    told = serializers.predictions(session, found if query.rows is not None else found[None])
    if expected is not None:
        told |= serializers.expected(session, expected, query.rows is None)
    if query.rows is None or query.single:
        told = {name: values[0] for name, values in told.items()}
    members = {"name": session.name, "t": ensemble.t, **told}
    return query, ensemble.t, orjson.dumps(members, option=orjson.OPT_APPEND_NEWLINE)


def _expected(learner: AnyLearner, rows: Any, level: float) -> Any:
    """The intervals of rows, which are None for models without features."""
    return learner.interval(rows, level)


async def _kept(session: Session, here: AppState, query: Query, keep: Keep) -> None:
    """Keep the rows; errors point into the body."""

    async def kept_on(session: Session) -> int:
        new = await keep(session)
        here.sessions.update_size(session)
        return new

    try:
        await run_with_retry(here.sessions, session, kept_on, bool)
    except Problem as problem:
        for error in problem.errors if query.single else ():
            error["pointer"] = ALONE.get(error["pointer"], error["pointer"])
        raise
