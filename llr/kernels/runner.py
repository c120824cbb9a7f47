"""Moving a state on through samples, and back to its last finite step."""

import functools

import numpy as np

from llr import history
from llr.config import Config
from llr.kernels.layout import CHOICES, COMPARE, MODEL, MORE, Rows
from llr.models import MODELS
from llr.state import State
from llr.types import Vector


class KernelRunner:
    """Moves states of one config on. Holds what kernels need besides state and samples."""

    def __init__(self, config: Config) -> None:
        self.comparator = config.comparator
        self.model = list(MODELS).index(config.model)
        self.choice = np.zeros(CHOICES, np.int64)
        self.choice[MODEL], self.choice[COMPARE] = self.model, self.comparator is not None
        sparse = config.of_algorithm.sparse
        self._more = self.choice[MORE] = sparse.scratch if sparse else 0
        self._most_names = sparse.most if sparse else 0
        self.own = np.array(config.own, np.float64)
        self.number, self.scores = config.model_number, config.scores
        self._learn = config.of_algorithm.learn
        self._predict = config.of_algorithm.predict
        self.scratch = config.of_algorithm.scratch
        own = self._own_room = config.of_algorithm.room
        self._room = functools.cache(lambda dim: 2 * dim + max(own(dim), dim + 3))
        self.theta0 = functools.cache(lambda dim: config.start(dim).ravel())

    def advance(
        self,
        working: State,
        rows: Rows,
        y: Vector,
        w: Vector,
        f: Vector,
        predictions: Vector,
        excess: Vector,
    ) -> State | None:
        """The state after these samples, None if it is not finite, or a label or weight is refused.

        The working copy is used up. `w` are their weights, empty if all are 1.
        """
        at, state = 0, working
        scratch, room = np.empty((self.scratch, self.scores)), self._room_for(working, rows)
        while at < y.size:
            state, n = history.make_room(state, y.size - at)
            part, labels, weights, damping = rows, y, w, f
            predicted, beyond = predictions, excess
            if n < y.size:  # most blocks are learnt whole, and need no cutting
                part = rows.part(at, at + n)
                cut = slice(at, at + n)
                labels, weights, damping = y[cut], w[cut], f[cut]
                predicted, beyond = predictions[cut], excess[cut]
            if not self._learn(
                self.choice,
                self.own,
                part.X,
                part.starts,
                part.columns,
                part.shown,
                part.places,
                labels,
                weights,
                damping,
                state.vectors,
                state.scalars,
                state.counts,
                state.statistics,
                state.calibration,
                state.metrics,
                state.history,
                state.since,
                scratch,
                room,
                predicted,
                beyond,
            ):
                return None
            at += n
        return state

    def last_finite(self, state: State, rows: Rows, y: Vector, w: Vector, f: Vector) -> State:
        """The furthest finite state on the way through samples whose end is not finite.

        What is not finite stays so, so the first such step can be found by halving.
        """
        low, high, none = 0, y.size, (np.empty((0, self.scores)), np.empty(0))
        while high - low > 1:
            middle = (low + high) // 2
            part, cut = rows.part(low, middle), slice(low, middle)
            trial = self.advance(state.working_copy(), part, y[cut], w[cut], f[cut], *none)
            if trial is not None:
                state, low = trial, middle
            else:
                high = middle
        return state

    def predict(self, state: State, rows: Rows, n: int, variance: bool = False) -> Vector:
        """What the state says of n samples on the natural scale, per score.

        With `variance`, a last column has that of the label, NaN if the algorithm has none.
        """
        out = np.empty((n, self.scores + variance))
        self._predict(
            self.model,
            self.number,
            self._more,
            rows.X,
            rows.starts,
            rows.columns,
            rows.places,
            state.vectors,
            state.scalars,
            np.empty((self.scratch, self.scores)),
            self._room_for(state, rows),
            out,
        )
        return out

    def _room_for(self, state: State, rows: Rows) -> Vector:
        """Scratch for steps on these rows."""
        if rows.starts.size:
            return rows.room(state.vectors, self._more, self._own_room(self._most_names))
        return np.empty(self._room(state.vectors.shape[2]))
