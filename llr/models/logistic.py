"""Logistic regression: ℓ = ys − log(1 + e^s) with s = θ·x and y in {0, 1}."""

import math

from llr.kernels.jit import inline_jit
from llr.models.model import Model


@inline_jit
def loss(s: float, y: float, p: float) -> float:
    """log(1 + e^s) − ys, written so that no exponential overflows."""
    return max(s, 0.0) - y * s + math.log1p(math.exp(-abs(s)))


@inline_jit
def mean(s: float, p: float) -> float:
    """The probability of a one, 1/(1 + e^−s)."""
    if s >= 0.0:
        return 1.0 / (1.0 + math.exp(-s))
    e = math.exp(s)
    return e / (1.0 + e)


@inline_jit
def residual(s: float, y: float, p: float) -> float:
    """y − P(1) = y·P(0) − (1 − y)·P(1), which keeps its digits where P is close to y."""
    e = math.exp(-abs(s))
    near, far = 1.0 / (1.0 + e), e / (1.0 + e)
    ones, zeros = (near, far) if s >= 0.0 else (far, near)
    return y * zeros - (1.0 - y) * ones


@inline_jit
def curvature(s: float, y: float, p: float) -> float:
    """P(1)·P(0)."""
    e = math.exp(-abs(s))
    return e / ((1.0 + e) * (1.0 + e))


@inline_jit
def weight(s: float, y: float, p: float, noise: float) -> float:
    """tanh(|s|/2)/(2|s|): a parabola above the loss everywhere (Jaakkola & Jordan 2000)."""
    a = abs(s)
    return math.tanh(0.5 * a) / (2.0 * a) if a > 1e-4 else 0.25


@inline_jit
def score_range(n: float, low: float, high: float) -> tuple[float, float]:
    """n samples bound how certain a prediction can be."""
    most = math.log(n + 1.0)
    return -most, most


@inline_jit
def admits(y: float, p: float) -> bool:
    """0 or 1."""
    return y == 0.0 or y == 1.0


MODEL = Model(
    name="logistic",
    summary="the probability of a one from features",
    domain="0 or 1",
    loss=loss,
    residual=residual,
    curvature=curvature,
    mean=mean,
    admits=admits,
    weight=weight,
    score_range=score_range,
    is_log_likelihood=True,
)
