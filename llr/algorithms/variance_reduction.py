"""Variance reduction: online SVRG, SAGA and SAG.

**Online SVRG** (Appendix A) lowers the gradient's noise by comparing with a base point θ^b.

    s^b' = s^b + ∂ℓ(θ^b)
    θ'   = θ + η (∂ℓ(θ) − ∂ℓ(θ^b) + s^b'/(t + 1))

R7: θ^b is the zero vector and η is not damped. With `refresh` = k, θ^b becomes θ_t every k samples
and s^b starts again with it. R8: s^b sums gradients at θ^b.

**SAGA** on a stream keeps a table of the last m samples; their gradients steady the steps.

SAGA needs samples that come again: it subtracts the gradient it remembers of a sample from the
sample's gradient now, and adds the average of all it remembers. On a stream a sample comes once, so
here it comes again out of the table (R21). When sample t arrives, n = min(t + 1, m) are kept:

    the oldest makes room, t enters with its residual g_t at θ
    j = t − ⌊n/2⌋ is looked at again at θ: its gradient is now ∂ℓ_j(θ), remembered is g_j x_j
    θ' = θ + η (∂ℓ_j(θ) − g_j x_j + S/n)        S = Σ g_i x_i over the table
    the new residual of j is remembered

So each sample is looked at when it comes and once more half a table later, a step is two gradients
whatever m is, and η is not damped, as in SVRG. With m = 1 it is SG without damping. The oldest
gradient in S is m samples old: a table longer than the step's own memory, of about 1/η samples at
unit features, makes θ swing.

The tangent runs through all of the state (R20): each g_i has its dg_i, S its dS, and

    h' = h + η (∂ℓ_j(θ) − g_j x_j + S/n) + η (dg'_j x_j − dg_j x_j + dS/n).

**SAG** goes along the average of the table itself, with the new gradient of j in it:

    θ' = θ + (η/n) (∂ℓ_j(θ) − g_j x_j + S)

and is otherwise the same. Its step has less variance than SAGA's and a bias: the news of j count
once, not n times.

Sums that are added to and subtracted from for ever keep every rounding error; so S and dS are added
up afresh each time the table has been filled once more.

References: Defazio, Bach & Lacoste-Julien, *SAGA: a fast incremental gradient method*, NIPS, 2014;
Schmidt, Le Roux & Bach, *Minimizing finite sums with the stochastic average gradient*,
Mathematical Programming, 2017.
"""

from typing import NamedTuple

from llr import models
from llr.algorithms.algorithm import Base, StepParams
from llr.kernels.jit import inline_jit, jit, simd_loop
from llr.kernels.layout import OWN, THETA, H, Sample, StepContext
from llr.kernels.vectors import dot, dots, move, pull
from llr.parameter import Parameter
from llr.types import Vector

POINT, POINT_SUM = OWN, OWN + 1


@inline_jit
def svrg_step(
    V: Vector, numbers: Vector, sample: Sample, context: StepContext, params: StepParams
) -> None:
    """Observe the gradient at θ^b, then move θ and h."""
    x, eta = sample.x, params.eta
    seen, refresh = sample.t, int(params.own)
    if refresh > 0:
        seen = sample.t % refresh
        if seen == 0 and sample.t > 0:
            _refresh(V)
    for k in range(V.shape[1]):
        context.other[k] = dot(V[POINT, k], x)
    models.residual(context.model, context.other, sample.y, context.p, context.g_other)
    share = eta / (seen + 1)
    for k in range(V.shape[1]):
        g_b, s = sample.importance * context.g_other[k], V[POINT_SUM, k]
        move(s, 1.0, g_b, x)
        pull(V[THETA, k], 1.0, eta * (context.g[k] - g_b), x, share, s)
        if params.learns:
            pull(V[H, k], params.gamma, eta * (context.g_h[k] - g_b), x, share, s)


@inline_jit
def _refresh(V: Vector) -> None:
    """R7, option: θ^b ← θ_t and s^b ← 0."""
    for k in range(V.shape[1]):
        for i in range(V.shape[2]):
            V[POINT, k, i] = V[THETA, k, i]
            V[POINT_SUM, k, i] = 0.0


SVRG = Base(
    name="svrg",
    summary="stochastic gradient with its variance reduced, not damped",
    rows=2,
    step=svrg_step,
    parameter=Parameter(
        "refresh", "samples between two base points, never if 0", "whole", 0, example=7
    ),
)


SUM, ITS_TANGENT = OWN, OWN + 1


class Table(NamedTuple):
    """The samples kept, each in its own place.

    Attributes:
        x: m × dim features.
        y: m labels.
        w: m weights.
        g: m × scores residuals as last seen.
        dg: m × scores, their tangents.
    """

    x: Vector
    y: Vector
    w: Vector
    g: Vector
    dg: Vector


def size(own: float, scores: int, dim: int) -> int:
    """How many numbers a table takes."""
    return int(own) * (dim + 2 + 2 * scores)


@inline_jit
def _table(numbers: Vector, m: int, scores: int, dim: int) -> Table:
    y, g, dg, w = m * dim, m * (dim + 1), m * (dim + 1 + scores), m * (dim + 1 + 2 * scores)
    return Table(
        numbers[:y].reshape(m, dim),
        numbers[y:g],
        numbers[w:],
        numbers[g:dg].reshape(m, scores),
        numbers[dg:w].reshape(m, scores),
    )


@simd_loop
def _fade(v: Vector, gamma: float) -> None:
    """v ← γv."""
    for i in range(v.size):
        v[i] *= gamma


@jit
def _add(V: Vector, table: Table, at: int, sign: float, learns: bool) -> None:
    """S and dS with one place of the table more, or less."""
    x = table.x[at]
    for k in range(V.shape[1]):
        move(V[SUM, k], 1.0, sign * table.g[at, k], x)
        if learns:
            move(V[ITS_TANGENT, k], 1.0, sign * table.dg[at, k], x)


@inline_jit
def _enter(
    V: Vector, table: Table, m: int, sample: Sample, context: StepContext, learns: bool
) -> None:
    """The new sample takes the place of the oldest."""
    at, scores, dim = sample.t % m, V.shape[1], V.shape[2]
    if sample.t >= m:
        _add(V, table, at, -1.0, learns)
    table.y[at], table.w[at] = sample.y, sample.importance
    for i in range(dim):
        table.x[at, i] = sample.x[i]
    for k in range(scores):
        table.g[at, k] = context.g[k]
        table.dg[at, k] = context.g_h[k] - context.g[k] if learns else 0.0
    if at == 0 and sample.t > 0:
        for k in range(scores):
            _fade(V[SUM, k], 0.0)
            _fade(V[ITS_TANGENT, k], 0.0)
        for each in range(m):
            _add(V, table, each, 1.0, learns)
    else:
        _add(V, table, at, 1.0, learns)


@jit
def _look_again(V: Vector, table: Table, j: int, context: StepContext, hessian: int) -> None:
    """Residuals of the sample in place j, and its tangent's, at θ as it is."""
    x, y = table.x[j], table.y[j]
    for k in range(V.shape[1]):
        context.other[k], context.sigma[k] = dots(V[THETA, k], V[H, k], x)
    models.residual(context.model, context.other, y, context.p, context.g)
    model, p, room, more = context.model, context.p, context.g_other, context.q
    models.residual_along(
        model, hessian, context.other, context.sigma, y, p, context.g, room, more, context.g_h
    )
    for k in range(V.shape[1]):
        context.g[k] *= table.w[j]
        context.g_h[k] *= table.w[j]


@inline_jit
def _table_step(
    V: Vector,
    numbers: Vector,
    sample: Sample,
    context: StepContext,
    params: StepParams,
    averaged: bool,
) -> None:
    """Take the new sample in, look again at one in the middle, move θ and all tangents.

    The news of the sample looked at again count in full (SAGA), or averaged, as one of n (SAG).
    """
    m, scores, dim = int(params.own), V.shape[1], V.shape[2]
    table = _table(numbers, m, scores, dim)
    _enter(V, table, m, sample, context, params.learns)
    n = min(sample.t + 1, m)
    j = (sample.t - n // 2) % m
    _look_again(V, table, j, context, params.hessian)
    x, share = table.x[j], params.eta / n
    full = share if averaged else params.eta
    for k in range(scores):
        news, dnews = context.g[k] - table.g[j, k], context.g_h[k] - context.g[k] - table.dg[j, k]
        table.g[j, k] += news
        pull(V[THETA, k], 1.0, full * news, x, share, V[SUM, k])
        if params.learns:
            table.dg[j, k] += dnews
            pull(V[H, k], 1.0, full * (news + dnews), x, share, V[SUM, k])
            pull(V[H, k], params.gamma, 0.0, x, share, V[ITS_TANGENT, k])
            move(V[ITS_TANGENT, k], params.gamma, dnews, x)
        move(V[SUM, k], 1.0, news, x)
    if params.gamma != 1.0:
        for each in range(m):
            _fade(table.dg[each], params.gamma)


@inline_jit
def saga_step(
    V: Vector, numbers: Vector, sample: Sample, context: StepContext, params: StepParams
) -> None:
    """One step of SAGA."""
    _table_step(V, numbers, sample, context, params, False)


@inline_jit
def sag_step(
    V: Vector, numbers: Vector, sample: Sample, context: StepContext, params: StepParams
) -> None:
    """One step of SAG."""
    _table_step(V, numbers, sample, context, params, True)


TABLE = Parameter(
    "table", "how many of the last samples are kept", "whole", 32, 1, 10_000, example=5
)
SAGA = Base(
    name="saga",
    summary="stochastic gradient steadied by a table of the last samples, not damped",
    step=saga_step,
    rows=2,
    numbers=size,
    parameter=TABLE,
)
SAG = Base(
    name="sag",
    summary="along the average gradient of a table of the last samples, not damped",
    step=sag_step,
    rows=2,
    numbers=size,
    parameter=TABLE,
)
