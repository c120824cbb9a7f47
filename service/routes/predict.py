"""`POST /v1/sessions/{name}/predict`: predict without learning."""

from fastapi import APIRouter, Request, Response
from pydantic_core import to_json

from llr import SampleError
from service.codec import decode_rows
from service.context import Here, Named
from service.problems import Problem
from service.schemas import Prediction
from service.sessions.actor import Session, in_thread_if_long

router = APIRouter(prefix="/v1/sessions", tags=["learning"])


@router.post(
    "/{name}/predict",
    responses={200: {"model": Prediction}},
    response_class=Response,
    operation_id="predict",
)
async def predict(session: Named, here: Here, request: Request) -> Response:
    """A mean or probability for one row of features, or for many."""
    body = await request.body()
    answer = await in_thread_if_long(body, _predicted, session, body, here.settings.max_dim)
    return Response(answer, media_type="application/json")


def _predicted(session: Session, body: bytes, max_dim: int) -> bytes:
    """The whole answer. What is published never changes: another thread may read it."""
    matrix, single = decode_rows(body, session.config.features)
    learner = session.published
    if learner is None:
        width = 1 if matrix is None else matrix.shape[1]
        learner = session.config.learner(width, max_dim)
    try:
        found = learner.predict() if matrix is None else learner.predict(matrix)
    except SampleError as wrong:
        place = "/x" if single or wrong.index is None else f"/x/{wrong.index}"
        raise Problem("invalid", str(wrong), [{"pointer": place, "detail": wrong.reason}]) from None
    predictions = found.tolist()
    if matrix is not None and single:
        predictions = predictions[0]
    members = {"name": session.name, "t": learner.t, "predictions": predictions}
    return to_json(members, inf_nan_mode="null")
