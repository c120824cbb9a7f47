"""`POST /v1/sessions/{name}/predict`: predict without learning."""

from typing import Any

from fastapi import APIRouter, Request

from llr import SampleError
from service.codec import decode_rows
from service.context import Here, Named
from service.problems import Problem
from service.schemas import Prediction

router = APIRouter(prefix="/v1/sessions", tags=["learning"])


@router.post("/{name}/predict", response_model=Prediction, operation_id="predict")
async def predict(session: Named, here: Here, request: Request) -> Any:
    """A mean or probability for one row of features, or for many."""
    matrix, single = decode_rows(await request.body(), session.config.features)
    learner = session.published
    if learner is None:
        width = 1 if matrix is None else matrix.shape[1]
        learner = session.config.learner(width, here.settings.max_dim)
    try:
        found = learner.predict() if matrix is None else learner.predict(matrix)
    except SampleError as wrong:
        place = "/x" if single or wrong.index is None else f"/x/{wrong.index}"
        raise Problem("invalid", str(wrong), [{"pointer": place, "detail": wrong.reason}]) from None
    predictions = found.tolist()
    if matrix is not None and single:
        predictions = predictions[0]
    return {"name": session.name, "t": learner.t, "predictions": predictions}
