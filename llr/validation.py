"""Checks and conversion of samples: from lists, numbers and arrays to what a kernel reads.

Shapes and types are checked first; then that numbers are finite and labels in the model's domain.
"""

from typing import Any

import numpy as np

from llr.config import Config
from llr.errors import DimensionError, DomainError, DtypeError, NotFiniteError, ShapeError
from llr.kernels import validation
from llr.kernels.layout import NO_NUMBERS
from llr.models import MODELS
from llr.types import Array, Vector

REAL, REAL_KINDS = np.dtype(np.float64), "iuf"
READY = 0x101
"""The flags of an array that is C-contiguous and aligned, as bits of `flags.num`."""


def rows(X: Any, y: Any, features: bool, dim: int | None) -> tuple[Vector, Vector]:
    """X as n × d and y as n float64, C-contiguous and aligned.

    One sample may come without its outer dimension. Models without features have no X; theirs is a
    column of ones.
    """
    if features and is_ready(X, 2) and is_ready(y, 1) and X.shape == (y.size, dim):
        return X, y
    if not features:
        X, y = None, X if y is None else _alone(X, y)
    elif y is None:
        raise ShapeError("this model has features: learn(X, y)", field="y")
    labels = numbers(y, "y")
    if labels.ndim > 1:
        raise ShapeError(f"has shape {labels.shape}, must be one label a sample", field="y")
    if X is None:
        y1 = _ready(np.atleast_1d(labels))
        return np.ones((y1.size, 1)), y1
    matrix = matrix_of(X, dim)
    single = labels.ndim == 0
    if single and len(matrix) != 1:
        raise ShapeError(f"one label for {len(matrix)} samples", field="y")
    if not single and len(matrix) != labels.size:
        raise ShapeError(f"{len(matrix)} rows of x but {labels.size} labels")
    if not single and np.ndim(X) == 1:
        raise ShapeError("must be n × d; one sample has a single number for y")
    return matrix, _ready(np.atleast_1d(labels))


def weights_of(w: Any, n: int) -> Vector:
    """The weights of n samples as float64, from one for all of them or one each; none for None."""
    if w is None:
        return NO_NUMBERS
    if is_ready(w, 1) and w.size == n:
        return w  # type: ignore[no-any-return]
    weights = numbers(w, "w")
    if weights.ndim > 1 or weights.size not in (1, n) or (weights.ndim == 1 and weights.size != n):
        raise ShapeError(f"has shape {weights.shape}, must be one weight a sample", field="w")
    return _ready(np.broadcast_to(weights, (n,)))


def matrix_of(X: Any, dim: int | None) -> Vector:
    """Rows of features as n × d float64."""
    if is_ready(X, 2) and X.shape[1] == dim:
        return X  # type: ignore[no-any-return]
    matrix = np.atleast_2d(numbers(X, "x"))
    if matrix.ndim > 2 or np.ndim(X) == 0:
        raise ShapeError(f"has {np.ndim(X)} dimensions, must be n × d, or d for one sample")
    if dim is not None and matrix.shape[1] != dim:
        raise DimensionError(f"has {matrix.shape[1]} features, the learner has {dim}", 0)
    if matrix.shape[1] == 0:
        raise DimensionError("has no features", 0)
    return _ready(matrix)


def numbers(values: Any, field: str) -> Array:
    """An array of integers or floats; anything else is refused."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ShapeError("rows of different lengths", _odd_one(values), field) from None
    if array.dtype.kind not in REAL_KINDS:
        raise DtypeError("must be integers or floats", _not_numbers(values), field)
    return array


def _odd_one(rows: Any) -> int | None:
    """The first row that is not as long as the one before it."""
    sizes = [np.size(row) if np.ndim(row) else -1 for row in _each(rows)]
    return next((i for i in range(1, len(sizes)) if sizes[i] != sizes[0]), None)


def _not_numbers(values: Any) -> int | None:
    """The first row, or label, that is not made of integers or floats."""
    kinds = (np.asarray(one).dtype.kind for one in _each(values))
    return next((i for i, kind in enumerate(kinds) if kind not in REAL_KINDS), None)


def _each(values: Any) -> list[Any]:
    return list(values) if np.iterable(values) and not isinstance(values, str | bytes) else []


def _alone(X: Any, y: Any) -> Any:
    if X is not None:
        raise ShapeError("this model has no features: learn(y)")
    return y


def is_ready(array: Any, dimensions: int) -> bool:
    """Whether kernels can take it as it is."""
    if type(array) is not np.ndarray or array.ndim != dimensions or array.dtype != REAL:
        return False
    return array.flags.num & READY == READY


def _ready(array: Array) -> Vector:
    if is_ready(array, array.ndim):
        return array
    with np.errstate(over="ignore"):
        return np.require(array, np.float64, ["C", "A"])


def check_features(X: Vector) -> None:
    """Raise `NotFiniteError` for the first row that is not finite."""
    bad: int = validation.first_not_finite(X)
    if bad >= 0:
        raise NotFiniteError("is not finite", bad)


def check_weights(w: Vector) -> None:
    """Raise `NotFiniteError` or `DomainError` for the first weight that cannot be one."""
    bad = int(validation.first_not_weight(w))
    if bad >= 0 and not np.isfinite(w[bad]):
        raise NotFiniteError("is not finite", bad, "w")
    if bad >= 0:
        raise DomainError(f"{w[bad]:g} is not a weight: 0 or more", bad, "w")


def check_labels(config: Config, y: Vector) -> None:
    """Raise `NotFiniteError` or `DomainError` for the first label that cannot be learnt."""
    which = list(MODELS).index(config.model)
    bad = int(validation.first_refused(which, config.model_number, y))
    if bad >= 0 and not np.isfinite(y[bad]):
        raise NotFiniteError("is not finite", bad, "y")
    if bad >= 0:
        reason = f"{y[bad]:g} is outside the domain: {config.of_model.domain}"
        raise DomainError(reason, bad, "y")
