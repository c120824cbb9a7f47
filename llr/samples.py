"""From what a caller has (lists, numbers, arrays of any dtype) to what a kernel reads."""

from typing import Any

import numpy as np

from llr.errors import DimensionError, DtypeError, ShapeError
from llr.types import Array, Vector

REAL_KINDS = "iuf"


def rows(X: Any, y: Any, features: bool, dim: int | None) -> tuple[Vector, Vector]:
    """X as n × d and y as n float64, C-contiguous and aligned.

    One sample may come without its outer dimension. Models without features have no X; theirs is a
    column of ones.
    """
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


def matrix_of(X: Any, dim: int | None) -> Vector:
    """Rows of features as n × d float64."""
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
        raise ShapeError("rows of different lengths", field=field) from None
    if array.size == 0 and array.dtype == np.float64:
        return array
    if array.dtype.kind not in REAL_KINDS:
        raise DtypeError(f"is {array.dtype}, must be integers or floats", field=field)
    return array


def _alone(X: Any, y: Any) -> Any:
    if X is not None:
        raise ShapeError("this model has no features: learn(y)")
    return y


def _ready(array: Array) -> Vector:
    if array.dtype == np.float64 and array.flags.c_contiguous and array.flags.aligned:
        return array
    with np.errstate(over="ignore"):
        return np.require(array, np.float64, ["C", "A"])
