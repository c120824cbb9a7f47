"""The past of a learner, bounded however long the stream is.

Every `stride`-th state is kept; when the room is full every other row goes and the stride doubles.
Whether a state is kept depends on its t alone, so the past is the same however the samples were
grouped. What happened between two rows is not lost: each has the range since the one before.

A row is t, log η, η, loss, regret, the recent loss, the recent mean of the model's first metric and
of its baseline, then coordinates of θ, then the least and the largest of η, of the loss and of θ's
first coordinates since the row before: what swings at every sample would not
show in every stride-th row. The range widens sample by sample where a step writes θ in place;
where θ is only written when somebody looks, its range is that of the rows.
"""

import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from llr.kernels.intrinsics import shaped
from llr.kernels.jit import inline_jit, jit, simd_loop
from llr.kernels.layout import ETA, LOG_ETA, LOSS, NEXT, POINTS, REGRET, STRIDE, THETA, T
from llr.metrics import BASE_MAIN, MAIN, SEEN
from llr.metrics import LOSS as RECENT_LOSS
from llr.metrics import NUMBERS as NUMBERS_OF_METRICS
from llr.types import Array, Counts, Vector

if TYPE_CHECKING:
    from llr.base import Numbers
    from llr.state import State

COLUMNS = 8
UNKNOWN = -1.0
"""The metrics of rows from before there were any samples, or metrics."""
RANGED = 8
"""Coordinates of θ whose range is kept."""
NUMBERS = 2
"""What has a range before them: η and the loss."""
CAPACITY = 512
COORDINATES = 64
FIRST_ROOM = 8
TINY = sys.float_info.min


class History(NamedTuple):
    """The past as columns, oldest first, the present last.

    A point also has the range of what happened since the one before: the least (`low`) and the
    largest (`high`) of log η, loss and θ.

    Attributes:
        t: samples learnt.
        log_eta: log η_t.
        eta: η_t.
        loss: cumulated loss.
        regret: cumulated regret against the running maximum likelihood, None if not compared.
        theta: the first coordinates of θ_t, at most 64, a row a point.
        log_eta_low, log_eta_high: the range of log η.
        loss_low, loss_high: the range of the cumulated loss.
        theta_low, theta_high: the range of θ's first 8 coordinates, NaN for the others. Where θ is
            only written when somebody looks (`auto`, and named features), that of the points.
        names: what those coordinates are called, None if features have no names.
        recent: the recent loss, NaN before the first sample.
        metric: the recent RMSE, or of classes the recent accuracy; NaN where it is not known.
        baseline: the same of the baseline of `llr.metrics`.
    """

    t: Counts
    log_eta: Vector
    eta: Vector
    loss: Vector
    regret: Vector | None
    theta: Vector
    log_eta_low: Vector
    log_eta_high: Vector
    loss_low: Vector
    loss_high: Vector
    theta_low: Vector
    theta_high: Vector
    recent: Vector
    metric: Vector
    baseline: Vector
    names: list[str] | None = None


def begin(vectors: Vector, scalars: Vector, counts: Counts) -> tuple[Vector, Vector]:
    """Room for the past, with the state before the first sample in it; and the range since."""
    since = np.repeat(ranged(vectors[THETA].ravel(), scalars), 2, axis=0)
    row = present(vectors[THETA].ravel(), scalars, counts, since, np.zeros(NUMBERS_OF_METRICS))
    room = np.zeros((FIRST_ROOM, row.size))
    room[0] = row
    counts[POINTS] = 1
    counts[NEXT] = counts[STRIDE]
    return room, since


def ranged(theta: Vector, scalars: Vector) -> Vector:
    """What has a range, as it is now: η, the loss, and θ's first coordinates; one row."""
    return np.concatenate((scalars[[ETA, LOSS]], theta[:RANGED]))[None]


def present(
    theta: Vector, scalars: Vector, counts: Counts, since: Vector, metrics: Vector
) -> Vector:
    """The row of the state as it is."""
    both = np.concatenate((since, ranged(theta, scalars)))
    numbers = scalars[[LOG_ETA, ETA, LOSS, REGRET]]
    return np.concatenate(
        (
            [float(counts[T])],
            numbers,
            _judged(metrics),
            theta[:COORDINATES],
            both.min(axis=0),
            both.max(axis=0),
        )
    )


def _judged(metrics: Vector) -> list[float]:
    """The recent loss and metrics of a row."""
    if not metrics[SEEN]:
        return [metrics.item(RECENT_LOSS), UNKNOWN, UNKNOWN]
    return [metrics.item(RECENT_LOSS), metrics.item(MAIN), metrics.item(BASE_MAIN)]


def used(state: "Numbers") -> Vector:
    """The rows of the past that are in use."""
    return state.history[: state.counts[POINTS]]


def is_sound(state: "Numbers", width: int) -> bool:
    """Whether the rows, of this width, and the counts can have come from learning t samples."""
    t, points, stride, due = (int(state.counts[c]) for c in (T, POINTS, STRIDE, NEXT))
    if t < 0 or points != len(state.history) or not 1 <= points <= CAPACITY:
        return False
    times = np.arange(points, dtype=np.float64) * stride
    if state.history.shape[1] != width or not np.array_equal(state.history[:, 0], times):
        return False
    power_of_two = stride >= 1 and stride & (stride - 1) == 0
    return power_of_two and due == points * stride and due - stride <= t < due


def width(coordinates: int) -> int:
    """How many numbers a row has where θ has so many."""
    sides, each = range_shape(coordinates)
    return COLUMNS + min(COORDINATES, coordinates) + sides * each


def range_shape(coordinates: int) -> tuple[int, int]:
    """The shape of a range where θ has so many: its two sides, and what has one."""
    return 2, NUMBERS + min(RANGED, coordinates)


def make_room(state: "State", n: int) -> tuple["State", int]:
    """A state with room for the points due in the next m samples, and m, at most n."""
    first = state.counts.item(NEXT) - state.counts.item(T)
    if n < first:
        return state, n
    if state.counts[POINTS] == CAPACITY:
        state = _thin(state)  # only when a point falls due: else it would depend on the grouping
    points, stride = int(state.counts[POINTS]), int(state.counts[STRIDE])
    due = 1 + (n - first) // stride
    if points + due > CAPACITY:
        due = CAPACITY - points
        n = first + (due - 1) * stride
    if points + due > len(state.history):
        rows = min(CAPACITY, max(2 * len(state.history), points + due))
        room = np.zeros((rows, state.history.shape[1]))
        room[:points] = used(state)
        state = state._replace(history=room)
    return state, n


def _thin(state: "State") -> "State":
    """Drop every other row, in a new array: the old one may still be looked at.

    What a row goes on to have happened since the one before it is what both say.
    """
    room, old = np.zeros_like(state.history), state.history
    kept, each = CAPACITY // 2, state.since.shape[1]
    room[:kept] = old[::2]
    for side, of_both in enumerate((np.minimum, np.maximum)):
        at = slice(-2 * each, -each) if side == 0 else slice(-each, None)
        room[1:kept, at] = of_both(old[1:-2:2, at], old[2::2, at])
        of_both(state.since[side], old[-1, at], out=state.since[side])
    state.counts[POINTS] = kept
    state.counts[STRIDE] *= 2
    return state._replace(history=room)


def forgotten(arrays: dict[str, Array]) -> dict[str, Array]:
    """`counts`, `history` and `since` with the first row alone; the next is kept at a power of two.

    The range of η and the loss since that row is the range of all rows that are gone. That of θ
    begins again: some algorithms know it at the rows only, and which those were must not show.
    """
    counts, rows, since = arrays["counts"].copy(), arrays["history"], arrays["since"]
    each, stride = since.shape[1], 1 << counts.item(T).bit_length()
    low, high = rows[:, -2 * each : -each], rows[:, -each:]
    sides = np.vstack((since[:1], low)).min(axis=0), np.vstack((since[1:], high)).max(axis=0)
    ranges = np.stack(sides)
    ranges[:, NUMBERS:] = low[0, NUMBERS:], high[0, NUMBERS:]
    counts[POINTS], counts[STRIDE], counts[NEXT] = 1, stride, stride
    return {"counts": counts, "history": rows[:1], "since": ranges}


def read(state: "State", compared: bool, classes: bool) -> History:
    """The past, ending with the present."""
    rows = used(state)
    if rows[-1, 0] != state.t:
        theta = state.vectors[THETA].ravel()
        now = present(theta, state.scalars, state.counts, state.since, state.metrics)
        rows = np.vstack((rows, now))
    return columns(rows, state.since.shape[1], compared, classes)


def columns(rows: Vector, each: int, compared: bool, classes: bool) -> History:
    """The rows as columns; `each` is how many numbers have a range."""
    t, log_eta, eta, loss, regret, recent, *judged = rows[:, :COLUMNS].T.copy()
    recent[t == 0.0] = np.nan
    metric, baseline = (np.where(one >= 0.0, one, np.nan) for one in judged)
    theta = rows[:, COLUMNS : -2 * each].copy()
    sides = rows[:, -2 * each : -each], rows[:, -each:]
    low, high = (np.full_like(theta, np.nan) for _ in sides)
    for side, of_theta in zip(sides, (low, high), strict=True):
        of_theta[:, : each - NUMBERS] = side[:, NUMBERS:]
    least, largest = (np.log(np.maximum(side[:, 0], TINY)) for side in sides)
    before = np.concatenate((log_eta[:1], log_eta[:-1]))  # log η itself, not the log of its exp
    return History(
        t.astype(np.int64),
        log_eta,
        eta,
        loss,
        regret if compared else None,
        theta,
        np.minimum(least, np.minimum(before, log_eta)),
        np.maximum(largest, np.maximum(before, log_eta)),
        sides[0][:, 1].copy(),
        sides[1][:, 1].copy(),
        low,
        high,
        recent,
        metric if classes else np.sqrt(metric),
        baseline if classes else np.sqrt(baseline),
    )


def before_dim(eta0: float, compared: bool, classes: bool) -> History:
    """The past of a learner that does not know its dim yet: the step size it starts with."""
    judged = 0.0, UNKNOWN, UNKNOWN
    row = np.array([[0.0, np.log(eta0), eta0, 0.0, 0.0, *judged, eta0, 0.0, eta0, 0.0]])
    return columns(row, NUMBERS, compared, classes)


@simd_loop
def _widen_each(low: Vector, high: Vector, values: Vector) -> None:
    for i in range(low.size):
        low[i] = values[i] if values[i] < low[i] else low[i]
        high[i] = values[i] if values[i] > high[i] else high[i]


@inline_jit
def widen_numbers(named: bool, since: Vector, scalars: Vector, V: Vector) -> None:  # noqa: ARG001
    """Take η and the loss into the range since the last row."""
    eta, loss = scalars[ETA], scalars[LOSS]
    since[0, 0], since[1, 0] = min(since[0, 0], eta), max(since[1, 0], eta)
    since[0, 1], since[1, 1] = min(since[0, 1], loss), max(since[1, 1], loss)


@inline_jit
def widen(named: bool, since: Vector, scalars: Vector, V: Vector) -> None:
    """The same, and θ, unless V has only the columns of a sample of named features."""
    widen_numbers(named, since, scalars, V)
    if not named:
        _widen_each(since[0][NUMBERS:], since[1][NUMBERS:], shaped(V, (V.size,)))  # θ is first in V


@jit
def record(
    history: Vector, counts: Counts, scalars: Vector, since: Vector, m: Vector, V: Vector
) -> None:
    """Keep the state as it is, with as many coordinates of θ as the row has room for."""
    row = history[counts[POINTS]]
    row[0] = counts[T]
    row[1] = scalars[LOG_ETA]
    row[2] = scalars[ETA]
    row[3] = scalars[LOSS]
    row[4] = scalars[REGRET]
    row[5] = m[RECENT_LOSS]
    row[6] = m[MAIN] if m[SEEN] > 0.0 else UNKNOWN
    row[7] = m[BASE_MAIN] if m[SEEN] > 0.0 else UNKNOWN
    widen(False, since, scalars, V)
    end = row.size - since.size
    for c in range(end - COLUMNS):
        row[COLUMNS + c] = V[THETA, c // V.shape[2], c % V.shape[2]]
    for side in range(2):
        for c in range(since.shape[1]):
            row[end + side * since.shape[1] + c] = since[side, c]
            since[side, c] = row[COLUMNS + c - NUMBERS] if c >= NUMBERS else row[2 + c]
    counts[POINTS] += 1
