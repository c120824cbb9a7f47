"""Stochastic gradient (Section 1): θ' = θ + (η/f(t)) ∂ℓ(θ), and h' = h + (η/f(t)) ∂ℓ(θ + h)."""

from llr.bases.base import Base, Pace, Sample, Slope
from llr.compiled import part
from llr.layout import THETA, H
from llr.types import Vector
from llr.vectors import move


@part
def step(V: Vector, numbers: Vector, sample: Sample, slope: Slope, pace: Pace) -> None:
    """Move θ, and its tangent h if there is one, both with η_{t+1} and from the old θ, h (R5)."""
    r = pace.eta * sample.w
    for k in range(V.shape[1]):
        move(V[THETA, k], 1.0, r * slope.g[k], sample.x)
        if pace.learns:
            move(V[H, k], pace.gamma, r * slope.g_h[k], sample.x)


BASE = Base(name="sg", summary="stochastic gradient, damped by f(t)", step=step, sparse=True)
