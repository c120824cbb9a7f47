"""Forks: the config and the state of a copy of a session.

A fork without changes to how it learns is the session bit for bit. With such changes it is a new
learner that starts at the session's θ: t, loss, regret and history start from 0, and η at `eta0`.
Either way it has learnt what the session has, so it has the producers' sequence numbers.

A what-if starts at t = 0 instead and replays the session's samples; it ends at the session's t.
"""

from collections.abc import Mapping
from typing import Any

from llr import ALGORITHMS, MODELS, NamedConfig
from llr_service.codec.samples import NAMED
from llr_service.problems import Problem
from llr_service.sessions.config import ReplaySource, SessionConfig
from llr_service.sessions.ensemble import Ensemble, current_config, theta_of
from llr_service.sessions.session import Session

Copy = tuple[SessionConfig, Ensemble | None, ReplaySource | None]
"""The config of a copy; its ensemble if it continues from the session's; the samples it replays."""


def fork_of(session: Session, changes: Mapping[str, Any], relearn: bool = False) -> Copy:
    """Compute the config and the state of a copy.

    The session has to be flushed. `changes` are members of a config, of the right types.
    """
    if relearn:
        return _what_if(session, changes)
    ensemble = session.published
    config, known = current_config(session.config, ensemble), ensemble and ensemble.dim
    given = {name: value for name, value in changes.items() if (name, value) != ("dim", known)}
    changed = config.model_copy(update=given)
    if changed.learns_like(config):
        return changed, ensemble and ensemble.copy().with_drift(changed.drift), None
    if "options" not in given:
        changed = changed.model_copy(update={"options": _valid_options(changed)})
    if ensemble is not None and ensemble.t:
        changed = changed.model_copy(update=_start_at_theta(ensemble, changed) | given)
    return changed, None, None


def _start_at_theta(ensemble: Ensemble, changed: SessionConfig) -> dict[str, Any]:
    """The part of a config that makes a copy start at the session's θ."""
    start, config = {"theta0": theta_of(ensemble.champion)}, ensemble.champion.config
    if isinstance(config, NamedConfig):
        limits = {"max_features": config.max_features, "hash_bits": config.hash_bits}
        return start | {"named": True} | limits
    has_features = changed.model not in MODELS or changed.features
    return start | ({"dim": ensemble.dim} if has_features else {})


def _what_if(session: Session, changes: Mapping[str, Any]) -> Copy:
    kept, t = session.log.retention.kept, session.t
    if kept.samples < t or not session.config.retain:
        raise Problem("not-retained", _not_retained(session, kept.samples))
    changed = current_config(session.config, session.published).model_copy(update=dict(changes))
    if "options" not in changes:
        changed = changed.model_copy(update={"options": _valid_options(changed)})
    if session.published is not None:
        _check_dim(changed, session.published.dim)
        changed.check(session.settings.max_dim, session.published.dim)
    return changed, None, ReplaySource(session.name, session.id, t)


def _check_dim(config: SessionConfig, dim: int | None) -> None:
    if config.dim not in (None, dim):
        detail = f"the samples have {'named' if dim == NAMED else dim} features"
        raise Problem("invalid", f"dim: {detail}", [{"pointer": "/dim", "detail": detail}])


def _not_retained(session: Session, samples: int) -> str:
    needs = 'a what-if needs a session created with "retain": true'
    if not session.config.retain:
        return needs
    most = session.settings.max_retained
    return (
        f"{samples} of its {session.t} samples are kept: {needs}, and at most {most} bytes of them"
    )


def _valid_options(config: SessionConfig) -> dict[str, Any]:
    """The options that the model and the algorithm of a changed config have."""
    model, algorithm = MODELS.get(config.model), ALGORITHMS.get(config.algorithm)
    if model is None or algorithm is None:
        return dict(config.options)
    names = {one.name for one in (*model.parameters, *algorithm.parameters)}
    return {name: value for name, value in config.options.items() if name in names}
