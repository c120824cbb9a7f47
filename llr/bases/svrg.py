"""Online SVRG (Appendix A): the gradient's noise is lowered by comparing with a base point θ^b.

    s^b' = s^b + ∂ℓ(θ^b)
    θ'   = θ + η (∂ℓ(θ) − ∂ℓ(θ^b) + s^b'/(t + 1))

R7: θ^b is the zero vector and η is not damped. With `refresh` = k, θ^b becomes θ_t every k samples
and s^b starts again with it. R8: s^b sums gradients at θ^b.
"""

from llr import models
from llr.bases.base import Base, Pace, Sample, Slope
from llr.compiled import part
from llr.layout import OWN, THETA, H
from llr.parameter import Parameter
from llr.types import Vector
from llr.vectors import dot, move, pull

POINT, SUM = OWN, OWN + 1


@part
def step(V: Vector, numbers: Vector, sample: Sample, slope: Slope, pace: Pace) -> None:
    """Observe the gradient at θ^b, then move θ and h."""
    x, eta = sample.x, pace.eta
    seen, refresh = sample.t, int(pace.own)
    if refresh > 0:
        seen = sample.t % refresh
        if seen == 0 and sample.t > 0:
            _refresh(V)
    for k in range(V.shape[1]):
        slope.other[k] = dot(V[POINT, k], x)
    models.residual(slope.model, slope.other, sample.y, slope.p, slope.g_other)
    share = eta / (seen + 1)
    for k in range(V.shape[1]):
        g_b, s = slope.g_other[k], V[SUM, k]
        move(s, 1.0, g_b, x)
        pull(V[THETA, k], 1.0, eta * (slope.g[k] - g_b), x, share, s)
        if pace.learns:
            pull(V[H, k], pace.gamma, eta * (slope.g_h[k] - g_b), x, share, s)


@part
def _refresh(V: Vector) -> None:
    """R7, option: θ^b ← θ_t and s^b ← 0."""
    for k in range(V.shape[1]):
        for i in range(V.shape[2]):
            V[POINT, k, i] = V[THETA, k, i]
            V[SUM, k, i] = 0.0


BASE = Base(
    name="svrg",
    summary="stochastic gradient with its variance reduced, not damped",
    rows=2,
    step=step,
    parameter=Parameter(
        "refresh", "samples between two base points, never if 0", "whole", 0, example=7
    ),
)
