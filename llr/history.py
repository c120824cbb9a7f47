"""The past of a learner, bounded however long the stream is.

Every `stride`-th state is kept; when the room is full every other row goes and the stride doubles.
Whether a state is kept depends on its t alone, so the past is the same however the samples were
grouped.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from llr.layout import ETA, LOG_ETA, LOSS, NEXT, POINTS, REGRET, STRIDE, THETA, T
from llr.recorder import COLUMNS
from llr.types import Counts, Vector

if TYPE_CHECKING:
    from llr.face import Numbers
    from llr.state import State

CAPACITY = 512
COORDINATES = 64
FIRST_ROOM = 8


class History(NamedTuple):
    """The past as columns, oldest first, the present last.

    Attributes:
        t: samples learnt.
        log_eta: log η_t.
        eta: η_t.
        loss: cumulated loss.
        regret: cumulated regret against the running maximum likelihood, None if not compared.
        theta: the first coordinates of θ_t, at most 64, a row a point.
        names: what those coordinates are called, None if features have no names.
    """

    t: Counts
    log_eta: Vector
    eta: Vector
    loss: Vector
    regret: Vector | None
    theta: Vector
    names: list[str] | None = None


def begin(vectors: Vector, scalars: Vector, counts: Counts) -> Vector:
    """Room for the past, with the state before the first sample in it."""
    columns = width(vectors[THETA].size)
    room = np.zeros((FIRST_ROOM, columns))
    room[0] = present(vectors, scalars, counts, columns)
    counts[POINTS] = 1
    counts[NEXT] = counts[STRIDE]
    return room


def present(vectors: Vector, scalars: Vector, counts: Counts, columns: int) -> Vector:
    """The row of the state as it is."""
    numbers = scalars[[LOG_ETA, ETA, LOSS, REGRET]]
    theta = vectors[THETA].ravel()[: columns - COLUMNS]
    return np.concatenate(([float(counts[T])], numbers, theta))


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
    return COLUMNS + min(COORDINATES, coordinates)


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
    """Drop every other row, in a new array: the old one may still be looked at."""
    room = np.zeros_like(state.history)
    room[: CAPACITY // 2] = state.history[::2]
    state.counts[POINTS] = CAPACITY // 2
    state.counts[STRIDE] *= 2
    return state._replace(history=room)


def read(state: "State", compared: bool) -> History:
    """The past, ending with the present."""
    rows = used(state)
    if rows[-1, 0] != state.t:
        now = present(state.vectors, state.scalars, state.counts, rows.shape[1])
        rows = np.vstack((rows, now))
    t, log_eta, eta, loss, regret = rows[:, :COLUMNS].T.copy()
    theta = rows[:, COLUMNS:].copy()
    return History(t.astype(np.int64), log_eta, eta, loss, regret if compared else None, theta)


def before_dim(eta0: float, compared: bool) -> History:
    """The past of a learner that does not know its dim yet: the step size it starts with."""
    zero = np.zeros(1)
    log_eta, eta = np.log([eta0]), np.array([eta0])
    return History(
        zero.astype(np.int64), log_eta, eta, zero, zero if compared else None, np.zeros((1, 0))
    )
