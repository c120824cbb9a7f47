"""Quantile regression: the loss is p·(y − s) above the line and (1 − p)·(s − y) below it.

ℓ has a kink at y = s, where the residual is taken to be 0, and no curvature anywhere else.
"""

import math

from llr.kernels.jit import inline_jit
from llr.models import linear
from llr.models.model import Model
from llr.parameter import Parameter


@inline_jit
def loss(s: float, y: float, p: float) -> float:
    """The pinball loss."""
    return p * (y - s) if y > s else (1.0 - p) * (s - y)


@inline_jit
def residual(s: float, y: float, p: float) -> float:
    """p above, p − 1 below."""
    if y > s:
        return p
    return p - 1.0 if y < s else y - s  # 0, or NaN if s is


@inline_jit
def curvature(s: float, y: float, p: float) -> float:
    """0."""
    return 0.0


@inline_jit
def implicit(s: float, q: float, r: float, y: float, p: float) -> tuple[float, float]:
    """Up to the label and no further: the slope there is whatever holds the score."""
    k = r * residual(s, y, p)
    if abs(k) * q < abs(y - s):
        return k, 0.0
    return ((y - s) / q, math.inf) if q > 0.0 else (0.0, 0.0)


@inline_jit
def weight(s: float, y: float, p: float, noise: float) -> float:
    """Slope over distance: a parabola with its lowest point at y; |y − s| is taken for φ/10 there.

    Without that a label that was met exactly would outweigh all others.
    """
    e = max(abs(y - s), 0.1 * noise)
    return max(abs(residual(s, y, p)), 0.1) / e if e > 0.0 else 1.0


MODEL = Model(
    name="quantile",
    summary="a quantile of a number from features",
    domain="any finite number",
    loss=loss,
    residual=residual,
    curvature=curvature,
    mean=linear.mean,
    admits=linear.admits,
    weight=weight,
    smooth=False,
    has_curvature=False,
    implicit=implicit,
    parameter=Parameter(
        "level", "which quantile, 0.5 for the median", "real", 0.5, 0.0, 1.0, example=0.8
    ),
)
