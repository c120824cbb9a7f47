"""How θ is told: whole, or of many named features only some."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from llr import Learner
from service.sessions.learners import AnyLearner, theta_of

WHOLE = 1000
"""Named features up to which every answer has all of theta."""

Shown = Callable[[AnyLearner], Any]
"""How theta is told."""

everything: Shown = theta_of


def of_body(names: Sequence[str]) -> Shown:
    """All of it, but of many named features only these."""

    def shown(learner: AnyLearner) -> Any:
        if isinstance(learner, Learner) or learner.dim <= WHOLE:
            return everything(learner)
        return learner.theta_of(names)

    return shown


def largest(learner: AnyLearner) -> Any:
    """All of it, but of many named features only the largest, those first."""
    theta = everything(learner)
    if isinstance(learner, Learner) or len(theta) <= WHOLE:
        return theta
    names = list(theta)
    sizes = np.abs(np.array(list(theta.values()))).reshape(len(names), -1).max(axis=1)
    first = np.argpartition(-sizes, WHOLE)[:WHOLE]
    return {names[i]: theta[names[i]] for i in first[np.argsort(-sizes[first], kind="stable")]}
