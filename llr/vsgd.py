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

from llr import block, models
from llr.algorithm import Algorithm
from llr.compiled import loop, part
from llr.layout import ETA, LOG_ETA, OWN, THETA
from llr.slope import Sample, Slope
from llr.types import Vector
from llr.vectors import dot

FIRST = 10
MEAN, SQUARE, CURVATURE, TAU = range(OWN, OWN + 4)


@loop
def _average(V: Vector, k: int, x: Vector, g: float, bend: float, t: int) -> None:
    """Take the gradient g x and the curvature bend·x² of one score into the averages."""
    mean, square, curvature, tau = V[MEAN, k], V[SQUARE, k], V[CURVATURE, k], V[TAU, k]
    for i in range(x.size):
        rate = 1.0 / (t + 1.0) if t < FIRST else 1.0 / tau[i]
        gradient = g * x[i]
        mean[i] += rate * (gradient - mean[i])
        square[i] += rate * (gradient * gradient - square[i])
        curvature[i] += rate * (bend * x[i] * x[i] - curvature[i])


@loop
def _slow(V: Vector, k: int, times: float) -> None:
    """After the first samples: v̄ and κ̄ are taken to be larger, and τ begins."""
    square, curvature, tau = V[SQUARE, k], V[CURVATURE, k], V[TAU, k]
    for i in range(tau.size):
        square[i] *= times
        curvature[i] *= times
        tau[i] = FIRST + 1.0


@loop
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


@part
def _bends(sample: Sample, slope: Slope) -> None:
    """Fill `slope.q` with −∂²ℓ/∂s_k², the diagonal of the curvature in the scores."""
    for k in range(slope.s.size):
        for j in range(slope.s.size):
            slope.other[j] = 1.0 if j == k else 0.0
        models.curvature(slope.model, slope.s, sample.y, slope.p, slope.other, slope.g_other)
        slope.q[k] = slope.g_other[k]


@part
def step(own: Vector, V: Vector, scalars: Vector, sample: Sample, slope: Slope) -> float:
    """Learn from one sample; returns its loss."""
    x, t = sample.x, sample.t
    for k in range(V.shape[1]):
        slope.s[k] = dot(V[THETA, k], x)
    models.residual(slope.model, slope.s, sample.y, slope.p, slope.g)
    _bends(sample, slope)
    total = 0.0
    for k in range(V.shape[1]):
        _average(V, k, x, slope.g[k], slope.q[k], t)
        if t == FIRST - 1:
            _slow(V, k, max(1.0, V.shape[2] / 10.0))
        if t >= FIRST:
            total += _climb(V, k, x, slope.g[k])
    if total > 0.0:
        scalars[ETA] = total / V[THETA].size
        scalars[LOG_ETA] = math.log(scalars[ETA])
    return float(models.loss(slope.model, slope.s, sample.y, slope.p))


ALGORITHM = Algorithm(
    name="vsgd",
    summary="a step size for every coordinate from its noise and curvature; needs no eta0",
    learn=block.of_step("vsgd", step),
    rows=lambda _: 4,
    starts=False,
    straight=False,
)
