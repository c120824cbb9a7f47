"""The kernels that go through a block of samples: learning from it, and predicting it.

One by one, in blocks or as a stream, samples go through this one loop, so the results agree to the
last bit. Every algorithm has a copy of it with its own step compiled in, so that none is slowed
down by another.

The loop does not look out for infinity and NaN. Every step adds to what was there, so a number of
the state that stops being finite stays so, or passes it on to θ, and one look at the end of a block
is enough; what is done about it is `llr.stepper`'s business.

A large block gives up the GIL. A sample alone does not: to get the GIL back from a busy thread in
the middle of a request takes longer than to learn it.
"""

from collections.abc import Callable
from typing import Any

from llr import models
from llr.compiled import (
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
    kernel,
    part,
    with_parts,
)
from llr.layout import COMPARE, LOSS, MODEL, MORE, NEXT, OF_MODEL, REGRET, STRIDE, THETA, T
from llr.present import expect, gathered, scatter
from llr.recorder import record, widen, widen_numbers
from llr.scans import refused
from llr.schedule import damping
from llr.slope import Sample, Slope
from llr.types import Counts, Vector
from llr.vectors import dot, probe
from llr.views import release_gil, shaped, take_gil

FEW = 4096
"""Numbers to go through up to which the GIL is kept: a few microseconds."""

LEARN = TRUTH(
    COUNTS,
    VECTOR,
    READ_MATRIX,
    READ_COUNTS,
    READ_COUNTS,
    READ_COUNTS,
    READ_VECTOR,
    VECTOR,
    CUBE,
    VECTOR,
    COUNTS,
    VECTOR,
    MATRIX,
    MATRIX,
    MATRIX,
    VECTOR,
    MATRIX,
    VECTOR,
)

PREDICT = NOTHING(
    INT, REAL, INT, READ_MATRIX, READ_COUNTS, READ_COUNTS, CUBE, VECTOR, MATRIX, VECTOR, MATRIX
)


@part
def release(numbers: int) -> int:
    """Give up the GIL if there are so many numbers to go through; returns what takes it back."""
    return release_gil() if numbers > FEW else 0


@part
def reacquire(thread: int, result: bool) -> bool:
    """Take the GIL back if it was given up, and pass on the result."""
    if thread != 0:
        take_gil(thread)
    return result


@part
def settled(model: int, V: Vector, scalars: Vector) -> None:
    """θ is where it belongs after every step."""


@part
def linear(V: Vector, scalars: Vector, x: Vector, s: Vector, room: Vector) -> None:
    """Fill the scores θ·x."""
    for k in range(s.size):
        s[k] = dot(V[THETA, k], x)


@part
def as_judged(scalars: Vector, slope: Slope, loss: float) -> float:
    """Drift shows in the loss itself."""
    return loss


def of_step(
    name: str,
    step: Callable[..., Any],
    settle: Callable[..., None] = settled,
    watched: Callable[..., float] = as_judged,
) -> Kernel:
    """The kernel that learns from a block by this step.

    Args:
        name: a name for it that no other kernel has.
        step: compiled; (own, V, scalars, sample, slope) → the loss. It moves V and scalars, and
            leaves the scores of the sample before the step in `slope.s`.
        settle: compiled; (model, V, scalars), called before anybody looks at θ.
        watched: compiled; (scalars, slope, loss) → the loss in which drift shows.
    """
    parts = {"step": step, "settle": settle, "watched": watched}
    if settle is not settled:  # θ is not written at every step: its range is that of the points
        parts["follow"] = widen_numbers
    return kernel(LEARN, long=False)(with_parts(_learn, f"learn_{name}", **parts))


def of_score(name: str, score: Callable[..., None]) -> Kernel:
    """The kernel that predicts a block by these scores.

    Args:
        name: a name for it that no other kernel has.
        score: compiled; (V, scalars, x, s, room), fills the scores s of a sample.
    """
    return kernel(PREDICT, long=False)(with_parts(_predict, f"predict_{name}", score=score))


def step(own: Vector, V: Vector, scalars: Vector, sample: Sample, slope: Slope) -> float:
    """Stands for the step that `of_step` puts in its place."""
    raise NotImplementedError


follow = widen


def settle(model: int, V: Vector, scalars: Vector) -> None:
    """Stands for what `of_step` puts in its place."""
    raise NotImplementedError


def watched(scalars: Vector, slope: Slope, loss: float) -> float:
    """Stands for what `of_step` puts in its place."""
    raise NotImplementedError


def score(V: Vector, scalars: Vector, x: Vector, s: Vector, room: Vector) -> None:
    """Stands for what `of_score` puts in its place."""
    raise NotImplementedError


def _learn(
    choice: Counts,
    own: Vector,
    X: Vector,
    starts: Counts,
    columns: Counts,
    shown: Counts,
    y: Vector,
    schedule: Vector,
    V: Vector,
    scalars: Vector,
    counts: Counts,
    statistics: Vector,
    history: Vector,
    since: Vector,
    S: Vector,
    room: Vector,
    predictions: Vector,
    excess: Vector,
) -> bool:
    """Learn from the rows of X and y, in order; whether every number of the state is finite then.

    It is False as well if there is a label that may not be learnt from; then nothing is learnt.
    `schedule` holds f(t) for each row, or nothing for the paper's. `S` and `room` are scratch.
    `predictions` receives what was predicted for each row before learning from it, unless it has
    no rows; `excess` its loss beyond the least that its label allows, unless it is empty. `history`
    has room for every point that falls due, `since` is the range since the last one.

    With `starts`, sample i has the values X[0, starts[i]:starts[i + 1]] in those `columns` of the
    table V, of `llr.present`, and the columns `shown` go into the history.
    """
    model, p, named, more = choice[MODEL], own[OF_MODEL], starts.size > 0, choice[MORE]
    thread = release(y.size * (V.size + statistics.size))
    if refused(model, p, y) >= 0:
        return reacquire(thread, False)
    slope = Slope(model, p, S[0], S[1], S[2], S[3], S[4], S[5], S[6], S, room)
    begin, origin, rows, W = 0, 0, X, V
    while begin < y.size:
        end = min(y.size, begin + counts[NEXT] - counts[T])
        if named:
            first, last = starts[begin], starts[begin + 1]
            origin, end = begin, begin + 1
            rows = shaped(X[0][first:last], (1, last - first))
            W = gathered(V, more, columns[first:last], room)
            if end < y.size:
                expect(V, columns[last : starts[end + 1]])
        for i in range(begin, end):
            x, t = rows[i - origin], counts[T]
            f = schedule[i] if schedule.size > 0 else damping(t)
            loss = step(own, W, scalars, Sample(x, y[i], t, 1.0 / f), slope)
            scalars[LOSS] += loss
            follow(named, since, scalars, W)
            if excess.size > 0:
                seen = watched(scalars, slope, loss)
                excess[i] = max(seen - models.least(model, y[i], p), 0.0)
            if choice[COMPARE] != 0:
                scalars[REGRET] += loss - models.observe(model, statistics, room, x, y[i], t)
            if predictions.shape[0] > 0:
                models.mean(model, slope.s, p, predictions[i])
            counts[T] = t + 1
        if named:
            scatter(W, columns[first:last], V)
        begin = end
        if counts[T] == counts[NEXT]:
            counts[NEXT] += counts[STRIDE]
            if named:
                W = gathered(V, more, shown, room)
            settle(model, W, scalars)
            record(history, counts, scalars, since, W)
    if named:
        W = gathered(V, more, columns[:0], room)
    settle(model, W, scalars)
    finite = probe(shaped(V, (V.size,))) + probe(scalars) + probe(statistics) == 0.0
    return reacquire(thread, finite)


def _predict(
    model: int,
    p: float,
    more: int,
    X: Vector,
    starts: Counts,
    columns: Counts,
    V: Vector,
    scalars: Vector,
    S: Vector,
    room: Vector,
    out: Vector,
) -> None:
    """out[i] = the prediction for row i of X on the natural scale, per score."""
    thread = release(X.size * out.shape[1])
    s = S[0]
    for i in range(out.shape[0]):
        if starts.size > 0:
            first, last = starts[i], starts[i + 1]
            x, W = X[0][first:last], gathered(V, more, columns[first:last], room)
        else:
            x, W = X[i], V
        score(W, scalars, x, s, room)
        models.mean(model, s, p, out[i])
    reacquire(thread, True)


predict = of_score("linear", linear)
