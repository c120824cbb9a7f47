"""Stochastic gradient (Section 1): θ' = θ + (η/f(t)) ∂ℓ(θ), and h' = h + (η/f(t)) ∂ℓ(θ + h).

**Momentum** (heavy ball) takes part of the last step again.

    v' = β v + (η/f(t)) ∂ℓ(θ)        θ' = θ + v'

The tangent has two parts, h of θ and dv of v, and follows the same two lines with ∂ℓ(θ + h) for the
gradient (R20); with memory, both are multiplied by γ.

Reference: Polyak, *Some methods of speeding up the convergence of iteration methods*, 1964.
"""

from llr.algorithms.algorithm import Base, StepParams
from llr.kernels.jit import inline_jit, simd_loop
from llr.kernels.layout import OWN, THETA, H, Sample, StepContext
from llr.kernels.vectors import move
from llr.parameter import Parameter
from llr.types import Vector


@inline_jit
def sg_step(
    V: Vector, numbers: Vector, sample: Sample, context: StepContext, params: StepParams
) -> None:
    """Move θ, and its tangent h if there is one, both with η_{t+1} and from the old θ, h (R5)."""
    r = params.eta * sample.w
    for k in range(V.shape[1]):
        move(V[THETA, k], 1.0, r * context.g[k], sample.x)
        if params.learns:
            move(V[H, k], params.gamma, r * context.g_h[k], sample.x)


SG = Base(name="sg", summary="stochastic gradient, damped by f(t)", step=sg_step, sparse=True)


VELOCITY, ITS_TANGENT = OWN, OWN + 1


@simd_loop
def _roll(v: Vector, velocity: Vector, beta: float, scale: float, step: float, x: Vector) -> None:
    """velocity ← scale·(β velocity + step·x), v ← scale·v + velocity."""
    for i in range(x.size):
        velocity[i] = scale * (beta * velocity[i] + step * x[i])
        v[i] = scale * v[i] + velocity[i]


@inline_jit
def momentum_step(
    V: Vector, numbers: Vector, sample: Sample, context: StepContext, params: StepParams
) -> None:
    """Move θ and v, and their tangents, from the old ones (R5)."""
    x, r, beta = sample.x, params.eta * sample.w, params.own
    for k in range(V.shape[1]):
        _roll(V[THETA, k], V[VELOCITY, k], beta, 1.0, r * context.g[k], x)
        if params.learns:
            _roll(V[H, k], V[ITS_TANGENT, k], beta, params.gamma, r * context.g_h[k], x)


MOMENTUM = Base(
    name="momentum",
    summary="stochastic gradient that keeps part of its last step (heavy ball), damped by f(t)",
    step=momentum_step,
    rows=2,
    parameter=Parameter(
        "beta", "how much of the last step is taken again", "real", 0.9, -1.0, 1.0, example=0.6
    ),
)
