"""Judging and learning a sample of a model with a score per class: `single`, class by class."""

from llr import models
from llr.auto import clipping, expert_weights, step_size, updates
from llr.auto.layout import (
    ADAPTIVE,
    AGGRESSIVE,
    AVERAGED,
    EACH,
    FIRST,
    HEFT,
    IN_ADAPTIVE,
    IN_AGGRESSIVE,
    IN_AVERAGED,
    INTERCEPT_ONLY,
    NOISE,
    OF_ADAPTIVE,
    OF_AGGRESSIVE,
    OF_AVERAGED,
    OF_TANGENT,
    RAW,
    S_ADAPTIVE,
    S_AGGRESSIVE,
    S_AVERAGED,
    S_INTERCEPT_ONLY,
)
from llr.auto.mixture import mixture
from llr.auto.preconditioner import Heading, aim
from llr.auto.preconditioner import heading as heading_of
from llr.kernels.jit import inline_jit, jit
from llr.kernels.layout import H, Sample, StepContext
from llr.kernels.vectors import dots
from llr.models import implicit
from llr.types import Vector


@inline_jit
def learn(
    V: Vector,
    scalars: Vector,
    sample: Sample,
    context: StepContext,
    centre: Vector,
    inverse: Vector,
    u: Vector,
    scale: float,
    intercept: bool,
    weight: float,
    constant: bool,
) -> float:
    """Predict, judge the predictors, move them; returns the loss of the prediction."""
    q, offset = aim(sample.x, centre, inverse, scale, u)
    heading = heading_of(u, q, offset, intercept)
    _score(V, scalars, sample, context)
    loss = _loss(sample, context, context.s)
    _judge(scalars, sample, context, loss)
    if constant:
        _move_constant(scalars, sample, context)
    else:
        _forget_constant(scalars, context.s.size)
    if heading.q > 0.0:
        _move(V, scalars, sample, context, heading, weight)
    return loss


@inline_jit
def _score(V: Vector, scalars: Vector, sample: Sample, context: StepContext) -> None:
    """Every learner's scores, within bounds, and their mixture, which is the prediction."""
    S, x = context.rows, sample.x
    for k in range(V.shape[1]):
        at = FIRST + EACH * k
        adaptive, sigma = dots(V[ADAPTIVE, k], V[H, k], x)
        aggressive, mean = dots(V[AGGRESSIVE, k], V[AVERAGED, k], x)
        context.sigma[k] = sigma + scalars[at + OF_TANGENT]
        S[S_ADAPTIVE, k] = adaptive + scalars[at + OF_ADAPTIVE]
        S[S_AGGRESSIVE, k] = aggressive + scalars[at + OF_AGGRESSIVE]
        S[S_AVERAGED, k] = mean + scalars[at + OF_AVERAGED]
        if sample.t == 0:
            scalars[at + INTERCEPT_ONLY] = S[S_AVERAGED, k]
        S[S_INTERCEPT_ONLY, k] = scalars[at + INTERCEPT_ONLY]
        S[IN_ADAPTIVE, k] = clipping.within(scalars, context.model, S[S_ADAPTIVE, k])
        S[IN_AGGRESSIVE, k] = clipping.within(scalars, context.model, S[S_AGGRESSIVE, k])
        S[IN_AVERAGED, k] = clipping.within(scalars, context.model, S[S_AVERAGED, k])
        context.s[k] = mixture(
            scalars,
            S[IN_AVERAGED, k],
            S[IN_ADAPTIVE, k],
            S[IN_AGGRESSIVE, k],
            S[S_INTERCEPT_ONLY, k],
        )
        S[RAW, k] = mixture(
            scalars, S[S_AVERAGED, k], S[S_ADAPTIVE, k], S[S_AGGRESSIVE, k], S[S_INTERCEPT_ONLY, k]
        )


@inline_jit
def _judge(scalars: Vector, sample: Sample, context: StepContext, loss: float) -> None:
    """Move votes and trust by the losses on this sample, whose unit is known."""
    S = context.rows
    expert_weights.count(
        scalars,
        1.0,
        _loss(sample, context, S[IN_AVERAGED]),
        _loss(sample, context, S[IN_ADAPTIVE]),
        _loss(sample, context, S[IN_AGGRESSIVE]),
        _loss(sample, context, S[S_INTERCEPT_ONLY]),
    )
    held = False
    for k in range(context.s.size):
        held = held or S[RAW, k] != context.s[k]
    if held:
        clipping.judge(scalars, _loss(sample, context, S[RAW]) - loss)


@inline_jit
def _move_constant(scalars: Vector, sample: Sample, context: StepContext) -> None:
    """The constant's own step: residual over all the weight so far, which averages."""
    scores, g, bend = context.rows[S_INTERCEPT_ONLY], context.other, context.g_other
    _residual(sample, context, scores, g)
    _weight(sample, context, scores, scalars[NOISE], bend)
    for k in range(scores.size):
        at = FIRST + EACH * k
        if sample.t == 0:  # a sample not seen counts as one
            scalars[at + HEFT] = bend[k]
        scalars[at + HEFT] += bend[k]
        scalars[at + INTERCEPT_ONLY] += g[k] / scalars[at + HEFT]


@inline_jit
def _forget_constant(scalars: Vector, scores: int) -> None:
    for k in range(scores):
        scalars[FIRST + EACH * k + INTERCEPT_ONLY] = 0.0


@inline_jit
def _move(
    V: Vector,
    scalars: Vector,
    sample: Sample,
    context: StepContext,
    heading: Heading,
    weight: float,
) -> None:
    """Learn η, then move adaptive, tangent, aggressive and mean of every class."""
    y, model, p, s = sample.y, context.model, context.p, context.rows[S_ADAPTIVE]
    k, dk, g, bend = context.g, context.g_h, context.other, context.g_other
    _weight(sample, context, context.s, scalars[NOISE], bend)
    average, lam = 0.0, 0.0
    _residual(sample, context, s, g)
    for j in range(s.size):
        average += bend[j] / s.size
        lam += g[j] * context.sigma[j]
        context.q[j] = heading.q
    unit = step_size.unit(scalars, weight, average, heading.q)
    r = step_size.advance(scalars, weight, sample.w, lam, unit)
    _implicit(model, s, context.q, r * sample.importance, y, p, context.sigma, k, dk)
    _residual(sample, context, context.s, g)
    portions = updates.portions(V, scalars, context.room)
    for j in range(s.size):
        ahead = context.s[j] - context.rows[S_AGGRESSIVE, j]
        run = updates.run(unit, g[j], bend[j], ahead, heading.q)
        updates.move(V, scalars, j, heading, k[j], dk[j], run, portions)


@jit
def _loss(sample: Sample, context: StepContext, s: Vector) -> float:
    return float(sample.importance * models.loss(context.model, s, sample.y, context.p))


@jit
def _residual(sample: Sample, context: StepContext, s: Vector, out: Vector) -> None:
    models.residual(context.model, s, sample.y, context.p, out)
    for k in range(out.size):
        out[k] *= sample.importance


@jit
def _weight(sample: Sample, context: StepContext, s: Vector, noise: float, out: Vector) -> None:
    models.weight(context.model, s, sample.y, context.p, noise / sample.importance, out)
    for k in range(out.size):
        out[k] *= sample.importance


@jit
def _implicit(
    model: int,
    s: Vector,
    q: Vector,
    r: float,
    y: float,
    p: float,
    sigma: Vector,
    k: Vector,
    dk: Vector,
) -> None:
    implicit.solve_each(model, s, q, r, y, p, k)
    implicit.tangent_each(model, s, q, r, y, p, sigma, k, dk)
