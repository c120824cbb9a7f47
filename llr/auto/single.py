"""Judging and learning a sample of a model with one score: every number stays in a register."""

from llr.auto import clipping, expert_weights, step_size, updates
from llr.auto.expert_losses import Opinion, Scores, opinion
from llr.auto.layout import (
    ADAPTIVE,
    AGGRESSIVE,
    AVERAGED,
    FIRST,
    HEFT,
    INTERCEPT_ONLY,
    NOISE,
    OF_ADAPTIVE,
    OF_AGGRESSIVE,
    OF_AVERAGED,
    OF_TANGENT,
)
from llr.auto.mixture import mixture
from llr.auto.preconditioner import heading as heading_of
from llr.kernels.jit import inline_jit, jit, simd_loop
from llr.kernels.layout import H, Sample, StepContext
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
    measured: bool,
) -> float:
    """Predict, judge the predictors, move them; returns the loss of the prediction."""
    x, y, model, p = sample.x, sample.y, context.model, context.p
    q, offset, adaptive, sigma, aggressive, mean = _aim_and_score(
        x,
        centre,
        inverse,
        scale,
        u,
        V[ADAPTIVE, 0],
        V[H, 0],
        V[AGGRESSIVE, 0],
        V[AVERAGED, 0],
    )
    heading = heading_of(u, q, offset, intercept)
    adaptive += scalars[FIRST + OF_ADAPTIVE]
    sigma += scalars[FIRST + OF_TANGENT]
    aggressive += scalars[FIRST + OF_AGGRESSIVE]
    mean += scalars[FIRST + OF_AVERAGED]
    if sample.t == 0:
        scalars[FIRST + INTERCEPT_ONLY] = mean
    s = _scores(scalars, model, mean, adaptive, aggressive)
    context.s[0] = s.all
    says = opinion(model, s, y, p, sample.importance, scalars[NOISE])
    _judge(scalars, sample.t, measured, s, says)
    if constant:
        _move_constant(scalars, sample.t, measured, says)
    else:
        scalars[FIRST + INTERCEPT_ONLY] = 0.0
    if heading.q > 0.0:
        unit = step_size.unit(scalars, weight, says.bend, heading.q)
        r = step_size.advance(scalars, weight, sample.w, says.g_path * sigma, unit)
        k, w = _implicit(model, adaptive, heading.q, r * sample.importance, y, p)
        dk = implicit.tangent(k, w, heading.q, sigma)
        run = updates.run(unit, says.g, says.bend, s.all - aggressive, heading.q)
        updates.move(V, scalars, 0, heading, k, dk, run, updates.portions(V, scalars, context.room))
    return says.all


@simd_loop
def _aim_and_score(
    x: Vector,
    centre: Vector,
    inverse: Vector,
    scale: float,
    u: Vector,
    adaptive: Vector,
    tangent: Vector,
    aggressive: Vector,
    mean: Vector,
) -> tuple[float, float, float, float, float, float]:
    """`llr.auto.preconditioner.aim`, and the scores of all experts, in one pass."""
    q, offset, of_adaptive, of_tangent, of_aggressive, of_mean = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(x.size):
        z = x[i] - centre[i]
        u[i] = scale * (z * inverse[i])
        q += u[i] * z
        offset += u[i] * centre[i]
        of_adaptive += adaptive[i] * x[i]
        of_tangent += tangent[i] * x[i]
        of_aggressive += aggressive[i] * x[i]
        of_mean += mean[i] * x[i]
    return q, offset, of_adaptive, of_tangent, of_aggressive, of_mean


@inline_jit
def _scores(scalars: Vector, model: int, mean: float, adaptive: float, aggressive: float) -> Scores:
    constant = scalars[FIRST + INTERCEPT_ONLY]
    in_mean = clipping.within(scalars, model, mean)
    in_adaptive = clipping.within(scalars, model, adaptive)
    in_aggressive = clipping.within(scalars, model, aggressive)
    together = mixture(scalars, in_mean, in_adaptive, in_aggressive, constant)
    raw = mixture(scalars, mean, adaptive, aggressive, constant)
    return Scores(in_mean, in_adaptive, in_aggressive, constant, together, raw, adaptive)


@inline_jit
def _judge(scalars: Vector, t: int, measured: bool, s: Scores, says: Opinion) -> None:
    """Move votes and trust by the losses on this sample."""
    unit = 1.0
    if not measured:
        unit = expert_weights.noise(scalars, t, min(says.mean, says.adaptive) - says.least)
    expert_weights.count(scalars, unit, says.mean, says.adaptive, says.aggressive, says.constant)
    if s.raw != s.all and unit > 0.0:
        clipping.judge(scalars, (says.raw - says.all) / unit)


@inline_jit
def _move_constant(scalars: Vector, t: int, measured: bool, says: Opinion) -> None:
    """The constant's own step: residual over all the weight so far, which averages."""
    if t == 0 and measured:  # a sample not seen counts as one
        scalars[FIRST + HEFT] = says.bend_constant
    scalars[FIRST + HEFT] += says.bend_constant
    scalars[FIRST + INTERCEPT_ONLY] += says.g_constant / scalars[FIRST + HEFT]


@jit
def _implicit(model: int, s: float, q: float, r: float, y: float, p: float) -> tuple[float, float]:
    return implicit.solve(model, s, q, r, y, p)  # type: ignore[no-any-return]
