"""The paper's four synthetic streams: seeded, endless, the same however they are read.

A stream yields samples as the arguments of `Learner.learn`: `(y,)`, or `(x, y)` with features.

>>> import llr
>>> learner = llr.Learner("bernoulli", eta0=1.0)
>>> for sample, _ in zip(bernoulli(seed=3), range(100)):
...     outcome = learner.learn(*sample)
>>> learner.t
100
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from llr.types import Vector

BLOCK = 256
Samples = tuple[Vector, ...]


@dataclass
class Stream:
    """An endless source of samples.

    Attributes:
        name: which of the paper's.
        model: the model it is meant for.
        dim: number of features.
        truth: the θ that produced it.
        theta0: where the paper starts on it.
        mixing: M of the regression, whose first entry of θᵀM the paper's figures show.
    """

    name: str
    model: str
    dim: int
    truth: Vector
    draw: Callable[[int], Samples] = field(repr=False)
    theta0: float = 0.0
    mixing: Vector | None = field(default=None, repr=False)
    _left: Samples | None = field(default=None, repr=False)

    def take(self, n: int) -> Samples:
        """The next n samples as arrays: `(y,)` or `(X, y)`."""
        taken, missing = [], n
        while missing > 0:
            if self._left is None or len(self._left[-1]) == 0:
                self._left = self.draw(BLOCK)  # always whole blocks: the numbers do not depend on n
            taken.append(tuple(column[:missing] for column in self._left))
            self._left = tuple(column[missing:] for column in self._left)
            missing -= len(taken[-1][-1])
        if not taken:
            return tuple(column[:0] for column in self.draw(0))
        return tuple(np.concatenate(columns) for columns in zip(*taken, strict=True))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while True:
            yield tuple(column[0] for column in self.take(1))


def gaussian(seed: int, mean: float = 5.0, variance: float = 2.0) -> Stream:
    """R13: independent normal numbers, mean 5 and variance 2."""
    rng = np.random.default_rng(seed)
    spread = float(np.sqrt(variance))
    return Stream(
        "gaussian", "gaussian", 1, np.array([mean]), lambda n: (rng.normal(mean, spread, n),)
    )


def bernoulli(seed: int, p: float = 0.3) -> Stream:
    """R14: zeros and ones, a one with probability 0.3; θ is its logit."""
    rng = np.random.default_rng(seed)
    truth = np.array([np.log(p / (1.0 - p))])
    return Stream(
        "bernoulli", "bernoulli", 1, truth, lambda n: ((rng.random(n) < p).astype(np.float64),)
    )


def regression(seed: int, dim: int = 50) -> Stream:
    """R15: X = MZ with M and Z standard normal, y = Z_1; θ* is the first row of M⁻¹."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(dim, dim))
    truth = np.linalg.solve(mixing.T, np.eye(dim)[0])

    def draw(n: int) -> Samples:
        Z = rng.normal(size=(n, dim))
        return Z @ mixing.T, Z[:, 0].copy()

    return Stream("regression", "linear", dim, truth, draw, mixing=mixing)


def quadratic(seed: int = 0, alpha: float = 1e8) -> Stream:  # noqa: ARG001 - nothing is random
    """R16: −½αθ² as linear regression with x = √α, y = 0, from θ_0 = 1."""
    root = float(np.sqrt(alpha))
    return Stream(
        "quadratic",
        "linear",
        1,
        np.zeros(1),
        lambda n: (np.full((n, 1), root), np.zeros(n)),
        theta0=1.0,
    )


STREAMS: dict[str, Callable[[int], Stream]] = {
    "gaussian": gaussian,
    "bernoulli": bernoulli,
    "regression": regression,
    "quadratic": quadratic,
}
