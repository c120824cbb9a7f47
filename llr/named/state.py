"""The state of a learner of named features: columns by name, and the few numbers beside them."""

import math
from typing import NamedTuple

import numpy as np

from llr import history, intervals, metrics
from llr.history import History
from llr.kernels.layout import COUNTS, ETA, LOG_ETA, OWN, SCALARS, SILENT, STRIDE, THETA
from llr.kernels.layout import T as SAMPLES
from llr.models import MODELS
from llr.named.column_names import Names
from llr.named.column_store import VersionedColumns
from llr.named.config import NamedConfig
from llr.types import Counts, Vector


class NamedState(NamedTuple):
    """Everything a learner of named features knows.

    Attributes:
        version: the columns by name, column × row × score.
        scalars: log η, η, the other scalars of `llr.kernels.layout`, and the algorithm's own.
        counts: t, and where the history stands.
        history: rows of the past, in use up to `counts[POINTS]`.
        since: the least and the largest of what has a range since the last row.
        calibration: what `llr.intervals` knows of the errors.
        metrics: the recent loss, and what `llr.metrics` knows of the predictions.
    """

    version: VersionedColumns
    scalars: Vector
    counts: Counts
    history: Vector
    since: Vector
    calibration: Vector
    metrics: Vector

    @property
    def t(self) -> int:
        """Samples learnt so far."""
        return self.counts.item(SAMPLES)

    @property
    def steps(self) -> int:
        """Samples learnt so far that had a weight."""
        return self.counts.item(SAMPLES) - self.counts.item(SILENT)

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        numbers = self.scalars.nbytes + self.counts.nbytes + self.history.nbytes
        judged = self.calibration.nbytes + self.metrics.nbytes
        return self.version.nbytes + numbers + self.since.nbytes + judged

    def copy(self) -> "NamedState":
        """A copy that goes its own way."""
        past = self.history.copy(), self.since.copy()
        judged = self.calibration.copy(), self.metrics.copy()
        numbers = self.scalars.copy(), self.counts.copy()
        return NamedState(self.version.copy(), *numbers, *past, *judged)


def column_shape(config: NamedConfig) -> tuple[int, int]:
    """Rows × scores, what is kept of a feature."""
    return OWN + config.of_algorithm.rows(config.sparse_options), config.scores


def scalar_counts(config: NamedConfig, names: int) -> list[int]:
    """How many numbers may be kept besides so many names; first that of a new learner."""
    sparse, algorithm = config.of_algorithm.sparse, config.of_algorithm
    options, scores = config.sparse_options, config.scores
    more, dim = (sparse.numbers, sparse.most) if sparse else (0, 0)
    if sparse and sparse.counted:
        own = sparse.counted(options, scores, names)
    else:
        own = (algorithm.numbers(options, scores, dim),)
    return [SCALARS + count + more for count in own]


def resized(config: NamedConfig, scalars: Vector, names: int) -> Vector:
    """The same numbers, with room for so many names."""
    sparse = config.of_algorithm.sparse
    own = sparse is not None and sparse.counted is not None and config.scores == 1
    return sparse.resized(scalars, names) if own and sparse else scalars


def shown(config: NamedConfig) -> int:
    """How many columns go into the history: as many as it has coordinates for."""
    return max(1, history.COORDINATES // config.scores)


def history_coordinates(config: NamedConfig) -> int:
    """How many coordinates of θ go into the history."""
    return config.scores * shown(config)


def initial(config: NamedConfig) -> NamedState:
    """The state before the first sample."""
    start = config.theta0 or {}
    names = Names(config.max_features, config.hash_bits, list(start))
    columns = np.zeros((len(start), *column_shape(config)))
    first, sparse = np.zeros((1, config.scores, shown(config))), config.of_algorithm.sparse
    if start and sparse:
        theta = np.array(list(start.values())).reshape(len(start), config.scores)
        for row in sparse.starting:
            columns[:, row] = theta
        first[0, :, : len(start)] = theta[: shown(config)].T
    scalars, counts = np.zeros(scalar_counts(config, len(start))[0]), np.zeros(COUNTS, np.int64)
    scalars[LOG_ETA], scalars[ETA] = math.log(config.eta0), config.eta0
    counts[STRIDE] = 1
    past, since = history.begin(first, scalars, counts)
    judged = np.zeros(intervals.SIZE), metrics.initial(config.of_model, config.scores)
    version = VersionedColumns.of(names, columns)
    return NamedState(version, scalars, counts, past, since, *judged)


def settled_theta(
    config: NamedConfig, state: NamedState, columns: Vector, places: Counts
) -> Vector:
    """θ of these columns, which stand there, score × column, as it is in this state."""
    sparse = config.of_algorithm.sparse
    if sparse is None or sparse.settle is None or state.steps == 0:
        theta: Vector = columns[:, sparse.starting[0] if sparse else THETA].T
        return theta
    vectors = np.ascontiguousarray(columns.transpose(1, 2, 0))
    model, each = list(MODELS).index(config.model), np.arange(places.size)
    sparse.settle(model, vectors, state.scalars.copy(), each, places)
    mixed: Vector = vectors[THETA]
    return mixed


def read_history(config: NamedConfig, state: NamedState) -> History:
    """The past, ending with the present; of θ the first columns that have a name by now."""
    rows, wide = history.used(state), shown(config)
    if rows[-1, 0] != state.t:
        first = np.arange(wide)
        theta = settled_theta(config, state, state.version.read(first), first).ravel()
        now = history.present(theta, state.scalars, state.counts, state.since, state.metrics)
        rows = np.vstack((rows, now))
    classes = config.of_model.classes or config.of_model.binary
    past = history.columns(rows, state.since.shape[1], compared=False, classes=classes)
    names = state.version.names[:wide]
    theta, low, high = (
        _by_name(each, wide, len(names)) for each in (past.theta, past.theta_low, past.theta_high)
    )
    if config.of_model.classes:
        names = [f"{name}[{k}]" for name in names for k in range(config.scores)]
    return past._replace(theta=theta, theta_low=low, theta_high=high, names=names)


def _by_name(theta: Vector, wide: int, names: int) -> Vector:
    """Score by score of so many columns, as name by name of those that have one."""
    named = theta.reshape(len(theta), -1, wide)[:, :, :names]
    by_name: Vector = named.transpose(0, 2, 1).reshape(len(theta), -1)
    return by_name
