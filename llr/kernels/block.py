"""The kernels that go through a block of samples: learning from it, and predicting it.

One by one, in blocks or as a stream, samples go through this one loop, so the results agree to the
last bit. Every algorithm has a copy of it with its own step compiled in, so that none is slowed
down by another.

The loop does not look out for infinity and NaN. Every step adds to what was there, so a number of
the state that stops being finite stays so, or passes it on to θ, and one look at the end of a block
is enough; what is done about it is `llr.kernels.runner`'s business. Only losses and the regret are
held at the largest float64 (R16).

A large block gives up the GIL. A sample alone does not: to get the GIL back from a busy thread in
the middle of a request takes longer than to learn it.
"""

import math
import sys
from collections.abc import Callable
from typing import Any

from llr import models
from llr.history import record, widen, widen_numbers
from llr.intervals import calibrate
from llr.kernels.intrinsics import release_gil, shaped, take_gil
from llr.kernels.jit import (
    COUNTS,
    CUBE,
    INT,
    MATRIX,
    NOTHING,
    READ_COUNTS,
    READ_MATRIX,
    READ_VECTOR,
    REAL,
    TRUTH,
    VECTOR,
    Kernel,
    inline_jit,
    kernel,
    specialize,
)
from llr.kernels.layout import (
    COMPARE,
    LOSS,
    MODEL,
    MORE,
    NEXT,
    OF_MODEL,
    REGRET,
    SILENT,
    STRIDE,
    THETA,
    Sample,
    StepContext,
    T,
)
from llr.kernels.validation import not_weights, refused
from llr.kernels.vectors import dot, gather, prefetch, probe, scatter
from llr.metrics import WATCHED, track
from llr.types import Counts, Vector

LIGHTEST = 1e-100
"""A weight below this counts as 0: 1/w has to stay far from the largest float64."""

NONE = -1.0
"""The excess of a sample that is not to be watched."""

LARGEST = sys.float_info.max
"""What a loss or a regret beyond float64 counts as: θ may be finite where its square is not."""

FEW = 4096
"""Numbers to go through up to which the GIL is kept: a few microseconds."""

LEARN = TRUTH(
    COUNTS,
    VECTOR,
    READ_MATRIX,
    READ_COUNTS,
    READ_COUNTS,
    READ_COUNTS,
    READ_COUNTS,
    READ_VECTOR,
    READ_VECTOR,
    MATRIX,
    CUBE,
    VECTOR,
    COUNTS,
    VECTOR,
    VECTOR,
    VECTOR,
    MATRIX,
    MATRIX,
    MATRIX,
    VECTOR,
    MATRIX,
    VECTOR,
)

PREDICT = NOTHING(
    INT,
    REAL,
    INT,
    READ_MATRIX,
    READ_COUNTS,
    READ_COUNTS,
    READ_COUNTS,
    CUBE,
    VECTOR,
    MATRIX,
    VECTOR,
    MATRIX,
)


@inline_jit
def release(numbers: int) -> int:
    """Give up the GIL if there are so many numbers to go through; returns what takes it back."""
    return release_gil() if numbers > FEW else 0


@inline_jit
def reacquire(thread: int, result: bool) -> bool:
    """Take the GIL back if it was given up, and pass on the result."""
    if thread != 0:
        take_gil(thread)
    return result


@inline_jit
def held(loss: float, s: Vector) -> float:
    """A loss, or a sum of them, at most the largest float64 while the scores are finite."""
    return LARGEST if loss > LARGEST and probe(s) == 0.0 else loss


@inline_jit
def settled(model: int, V: Vector, scalars: Vector, columns: Counts, places: Counts) -> None:
    """θ is where it belongs after every step."""


@inline_jit
def linear(
    model: int,
    V: Vector,
    scalars: Vector,
    x: Vector,
    columns: Counts,
    places: Counts,
    s: Vector,
    room: Vector,
) -> float:
    """Fill the scores θ·x; the variance of the label is not known."""
    for k in range(s.size):
        s[k] = dot(V[THETA, k], x)
    return math.nan


@inline_jit
def as_judged(scalars: Vector, context: StepContext, loss: float) -> float:
    """Drift shows in the loss itself."""
    return loss


@inline_jit
def _tell(model: int, s: Vector, p: float, variance: float, out: Vector) -> None:
    """Fill a row with the prediction, and behind it the variance if there is a place for it."""
    models.mean(model, s, p, out)
    if out.size > s.size:
        out[s.size] = variance


def of_step(
    name: str,
    step: Callable[..., Any],
    settle: Callable[..., None] = settled,
    watched: Callable[..., float] = as_judged,
    score: Callable[..., float] = linear,
) -> Kernel:
    """The kernel that learns from a block by this step.

    Args:
        name: a name for it that no other kernel has.
        step: compiled; (own, V, scalars, sample, context) → the loss. It moves V and scalars, and
            leaves the scores of the sample before the step in `context.s`.
        settle: compiled; (model, V, scalars, columns, places), called before θ is read.
        watched: compiled; (scalars, context, loss) → the loss in which drift shows.
        score: compiled; what `of_score` takes, for samples of weight 0.
    """
    functions = {"step": step, "settle": settle, "watched": watched, "score": score}
    if settle is not settled:  # θ is not written at every step: its range is that of the points
        functions["follow"] = widen_numbers
    return kernel(LEARN, long=False)(specialize(_learn, f"learn_{name}", **functions))


def of_score(name: str, score: Callable[..., float]) -> Kernel:
    """The kernel that predicts a block by these scores.

    Args:
        name: a name for it that no other kernel has.
        score: compiled; (model, V, scalars, x, columns, places, s, room), fills the scores s of a
            sample and returns the variance of its label, NaN if that is not known.
    """
    return kernel(PREDICT, long=False)(specialize(_predict, f"predict_{name}", score=score))


# globals of `_learn` and `_predict`: `of_step` and `of_score` replace them in each copy
settle, watched, score, follow = settled, as_judged, linear, widen


def step(own: Vector, V: Vector, scalars: Vector, sample: Sample, context: StepContext) -> float:
    """Judge a sample and move nothing; `of_step` puts the step of an algorithm in its place."""
    x, columns, places = sample.x, sample.columns, sample.places
    linear(context.model, V, scalars, x, columns, places, context.s, context.room)
    loss: float = models.loss(context.model, context.s, sample.y, context.p)
    return sample.importance * loss


def _learn(  # noqa: PLR0912, PLR0915 - one loop: numbers stay in registers
    choice: Counts,
    own: Vector,
    X: Vector,
    starts: Counts,
    columns: Counts,
    shown: Counts,
    places: Counts,
    y: Vector,
    weights: Vector,
    schedule: Vector,
    V: Vector,
    scalars: Vector,
    counts: Counts,
    statistics: Vector,
    calibration: Vector,
    metrics: Vector,
    history: Vector,
    since: Vector,
    S: Vector,
    room: Vector,
    predictions: Vector,
    excess: Vector,
) -> bool:
    """Learn from the rows of X and y, in order; whether every number of the state is finite then.

    It is False as well if there is a label or a weight that may not be learnt from; then nothing is
    learnt. `weights` holds the weight of each row, or nothing if all are 1: it multiplies the
    sample's ℓ, so its loss, gradient and curvature. A sample of weight 0 is predicted for and
    counted in t; nothing else of the state moves, not even what f(t) is taken of.
    `schedule` holds f(t) and μ(t) for each row, or nothing for the paper's (R1). `S` and `room` are
    scratch.
    `predictions` receives what was predicted for each row before learning from it, unless it has
    no rows, and in a last column, if it has one more, the variance of a label of weight 1;
    `excess` the loss beyond the least that the label allows, as if its weight were 1, or NONE if
    that is 0, unless it is empty. `history` has room for every point that falls due, `since` is
    the range since the last one.

    With `starts`, sample i has the values X[0, starts[i]:starts[i + 1]] in those `columns` of the
    table V, of `llr.kernels.vectors`, and the columns `shown` go into the history; `places` says
    which column of the whole state each column of V is.
    """
    model, p, named, more = choice[MODEL], own[OF_MODEL], starts.size > 0, choice[MORE]
    thread = release(y.size * (V.size + statistics.size))
    if refused(model, p, y) >= 0 or not_weights(weights) >= 0:
        return reacquire(thread, False)
    context = StepContext(model, p, S[0], S[1], S[2], S[3], S[4], S[5], S[6], S[7], S, room)
    context.variance[0] = math.nan
    begin, origin, rows, W, here = 0, 0, X, V, columns[:0]
    while begin < y.size:
        end = min(y.size, begin + counts[NEXT] - counts[T])
        if named:
            first, last = starts[begin], starts[begin + 1]
            origin, end, here = begin, begin + 1, columns[first:last]
            rows = shaped(X[0][first:last], (1, last - first))
            W = gather(V, more, columns[first:last], room)
            if end < y.size:
                prefetch(V, columns[last : starts[end + 1]])
        for i in range(begin, end):
            x, t = rows[i - origin], counts[T] - counts[SILENT]
            weight = weights[i] if weights.size > 0 else 1.0
            if weight >= LIGHTEST:
                w = 1.0 / (schedule[i, 0] if schedule.size > 0 else damping(t))
                rate = 1.0 / schedule[i, 1] if schedule.size > 0 else w
                sample = Sample(x, y[i], t, w, rate, weight, here, places)
                loss = held(step(own, W, scalars, sample, context), context.s)
                scalars[LOSS] = held(scalars[LOSS] + loss, context.s)
                follow(named, since, scalars, W)
                if excess.size > 0:
                    seen = watched(scalars, context, loss) / weight
                    excess[i] = max(seen - models.min_loss(model, y[i], p), 0.0)
                models.mean(model, context.s, p, context.g_other)
                misses = calibration[WATCHED]
                calibrate(model, calibration, context.g_other, y[i], context.variance[0])
                missed = calibration[WATCHED] - misses
                track(model, metrics, context.g_other, y[i], loss, missed)
                if choice[COMPARE] != 0:
                    best = models.observe(model, statistics, room, x, y[i], weight)
                    scalars[REGRET] = held(scalars[REGRET] + (loss - best), context.s)
            else:
                context.variance[0] = score(model, W, scalars, x, here, places, context.s, room)
                counts[SILENT] += 1
                if excess.size > 0:
                    excess[i] = NONE
            if predictions.shape[0] > 0:
                _tell(model, context.s, p, context.variance[0], predictions[i])
            counts[T] += 1
        if named:
            scatter(W, columns[first:last], V)
        begin = end
        if counts[T] == counts[NEXT]:
            counts[NEXT] += counts[STRIDE]
            if named:
                W = gather(V, more, shown, room)
            settle(model, W, scalars, shown, places)
            record(history, counts, scalars, since, metrics, W)
    if named:
        W = gather(V, more, columns[:0], room)
    settle(model, W, scalars, columns[:0], places)
    finite = probe(shaped(V, (V.size,))) + probe(scalars) + probe(statistics) == 0.0
    return reacquire(thread, finite)


def _predict(
    model: int,
    p: float,
    more: int,
    X: Vector,
    starts: Counts,
    columns: Counts,
    places: Counts,
    V: Vector,
    scalars: Vector,
    S: Vector,
    room: Vector,
    out: Vector,
) -> None:
    """out[i] = the prediction for row i of X on the natural scale, per score.

    If there is one more column, it receives the variance of the label.
    """
    thread = release(X.size * out.shape[1])
    s, here = S[0], columns[:0]
    for i in range(out.shape[0]):
        if starts.size > 0:
            first, last = starts[i], starts[i + 1]
            here = columns[first:last]
            x, W = X[0][first:last], gather(V, more, here, room)
        else:
            x, W = X[i], V
        variance = score(model, W, scalars, x, here, places, s, room)
        _tell(model, s, p, variance, out[i])
    reacquire(thread, True)


predict = of_score("linear", linear)


@inline_jit
def damping(t: int) -> float:
    """f(t), with the natural logarithm and t from 0."""
    return math.sqrt(t + 2.0) * math.log(t + 3.0)
