"""Heavy ball: part of the last step is taken again.

    v' = β v + (η/f(t)) ∂ℓ(θ)        θ' = θ + v'

The tangent has two parts, h of θ and dv of v, and follows the same two lines with ∂ℓ(θ + h) for the
gradient (R20); with memory, both are multiplied by γ.

Reference: Polyak, *Some methods of speeding up the convergence of iteration methods*, 1964.
"""

from llr.bases.base import Base, Pace, Sample, Slope
from llr.compiled import loop, part
from llr.layout import OWN, THETA, H
from llr.parameter import Parameter
from llr.types import Vector

VELOCITY, ITS_TANGENT = OWN, OWN + 1


@loop
def _roll(v: Vector, velocity: Vector, beta: float, scale: float, step: float, x: Vector) -> None:
    """velocity ← scale·(β velocity + step·x), v ← scale·v + velocity."""
    for i in range(x.size):
        velocity[i] = scale * (beta * velocity[i] + step * x[i])
        v[i] = scale * v[i] + velocity[i]


@part
def step(V: Vector, numbers: Vector, sample: Sample, slope: Slope, pace: Pace) -> None:
    """Move θ and v, and their tangents, from the old ones (R5)."""
    x, r, beta = sample.x, pace.eta * sample.w, pace.own
    for k in range(V.shape[1]):
        _roll(V[THETA, k], V[VELOCITY, k], beta, 1.0, r * slope.g[k], x)
        if pace.learns:
            _roll(V[H, k], V[ITS_TANGENT, k], beta, pace.gamma, r * slope.g_h[k], x)


BASE = Base(
    name="momentum",
    summary="stochastic gradient that keeps part of its last step (heavy ball), damped by f(t)",
    step=step,
    rows=2,
    parameter=Parameter(
        "beta", "how much of the last step is taken again", "real", 0.9, -1.0, 1.0, example=0.6
    ),
)
