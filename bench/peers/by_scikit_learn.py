"""scikit-learn: partial_fit on a whole block, as everybody calls it."""

from collections.abc import Callable
from typing import Any

from scipy.sparse import csr_matrix
from sklearn.linear_model import SGDRegressor


def dense(X: Any, y: Any) -> Callable[[], Callable[[], None]]:
    """Its defaults."""
    return learning(X, y, {})


def bare(X: Any, y: Any) -> Callable[[], Callable[[], None]]:
    """A constant step, no penalty, no intercept, no shuffling: the least it can be told to do."""
    less = {"penalty": None, "fit_intercept": False, "shuffle": False}
    return learning(X, y, {"learning_rate": "constant", "eta0": 1e-5, **less})


def sparse(starts: Any, columns: Any, values: Any, y: Any) -> Callable[[], Callable[[], None]]:
    """Its defaults on a sparse matrix, whose width has to be known beforehand."""
    X = csr_matrix((values, columns, starts), shape=(len(y), int(columns.max()) + 1))
    return learning(X, y, {})


def learning(X: Any, y: Any, options: dict[str, Any]) -> Callable[[], Callable[[], None]]:
    """Each turn a new model."""

    def prepare() -> Callable[[], None]:
        model = SGDRegressor(**options)
        return lambda: model.partial_fit(X, y)

    return prepare
