"""θ in answers: all of it, or a part where there are many named features."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from llr import Learner
from llr_service.sessions.ensemble import AnyLearner, theta_of

WHOLE = 1000
"""Named features up to which every answer has all of theta."""

FEW = 100
"""Names of a batch whose theta is read when it is learnt, not when it is answered."""

Shown = Callable[[AnyLearner], Any]
"""A function from a learner to θ as JSON values."""

everything: Shown = theta_of


def of_few(names: Sequence[str]) -> Shown:
    """The same as `of_body` if these are few, or else None.

    To read θ of named features costs the more the more was learnt since: many answers would pay.
    """
    return of_body(names) if 0 < len(names) <= FEW else lambda _: None


def of_body(names: Sequence[str]) -> Shown:
    """All of it, but of many named features only these."""

    def shown(learner: AnyLearner) -> Any:
        if isinstance(learner, Learner) or learner.dim <= WHOLE:
            return everything(learner)
        return learner.theta_of(names)

    return shown


def largest(learner: AnyLearner) -> Any:
    """All of θ; of many named features the largest only, in order of size."""
    theta = everything(learner)
    if isinstance(learner, Learner) or len(theta) <= WHOLE:
        return theta
    names = list(theta)
    sizes = np.abs(np.array(list(theta.values()))).reshape(len(names), -1).max(axis=1)
    first = np.argpartition(-sizes, WHOLE)[:WHOLE]
    return {names[i]: theta[names[i]] for i in first[np.argsort(-sizes[first], kind="stable")]}
