"""A fork: what a copy of a session is made of.

Without changes to how it learns the copy is the session bit for bit. With them it is a new learner
that starts at the session's θ: t, loss, regret and history begin anew, and η at `eta0`. Either way
it has learnt what the session has, so it knows the producers' numbers.

A what-if learns the session's samples anew instead, from t = 0, and has learnt the same in the end.
"""

from collections.abc import Mapping
from typing import Any

from llr import ALGORITHMS, MODELS, NamedConfig
from llr_service.codec.samples import NAMED
from llr_service.problems import Problem
from llr_service.sessions.actor import Session
from llr_service.sessions.config import SessionConfig
from llr_service.sessions.learners import theta_of
from llr_service.sessions.origin import Origin
from llr_service.sessions.roster import config_now
from llr_service.sessions.team import Team
from llr_service.sessions.waiting import durable

Copy = tuple[SessionConfig, Team | None, Origin | None]
"""The config of a copy; its team if it goes on from where the session is; what it re-learns."""


def fork_of(session: Session, changes: Mapping[str, Any], relearn: bool = False) -> Copy:
    """What a copy is made of.

    The session has to be settled. `changes` are members of a config, of the right types.
    """
    if relearn:
        return _what_if(session, changes)
    team = session.published
    config, known = config_now(session.config, team), team and team.dim
    given = {name: value for name, value in changes.items() if (name, value) != ("dim", known)}
    changed = config.model_copy(update=given)
    if changed.learns_like(config):
        return changed, team and team.copy().watched(changed.drift), None
    if "options" not in given:
        changed = changed.model_copy(update={"options": _fitting(changed)})
    if team is not None and team.t:
        changed = changed.model_copy(update=_carried(team, changed) | given)
    return changed, None, None


async def secured(session: Session) -> bool:
    """Write a snapshot unless there is none to write; returns whether it did, once it is durable.

    What the log keeps as of a snapshot stays, even if the service may keep less after a restart.
    """
    with session.turns.attended():
        async with session.turns.line():
            session.check()
            if session.ahead is None or not session.journal.tail:
                return False
            commit = session.renew(session.ahead)
        await durable(commit)
    return True


def _carried(team: Team, changed: SessionConfig) -> dict[str, Any]:
    """What a restarted copy begins with."""
    carried, config = {"theta0": theta_of(team.champion)}, team.champion.config
    if isinstance(config, NamedConfig):
        limits = {"max_features": config.max_features, "hash_bits": config.hash_bits}
        return carried | {"named": True} | limits
    has_features = changed.model not in MODELS or changed.features
    return carried | ({"dim": team.dim} if has_features else {})


def _what_if(session: Session, changes: Mapping[str, Any]) -> Copy:
    kept, t = session.journal.retention.kept, session.t
    if kept.samples < t or not session.config.retain:
        raise Problem("not-retained", _why_not(session, kept.samples))
    changed = config_now(session.config, session.published).model_copy(update=dict(changes))
    if "options" not in changes:
        changed = changed.model_copy(update={"options": _fitting(changed)})
    if session.published is not None:
        _check_dim(changed, session.published.dim)
        changed.check(session.settings.max_dim, session.published.dim)
    return changed, None, Origin(session.name, session.id, t)


def _check_dim(config: SessionConfig, dim: int | None) -> None:
    if config.dim not in (None, dim):
        detail = f"the samples have {'named' if dim == NAMED else dim} features"
        raise Problem("invalid", f"dim: {detail}", [{"pointer": "/dim", "detail": detail}])


def _why_not(session: Session, samples: int) -> str:
    needs = 'a what-if needs a session created with "retain": true'
    if not session.config.retain:
        return needs
    most = session.settings.max_retained
    return (
        f"{samples} of its {session.t} samples are kept: {needs}, and at most {most} bytes of them"
    )


def _fitting(config: SessionConfig) -> dict[str, Any]:
    """The options that the model and the algorithm still have."""
    model, algorithm = MODELS.get(config.model), ALGORITHMS.get(config.algorithm)
    if model is None or algorithm is None:
        return dict(config.options)
    names = {one.name for one in (*model.parameters, *algorithm.parameters)}
    return {name: value for name, value in config.options.items() if name in names}
