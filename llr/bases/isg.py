"""Implicit stochastic gradient: θ' = θ + (η/f(t)) ∂ℓ(θ'), with the slope taken where the step ends.

Along one sample that is θ' = θ + k x with k = r·residual(s + k|x|²), r = η/f(t) (`llr.implicit`).
However large η is, no step goes beyond what its own sample asks for.

R20: the same difference of gradients as elsewhere gives h' = h + r ∂ℓ(θ' + h'), an implicit step
from the score s' + σ; with the exact Hessian, k is differentiated.

Reference: Toulis & Airoldi, *Asymptotic and finite-sample properties of estimators based on
stochastic gradients*, Annals of Statistics, 2017.
"""

from llr import implicit
from llr.bases.base import Base, Pace, Sample, Slope
from llr.compiled import apart, part
from llr.layout import THETA, H
from llr.types import Vector
from llr.vectors import dot, move


@part
def step(V: Vector, numbers: Vector, sample: Sample, slope: Slope, pace: Pace) -> None:
    """Move θ, then its tangent."""
    x, r = sample.x, pace.eta * sample.w
    q = dot(x, x)
    if V.shape[1] == 1:
        _solve_one(sample, slope, pace, q, r)
    else:
        _solve_each(sample, slope, pace, q, r)
    for k in range(V.shape[1]):
        move(V[THETA, k], 1.0, slope.g[k] + 0.0 * q, x)  # an infinite q must not pass unnoticed
        if pace.learns:
            move(V[H, k], pace.gamma, slope.g_h[k], x)


@apart
def _solve_one(sample: Sample, slope: Slope, pace: Pace, q: float, r: float) -> None:
    """Put k in the place of the residual, and dk in that of the tangent's."""
    s, sigma, y, model, p = slope.s[0], slope.sigma[0], sample.y, slope.model, slope.p
    k, w = implicit.solve(model, s, q, r, y, p)
    slope.g[0] = k
    if pace.exact:
        slope.g_h[0] = implicit.tangent(k, w, q, sigma)
    elif pace.learns:
        slope.g_h[0] = implicit.solve(model, s + k * q + sigma, q, r, y, p)[0]


@apart
def _solve_each(sample: Sample, slope: Slope, pace: Pace, q: float, r: float) -> None:
    """The same for a model of several scores."""
    s, sigma, y, model, p = slope.s, slope.sigma, sample.y, slope.model, slope.p
    slope.q[:] = q
    implicit.solve_each(model, s, slope.q, r, y, p, slope.g)
    if pace.exact:
        implicit.tangent_each(model, s, slope.q, r, y, p, sigma, slope.g, slope.g_h)
    elif pace.learns:
        for k in range(s.size):
            slope.other[k] = s[k] + slope.g[k] * q + sigma[k]
        implicit.solve_each(model, slope.other, slope.q, r, y, p, slope.g_h)


BASE = Base(
    name="isg",
    summary="implicit stochastic gradient, damped by f(t): no step overshoots its sample",
    step=step,
    sparse=True,
)
