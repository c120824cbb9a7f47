"""Robust regression: squared loss up to |y − s| = p, linear beyond."""

import math

from llr.kernels.jit import inline_jit
from llr.models import linear
from llr.models.model import Model
from llr.parameter import Parameter


@inline_jit
def loss(s: float, y: float, p: float) -> float:
    """½e² while |e| ≤ p, else p(|e| − ½p), with e = y − s."""
    e = abs(y - s)
    return 0.5 * e * e if e <= p else p * (e - 0.5 * p)


@inline_jit
def residual(s: float, y: float, p: float) -> float:
    """y − s, clipped to ±p."""
    return min(max(y - s, -p), p)


@inline_jit
def curvature(s: float, y: float, p: float) -> float:
    """1 where the loss is quadratic, 0 where it is linear."""
    return 1.0 if abs(y - s) <= p else 0.0


@inline_jit
def implicit(s: float, q: float, r: float, y: float, p: float) -> tuple[float, float]:
    """The step of least squares, unless it ends where the loss is linear: there ±rp."""
    k, w = linear.implicit(s, q, r, y, p)
    if abs(k) <= r * p:
        return k, w
    return math.copysign(r * p, k), 0.0


@inline_jit
def weight(s: float, y: float, p: float, noise: float) -> float:
    """1, or p/|y − s| for an outlier: a parabola above the loss with its lowest point at y."""
    e = abs(y - s)
    return 1.0 if e <= p else p / e


MODEL = Model(
    name="huber",
    summary="a number from features, undisturbed by outliers",
    domain="any finite number",
    loss=loss,
    residual=residual,
    curvature=curvature,
    mean=linear.mean,
    admits=linear.admits,
    weight=weight,
    smooth=False,
    implicit=implicit,
    parameter=Parameter("delta", "where an error begins to count as an outlier", "real", 1.0),
)
