"""Implicit stochastic gradient: θ' = θ + (η/f(t)) ∂ℓ(θ'), with the slope taken where the step ends.

Along one sample that is θ' = θ + k x with k = r·residual(s + k|x|²), r = η/f(t); see
`llr.models.implicit`.
However large η is, no step goes beyond what its own sample asks for. Its weight multiplies r.

R20: the same difference of gradients as elsewhere gives h' = h + r ∂ℓ(θ' + h'), an implicit step
from the score s' + σ; with the exact Hessian, k is differentiated, with the numerical one by a
central difference.

Reference: Toulis & Airoldi, *Asymptotic and finite-sample properties of estimators based on
stochastic gradients*, Annals of Statistics, 2017.
"""

from llr.algorithms.algorithm import Base, StepParams
from llr.kernels.jit import inline_jit, jit
from llr.kernels.layout import EXACT, NUMERICAL, THETA, H, Sample, StepContext
from llr.kernels.vectors import dot, move
from llr.models import implicit
from llr.types import Vector


@inline_jit
def step(
    V: Vector, numbers: Vector, sample: Sample, context: StepContext, params: StepParams
) -> None:
    """Move θ, then its tangent."""
    x, r = sample.x, params.eta * sample.w * sample.importance
    q = dot(x, x)
    if V.shape[1] == 1:
        _solve_one(sample, context, params, q, r)
    else:
        _solve_each(sample, context, params, q, r)
    for k in range(V.shape[1]):
        move(V[THETA, k], 1.0, context.g[k] + 0.0 * q, x)  # an infinite q must not pass unnoticed
        if params.learns:
            move(V[H, k], params.gamma, context.g_h[k], x)


@jit
def _solve_one(
    sample: Sample, context: StepContext, params: StepParams, q: float, r: float
) -> None:
    """Put k in the place of the residual, and dk in that of the tangent's."""
    s, sigma, y, model, p = context.s[0], context.sigma[0], sample.y, context.model, context.p
    k, w = implicit.solve(model, s, q, r, y, p)
    context.g[0] = k
    if params.hessian == EXACT:
        context.g_h[0] = implicit.tangent(k, w, q, sigma)
    elif params.hessian == NUMERICAL:
        near = implicit.nearby(context.s, context.sigma)
        context.g_h[0] = implicit.numerical(model, s, q, r, y, p, sigma, near)
    elif params.learns:
        context.g_h[0] = implicit.solve(model, s + k * q + sigma, q, r, y, p)[0]


@jit
def _solve_each(
    sample: Sample, context: StepContext, params: StepParams, q: float, r: float
) -> None:
    """The same for a model of several scores."""
    s, sigma, y, model, p = context.s, context.sigma, sample.y, context.model, context.p
    context.q[:] = q
    implicit.solve_each(model, s, context.q, r, y, p, context.g)
    if params.hessian == EXACT:
        implicit.tangent_each(model, s, context.q, r, y, p, sigma, context.g, context.g_h)
    elif params.hessian == NUMERICAL:
        room, more = context.other, context.g_other
        implicit.numerical_each(model, s, context.q, r, y, p, sigma, room, more, context.g_h)
    elif params.learns:
        for k in range(s.size):
            context.other[k] = s[k] + context.g[k] * q + sigma[k]
        implicit.solve_each(model, context.other, context.q, r, y, p, context.g_h)


BASE = Base(
    name="isg",
    summary="implicit stochastic gradient, damped by f(t): no step overshoots its sample",
    step=step,
    sparse=True,
)
