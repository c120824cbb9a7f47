"""`GET /v1/sessions/{name}/history`: the past, thinned, bounded however long the stream."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from pydantic_core import from_json

from llr import History
from llr_service import serializers
from llr_service.app_state import Named
from llr_service.http.auth import Role, requires
from llr_service.problems import Problem
from llr_service.schemas import Past
from llr_service.sessions.ensemble import new_ensemble, shift_history
from llr_service.sessions.pending_labels import LabelTiming
from llr_service.sessions.session import Session
from llr_service.sessions.times import rfc3339

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])
SHOWN = 8
MAX_COORDINATES = 100
"""Most coordinates of theta in one answer, which has up to 1000 points."""


@router.get("/{name}/history", response_model=Past, operation_id="getHistory")
@requires(Role.READ)
async def history(
    session: Named,
    points: Annotated[int, Query(ge=2, le=1000, description="At most so many points.")] = 500,
    theta: Annotated[
        str | None,
        Query(
            max_length=4000,
            description="Coordinates of theta, such as 0,3,7, or names of features; the first 8.",
        ),
    ] = None,
) -> Any:
    """The past of t, log_eta, eta, loss, regret and coordinates of theta; of shadows without it.

    `_low` and `_high` are the least and the largest since the point before, so that what swings
    between two points shows; of theta for the first 8 coordinates, null for the others.
    """
    ensemble = session.published or new_ensemble(session.config, None)
    past = ensemble.history
    names, width = past.names, past.theta.shape[1]
    coordinates = _coordinates(theta, width) if names is None else _places(theta, names)
    if len(coordinates) > MAX_COORDINATES:
        detail = f"at most {MAX_COORDINATES} coordinates in one answer"
        raise Problem("invalid", f"theta: {detail}", [{"parameter": "theta", "detail": detail}])
    rows, drift = _thinned(len(past.t), points), serializers.drift(ensemble)
    beside = {
        name: shift_history(shadow.learner.history, shadow.start)
        for name, shadow in ensemble.shadows.items()
    }
    return {
        "name": session.name,
        **_columns(past, points),
        "theta": past.theta[np.ix_(rows, coordinates)].tolist(),
        "theta_low": _known(_least(past.theta_low[:, coordinates], rows)),
        "theta_high": _known(_largest(past.theta_high[:, coordinates], rows)),
        "coordinates": coordinates if names is None else [names[place] for place in coordinates],
        "shadows": {name: _columns(one, points) for name, one in beside.items()},
        "drift": drift["at"],
        "drift_time": drift["time"],
        "time": _times(session, past.t[rows].tolist()),
        "labels": _labels(session.pending.timings(points, ensemble.t)),
    }


def _times(session: Session, reached: list[int]) -> list[str | None]:
    """When each t was reached; t = 0 at the creation, unless it has samples from before that."""
    times = session.times
    start = session.created if session.created <= (times.of(1) or session.created) else None
    return [rfc3339(times.of(t) if t else start) for t in reached]


def _columns(past: History, points: int) -> dict[str, Any]:
    rows = _thinned(len(past.t), points)
    return {
        "t": past.t[rows].tolist(),
        "log_eta": past.log_eta[rows].tolist(),
        "eta": past.eta[rows].tolist(),
        "loss": past.loss[rows].tolist(),
        "regret": None if past.regret is None else past.regret[rows].tolist(),
        "log_eta_low": _least(past.log_eta_low, rows).tolist(),
        "log_eta_high": _largest(past.log_eta_high, rows).tolist(),
        "loss_low": _least(past.loss_low, rows).tolist(),
        "loss_high": _largest(past.loss_high, rows).tolist(),
        "recent": _known(past.recent[rows]),
        "metric": _known(past.metric[rows]),
        "baseline": _known(past.baseline[rows]),
    }


def _least(values: Any, rows: Any) -> Any:
    """The least of the values since the row before each of these."""
    return np.minimum.reduceat(values, _after_the_last(rows), axis=0)


def _largest(values: Any, rows: Any) -> Any:
    """The largest of the values since the row before each of these."""
    return np.maximum.reduceat(values, _after_the_last(rows), axis=0)


def _after_the_last(rows: Any) -> Any:
    return np.concatenate(([0], rows[:-1] + 1))


def _known(values: Any) -> list[Any]:
    """The values as JSON has them, null where one is not known."""
    known: Any = np.where(np.isnan(values), None, values)
    return known.tolist()  # type: ignore[no-any-return]


def _labels(last: list[LabelTiming]) -> dict[str, list[int]] | None:
    """The last late labels as columns; None if none are known."""
    if not last:
        return None
    return {
        "t": [each.learnt.t for each in last],
        "at": [each.learnt.at for each in last],
        "predicted_t": [each.predicted.t for each in last],
        "predicted_at": [each.predicted.at for each in last],
    }


def _thinned(n: int, points: int) -> Any:
    """At most `points` of n rows, evenly spread, the last among them."""
    if n <= points:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, points).round().astype(int))


def _places(asked: str | None, names: Sequence[str]) -> list[int]:
    """The columns of names, with commas between them or as a JSON list; what is not kept is not."""
    if asked is None:
        return list(range(min(SHOWN, len(names))))
    try:
        wanted = from_json(asked) if asked.startswith("[") else asked.split(",")
    except ValueError:
        wanted = None
    if not isinstance(wanted, list) or not all(isinstance(name, str) for name in wanted):
        detail = "names with commas between them, or a JSON list of names"
        raise Problem("invalid", f"theta: {detail}", [{"parameter": "theta", "detail": detail}])
    known = {name: place for place, name in enumerate(names)}
    return [known[name] for name in dict.fromkeys(wanted) if name in known]


def _coordinates(asked: str | None, width: int) -> list[int]:
    if asked is None:
        return list(range(min(SHOWN, width)))
    words = [word for word in asked.split(",") if word]
    if not all(word.isascii() and word.isdigit() and int(word) < width for word in words):
        detail = f"whole numbers from 0 to {width - 1}, separated by commas"
        raise Problem("invalid", f"theta: {detail}", [{"parameter": "theta", "detail": detail}])
    return [*dict.fromkeys(map(int, words))]
