"""The state of a learner of named features: columns by name, and the few numbers beside them."""

import math
from typing import NamedTuple

import numpy as np

from llr import history
from llr.layout import COUNTS, ETA, LOG_ETA, OWN, SCALARS, STRIDE
from llr.layout import T as SAMPLES
from llr.named.config import NamedConfig
from llr.named.names import Names
from llr.named.table import Version
from llr.types import Counts, Vector


class NamedState(NamedTuple):
    """Everything a learner of named features knows.

    Attributes:
        version: the columns by name, column × row × score.
        scalars: log η, η, the other single numbers of `llr.layout`, and the algorithm's own.
        counts: t, and where the history stands.
        history: rows of the past, in use up to `counts[POINTS]`.
        since: the least and the largest of what has a range since the last row.
    """

    version: Version
    scalars: Vector
    counts: Counts
    history: Vector
    since: Vector

    @property
    def t(self) -> int:
        """Samples learnt so far."""
        return self.counts.item(SAMPLES)

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        numbers = self.scalars.nbytes + self.counts.nbytes + self.history.nbytes
        return self.version.nbytes + numbers + self.since.nbytes

    def copy(self) -> "NamedState":
        """A copy that goes its own way."""
        past = self.history.copy(), self.since.copy()
        return NamedState(self.version.copy(), self.scalars.copy(), self.counts.copy(), *past)


def column_shape(config: NamedConfig) -> tuple[int, int]:
    """Rows × scores, what is kept of a feature."""
    return OWN + config.of_algorithm.rows(config.sparse_options), config.scores


def scalar_count(config: NamedConfig) -> int:
    """How many numbers are kept besides."""
    sparse, algorithm = config.of_algorithm.sparse, config.of_algorithm
    more = sparse.numbers if sparse else 0
    return SCALARS + algorithm.numbers(config.sparse_options, config.scores, 0) + more


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
    scalars, counts = np.zeros(scalar_count(config)), np.zeros(COUNTS, np.int64)
    scalars[LOG_ETA], scalars[ETA] = math.log(config.eta0), config.eta0
    counts[STRIDE] = 1
    past, since = history.begin(first, scalars, counts)
    return NamedState(Version.of(names, columns), scalars, counts, past, since)
