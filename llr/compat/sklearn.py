"""scikit-learn estimators whose learner tunes its own step size.

`fit` starts again and reads the rows in their order, as a stream; `partial_fit` goes on. Both
accept everything that scikit-learn's own linear models accept except sparse matrices. A
`sample_weight` multiplies the loss of its row. A row of weight 2 is one step on twice the loss, and
not two steps, as in `sklearn.linear_model.SGDRegressor`.

>>> from sklearn.datasets import load_diabetes
>>> from sklearn.model_selection import cross_val_score
>>> from sklearn.pipeline import make_pipeline
>>> from sklearn.preprocessing import StandardScaler
>>> X, y = load_diabetes(return_X_y=True)
>>> model = make_pipeline(StandardScaler(), LLRRegressor())
>>> bool(cross_val_score(model, X, y, cv=3).mean() > 0.4)
True
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

import llr

TWO = 2


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: parameters, passes over the rows, θ under scikit-learn's names.

    Attributes:
        learner_: the learner itself, with `theta`, `eta`, `loss` and `history`.
        n_features_in_: number of features.
        n_iter_: passes made by the last `fit`.
    """

    def __init__(
        self,
        model: str,
        algorithm: str = "auto",
        eta0: float = 1e-3,
        epochs: int = 1,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.algorithm = algorithm
        self.eta0 = eta0
        self.epochs = epochs
        self.options = options

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        if sample_weight is not None and not np.asarray(sample_weight).any():
            raise ValueError("sample_weight is zero for every row: nothing to learn")
        self.n_iter_ = self.epochs
        return self._learn(X, y, sample_weight, self.epochs)

    def _learn(self, X: Any, y: Any, sample_weight: Any, epochs: int = 1) -> Self:
        for _ in range(epochs):
            outcome = self.learner_.learn(X, y, w=sample_weight)
            if not outcome:
                at = f"sample {outcome.accepted} of {len(y)}"
                raise ValueError(f"learning diverged at {at}: choose a smaller eta0, or auto")
        return self

    def _new_learner(self, model: str, **options: Any) -> llr.Learner:
        return llr.Learner(
            model,
            self.n_features_in_,
            self.algorithm,
            self.eta0,
            **{**(self.options or {}), **options},
        )

    @property
    def coef_(self) -> np.ndarray:
        """θ, in scikit-learn's shape."""
        return np.asarray(self.learner_.theta)

    @property
    def intercept_(self) -> Any:
        """The constant term, 0 for an algorithm without one."""
        intercept = self.learner_.intercept
        return 0.0 if intercept is None else intercept

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "learner_")
        return np.asarray(validate_data(self, X, reset=False, dtype=np.float64))


class LLRRegressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    """A regressor: `linear`, `huber`, `quantile` or `poisson`.

    Args:
        model: a name from `llr.MODELS` that predicts a number from features.
        algorithm: a name from `llr.ALGORITHMS`.
        eta0: first step size; `auto` does not use it.
        epochs: passes over the rows in `fit`.
        options: of the model and the algorithm, such as `{"level": 0.9}`.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> LLRRegressor().fit(X, X @ [1.0, -2.0] + 3.0).predict([[0.0, 1.0]]).round(1)
    array([1.])
    """

    def __init__(
        self,
        model: str = "linear",
        algorithm: str = "auto",
        eta0: float = 1e-3,
        epochs: int = 1,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(model, algorithm, eta0, epochs, options)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows in their order, from the start; the weights are 0 or more."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self.learner_ = self._new_learner(self.model)
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go on learning with further rows."""
        first = not hasattr(self, "learner_")
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, reset=first)
        if first:
            self.learner_ = self._new_learner(self.model)
        return self._learn(X, y, sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.model == "poisson"
        tags.regressor_tags.poor_score = self.algorithm != "auto"  # no intercept, one pass
        return tags

    def predict(self, X: Any) -> np.ndarray:
        """A number for each row."""
        X = self._rows(X)
        return np.asarray(self.learner_.predict(X))


class LLRClassifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """A classifier: `logistic` for two classes, `softmax` for more. Labels may be strings.

    Args:
        model: "logistic" or "softmax"; more than two classes always use softmax.
        algorithm: a name from `llr.ALGORITHMS`.
        eta0: first step size; `auto` does not use it.
        epochs: passes over the rows in `fit`.
        options: of the algorithm.

    Attributes:
        classes_: the labels, sorted.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = np.where(X @ [1.0, -2.0] > 0, "up", "down")
    >>> LLRClassifier().fit(X, y).predict([[3.0, 0.0], [0.0, 3.0]])
    array(['up', 'down'], dtype='<U4')
    """

    def __init__(
        self,
        model: str = "logistic",
        algorithm: str = "auto",
        eta0: float = 1e-3,
        epochs: int = 1,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(model, algorithm, eta0, epochs, options)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows in their order, from the start; the weights are 0 or more."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self._begin(unique_labels(y))
        return self._fit(X, self._numbers(y), sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning with further rows; the first call names all classes."""
        first = not hasattr(self, "learner_")
        if first and classes is None:
            raise ValueError("the first call of partial_fit needs classes, all labels to come")
        X, y = validate_data(self, X, y, dtype=np.float64, reset=first)
        check_classification_targets(y)
        if first:
            self._begin(unique_labels(classes))
        elif classes is not None and not np.array_equal(self.classes_, unique_labels(classes)):
            first_call = self.classes_.tolist()
            raise ValueError(f"classes is {classes!r}, and the first call said {first_call}")
        return self._learn(X, self._numbers(y), sample_weight)

    def predict_proba(self, X: Any) -> np.ndarray:
        """A probability for each row and class, in the order of `classes_`."""
        X = self._rows(X)
        p = np.asarray(self.learner_.predict(X))
        return p if p.ndim == TWO else np.column_stack([1.0 - p, p])

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        most_probable = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[most_probable])

    def _begin(self, classes: np.ndarray) -> None:
        if len(classes) < TWO:
            raise ValueError(f"there must be two classes at least, not one class: {classes[0]}")
        self.classes_ = classes
        if len(classes) == TWO and self.model == "logistic":
            self.learner_ = self._new_learner("logistic")
        else:
            self.learner_ = self._new_learner("softmax", classes=len(classes))

    def _numbers(self, y: np.ndarray) -> np.ndarray:
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(f"{unknown[0]} is none of the classes {self.classes_.tolist()}")
        return np.searchsorted(self.classes_, y).astype(np.float64)
