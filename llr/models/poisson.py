"""Poisson regression: ℓ = ys − e^s with s = θ·x (log y! does not depend on θ and is dropped)."""

import math

from llr.kernels.jit import inline_jit
from llr.models.model import Model

LOG_2 = math.log(2.0)


@inline_jit
def mean(s: float, p: float) -> float:
    """The expected count, e^s; infinite where that overflows."""
    return math.exp(s) if s < 709.78 else math.inf


@inline_jit
def loss(s: float, y: float, p: float) -> float:
    """e^s − ys."""
    return mean(s, p) - y * s


@inline_jit
def residual(s: float, y: float, p: float) -> float:
    """y − e^s."""
    return y - mean(s, p)


@inline_jit
def curvature(s: float, y: float, p: float) -> float:
    """e^s."""
    return mean(s, p)


@inline_jit
def weight(s: float, y: float, p: float, noise: float) -> float:
    """The mean curvature on the way from s to log y, where the loss is lowest; e^s if y is 0."""
    if not y > 0.0:
        return max(mean(s, p), 1e-3)
    way = math.log(y) - s
    return max(mean(s, p), 1e-3) if abs(way) < 1e-3 else max((y - mean(s, p)) / way, 1e-3)


@inline_jit
def score_range(n: float, low: float, high: float) -> tuple[float, float]:
    """From a count that was too rare to be seen in n samples to twice the largest."""
    return -math.log(n + 1.0), math.log(2.0 * high + 1.0)


@inline_jit
def most_beyond(low: float, high: float) -> float:
    """Twice the largest mean that is expected, or half of the least: the score is a logarithm."""
    return LOG_2


@inline_jit
def min_loss(y: float, p: float) -> float:
    """y − y log y, at s = log y."""
    return y - y * math.log(y) if y > 0.0 else 0.0


@inline_jit
def admits(y: float, p: float) -> bool:
    """Counts, or rates: y ≥ 0."""
    return y >= 0.0


MODEL = Model(
    name="poisson",
    summary="a count or a rate from features",
    domain="0 or more",
    loss=loss,
    residual=residual,
    curvature=curvature,
    mean=mean,
    admits=admits,
    weight=weight,
    score_range=score_range,
    most_beyond=most_beyond,
    min_loss=min_loss,
)
