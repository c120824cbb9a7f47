"""A fork: what a copy of a session is made of.

Without changes to how it learns the copy is the session bit for bit. With them it is a new learner
that starts at the session's θ: t, loss, regret and history begin anew, and η at `eta0`. Either way
it has learnt what the session has, so it knows the producers' numbers.
"""

from collections.abc import Mapping
from typing import Any

from llr import ALGORITHMS, MODELS, Learner
from service.sessions.actor import Session
from service.sessions.config import SessionConfig


def fork_of(session: Session, changes: Mapping[str, Any]) -> tuple[SessionConfig, Learner | None]:
    """The config of a copy, and its learner if it goes on from where the session is.

    The session has to be settled. `changes` are members of a config, of the right types.
    """
    config, learner = session.config, session.published
    known = None if learner is None else learner.dim
    given = {name: value for name, value in changes.items() if (name, value) != ("dim", known)}
    changed = config.model_copy(update=given)
    if changed.learns_like(config):
        return changed, None if learner is None else learner.copy()
    if "options" not in given:
        changed = changed.model_copy(update={"options": _fitting(changed)})
    if learner is not None and learner.t:
        carried = {"theta0": learner.theta.tolist()}
        if changed.model not in MODELS or changed.features:
            carried["dim"] = learner.dim
        changed = changed.model_copy(update=carried | given)
    return changed, None


def _fitting(config: SessionConfig) -> dict[str, Any]:
    """The options that the model and the algorithm still have."""
    model, algorithm = MODELS.get(config.model), ALGORITHMS.get(config.algorithm)
    if model is None or algorithm is None:
        return dict(config.options)
    names = {one.name for one in (*model.parameters, *algorithm.parameters)}
    return {name: value for name, value in config.options.items() if name in names}
