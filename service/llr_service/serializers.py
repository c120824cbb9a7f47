"""What the service says of a session, as JSON: finite numbers or null, never NaN."""

import asyncio
from operator import is_
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import orjson

from llr import Config, EtaStatus, NamedLearner
from llr.eta_status import of as judged
from llr_service.codec.samples import NAMED
from llr_service.http.responses import JSON, Response
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Learnt
from llr_service.sessions.config import SessionConfig
from llr_service.sessions.learners import AnyLearner
from llr_service.sessions.roster import config_now
from llr_service.sessions.shelf import Shelf
from llr_service.sessions.team import Team
from llr_service.theta import Shown, everything, of_body

BEFORE: dict[str, Any] = {
    "loss": {"total": 0.0, "mean": None},
    "regret": {"ml": None, "best_fixed": None},
}


def learn_response(session: Session, learnt: Learnt, theta: bool) -> bytes:
    """The answer to a batch of samples."""
    team = learnt.team
    members = {
        "name": session.name,
        "t": team.t,
        "accepted": learnt.accepted,
        "duplicate": learnt.duplicate,
    }
    shown = None
    if theta:
        shown = _of_batch(learnt) if learnt.names else everything
    add_numbers(members, team.champion, shown)
    if team.shadows:
        members["shadows"] = shadows(team)
    if learnt.predictions is not None:
        members["predictions"] = learnt.predictions.tolist()
    return orjson.dumps(members)


def learn_reply(session: Session, learnt: Learnt, theta: bool) -> Response:
    """The response to a batch of samples."""
    headers = [JSON, (b"etag", b'"%d"' % learnt.team.t)]
    return Response(200, headers, learn_response(session, learnt, theta))


def _of_batch(learnt: Learnt) -> Shown:
    """θ as the answer to a batch tells it."""
    return of_body(learnt.names) if learnt.theta is None else lambda _: learnt.theta


class _Described(NamedTuple):
    """The config of a session as its learners are now, and its JSON."""

    learners: tuple[Config, ...]
    config: SessionConfig
    encoded: orjson.Fragment


_described: WeakKeyDictionary[Session, _Described] = WeakKeyDictionary()


def _describe(session: Session, team: Team | None) -> _Described:
    """The config, encoded once for as long as the session has the same learners."""
    learners: tuple[Config, ...] = ()
    if team is not None:
        learners = (team.champion.config, *(one.learner.config for one in team.shadows.values()))
    known = _described.get(session)
    if known is None or not _same(known.learners, learners):
        config = config_now(session.config, team)
        encoded = orjson.Fragment(orjson.dumps(config.model_dump()))
        known = _described[session] = _Described(learners, config, encoded)
    return known


def _same(before: tuple[Config, ...], now: tuple[Config, ...]) -> bool:
    return len(before) == len(now) and all(map(is_, before, now))


def session_state(session: Session, theta: Shown | None = everything) -> dict[str, Any]:
    """All of a session that a reader wants to see."""
    team = session.published
    config = _describe(session, team).config
    return _state(session, team, config, theta) | {"config": config.model_dump()}


def _state(
    session: Session, team: Team | None, config: SessionConfig, theta: Shown | None
) -> dict[str, Any]:
    """The same without the config."""
    shown = {
        "name": session.name,
        "t": team.t if team else 0,
        "model": config.model,
        "algorithm": config.algorithm,
        "dim": config.dim if team is None or team.dim == NAMED else team.dim,
        "features": team and names(team.champion),
        "champion": team and team.name,
        "former": team and team.former,
        "version": team.version if team else 0,
        "shadows": shadows(team) if team and team.shadows else {},
        "drift": drift(team) if config.drift else None,
        "kept": session.shelf.waiting,
        "status": session.status,
        "labels": labels(session.shelf),
        "retained": retained(session),
        "relearning": session.relearning and session.relearning.shown(session.t),
    }
    if team is None:
        nothing: dict[str, Any] = {"eta": config.eta0, "log_eta": None, "theta": []}
        return shown | nothing | BEFORE | eta_status(judged(config.of_learner(None), None))
    add_numbers(shown, team.champion, theta)
    shown |= eta_status(team.champion.eta_status)
    return shown


async def state_reply(session: Session, **more: Any) -> Response:
    """The response that tells all of a session, with the best fixed loss whatever it takes."""
    team = session.published
    described = _describe(session, team)
    state = _state(session, team, described.config, everything)
    regret = state["regret"]
    if team is not None and regret["ml"] is not None and regret["best_fixed"] is None:
        whole = await asyncio.to_thread(lambda: team.champion.regret)
        regret["best_fixed"] = whole.best_fixed
    state["config"] = described.encoded
    headers = [JSON, (b"etag", b'"%d"' % state["t"])]
    return Response(200, headers, orjson.dumps(state | more if more else state))


def names(learner: AnyLearner) -> dict[str, Any] | None:
    """How many names there are and may be; None where features have none."""
    if not isinstance(learner, NamedLearner):
        return None
    config = learner.config
    counts = {"known": learner.known, "hashing": learner.hashing}
    return counts | {"max_features": config.max_features, "hash_bits": config.hash_bits}


def shadows(team: Team) -> dict[str, Any]:
    """How each shadow does beside the champion."""
    loss, t = team.champion.loss, team.t
    return {
        name: add_numbers(
            {
                "algorithm": one.learner.config.algorithm,
                "status": "ok" if one.diverged is None else "diverged",
                "t": one.learner.t,
                "since": one.mark.since,
                "lead": one.lead(loss, t),
            },
            one.learner,
            None,
        )
        for name, one in team.shadows.items()
    }


def drift(team: Team | None) -> dict[str, Any]:
    """How often the loss was found to rise, and when."""
    if team is None or team.drift is None:
        return {"alarms": 0, "at": []}
    return {"alarms": team.drift.alarms, "at": team.drift.at}


def labels(shelf: Shelf) -> dict[str, int] | None:
    """What became of predictions with an id; None if there were none."""
    counts = {"waiting": shelf.waiting, **shelf.counts._asdict()}
    return counts if any(counts.values()) else None


def retained(session: Session) -> dict[str, Any] | None:
    """How much of its samples a session keeps; None if it does not."""
    if not session.config.retain:
        return None
    (samples, size), t = session.journal.retention.kept, session.t
    return {"samples": min(samples, t), "bytes": size, "complete": samples >= t}


def eta_status(status: EtaStatus) -> dict[str, Any]:
    """What the step size is doing, with advice."""
    return {"eta_status": status._asdict()}


def add_numbers(
    members: dict[str, Any], learner: AnyLearner, theta: Shown | None
) -> dict[str, Any]:
    """Add η, θ, loss and regret to what is told."""
    (total, mean), (ml, best_fixed) = learner.loss, learner.quick_regret
    members["eta"], members["log_eta"] = learner.eta, learner.log_eta
    if theta is not None:
        members["theta"] = theta(learner)
        intercept = learner.intercept
        if intercept is not None:
            members["intercept"] = intercept if isinstance(intercept, float) else intercept.tolist()
    members["loss"] = {"total": total, "mean": mean}
    members["regret"] = {"ml": ml, "best_fixed": best_fixed}
    return members
