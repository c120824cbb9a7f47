"""What every encoding becomes: a matrix of features and a vector of labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llr.types import Vector

REAL = np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples in the order they came: finite float64, C-contiguous, aligned, to be read only.

    Attributes:
        X: n × d, one row of features a sample; None for models without features.
        y: the n labels.
    """

    X: Vector | None
    y: Vector

    @classmethod
    def none(cls) -> "Samples":
        """No samples at all."""
        return cls(None, np.empty(0))

    @classmethod
    def joined(cls, parts: Sequence["Samples"]) -> "Samples":
        """Samples one after the other. Raises ValueError if they are not of one width."""
        some = [part for part in parts if part.n]
        if len(some) < 2:
            return some[0] if some else cls.none()
        rows = [part.X for part in some if part.X is not None]
        return cls(np.concatenate(rows) if rows else None, np.concatenate([p.y for p in some]))

    @property
    def n(self) -> int:
        """How many there are."""
        return self.y.size

    @property
    def dim(self) -> int:
        """How many features each has; a model without features counts one."""
        return 1 if self.X is None else self.X.shape[1]

    @property
    def nbytes(self) -> int:
        """How many bytes the numbers take."""
        return self.y.nbytes + (0 if self.X is None else self.X.nbytes)

    @property
    def arguments(self) -> tuple[Vector, ...]:
        """As `llr.Learner.learn` takes them."""
        return (self.y,) if self.X is None else (self.X, self.y)

    def after(self, known: int) -> "Samples":
        """All but the first `known`."""
        if known == 0:
            return self
        return Samples(None if self.X is None else self.X[known:], self.y[known:])


def samples_in(numbers: bytes, n: int, d: int) -> Samples:
    """The samples whose n × d features, then n labels, are these native float64; d = 0 for no X."""
    y: Vector = np.ndarray((n,), REAL, numbers, n * d * REAL.itemsize)
    return Samples(np.ndarray((n, d), REAL, numbers) if d else None, y)
