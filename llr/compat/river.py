"""river estimators whose learner tunes its own step size, over features by name.

A feature may come up at any time and is 0 where it is missing. A string is a category:
`{"city": "Rome"}` counts as a feature `city=Rome` with the value 1.

>>> from river import compose, datasets, evaluate, metrics, preprocessing
>>> model = preprocessing.StandardScaler() | LLRClassifier()
>>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy()).get() > 0.88
True
"""

from collections.abc import Hashable, Mapping
from typing import Any

from river import base

import llr

TWO, ROOM = 2, 16
"""Classes of `logistic`, and of `softmax` if their number is not given."""
BOOLEANS: dict[Hashable, int] = {False: 0, True: 1}


class _Estimator:
    """What both estimators share: parameters, and the learner behind them.

    Attributes:
        learner: the learner itself, with `theta`, `eta`, `loss` and `history`.
    """

    def __init__(
        self,
        model: str,
        algorithm: str,
        eta0: float,
        max_features: int,
        options: Mapping[str, Any] | None,
        **of_model: Any,
    ) -> None:
        self.algorithm = algorithm
        self.eta0 = eta0
        self.max_features = max_features
        self.options = options
        self.learner = llr.NamedLearner(
            model, algorithm, eta0, max_features=max_features, **{**(options or {}), **of_model}
        )

    def _learn(self, x: Mapping[Any, Any], y: float) -> None:
        if not self.learner.learn(_named(x), y):
            raise ValueError("learning diverged: choose a smaller eta0, or auto")


class LLRRegressor(_Estimator, base.Regressor):  # type: ignore[misc]
    """A regressor: `linear`, `huber`, `quantile` or `poisson`.

    Args:
        model: a name from `llr.MODELS` that predicts a number from features.
        algorithm: a name from `llr.ALGORITHMS` that takes named features.
        eta0: first step size; `auto` does not use it.
        max_features: names that get a parameter of their own; further ones are hashed.
        options: of the model and the algorithm, such as `{"level": 0.9}`.

    >>> model = LLRRegressor()
    >>> for i in range(200):
    ...     model.learn_one({"a": i % 3, "b": i % 5}, 2.0 * (i % 3) - (i % 5))
    >>> round(model.predict_one({"a": 1.0, "b": 1.0}), 1)
    1.0
    """

    def __init__(
        self,
        model: str = "linear",
        algorithm: str = "auto",
        eta0: float = 1e-3,
        max_features: int = llr.NamedConfig.max_features,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(model, algorithm, eta0, max_features, options)
        self.model = model

    def learn_one(self, x: dict[Any, Any], y: float) -> None:
        """Learn from one sample."""
        self._learn(x, float(y))

    def predict_one(self, x: dict[Any, Any]) -> float:
        """A number for one sample."""
        return float(self.learner.predict(_named(x)))


class LLRClassifier(_Estimator, base.Classifier):  # type: ignore[misc]
    """A classifier: logistic for two classes, softmax for more. Labels may be anything hashable.

    Args:
        model: `logistic` or `softmax`; None for `softmax` if `max_classes` is above two.
        algorithm: a name from `llr.ALGORITHMS` that takes named features.
        eta0: first step size; `auto` does not use it.
        max_features: names that get a parameter of their own; further ones are hashed.
        options: of the algorithm.
        max_classes: how many labels there are; a further one is refused. None for two of
            `logistic` and 16 of `softmax`.

    Attributes:
        labels: each label seen so far with its number.

    >>> model = LLRClassifier(max_classes=3)
    >>> for i in range(300):
    ...     model.learn_one({"a": i % 3 == 0, "b": i % 3 == 1}, "xyz"[i % 3])
    >>> model.predict_one({"a": True}), model.predict_one({"b": True}), model.predict_one({})
    ('x', 'y', 'z')
    """

    def __init__(
        self,
        model: str | None = None,
        algorithm: str = "auto",
        eta0: float = 1e-3,
        max_features: int = llr.NamedConfig.max_features,
        options: Mapping[str, Any] | None = None,
        max_classes: int | None = None,
    ) -> None:
        several = model == "softmax" or (model is None and (max_classes or TWO) > TWO)
        self._room = max_classes or (ROOM if several else TWO)
        if model not in (None, "logistic", "softmax"):
            raise ValueError(f"model is logistic or softmax, not {model!r}")
        if not several and self._room != TWO:
            raise ValueError("logistic has two classes: leave max_classes out, or take softmax")
        of_model = {"classes": self._room} if several else {}
        own = "softmax" if several else "logistic"
        super().__init__(own, algorithm, eta0, max_features, options, **of_model)
        self.model, self.max_classes = model, max_classes
        self.labels: dict[Hashable, int] = {}

    @property
    def _multiclass(self) -> bool:
        return self.learner.config.model == "softmax"

    def learn_one(self, x: dict[Any, Any], y: Hashable) -> None:
        """Learn from one sample. A label that is new gets the next number, True always 1."""
        self._learn(x, self._number(y))

    def predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """A probability for each label seen so far; for False and True before any."""
        labels = self.labels or ({} if self._multiclass else BOOLEANS)
        p = self.learner.predict(_named(x))
        each = p if self._multiclass else (1.0 - p, p)
        of_label = {label: float(each[number]) for label, number in labels.items()}
        total = sum(of_label.values())
        return {label: one / total if total else 1.0 for label, one in of_label.items()}

    def _number(self, label: Hashable) -> int:
        if not self.labels and label in BOOLEANS and not self._multiclass:
            self.labels = BOOLEANS
        if label not in self.labels:
            if len(self.labels) == self._room:
                known = ", ".join(map(repr, self.labels))
                raise ValueError(f"label {label!r} is one too many: there are {known}")
            self.labels[label] = len(self.labels)
        return self.labels[label]


def _named(x: Mapping[Any, Any]) -> dict[str, Any]:
    """Features with names that are strings; river allows any name."""
    return {str(name): value for name, value in x.items()}
