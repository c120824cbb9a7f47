"""The metric: which way θ goes for a sample, so that neither scales nor offsets of features matter.

Running means μ and variances v of the features give the direction

    u_i = (x_i − μ_i)/v_i        for θ,        u_0 = 1 − Σ u_i μ_i        for the intercept,

along which a step of k moves the score by k q, q = Σ u_i (x_i − μ_i) + 1: that is gradient ascent
in centred and scaled coordinates, written down for the raw ones. θ itself always belongs to raw
features, so a change of μ or v changes no prediction. A variance of few samples is taken larger
than it looks, and with centring the first HELD samples move the intercept only. 1/v is computed
for every sample at first, later for every EIGHTH: v moves slowly then, and a division is slow.

Features that have names are missing from most samples. They are not centred, and each lives in its
own time: v_i is the mean of x_i² over the samples in which it was seen, and few of those make for
caution with this feature alone.
"""

from typing import NamedTuple

from llr.kernels.jit import inline_jit, simd_loop
from llr.types import Vector

LONG = 10_000.0
"""Averages have no longer memory than this, in samples."""

HELD = 3
ALWAYS, EIGHTH = 64, 8
WARY = 20.0


class Heading(NamedTuple):
    """Where a sample points: u for θ, u_0 for the intercept, and the way q of a step of 1."""

    u: Vector
    u_0: float
    q: float


@simd_loop
def watch(x: Vector, mean: Vector, spread: Vector, weight: float) -> None:
    """Take x into means and variances."""
    for i in range(x.size):
        before = x[i] - mean[i]
        mean[i] += weight * before
        spread[i] += weight * (before * (x[i] - mean[i]) - spread[i])


@simd_loop
def watch_raw(x: Vector, spread: Vector, weight: float) -> None:
    """Take x into second moments."""
    for i in range(x.size):
        spread[i] += weight * (x[i] * x[i] - spread[i])


@simd_loop
def _invert(spread: Vector, inverse: Vector) -> None:
    for i in range(spread.size):
        inverse[i] = 1.0 / spread[i] if spread[i] > 0.0 else 0.0


@simd_loop
def aim(x: Vector, mean: Vector, inverse: Vector, scale: float, u: Vector) -> tuple[float, float]:
    """Fill u = scale · (x − μ)/v; returns Σ u (x − μ) and Σ u μ."""
    q, offset = 0.0, 0.0
    for i in range(x.size):
        z = x[i] - mean[i]
        u[i] = scale * (z * inverse[i])
        q += u[i] * z
        offset += u[i] * mean[i]
    return q, offset


@inline_jit
def weight_of(t: int) -> float:
    """The weight of sample number t in a mean: 1/(t + 1), until that is short."""
    return 1.0 / (min(float(t), LONG) + 1.0)


@inline_jit
def observe(
    x: Vector,
    mean: Vector,
    spread: Vector,
    inverse: Vector,
    t: int,
    weight: float,
    centred: bool,
) -> float:
    """Take in sample number t, which weighs so much; returns the scale to aim with."""
    if centred:
        watch(x, mean, spread, weight)
    else:
        watch_raw(x, spread, weight)
    if t < ALWAYS or t % EIGHTH == 0:
        _invert(spread, inverse)
    return 0.0 if centred and t < HELD else 1.0 / (1.0 + WARY * weight)


@simd_loop
def observe_each(x: Vector, centre: Vector, spread: Vector, inverse: Vector, seen: Vector) -> None:
    """Take in the features of a sample, each in its own time, its caution in its 1/v."""
    for i in range(x.size):
        centre[i] = 0.0
        weight = 1.0 / (min(seen[i], LONG) + 1.0)
        seen[i] += 1.0
        spread[i] += weight * (x[i] * x[i] - spread[i])
        inverse[i] = 1.0 / (spread[i] * (1.0 + WARY * weight)) if spread[i] > 0.0 else 0.0


@inline_jit
def heading(u: Vector, q: float, offset: float, intercept: bool) -> Heading:
    """What `aim` found, with the intercept's part in it."""
    return Heading(u, 1.0 - offset, q + 1.0) if intercept else Heading(u, 0.0, q)
