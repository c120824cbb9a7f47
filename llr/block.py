"""The kernels that go through a block of samples: learning from it, and predicting it.

One by one, in blocks or as a stream, samples go through this one loop, so the results agree to the
last bit. Every algorithm has a copy of it with its own step compiled in, so that none is slowed
down by another.

The loop does not look out for infinity and NaN. Every step adds to what was there, so a number of
the state that stops being finite stays so, or passes it on to θ, and one look at the end of a block
is enough (`llr.stepper`).
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
    READ_MATRIX,
    READ_VECTOR,
    REAL,
    VECTOR,
    Kernel,
    kernel,
    part,
    with_parts,
)
from llr.layout import COMPARE, LOSS, MODEL, NEXT, OF_MODEL, REGRET, STRIDE, THETA, T
from llr.recorder import record
from llr.schedule import damping
from llr.slope import Sample, Slope
from llr.types import Counts, Vector
from llr.vectors import dot

LEARN = NOTHING(
    COUNTS,
    VECTOR,
    READ_MATRIX,
    READ_VECTOR,
    VECTOR,
    CUBE,
    VECTOR,
    COUNTS,
    VECTOR,
    MATRIX,
    MATRIX,
    VECTOR,
    MATRIX,
    VECTOR,
)

PREDICT = NOTHING(INT, REAL, READ_MATRIX, CUBE, VECTOR, MATRIX, MATRIX)


@part
def settled(model: int, V: Vector, scalars: Vector) -> None:
    """θ is where it belongs after every step."""


def of_step(name: str, step: Callable[..., Any], settle: Callable[..., None] = settled) -> Kernel:
    """The kernel that learns from a block by this step.

    Args:
        name: a name for it that no other kernel has.
        step: compiled; (own, V, scalars, sample, slope) → the loss. It moves V and scalars, and
            leaves the scores of the sample before the step in `slope.s`.
        settle: compiled; (model, V, scalars), called before anybody looks at θ.
    """
    return kernel(LEARN)(with_parts(_learn, f"learn_{name}", step=step, settle=settle))


def step(own: Vector, V: Vector, scalars: Vector, sample: Sample, slope: Slope) -> float:
    """Stands for the step that `of_step` puts in its place."""
    raise NotImplementedError


def settle(model: int, V: Vector, scalars: Vector) -> None:
    """Stands for what `of_step` puts in its place."""
    raise NotImplementedError


def _learn(
    choice: Counts,
    own: Vector,
    X: Vector,
    y: Vector,
    schedule: Vector,
    V: Vector,
    scalars: Vector,
    counts: Counts,
    statistics: Vector,
    history: Vector,
    S: Vector,
    room: Vector,
    predictions: Vector,
    losses: Vector,
) -> None:
    """Learn from the rows of X and y, in order.

    `schedule` holds f(t) for each row, or nothing for the paper's. `S` and `room` are scratch.
    `predictions` receives what was predicted for each row before learning from it, unless it has
    no rows; `losses` its loss, unless it is empty. `history` has room for every
    point that falls due.
    """
    model, p = choice[MODEL], own[OF_MODEL]
    slope = Slope(model, p, S[0], S[1], S[2], S[3], S[4], S[5], S[6], S, room)
    for i in range(y.size):
        t = counts[T]
        f = schedule[i] if schedule.size > 0 else damping(t)
        loss = step(own, V, scalars, Sample(X[i], y[i], t, 1.0 / f), slope)
        scalars[LOSS] += loss
        if losses.size > 0:
            losses[i] = loss
        if choice[COMPARE] != 0:
            scalars[REGRET] += loss - models.observe(model, statistics, room, X[i], y[i], t)
        if predictions.shape[0] > 0:
            models.mean(model, slope.s, p, predictions[i])
        counts[T] = t + 1
        if t + 1 == counts[NEXT]:
            counts[NEXT] += counts[STRIDE]
            settle(model, V, scalars)
            record(history, counts, t + 1, scalars, V)
    settle(model, V, scalars)


@kernel(PREDICT)
def predict(
    model: int, p: float, X: Vector, V: Vector, scalars: Vector, S: Vector, out: Vector
) -> None:
    """out[i] = the prediction for row i of X on the natural scale, per score."""
    s = S[0]
    for i in range(X.shape[0]):
        for k in range(s.size):
            s[k] = dot(V[THETA, k], X[i])
        models.mean(model, s, p, out[i])
