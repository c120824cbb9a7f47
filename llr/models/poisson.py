"""Poisson regression: ℓ = ys − e^s with s = θ·x (log y! does not depend on θ and is dropped)."""

import math

from llr.compiled import part
from llr.models.model import Model


@part
def mean(s: float, p: float) -> float:
    """The expected count, e^s; infinite where that overflows."""
    return math.exp(s) if s < 709.78 else math.inf


@part
def loss(s: float, y: float, p: float) -> float:
    """e^s − ys."""
    return mean(s, p) - y * s


@part
def residual(s: float, y: float, p: float) -> float:
    """y − e^s."""
    return y - mean(s, p)


@part
def curvature(s: float, y: float, p: float) -> float:
    """e^s."""
    return mean(s, p)


@part
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
)
