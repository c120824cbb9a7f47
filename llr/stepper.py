"""Moving a state on through samples, and back to its last finite step."""

import functools

import numpy as np

from llr import history, scans
from llr.config import Config
from llr.layout import CHOICES, COMPARE, MODEL
from llr.models import MODELS
from llr.state import State
from llr.types import Vector


class Stepper:
    """Moves states of one config on. Holds what kernels need besides state and samples."""

    def __init__(self, config: Config) -> None:
        self.model = list(MODELS).index(config.model)
        self.choice = np.zeros(CHOICES, np.int64)
        self.choice[MODEL], self.choice[COMPARE] = self.model, config.comparator is not None
        self.own = np.array(config.own, np.float64)
        self._learn = config.of_algorithm.learn
        self.scratch = config.of_algorithm.scratch
        self.theta0 = functools.cache(lambda dim: config.start(dim).ravel())

    def refuses(self, labels: Vector) -> bool:
        """Whether there is a label that cannot be learnt."""
        return bool(scans.first_refused(self.model, self.own[0], labels) >= 0)

    def excess(self, labels: Vector, losses: Vector) -> Vector:
        """Each loss beyond the least that its label allows, 0 or more; in the same array."""
        scans.subtract_least(self.model, self.own[0], labels, losses)
        return losses

    def advance(
        self, state: State, X: Vector, y: Vector, f: Vector, predictions: Vector, losses: Vector
    ) -> State:
        """The state after these samples, which may not be finite. `state` itself is left alone."""
        at, state = 0, state.draft(X.size)
        scratch = np.empty((self.scratch, state.vectors.shape[1]))
        room = np.empty(2 * X.shape[1])
        while at < y.size:
            state, n = history.make_room(state, y.size - at)
            self._learn(
                self.choice,
                self.own,
                X[at : at + n],
                y[at : at + n],
                f[at : at + n],
                state.vectors,
                state.scalars,
                state.counts,
                state.statistics,
                state.history,
                scratch,
                room,
                predictions[at : at + n],
                losses[at : at + n],
            )
            at += n
        return state

    def last_finite(self, state: State, X: Vector, y: Vector, f: Vector) -> State:
        """The furthest finite state on the way through samples whose end is not finite.

        What is not finite stays so, so the first such step can be found by halving.
        """
        low, high, none = 0, y.size, (np.empty((0, state.vectors.shape[1])), np.empty(0))
        while high - low > 1:
            middle = (low + high) // 2
            trial = self.advance(state, X[low:middle], y[low:middle], f[low:middle], *none)
            if trial.finite:
                state, low = trial, middle
            else:
                high = middle
        return state
