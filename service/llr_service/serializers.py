"""Sessions and answers as JSON: finite numbers or null, never NaN."""

import asyncio
import math
from collections.abc import Callable
from operator import is_
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

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
    return Response(200, headers, learn_response(session, learnt, theta) + b"\n")


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


def session_state(
    session: Session, theta: Shown | None = everything, ensemble: Ensemble | None = None
) -> dict[str, Any]:
    """All of a session that a reader wants to see, with an ensemble or the published one."""
    ensemble = ensemble or session.published
    config = _describe(session, ensemble).config
    state = _of_session(session, ensemble, config)
    _add_ensemble(state, ensemble, config, theta)
    state["config"] = config.model_dump()
    return state


def list_row(session: Session) -> dict[str, Any]:
    """A session in memory as the list shows it."""
    ensemble = session.published
    config = _describe(session, ensemble).config
    row = {
        "name": session.name,
        "t": ensemble.t if ensemble else 0,
        "model": config.model,
        "algorithm": config.algorithm,
        "dim": config.dim if ensemble is None or ensemble.dim == NAMED else ensemble.dim,
        "eta": config.eta0,
        **BEFORE,
        "created_at": rfc3339(session.created),
        "last_sample_at": rfc3339(session.times.last),
        "status": session.status,
        "activity": session.activity,
    }
    if ensemble is not None:
        add_numbers(row, ensemble.champion, None)
        row["metrics"] = metrics(ensemble.champion)
        del row["log_eta"]
    return row


def _of_session(
    session: Session, ensemble: Ensemble | None, config: SessionConfig
) -> dict[str, Any]:
    """What the state tells of the session itself. It changes: read it in the event loop."""
    return {
        "name": session.name,
        "t": ensemble.t if ensemble else 0,
        "model": config.model,
        "algorithm": config.algorithm,
        "dim": config.dim if ensemble is None or ensemble.dim == NAMED else ensemble.dim,
        "features": ensemble and names(ensemble.champion),
        "champion": ensemble and ensemble.name,
        "former": ensemble and ensemble.previous_champion,
        "version": ensemble.version if ensemble else 0,
        "shadows": {},
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


def _add_ensemble(
    state: dict[str, Any], ensemble: Ensemble | None, config: SessionConfig, theta: Shown | None
) -> None:
    """Add what the state tells of an ensemble, which never changes once it is published."""
    if ensemble is None:
        nothing: dict[str, Any] = {"eta": config.eta0, "log_eta": None, "theta": []}
        learner = config.of_learner(None)
        state["metrics"] = metrics(Learner.from_config(learner))
        state |= nothing | BEFORE | eta_status(judged(learner, None))
        return
    if ensemble.shadows:
        state["shadows"] = shadows(ensemble)
    add_numbers(state, ensemble.champion, theta)
    state |= eta_status(ensemble.champion.eta_status)
    state["metrics"] = metrics(ensemble.champion)


class _Encoded(NamedTuple):
    """The JSON of a session's state, or the thread that makes it, and what it was made of.

    It does not keep an ensemble in memory that the session has moved on from.
    """

    ensemble: Callable[[], Ensemble | None]
    rest: tuple[Any, ...]
    body: "bytes | asyncio.Task[bytes]"


_encoded: WeakKeyDictionary[Session, _Encoded] = WeakKeyDictionary()
MAX_CACHED = 32 * 1024
"""Bytes of a state that stay in memory: no session takes less."""
LONG_THETA = 20_000
"""Numbers of θ from which on a state is written in a thread: some milliseconds."""


async def state_reply(session: Session, next_seq: int | None = None) -> Response:
    """The response that tells all of a session, with the best fixed loss whatever it takes.

    The state is encoded once until it changes; `next_seq` comes on top.
    """
    ensemble = session.published
    described = _describe(session, ensemble)
    kept, replay = session.log.retention.kept, session.replay
    rest = (described, session.labels, session.status, session.activity, kept)
    known = _encoded.get(session)
    same = known is not None and known.ensemble() is ensemble and known.rest == rest
    if known is None or not same or replay is not None:
        whose = _none if ensemble is None else ref(ensemble)
        known = _encoded[session] = _Encoded(whose, rest, _encode(session, ensemble, described))
    body = known.body
    if not isinstance(body, bytes):
        try:
            body = await asyncio.shield(body)
        except Exception:
            _forget(session, known)
            raise
        if _encoded.get(session) is known:
            known = _encoded[session] = known._replace(body=body)
    if len(body) > MAX_CACHED:
        _forget(session, known)
    if next_seq is not None:
        body = b'%b,"next_seq":%d}\n' % (body[:-2], next_seq)
    t = ensemble.t if ensemble else 0
    return Response(200, [JSON, (b"etag", b'"%d"' % t)], body)


def _forget(session: Session, known: _Encoded) -> None:
    """Let the next one who asks encode the state again."""
    if _encoded.get(session) is known:
        del _encoded[session]


def _none() -> None:
    """The ensemble of a session before its first sample."""


def _encode(
    session: Session, ensemble: Ensemble | None, described: _Described
) -> "bytes | asyncio.Task[bytes]":
    """The JSON of a state: at once, or from a thread if that would hold up the event loop."""
    state = _of_session(session, ensemble, described.config)
    if ensemble is not None and _is_long(ensemble):
        whole = asyncio.to_thread(_encode_whole, state, ensemble, described)
        return asyncio.create_task(whole)
    _add_ensemble(state, ensemble, described.config, everything)
    if ensemble is not None and _lacks_best(state):
        whole = asyncio.to_thread(_encode_whole, state, ensemble, described)
        return asyncio.create_task(whole)
    state["config"] = described.encoded
    return orjson.dumps(state, option=orjson.OPT_APPEND_NEWLINE)


def _is_long(ensemble: Ensemble) -> bool:
    """Whether θ has so many numbers that to write them takes milliseconds."""
    dim = ensemble.champion.dim or 0
    return dim * ensemble.champion.config.scores >= LONG_THETA


def _lacks_best(state: dict[str, Any]) -> bool:
    """Whether only an O(d³) step tells the best fixed loss."""
    regret = state["regret"]
    return regret["ml"] is not None and regret["best_fixed"] is None


def _encode_whole(state: dict[str, Any], ensemble: Ensemble, described: _Described) -> bytes:
    """The JSON of a state with the best fixed loss, whatever it takes. Runs in a thread."""
    _add_ensemble(state, ensemble, described.config, everything)
    if _lacks_best(state):
        state["regret"]["best_fixed"] = ensemble.champion.regret.best_fixed
    state["config"] = described.encoded
    return orjson.dumps(state, option=orjson.OPT_APPEND_NEWLINE)


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
    if ensemble is None or ensemble.drift is None or not ensemble.drift.alarms:
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
    """Add η, θ, loss and regret to a response."""
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
