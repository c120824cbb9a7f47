"""This library, as a process like the others."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import llr

Prepare = Callable[[], Callable[[], None]]


def dense(X: Any, y: Any, algorithm: str = "sg/ag", regret: str = "off") -> Prepare:
    """A block a turn."""

    def prepare() -> Callable[[], None]:
        learner = llr.Learner("linear", dim=X.shape[1], algorithm=algorithm, regret=regret)
        return partial(_learn, learner, X, y)

    return prepare


def sg(X: Any, y: Any) -> Prepare:
    """The paper's SG, whose step size stays."""
    return dense(X, y, "sg")


def auto(X: Any, y: Any) -> Prepare:
    """The default, untuned."""
    return dense(X, y, "auto")


def exact(X: Any, y: Any) -> Prepare:
    """SG/AG with the exact regret."""
    return dense(X, y, regret="exact")


def auto_exact(X: Any, y: Any) -> Prepare:
    """The default with the exact regret."""
    return dense(X, y, "auto", "exact")


def sparse(starts: Any, columns: Any, values: Any, y: Any, algorithm: str = "sg/ag") -> Prepare:
    """Features by name, all of them known before the turn."""
    names, places = _numbered(columns)
    rows = llr.NamedRows(names, starts, places, values)

    def prepare() -> Callable[[], None]:
        learner = llr.NamedLearner("linear", algorithm=algorithm, max_features=len(names))
        _learn(learner, rows, y)
        return partial(_learn, learner, rows, y)

    return prepare


def sparse_auto(starts: Any, columns: Any, values: Any, y: Any) -> Prepare:
    """The same by the default."""
    return sparse(starts, columns, values, y, "auto")


def _numbered(columns: Any) -> tuple[list[str], Any]:
    """Names in the order of first appearance, and for each value which of them it has."""
    known, first, place = np.unique(columns, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return [f"f{number}" for number in known[order]], rank[place]


def _learn(learner: Any, X: Any, y: Any) -> None:
    if not learner.learn(X, y):
        raise RuntimeError("the learner diverged: its time would say nothing")
