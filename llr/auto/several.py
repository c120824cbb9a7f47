"""Judging and learning a sample of a model with a score per class: `single`, class by class."""

from llr import implicit, models
from llr.auto import bounds, pace, path, vote
from llr.auto.mixture import mixture
from llr.auto.places import (
    CONSTANT,
    EACH,
    FIRST,
    HEFT,
    IN_MEAN,
    IN_RUNNER,
    IN_WALKER,
    MEAN,
    NOISE,
    OF_MEAN,
    OF_RUNNER,
    OF_TANGENT,
    OF_WALKER,
    RAW,
    RUNNER,
    S_CONSTANT,
    S_MEAN,
    S_RUNNER,
    S_WALKER,
    WALKER,
)
from llr.auto.scale import Heading, aim
from llr.auto.scale import heading as heading_of
from llr.compiled import apart, part
from llr.layout import H
from llr.slope import Sample, Slope
from llr.types import Vector
from llr.vectors import dots


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
) -> float:
    """Predict, judge the predictors, move them; returns the loss of the prediction."""
    q, offset = aim(sample.x, centre, inverse, scale, u)
    heading = heading_of(u, q, offset, intercept)
    _score(V, scalars, sample, slope)
    loss = _loss(slope.model, slope.s, sample.y, slope.p)
    _judge(scalars, sample, slope, loss)
    if constant:
        _move_constant(scalars, sample, slope)
    else:
        _forget_constant(scalars, slope.s.size)
    if heading.q > 0.0:
        _move(V, scalars, sample, slope, heading, weight)
    return loss


@part
def _score(V: Vector, scalars: Vector, sample: Sample, slope: Slope) -> None:
    """Every learner's scores, within bounds, and their mixture, which is the prediction."""
    S, x = slope.rows, sample.x
    for k in range(V.shape[1]):
        at = FIRST + EACH * k
        walker, sigma = dots(V[WALKER, k], V[H, k], x)
        runner, mean = dots(V[RUNNER, k], V[MEAN, k], x)
        slope.sigma[k] = sigma + scalars[at + OF_TANGENT]
        S[S_WALKER, k] = walker + scalars[at + OF_WALKER]
        S[S_RUNNER, k] = runner + scalars[at + OF_RUNNER]
        S[S_MEAN, k] = mean + scalars[at + OF_MEAN]
        if sample.t == 0:
            scalars[at + CONSTANT] = S[S_MEAN, k]
        S[S_CONSTANT, k] = scalars[at + CONSTANT]
        S[IN_WALKER, k] = bounds.within(scalars, S[S_WALKER, k])
        S[IN_RUNNER, k] = bounds.within(scalars, S[S_RUNNER, k])
        S[IN_MEAN, k] = bounds.within(scalars, S[S_MEAN, k])
        slope.s[k] = mixture(
            scalars, S[IN_MEAN, k], S[IN_WALKER, k], S[IN_RUNNER, k], S[S_CONSTANT, k]
        )
        S[RAW, k] = mixture(scalars, S[S_MEAN, k], S[S_WALKER, k], S[S_RUNNER, k], S[S_CONSTANT, k])


@part
def _judge(scalars: Vector, sample: Sample, slope: Slope, loss: float) -> None:
    """Move votes and trust by the losses on this sample, whose unit is known."""
    S, y, model, p = slope.rows, sample.y, slope.model, slope.p
    vote.count(
        scalars,
        1.0,
        _loss(model, S[IN_MEAN], y, p),
        _loss(model, S[IN_WALKER], y, p),
        _loss(model, S[IN_RUNNER], y, p),
        _loss(model, S[S_CONSTANT], y, p),
    )
    held = False
    for k in range(slope.s.size):
        held = held or S[RAW, k] != slope.s[k]
    if held:
        bounds.judge(scalars, _loss(model, S[RAW], y, p) - loss)


@part
def _move_constant(scalars: Vector, sample: Sample, slope: Slope) -> None:
    """The constant's own step: residual over all the weight so far, which averages."""
    scores, g, bend = slope.rows[S_CONSTANT], slope.other, slope.g_other
    _residual(slope.model, scores, sample.y, slope.p, g)
    _weight(slope.model, scores, sample.y, slope.p, scalars[NOISE], bend)
    for k in range(scores.size):
        at = FIRST + EACH * k
        if sample.t == 0:  # a sample not seen counts as one
            scalars[at + HEFT] = bend[k]
        scalars[at + HEFT] += bend[k]
        scalars[at + CONSTANT] += g[k] / scalars[at + HEFT]


@part
def _forget_constant(scalars: Vector, scores: int) -> None:
    for k in range(scores):
        scalars[FIRST + EACH * k + CONSTANT] = 0.0


@part
def _move(
    V: Vector, scalars: Vector, sample: Sample, slope: Slope, heading: Heading, weight: float
) -> None:
    """Learn η, then move walker, tangent, runner and mean of every class."""
    y, model, p, s = sample.y, slope.model, slope.p, slope.rows[S_WALKER]
    k, dk, g, bend = slope.g, slope.g_h, slope.other, slope.g_other
    _weight(model, slope.s, y, p, scalars[NOISE], bend)
    average, lam = 0.0, 0.0
    _residual(model, s, y, p, g)
    for j in range(s.size):
        average += bend[j] / s.size
        lam += g[j] * slope.sigma[j]
        slope.q[j] = heading.q
    unit = pace.unit(scalars, weight, average, heading.q)
    r = pace.advance(scalars, weight, sample.w, lam, unit)
    _implicit(model, s, slope.q, r, y, p, slope.sigma, k, dk)
    _residual(model, slope.s, y, p, g)
    portions = path.portions(V, scalars, slope.room)
    for j in range(s.size):
        ahead = slope.s[j] - slope.rows[S_RUNNER, j]
        run = path.run(unit, g[j], bend[j], ahead, heading.q)
        path.move(V, scalars, j, heading, k[j], dk[j], run, portions)


@apart
def _loss(model: int, s: Vector, y: float, p: float) -> float:
    return models.loss(model, s, y, p)  # type: ignore[no-any-return]


@apart
def _residual(model: int, s: Vector, y: float, p: float, out: Vector) -> None:
    models.residual(model, s, y, p, out)


@apart
def _weight(model: int, s: Vector, y: float, p: float, noise: float, out: Vector) -> None:
    models.weight(model, s, y, p, noise, out)


@apart
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
