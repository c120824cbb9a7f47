"""The filter: a Kalman filter of θ, which is natural gradient with a learning rate of its own.

Coordinates are z = (1, x − c), n = d + 1 numbers. A filter holds θ and its covariance P = UDUᵀ
(`llr.ud`) in units of the noise. For one sample

    f = Uᵀz,   q = Σ D f² = zᵀPz,   s = θ·z              its score, and how uncertain that is
    k = m residual(s + k q)                               an implicit step, which cannot overshoot
    θ ← θ + k·Pz,   P⁻¹ ← P⁻¹ + w zzᵀ                     w = m × the loss's curvature at s + k q

where m is the sample's weight, and before it D_j ← min(D_j/λ, cap_j) with λ < 1 forgets. cap_j is
the prior of coordinate j, 1/(ridge·v_j), v_j the variance of feature j: without it, a feature that
stays constant would let D grow for ever. A feature that never varied has D = 0 until it does.
Ollivier (2018) shows that this filter is online natural gradient, and that λ plays the part of the
learning rate.

Squared losses may be made robust: an error beyond so many standard deviations σ√(1 + q) has the
weight that makes it just that large.

A model of several scores has a filter for each: the implicit step is that of all scores together,
and the curvature of each is its own, the diagonal of that of the loss.

Reference: Y. Ollivier, *Online natural gradient as a Kalman filter*, 2018.
"""

import math
from typing import NamedTuple

from llr import ud
from llr.kernels.jit import dispatch, inline_jit, jit, simd_loop
from llr.kernels.vectors import dot
from llr.models import MODELS, implicit
from llr.types import Vector

LEAST_WEIGHT = 1e-6
LARGEST_MEAN = 1e100
"""A count's mean beyond which its variance is no longer told apart."""

SQUARED = tuple(name in ("gaussian", "linear") for name in MODELS)
"""Which models have a squared loss, whose noise the filter measures itself."""
BINARY = tuple(model.is_log_likelihood and not model.classes for model in MODELS.values())
"""Which models predict a probability, in which experts are mixed."""
COUNTS = tuple(name == "poisson" for name in MODELS)
"""Which models predict a count."""
LINEAR = tuple(not model.has_curvature for model in MODELS.values())
"""Which losses are linear in the error."""
CURVED = tuple(name in ("bernoulli", "logistic", "poisson") for name in MODELS)
"""Which losses bend smoothly; the others are stepped on by a parabola that touches them."""


@inline_jit
def _none(s: float, y: float, p: float) -> float:  # noqa: ARG001 - softmax has no one score
    return 0.0


@inline_jit
def _no_weight(s: float, y: float, p: float, noise: float) -> float:  # noqa: ARG001
    return 1.0


_scalar = list(MODELS.values())
loss = dispatch([_none if m.classes else m.loss for m in _scalar], jit)
residual = dispatch([_none if m.classes else m.residual for m in _scalar], jit)
curvature = dispatch([_none if m.classes else m.curvature for m in _scalar], jit)
weight = dispatch([_no_weight if m.classes else m.weight for m in _scalar], jit)


class Filter(NamedTuple):
    """One filter's arrays.

    Attributes:
        theta: θ, the intercept first.
        D: the diagonal of its covariance.
        U: the columns of U above the diagonal.
        f: room for Uᵀz of the present sample.
    """

    theta: Vector
    D: Vector
    U: Vector
    f: Vector


def size(n: int) -> int:
    """How many numbers a filter of n coordinates keeps."""
    return 2 * n + ud.size(n)


@inline_jit
def filter_at(bank: Vector, first: int, k: int, n: int, f: Vector) -> Filter:
    """The k-th of the filters that follow one another from `first` on."""
    triangle = n * (n - 1) // 2
    at = first + k * (2 * n + triangle)
    return Filter(
        bank[at : at + n],
        bank[at + n : at + 2 * n],
        bank[at + 2 * n : at + 2 * n + triangle],
        f[k * n : (k + 1) * n],
    )


@simd_loop
def forget(D: Vector, v: Vector, keep: float, ridge: float, prior: float) -> None:
    """D ← min(D/λ, cap), λ = `keep`."""
    more = 1.0 / keep
    D[0] = min(D[0] * more, prior)
    for i in range(v.size):
        if v[i] > 0.0:
            D[i + 1] = max(D[i + 1], min(D[i + 1] * more, 1.0 / (ridge * v[i])))


@simd_loop
def widen(D: Vector, keep: float, cap: float) -> None:
    """The same with one cap; what has no variance gets none."""
    more = 1.0 / keep
    for j in range(D.size):
        D[j] = max(D[j], min(D[j] * more, cap)) if D[j] > 0.0 else 0.0


@inline_jit
def measure(one: Filter, z: Vector) -> tuple[float, float]:
    """The score θ·z and its variance q = zᵀPz; leaves Uᵀz in f."""
    ud.project(one.U, z, one.f)
    return dot(one.theta, z), _spread(one.D, one.f)


@simd_loop
def _spread(D: Vector, f: Vector) -> float:
    total = 0.0
    for j in range(D.size):
        total += D[j] * f[j] * f[j]
    return total


@jit
def correction(
    model: int,
    s: float,
    q: float,
    y: float,
    p: float,
    importance: float,
    noise: float,
    robust: float,
) -> tuple[float, float]:
    """k and w of the step from s: θ ← θ + k·Pz, P⁻¹ ← P⁻¹ + w zzᵀ.

    An error beyond `robust` standard deviations counts as that many, if the loss is squared.
    """
    if SQUARED[model]:
        error, w = y - s, importance
        if noise > 0.0:
            most = robust * math.sqrt(noise * (1.0 / importance + q))
            if abs(error) > most:
                w = importance * most / abs(error)
        return error * w / (1.0 + w * q), w
    if CURVED[model]:
        k, _ = implicit.solve(model, s, q, importance, y, p)
        return k, importance * max(curvature(model, s + k * q, y, p), LEAST_WEIGHT)
    w = importance * weight(model, s, y, p, noise / importance)
    return importance * residual(model, s, y, p) / (1.0 + w * q), w


@inline_jit
def variance(model: int, s: float, q: float, noise: float) -> float:
    """The variance of a label whose score is s, uncertain by q, on the label's own scale.

    Of a squared loss `noise` is σ²; of others the mean of twice the loss beyond the least, which
    is a length if the loss is linear.
    """
    if BINARY[model]:
        e = math.exp(-abs(s))
        return e / ((1.0 + e) * (1.0 + e))
    if COUNTS[model]:
        mean = min(math.exp(min(s, 700.0)), LARGEST_MEAN)
        return mean + mean * mean * min(q, 1.0)
    return noise * (noise + q) if LINEAR[model] else noise * (1.0 + q)


@simd_loop
def learn(one: Filter, b: Vector, k: float, w: float) -> None:
    """Take in the sample that was measured last."""
    ud.update(one.U, one.D, one.f, b, 1.0 / w)
    for j in range(b.size):
        one.theta[j] += k * b[j]


@simd_loop
def restart(
    one: Filter,
    constant: float,
    theta0: Vector,
    c: Vector,
    v: Vector,
    ridge: float,
    prior: float,
) -> None:
    """Back to the prior: the constant and θ_0, with the variances `prior` and 1/(ridge·v_j)."""
    for j in range(one.U.size):
        one.U[j] = 0.0
    one.D[0] = prior
    one.theta[0] = constant
    for i in range(c.size):
        one.theta[0] += theta0[i] * c[i]
        one.theta[i + 1] = theta0[i]
        one.D[i + 1] = 1.0 / (ridge * v[i]) if v[i] > 0.0 else 0.0


@simd_loop
def recentre(one: Filter, i: int, by: float) -> None:
    """c_i ← c_i + by, exactly: the intercept is row 0 of U."""
    n = one.theta.size
    one.theta[0] += by * one.theta[i + 1]
    column = (i + 1) * i // 2  # where column i + 1 begins
    one.U[column] += by
    column += i + 1
    for j in range(i + 2, n):
        one.U[column] += by * one.U[column + i + 1]
        column += j
