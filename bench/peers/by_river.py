"""river: samples are dicts, which are made beforehand."""

import itertools
from collections.abc import Callable
from typing import Any

from river import linear_model


def dense(X: Any, y: Any) -> Callable[[], Callable[[], None]]:
    """Linear regression at its defaults, predicting before it learns as streams do."""
    return learning([dict(enumerate(row)) for row in X.tolist()], y.tolist())


def sparse(starts: Any, columns: Any, values: Any, y: Any) -> Callable[[], Callable[[], None]]:
    """The same on features by name, most of which are absent."""
    names, numbers, at = [f"f{c}" for c in columns.tolist()], values.tolist(), starts.tolist()
    rows = [dict(zip(names[a:b], numbers[a:b], strict=True)) for a, b in itertools.pairwise(at)]
    return learning(rows, y.tolist())


def learning(rows: list[Any], labels: list[float]) -> Callable[[], Callable[[], None]]:
    """Each turn a new model."""

    def prepare() -> Callable[[], None]:
        model: Any = linear_model.LinearRegression()

        def run() -> None:
            for x, label in zip(rows, labels, strict=True):
                model.predict_one(x)
                model.learn_one(x, label)

        return run

    return prepare
