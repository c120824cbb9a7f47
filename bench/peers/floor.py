"""The floor: one pass over the samples and nothing learnt."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix


def dense(X: Any, **_: Any) -> Callable[[], Callable[[], None]]:
    """X @ theta."""
    theta = np.random.default_rng(1).normal(size=X.shape[1])
    return lambda: lambda: X @ theta


def sparse(starts: Any, columns: Any, values: Any, y: Any) -> Callable[[], Callable[[], None]]:
    """The same with a sparse matrix."""
    X = csr_matrix((values, columns, starts), shape=(len(y), int(columns.max()) + 1))
    theta = np.random.default_rng(1).normal(size=X.shape[1])
    return lambda: lambda: X @ theta
