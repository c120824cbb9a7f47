"""What kernels read: the layout of a state, a sample, and a block of samples.

Kernels index a state's arrays by the names below. `Sample` and `StepContext` are what one step
gets, `Rows` what a whole block gets.
"""

from typing import NamedTuple

import numpy as np

from llr.kernels.vectors import scratch_size
from llr.types import Counts, Vector

# rows of the state's vectors V[row, k, i]: θ, its tangent h, then the base's, then memory's
THETA, H, OWN = 0, 1, 2

# the state's scalars; the algorithm's own follow
LOG_ETA, ETA, RATE_A, RATE_B, TAU, LOSS, REGRET, SCALARS = range(8)

# the state's counts: samples learnt, points of history kept, how far apart they are, the next one,
# and samples of weight 0 among those learnt
T, POINTS, STRIDE, NEXT, SILENT, COUNTS = range(6)

# the `choice` argument of a kernel: the model's index, whether to compare with the best parameter,
# and how many rows of scratch the vectors of named features have behind them
MODEL, COMPARE, MORE, CHOICES = range(4)

# what a step reads: the model's own number, then its algorithm's settings; of a base with a rate
# they are the base's number, the rate's number, which rate, whether it learns, which Hessian its
# tangent takes, and whether it has a memory
OF_MODEL = 0
OF_BASE, OF_RATE, RATE, LEARNS, HESSIAN, MEMORY = range(1, 7)

# R6: the Hessians a tangent may take: a gradient at θ + h, the exact one, a numerical derivative
DIFFERENCE, EXACT, NUMERICAL = range(3)

# rows of the scratch, one number per score each: those of `llr.kernels.layout.StepContext`
SCRATCH = 8


class Sample(NamedTuple):
    """One sample at its time.

    Attributes:
        x: its features.
        y: its label.
        t: its index, from 0, among those that have a weight.
        w: 1/f(t), by which a step of θ is multiplied.
        rate: 1/μ(t), by which a step of log η is multiplied (R1).
        importance: its weight, above 0, by which its ℓ is multiplied.
        columns: of named features, which of the columns of its block each value belongs to.
        places: of named features, which column of the whole state each of those is.
    """

    x: Vector
    y: float
    t: int
    w: float
    rate: float
    importance: float
    columns: Counts
    places: Counts


class StepContext(NamedTuple):
    """What a step works with besides the sample: the model, its derivatives and scratch.

    Attributes:
        model: the model's index, for the dispatchers of `llr.models`.
        p: the model's own parameter.
        s: scores θ·x; a prediction is read off them.
        sigma: the tangent's scores h·x.
        g: residual at θ: the gradient ∂ℓ(θ) is g ⊗ x.
        g_h: residual for the tangent: at θ + h, or of g + ∂²ℓ(θ)·h with the Hessian (R6).
        other: room for the scores of one more point.
        g_other: room for the residual there.
        q: room for a number per score.
        variance: the first number is the variance of the label that is predicted, as the step knew
            it before; NaN if the algorithm does not know.
        rows: all of the scratch, a row a purpose, with what an algorithm asked for besides.
        room: room for 2·dim numbers, and for what an algorithm asked for besides; behind V, where
            features have names.
    """

    model: int
    p: float
    s: Vector
    sigma: Vector
    g: Vector
    g_h: Vector
    other: Vector
    g_other: Vector
    q: Vector
    variance: Vector
    rows: Vector
    room: Vector


NONE = np.empty(0, np.int64)
NO_NUMBERS, NO_ROWS = np.empty(0), np.empty((0, 1))
"""Empty arrays for the arguments of a kernel that are not used."""


class Rows(NamedTuple):
    """The features of some samples.

    Attributes:
        X: a row a sample; of samples with named features one row, of all their values.
        starts: of those, where each sample begins, and where the last one ends.
        columns: of those, which column each value belongs to.
        shown: of those, the columns that go into the history.
        places: of those, which column of the whole state each column is, −1 for none.
    """

    X: Vector
    starts: Counts = NONE
    columns: Counts = NONE
    shown: Counts = NONE
    places: Counts = NONE

    def part(self, low: int, high: int) -> "Rows":
        """The samples from `low` up to `high`."""
        if self.starts.size:
            return self._replace(starts=self.starts[low : high + 1])
        return self._replace(X=self.X[low:high])

    def room(self, vectors: Vector, more: int, own: int) -> Vector:
        """What steps on the vectors of named features, with so many rows more, need as scratch.

        There are `own` numbers more behind it.
        """
        return np.empty(scratch_size(vectors, more, self._widest) + own)

    @property
    def _widest(self) -> int:
        """How many columns are brought together at a time, at most."""
        if self.starts.size == 2:
            return max(self.columns.size, self.shown.size)
        return int(np.diff(self.starts).max(initial=self.shown.size))
