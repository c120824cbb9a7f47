"""A learner's state as a value: plain arrays, and how they begin."""

import math
from typing import NamedTuple

import numpy as np

from llr import history, intervals, metrics
from llr.config import Config
from llr.kernels.layout import COUNTS, ETA, LOG_ETA, OWN, SCALARS, SILENT, STRIDE, THETA, T
from llr.types import Counts, Vector

ARRAYS = (
    "vectors",
    "scalars",
    "counts",
    "statistics",
    "history",
    "since",
    "calibration",
    "metrics",
)
ALIGNED = 64
LONG = 4096
"""Numbers in a block from which on it pays that the vectors start on a cache line."""


class State(NamedTuple):
    """Everything a learner knows.

    Attributes:
        vectors: θ, its tangent, and the rows of the algorithm; row × score × feature.
        scalars: log η, η, the other scalars of `llr.kernels.layout`, and the algorithm's own.
        counts: t, and where the history stands.
        statistics: the sufficient statistics of the best parameter, empty if not compared.
        history: rows of the past, in use up to `counts[POINTS]`.
        since: the least and the largest of what has a range since the last row.
        calibration: what `llr.intervals` knows of the errors.
        metrics: the recent loss, and what `llr.metrics` knows of the predictions.
    """

    vectors: Vector
    scalars: Vector
    counts: Counts
    statistics: Vector
    history: Vector
    since: Vector
    calibration: Vector
    metrics: Vector

    @property
    def t(self) -> int:
        """Samples learnt so far."""
        return self.counts.item(T)

    @property
    def steps(self) -> int:
        """Samples learnt so far that had a weight."""
        return self.counts.item(T) - self.counts.item(SILENT)

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        fixed = self.vectors.nbytes + self.scalars.nbytes + self.counts.nbytes
        past = self.history.nbytes + self.since.nbytes
        judged = self.calibration.nbytes + self.metrics.nbytes
        return fixed + self.statistics.nbytes + past + judged

    def working_copy(self, block: int = LONG) -> "State":
        """A copy to learn on from a block of so many numbers.

        It shares the room of the history: only one of the two may go on.
        """
        return State(
            aligned(self.vectors) if block >= LONG else self.vectors.copy(),
            self.scalars.copy(),
            self.counts.copy(),
            self.statistics.copy(),
            self.history,
            self.since.copy(),
            self.calibration.copy(),
            self.metrics.copy(),
        )

    def copy(self) -> "State":
        """A copy that goes its own way."""
        return self.working_copy()._replace(history=self.history.copy())


def shapes(config: Config, dim: int) -> dict[str, tuple[int, ...]]:
    """The shapes of all arrays but the history, whose rows come with the samples."""
    algorithm, options = config.of_algorithm, config.options
    return {
        "vectors": (OWN + algorithm.rows(options), config.scores, dim),
        "scalars": (SCALARS + algorithm.numbers(options, config.scores, dim),),
        "counts": (COUNTS,),
        "statistics": (config.compared(dim),),
        "since": history.range_shape(config.scores * dim),
        "calibration": (intervals.SIZE,),
        "metrics": (metrics.size(config.of_model, config.scores),),
    }


def initial(config: Config, dim: int) -> State:
    """The state before the first sample."""
    theta0 = config.start(dim)
    shape = shapes(config, dim)
    vectors, scalars = np.zeros(shape["vectors"]), np.zeros(shape["scalars"])
    vectors[THETA] = theta0
    scalars[LOG_ETA], scalars[ETA] = math.log(config.eta0), config.eta0  # R10: the rest is 0
    statistics = np.zeros(shape["statistics"])
    if config.comparator:
        config.comparator.start(statistics, theta0.ravel())
    counts = np.zeros(shape["counts"], np.int64)
    counts[STRIDE] = 1
    past, since = history.begin(vectors, scalars, counts)
    calibration = np.zeros(shape["calibration"])
    judged = calibration, metrics.initial(config.of_model, config.scores)
    return State(aligned(vectors), scalars, counts, statistics, past, since, *judged)


def aligned(vectors: Vector) -> Vector:
    """A copy that starts on a cache line: the kernels run up to a third faster on it."""
    copy = aligned_empty(vectors.shape)
    copy[:] = vectors
    return copy


def aligned_empty(shape: tuple[int, ...]) -> Vector:
    """Room that starts on a cache line."""
    size = 8 * math.prod(shape)
    room = np.empty(size + ALIGNED, np.uint8)
    first = -room.ctypes.data % ALIGNED
    return room[first : first + size].view(np.float64).reshape(shape)
