"""vSGD: a step size for every coordinate, worked out from its noise and its curvature.

For each coordinate, with running averages ḡ of the gradient, v̄ of its square and κ̄ of the
curvature −∂²ℓ, over τ samples:

    η_i = ḡ_i²/(κ̄_i v̄_i)        τ_i ← (1 − ḡ_i²/v̄_i) τ_i + 1        θ_i ← θ_i + η_i g_i

No step size has to be given. It is here to compare with, not to be recommended: where the curvature
is small by chance its steps are wild, and it needs a loss that has one.

R22: the first 10 samples are averaged plainly and θ waits; then v̄ and κ̄ are taken to be larger by
C = max(1, dim/10), so that the first steps are small. Shown as η is the mean of all η_i.

Reference: Schaul, Zhang & LeCun, *No more pesky learning rates*, 2013, algorithm 1.
"""

import math

from llr import models
from llr.algorithms.algorithm import Algorithm
from llr.kernels import block
from llr.kernels.jit import inline_jit, simd_loop
from llr.kernels.layout import ETA, LOG_ETA, OWN, THETA, Sample, StepContext
from llr.kernels.vectors import dot
from llr.types import Vector

FIRST = 10
MEAN, SQUARE, CURVATURE, TAU = range(OWN, OWN + 4)


@simd_loop
def _average(V: Vector, k: int, x: Vector, g: float, bend: float, t: int) -> None:
    """Take the gradient g x and the curvature bend·x² of one score into the averages."""
    mean, square, curvature, tau = V[MEAN, k], V[SQUARE, k], V[CURVATURE, k], V[TAU, k]
    for i in range(x.size):
        rate = 1.0 / (t + 1.0) if t < FIRST else 1.0 / tau[i]
        gradient = g * x[i]
        mean[i] += rate * (gradient - mean[i])
        square[i] += rate * (gradient * gradient - square[i])
        curvature[i] += rate * (bend * x[i] * x[i] - curvature[i])


@simd_loop
def _slow(V: Vector, k: int, times: float) -> None:
    """After the first samples: v̄ and κ̄ are taken to be larger, and τ begins."""
    square, curvature, tau = V[SQUARE, k], V[CURVATURE, k], V[TAU, k]
    for i in range(tau.size):
        square[i] *= times
        curvature[i] *= times
        tau[i] = FIRST + 1.0


@simd_loop
def _climb(V: Vector, k: int, x: Vector, g: float) -> float:
    """Move θ and τ of one score; returns the sum of its step sizes."""
    theta, tau, total = V[THETA, k], V[TAU, k], 0.0
    mean, square, curvature = V[MEAN, k], V[SQUARE, k], V[CURVATURE, k]
    for i in range(x.size):
        agreement = mean[i] * mean[i] / square[i] if square[i] > 0.0 else 0.0
        eta = agreement / curvature[i] if curvature[i] > 0.0 else 0.0
        theta[i] += eta * (g * x[i])
        tau[i] += 1.0 - agreement * tau[i]
        total += eta
    return total


@inline_jit
def _bends(sample: Sample, context: StepContext) -> None:
    """Weigh `context.g`, and fill `context.q` with −∂²ℓ/∂s_k², the diagonal of the curvature."""
    for k in range(context.s.size):
        for j in range(context.s.size):
            context.other[j] = 1.0 if j == k else 0.0
        models.curvature(
            context.model, context.s, sample.y, context.p, context.other, context.g_other
        )
        context.q[k] = sample.importance * context.g_other[k]
        context.g[k] *= sample.importance


@inline_jit
def step(own: Vector, V: Vector, scalars: Vector, sample: Sample, context: StepContext) -> float:
    """Learn from one sample; returns its loss."""
    x, t = sample.x, sample.t
    for k in range(V.shape[1]):
        context.s[k] = dot(V[THETA, k], x)
    models.residual(context.model, context.s, sample.y, context.p, context.g)
    _bends(sample, context)
    total = 0.0
    for k in range(V.shape[1]):
        _average(V, k, x, context.g[k], context.q[k], t)
        if t == FIRST - 1:
            _slow(V, k, max(1.0, V.shape[2] / 10.0))
        if t >= FIRST:
            total += _climb(V, k, x, context.g[k])
    if total > 0.0:
        scalars[ETA] = total / V[THETA].size
        scalars[LOG_ETA] = math.log(scalars[ETA])
    return float(sample.importance * models.loss(context.model, context.s, sample.y, context.p))


ALGORITHM = Algorithm(
    name="vsgd",
    summary="a step size for every coordinate from its noise and curvature; needs no eta0",
    learn=block.of_step("vsgd", step),
    rows=lambda _: 4,
    uses_eta0=False,
    handles_linear_loss=False,
)
