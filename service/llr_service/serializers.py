"""What the service says of a session, as JSON: finite numbers or null, never NaN."""

import asyncio
import math
from operator import is_
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import orjson

from llr import Config, EtaStatus, Interval, Learner, NamedLearner
from llr.eta_status import of as judged
from llr.metrics import Baseline, Measure, Metrics
from llr.types import Vector
from llr_service.codec.samples import NAMED
from llr_service.http.responses import JSON, Response
from llr_service.sessions.batch import LearnResult
from llr_service.sessions.config import SessionConfig
from llr_service.sessions.ensemble import AnyLearner, Ensemble, current_config
from llr_service.sessions.pending_labels import LabelSummary
from llr_service.sessions.session import Session
from llr_service.sessions.times import rfc3339
from llr_service.theta import Shown, everything, of_body

BEFORE: dict[str, Any] = {
    "loss": {"total": 0.0, "mean": None, "recent": None},
    "regret": {"ml": None, "best_fixed": None},
}


def learn_response(session: Session, learnt: LearnResult, theta: bool) -> bytes:
    """The answer to a batch of samples."""
    ensemble = learnt.ensemble
    members = {
        "name": session.name,
        "t": ensemble.t,
        "accepted": learnt.accepted,
        "duplicate": learnt.duplicate,
    }
    shown = None
    if theta:
        shown = _of_batch(learnt) if learnt.names else everything
    add_numbers(members, ensemble.champion, shown)
    if ensemble.shadows:
        members["shadows"] = shadows(ensemble)
    if learnt.predictions is not None:
        members |= predictions(session, learnt.predictions)
    return orjson.dumps(members)


def predictions(session: Session, found: Vector) -> dict[str, list[Any]]:
    """What is predicted for some samples: numbers, or classes by name and their probabilities."""
    classes = session.classes
    if classes is None:
        return {"predictions": found.tolist()}
    named, each = classes.likeliest(found), classes.probabilities(found)
    return {"predictions": named, "probabilities": each}


def expected(session: Session, found: Any, alone: bool) -> dict[str, list[Any]]:
    """Intervals, or the classes of prediction sets, for some samples; null while too early."""
    if isinstance(found, Interval):
        sides = {"lower": found.lower, "upper": found.upper}
        return {side: _finite(np.atleast_1d(values)) for side, values in sides.items()}
    sets = [found] if alone else found
    classes = session.classes
    return {"set": sets if classes is None else [[classes.names[k] for k in one] for one in sets]}


def _finite(values: Vector) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values.tolist()]


def learn_reply(session: Session, learnt: LearnResult, theta: bool) -> Response:
    """The response to a batch of samples."""
    headers = [JSON, (b"etag", b'"%d"' % learnt.ensemble.t)]
    return Response(200, headers, learn_response(session, learnt, theta))


def _of_batch(learnt: LearnResult) -> Shown:
    """θ as the answer to a batch tells it."""
    return of_body(learnt.names) if learnt.theta is None else lambda _: learnt.theta


class _Described(NamedTuple):
    """The config of a session as its learners are now, and its JSON."""

    learners: tuple[Config, ...]
    config: SessionConfig
    encoded: orjson.Fragment


_described: WeakKeyDictionary[Session, _Described] = WeakKeyDictionary()


def _describe(session: Session, ensemble: Ensemble | None) -> _Described:
    """The config, encoded once for as long as the session has the same learners."""
    learners: tuple[Config, ...] = ()
    if ensemble is not None:
        learners = (
            ensemble.champion.config,
            *(one.learner.config for one in ensemble.shadows.values()),
        )
    known = _described.get(session)
    if known is None or not _same(known.learners, learners):
        config = current_config(session.config, ensemble)
        encoded = orjson.Fragment(orjson.dumps(config.model_dump()))
        known = _described[session] = _Described(learners, config, encoded)
    return known


def _same(before: tuple[Config, ...], now: tuple[Config, ...]) -> bool:
    return len(before) == len(now) and all(map(is_, before, now))


def session_state(session: Session, theta: Shown | None = everything) -> dict[str, Any]:
    """All of a session that a reader wants to see."""
    ensemble = session.published
    config = _describe(session, ensemble).config
    return _state(session, ensemble, config, theta) | {"config": config.model_dump()}


def _state(
    session: Session, ensemble: Ensemble | None, config: SessionConfig, theta: Shown | None
) -> dict[str, Any]:
    """The same without the config."""
    shown = {
        "name": session.name,
        "t": ensemble.t if ensemble else 0,
        "model": config.model,
        "algorithm": config.algorithm,
        "dim": config.dim if ensemble is None or ensemble.dim == NAMED else ensemble.dim,
        "features": ensemble and names(ensemble.champion),
        "champion": ensemble and ensemble.name,
        "former": ensemble and ensemble.previous_champion,
        "version": ensemble.version if ensemble else 0,
        "shadows": shadows(ensemble) if ensemble and ensemble.shadows else {},
        "drift": drift(ensemble) if config.drift else None,
        "kept": session.labels.waiting,
        "status": session.status,
        "activity": session.activity,
        "created_at": rfc3339(session.created),
        "last_sample_at": rfc3339(session.times.last),
        "expires_at": rfc3339(session.expires or 0),
        "labels": labels(session.labels),
        "retained": retained(session),
        "relearning": session.replay and session.replay.to_json(session.t),
    }
    if ensemble is None:
        nothing: dict[str, Any] = {"eta": config.eta0, "log_eta": None, "theta": []}
        learner = config.of_learner(None)
        shown["metrics"] = metrics(Learner.from_config(learner))
        return shown | nothing | BEFORE | eta_status(judged(learner, None))
    add_numbers(shown, ensemble.champion, theta)
    shown |= eta_status(ensemble.champion.eta_status)
    shown["metrics"] = metrics(ensemble.champion)
    return shown


async def state_reply(session: Session, **more: Any) -> Response:
    """The response that tells all of a session, with the best fixed loss whatever it takes."""
    ensemble = session.published
    described = _describe(session, ensemble)
    state = _state(session, ensemble, described.config, everything)
    regret = state["regret"]
    if ensemble is not None and regret["ml"] is not None and regret["best_fixed"] is None:
        whole = await asyncio.to_thread(lambda: ensemble.champion.regret)
        regret["best_fixed"] = whole.best_fixed
    state["config"] = described.encoded
    headers = [JSON, (b"etag", b'"%d"' % state["t"])]
    return Response(200, headers, orjson.dumps(state | more if more else state))


def metrics(learner: AnyLearner) -> dict[str, Any]:
    """How good the predictions were, beside the baseline's; without what the model has not."""
    found = learner.metrics
    told = _measures(found)
    told["baseline"] = _measures(found.baseline)
    return told


def _measures(found: Metrics | Baseline) -> dict[str, Any]:
    return {
        name: {"recent": each.recent, "overall": each.overall}
        for name, each in zip(found._fields, found, strict=True)
        if isinstance(each, Measure)
    }


def names(learner: AnyLearner) -> dict[str, Any] | None:
    """How many names there are and may be; None where features have none."""
    if not isinstance(learner, NamedLearner):
        return None
    config = learner.config
    counts = {"known": learner.known, "hashing": learner.hashing}
    return counts | {"max_features": config.max_features, "hash_bits": config.hash_bits}


def shadows(ensemble: Ensemble) -> dict[str, Any]:
    """How each shadow does beside the champion."""
    loss, t = ensemble.champion.loss, ensemble.t
    return {
        name: add_numbers(
            {
                "algorithm": one.learner.config.algorithm,
                "status": "ok" if one.diverged is None else "diverged",
                "t": one.learner.t,
                "since": one.baseline.since,
                "lead": one.lead(loss, t),
            },
            one.learner,
            None,
        )
        for name, one in ensemble.shadows.items()
    }


def drift(ensemble: Ensemble | None) -> dict[str, Any]:
    """How often the loss was found to rise, and when."""
    if ensemble is None or ensemble.drift is None:
        return {"alarms": 0, "at": [], "time": []}
    at = ensemble.drift.at
    times = [rfc3339(ensemble.times.of(t)) for t in at]
    return {"alarms": ensemble.drift.alarms, "at": at, "time": times}


def labels(summary: LabelSummary) -> dict[str, int] | None:
    """What became of predictions with an id; None if there were none."""
    counts = summary._asdict()
    return counts if any(counts.values()) else None


def retained(session: Session) -> dict[str, Any] | None:
    """How much of its samples a session keeps; None if it does not."""
    if not session.config.retain:
        return None
    (samples, size), t = session.log.retention.kept, session.t
    return {"samples": min(samples, t), "bytes": size, "complete": samples >= t}


def eta_status(status: EtaStatus) -> dict[str, Any]:
    """What the step size is doing, with advice."""
    return {"eta_status": status._asdict()}


def add_numbers(
    members: dict[str, Any], learner: AnyLearner, theta: Shown | None
) -> dict[str, Any]:
    """Add η, θ, loss and regret to what is told."""
    (total, mean, recent), (ml, best_fixed) = learner.loss, learner.quick_regret
    members["eta"], members["log_eta"] = learner.eta, learner.log_eta
    if theta is not None:
        members["theta"] = theta(learner)
        intercept = learner.intercept
        if intercept is not None:
            members["intercept"] = intercept if isinstance(intercept, float) else intercept.tolist()
    members["loss"] = {"total": total, "mean": mean, "recent": recent}
    members["regret"] = {"ml": ml, "best_fixed": best_fixed}
    return members
