"""Judging and learning a sample of a model with one score: every number stays in a register."""

from llr import implicit
from llr.auto import bounds, pace, path, vote
from llr.auto.mixture import mixture
from llr.auto.opinion import Opinion, Scores, opinion
from llr.auto.places import (
    CONSTANT,
    FIRST,
    HEFT,
    MEAN,
    NOISE,
    OF_MEAN,
    OF_RUNNER,
    OF_TANGENT,
    OF_WALKER,
    RUNNER,
    WALKER,
)
from llr.auto.scale import heading as heading_of
from llr.compiled import apart, loop, part
from llr.layout import H
from llr.slope import Sample, Slope
from llr.types import Vector


@part
def learn(
    V: Vector,
    scalars: Vector,
    sample: Sample,
    slope: Slope,
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
    x, y, model, p = sample.x, sample.y, slope.model, slope.p
    q, offset, walker, sigma, runner, mean = _aim_and_score(
        x,
        centre,
        inverse,
        scale,
        u,
        V[WALKER, 0],
        V[H, 0],
        V[RUNNER, 0],
        V[MEAN, 0],
    )
    heading = heading_of(u, q, offset, intercept)
    walker += scalars[FIRST + OF_WALKER]
    sigma += scalars[FIRST + OF_TANGENT]
    runner += scalars[FIRST + OF_RUNNER]
    mean += scalars[FIRST + OF_MEAN]
    if sample.t == 0:
        scalars[FIRST + CONSTANT] = mean
    s = _scores(scalars, mean, walker, runner)
    slope.s[0] = s.all
    says = opinion(model, s, y, p, scalars[NOISE])
    _judge(scalars, sample.t, measured, s, says)
    if constant:
        _move_constant(scalars, sample.t, measured, says)
    else:
        scalars[FIRST + CONSTANT] = 0.0
    if heading.q > 0.0:
        unit = pace.unit(scalars, weight, says.bend, heading.q)
        r = pace.advance(scalars, weight, sample.w, says.g_path * sigma, unit)
        k, w = _implicit(model, walker, heading.q, r, y, p)
        dk = implicit.tangent(k, w, heading.q, sigma)
        run = path.run(unit, says.g, says.bend, s.all - runner, heading.q)
        path.move(V, scalars, 0, heading, k, dk, run, path.portions(V, scalars, slope.room))
    return says.all


@loop
def _aim_and_score(
    x: Vector,
    centre: Vector,
    inverse: Vector,
    scale: float,
    u: Vector,
    walker: Vector,
    tangent: Vector,
    runner: Vector,
    mean: Vector,
) -> tuple[float, float, float, float, float, float]:
    """`llr.auto.scale.aim`, and the scores of everybody, in one pass."""
    q, offset, of_walker, of_tangent, of_runner, of_mean = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(x.size):
        z = x[i] - centre[i]
        u[i] = scale * (z * inverse[i])
        q += u[i] * z
        offset += u[i] * centre[i]
        of_walker += walker[i] * x[i]
        of_tangent += tangent[i] * x[i]
        of_runner += runner[i] * x[i]
        of_mean += mean[i] * x[i]
    return q, offset, of_walker, of_tangent, of_runner, of_mean


@part
def _scores(scalars: Vector, mean: float, walker: float, runner: float) -> Scores:
    constant = scalars[FIRST + CONSTANT]
    in_mean = bounds.within(scalars, mean)
    in_walker = bounds.within(scalars, walker)
    in_runner = bounds.within(scalars, runner)
    together = mixture(scalars, in_mean, in_walker, in_runner, constant)
    raw = mixture(scalars, mean, walker, runner, constant)
    return Scores(in_mean, in_walker, in_runner, constant, together, raw, walker)


@part
def _judge(scalars: Vector, t: int, measured: bool, s: Scores, says: Opinion) -> None:
    """Move votes and trust by the losses on this sample."""
    unit = 1.0
    if not measured:
        unit = vote.noise(scalars, t, min(says.mean, says.walker) - says.least)
    vote.count(scalars, unit, says.mean, says.walker, says.runner, says.constant)
    if s.raw != s.all and unit > 0.0:
        bounds.judge(scalars, (says.raw - says.all) / unit)


@part
def _move_constant(scalars: Vector, t: int, measured: bool, says: Opinion) -> None:
    """The constant's own step: residual over all the weight so far, which averages."""
    if t == 0 and measured:  # a sample not seen counts as one
        scalars[FIRST + HEFT] = says.bend_constant
    scalars[FIRST + HEFT] += says.bend_constant
    scalars[FIRST + CONSTANT] += says.g_constant / scalars[FIRST + HEFT]


@apart
def _implicit(model: int, s: float, q: float, r: float, y: float, p: float) -> tuple[float, float]:
    return implicit.solve(model, s, q, r, y, p)  # type: ignore[no-any-return]
