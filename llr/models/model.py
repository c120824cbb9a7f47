"""What a model is: the loss of one sample as a function of the score s = θ·x.

Every model here has a gradient of the form ∂ℓ(θ) = residual(s) ⊗ x, which is why a step costs two
dot products and two updates whatever the model. A *scalar* model states its formulas for one score;
a *vector* model (softmax) for one score per class, writing into `out`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llr.kernels.jit import inline_jit
from llr.parameter import Parameter
from llr.types import Vector


@dataclass(frozen=True)
class Comparator:
    """Sufficient statistics of the best parameter, for `regret.ml` and `regret.best_fixed`.

    Attributes:
        size: how many float64 the statistics take for `dim` features.
        start: fill fresh statistics, given θ_0.
        observe: compiled; (statistics, room, x, y, w) → the running maximum likelihood's loss on
            a sample of weight w, judged before it learns from it (R17); `room` has 3·(dim + 1)
            numbers.
        best: the smallest total loss any fixed θ has on the t samples seen so far (R18).
        quick: the same in O(size), None where that takes longer; `best` itself if left out.
        size_with_intercept: how many float64 they take if the best parameter has an intercept, as
            the learner has (R23); the same if left out.
    """

    size: Callable[[int], int]
    start: Callable[[Vector, Vector], None]
    observe: Callable[..., float]
    best: Callable[[Vector, Vector, int], float]
    quick: Callable[[Vector, Vector, int], float | None] | None = None
    size_with_intercept: Callable[[int], int] | None = None


@inline_jit
def _one(s: float, y: float, p: float, noise: float) -> float:
    return 1.0


@inline_jit
def _around(n: float, low: float, high: float) -> tuple[float, float]:
    """As far beyond the labels, and beyond 0, as they are apart."""
    width = high - low
    return low - width, high + width


@inline_jit
def _ten_widths(low: float, high: float) -> float:
    """Ten times as far as the bounds are apart."""
    return 10.0 * (high - low)


@inline_jit
def _nothing(y: float, p: float) -> float:
    return 0.0


@dataclass(frozen=True)
class Model:
    """A registered model. `p` is the model's own parameter, 0 if it has none.

    Attributes:
        name: the word on the wire.
        summary: one line for the catalogue.
        domain: which y it takes, in words.
        loss: (s, y, p) → −ℓ, without terms that do not depend on θ.
        residual: (s, y, p) → ∂ℓ/∂s.
        curvature: (s, y, p) → −∂²ℓ/∂s²; for a vector model (s, y, p, σ, out) its product with σ.
        mean: (s, p) → the prediction on the natural scale of y.
        admits: (y, p) → whether y lies in the domain.
        features: whether a sample has an x; without, x is the constant 1 and dim is 1.
        classes: whether there is a score per class (a vector model).
        parameter: the model's own number, if it has one; for a vector model its classes.
        comparator: the exact best parameter, where sufficient statistics exist.
        smooth: whether the loss has a curvature everywhere.
        has_curvature: whether the loss has a curvature anywhere.
        weight: (s, y, p, φ) → the curvature of a parabola that touches the loss at s and does not
            overshoot its lowest point; a vector model writes one a class into `out`.
        score_range: (n, low, high) → the least and the greatest score worth predicting after n
            labels between low and high, 0 among them.
        most_beyond: (low, high) → how far a score may lie beyond its bounds low and high, however
            little these are trusted; ten times their width if left out.
        min_loss: (y, p) → the loss of the best score for y; 0 if left out.
        is_log_likelihood: whether the loss is the logarithm of a probability, so its unit is known;
            otherwise the noise of the labels is the unit.
        implicit: (s, q, r, y, p) → (k, w), the implicit step of `implicit.py` in closed form; a
            root finder if left out. A vector model has to bring it: (s, q, r, y, p, k).
        implicit_tangent: of a vector model, (s, q, r, y, p, σ, k, dk), the derivative of k.
    """

    name: str
    summary: str
    domain: str
    loss: Callable[..., Any]
    residual: Callable[..., Any]
    curvature: Callable[..., Any]
    mean: Callable[..., Any]
    admits: Callable[..., Any]
    features: bool = True
    classes: bool = False
    parameter: Parameter | None = None
    comparator: Comparator | None = None
    smooth: bool = True
    has_curvature: bool = True
    weight: Callable[..., Any] = _one
    score_range: Callable[..., tuple[float, float]] = _around
    most_beyond: Callable[..., float] = _ten_widths
    min_loss: Callable[..., float] = _nothing
    is_log_likelihood: bool = False
    implicit: Callable[..., Any] | None = None
    implicit_tangent: Callable[..., Any] | None = None

    @property
    def binary(self) -> bool:
        """Whether it predicts the probability of a one."""
        return self.is_log_likelihood and not self.classes

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its options."""
        return () if self.parameter is None else (self.parameter,)
