"""What every learner shows, whatever its features are: t, η, loss, and whether η has arrived."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, Self

import numpy as np

from llr import eta_status
from llr.config import Config
from llr.errors import ConfigError
from llr.eta_status import EtaStatus
from llr.layout import ETA, LOG_ETA, LOSS, T
from llr.rows import NO_NUMBERS
from llr.types import Counts, Vector

Schedule = Callable[[int], float]


class Loss(NamedTuple):
    """The cumulated loss −Σℓ, each sample judged before it was learnt; `mean` None before any."""

    total: float
    mean: float | None


class Regret(NamedTuple):
    """How much more loss than the best parameter had; None where it is not computed (R18).

    Attributes:
        ml: against the maximum likelihood of the samples before each (the paper's figures).
        best_fixed: against the one θ that is best for all samples (the paper's equation 1).
    """

    ml: float | None
    best_fixed: float | None


NOT_COMPARED = Regret(None, None)


class Numbers(Protocol):
    """The part of a state that is the same for all: a few numbers, and the past."""

    @property
    def scalars(self) -> Vector:
        """log η, η, the other single numbers of `llr.layout`, and the algorithm's own."""

    @property
    def counts(self) -> Counts:
        """t, and where the history stands."""

    @property
    def history(self) -> Vector:
        """Rows of the past."""

    @property
    def t(self) -> int:
        """Samples learnt so far."""

    @property
    def nbytes(self) -> int:
        """How much memory all of the state takes."""


class Face:
    """What learners have in common, read off their state; none before dim is known."""

    config: Config
    schedule: Schedule | None
    _state: Numbers | None

    @property
    def t(self) -> int:
        """Samples learnt so far.

        >>> import llr
        >>> llr.Learner("gaussian").t
        0
        """
        return 0 if self._state is None else self._state.counts.item(T)

    @property
    def log_eta(self) -> float:
        """log η, the state that is learnt.

        >>> import llr
        >>> llr.Learner("gaussian", eta0=1.0).log_eta
        0.0
        """
        state = self._state
        return float(np.log(self.config.eta0)) if state is None else state.scalars.item(LOG_ETA)

    @property
    def eta(self) -> float:
        """η, the step size as learnt so far (R19).

        >>> import llr
        >>> learner = llr.Learner("gaussian", eta0=0.1)
        >>> bool(learner.learn([4.0, 4.0])), learner.eta > 0.1
        (True, True)
        """
        state = self._state
        return self.config.eta0 if state is None else state.scalars.item(ETA)

    @property
    def eta_status(self) -> EtaStatus:
        """What η is doing, as "travelling", "settled" or "vanished", with a line of advice.

        >>> import llr
        >>> llr.Learner("gaussian", algorithm="sg").eta_status.state
        'fixed'
        """
        return eta_status.of(self.config, self._state)

    @property
    def loss(self) -> Loss:
        """The progressive loss, total and mean.

        >>> import llr
        >>> learner = llr.Learner("gaussian")
        >>> bool(learner.learn([2.0]))
        True
        >>> learner.loss
        Loss(total=2.0, mean=2.0)
        """
        state = self._state
        t = 0 if state is None else state.counts.item(T)
        if state is None or not t:
            return Loss(0.0, None)
        total = state.scalars.item(LOSS)
        return Loss(total, total / t)

    @property
    def intercept(self) -> Vector | float | None:
        """The constant term beside θ: a number, for softmax one a class; None without one.

        >>> import llr
        >>> learner = llr.Learner("linear", dim=1, algorithm="auto")
        >>> bool(learner.learn([[1.0], [2.0]], [5.0, 5.0])), round(learner.intercept)
        (True, 5)
        >>> llr.Learner("linear", dim=1, algorithm="sg").intercept is None
        True
        """
        if self._state is None or not self.config.of_model.features:
            return None
        each = self.config.of_algorithm.intercept(
            self.config.options, self.config.scores, self._state.scalars
        )
        return each if each is None or self.config.of_model.classes else float(each[0])

    @property
    def nbytes(self) -> int:
        """How much memory the state takes."""
        return 0 if self._state is None else self._state.nbytes

    def view(self) -> Self:
        """Another learner at the present state, at no cost: it shares this one's memory.

        One of the two may go on learning while the other stays; `copy` makes one that goes its
        own way.
        """
        looking = type(self).__new__(type(self))
        looking.__dict__.update(self.__dict__)
        return looking

    def _damping(self, before: Numbers, n: int) -> Vector:
        """f(t) of the next n samples; nothing for the paper's."""
        if self.schedule is None:
            return NO_NUMBERS
        t = before.t
        f = np.array([self.schedule(s) for s in range(t, t + n)], np.float64)
        if not np.all(np.isfinite(f) & (f >= 1.0)):
            raise ConfigError("schedule", "f(t) must be finite, and 1 or more")
        return f

    def _natural(self, out: Vector) -> Vector:
        return out if self.config.of_model.classes else out[:, 0]
