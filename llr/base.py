"""The base class of the learners, and the outcome of a call to learn."""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from llr import eta_status, intervals, metrics
from llr.classes import Classes, is_numbers
from llr.config import Config
from llr.errors import ConfigError
from llr.eta_status import EtaStatus
from llr.kernels.block import LIGHTEST, damping
from llr.kernels.layout import ETA, LOG_ETA, LOSS, NO_ROWS, T
from llr.metrics import LOSS as RECENT_LOSS
from llr.metrics import SEEN, Metrics
from llr.models import MODELS
from llr.types import Array, Counts, Vector

Schedule = Callable[[int], float]
Schedules = Schedule | tuple[Schedule | None, Schedule | None]
"""R1: f and μ at once, or one each; None is the paper's."""


def scheduled(schedule: Schedules, steps: Iterable[int]) -> Vector:
    """f(t) and μ(t) at each of these steps; ConfigError if a number is below 1 or not finite."""
    f, mu = schedule if isinstance(schedule, tuple) else (schedule,) * 2
    times = [*steps]
    both = np.empty((len(times), 2))
    both[:, 0] = [(f or damping)(t) for t in times]
    both[:, 1] = both[:, 0] if mu is f else [(mu or damping)(t) for t in times]
    for name, values in zip("fμ", both.T, strict=True):
        if not np.all(np.isfinite(values) & (values >= 1.0)):
            raise ConfigError("schedule", f"{name}(t) must be finite, and 1 or more")
    return both


class Loss(NamedTuple):
    """The loss −ℓ of samples, each judged before it was learnt; None before any.

    Attributes:
        total: the sum.
        mean: the mean over all samples.
        recent: an exponentially weighted mean over about the last 200, those of weight 0 left out.
    """

    total: float
    mean: float | None
    recent: float | None = None


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
        """log η, η, the other single numbers of `llr.kernels.layout`, and the algorithm's own."""

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
    def steps(self) -> int:
        """Samples learnt so far that had a weight."""

    @property
    def calibration(self) -> Vector:
        """What `llr.intervals` knows of the errors."""

    @property
    def metrics(self) -> Vector:
        """What `llr.metrics` knows of the predictions."""

    @property
    def nbytes(self) -> int:
        """How much memory all of the state takes."""


class BaseLearner:
    """What learners have in common, read off their state; none before dim is known."""

    config: Config
    schedule: Schedules | None
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
        """The progressive loss: total, mean, and recent mean.

        >>> import llr
        >>> learner = llr.Learner("gaussian")
        >>> bool(learner.learn([2.0]))
        True
        >>> learner.loss
        Loss(total=2.0, mean=2.0, recent=2.0)
        """
        state = self._state
        t = 0 if state is None else state.counts.item(T)
        if state is None or not t:
            return Loss(0.0, None)
        total = state.scalars.item(LOSS)
        judged = state.metrics
        return Loss(total, total / t, judged.item(RECENT_LOSS) if judged.item(SEEN) else None)

    @property
    def metrics(self) -> Metrics:
        """How good the predictions were, recently and overall, beside a baseline's.

        >>> import llr
        >>> learner = llr.Learner("gaussian")
        >>> bool(learner.learn([2.0, 2.0, 2.0]))
        True
        >>> learner.metrics.baseline.mae
        Measure(recent=0.6666666666666667, overall=0.6666666666666666)
        """
        state = self._state
        if state is None:
            return metrics.read(self.config.of_model, None, None)
        return metrics.read(self.config.of_model, state.metrics, state.calibration)

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
        config, state = self.config, self._state
        model = config.of_model
        if state is None or not model.features:
            return None
        scores = config.scores if model.classes else 1
        each = config.of_algorithm.intercept(config.options, scores, state.scalars)
        return each if each is None or model.classes else each.item(0)

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

    def _damping(self, before: Numbers, n: int, w: Vector) -> Vector:
        """f(t) and μ(t) of the next n samples with these weights; nothing for the paper's (R1)."""
        if self.schedule is None:
            return NO_ROWS
        taken = np.cumsum(w >= LIGHTEST) - (w >= LIGHTEST) if w.size else np.arange(n)
        return scheduled(self.schedule, (before.steps + int(s) for s in taken))

    @property
    def classes(self) -> list[str] | None:
        """The names of the classes, None where they have none.

        >>> import llr
        >>> llr.Learner("softmax", dim=2, classes=["a", "b", "c"]).classes
        ['a', 'b', 'c']
        """
        names = self.config.classes
        return None if names is None else list(names)

    def coverage(self, level: float = 0.9) -> float | None:
        """The share of labels so far that were within their interval; None before any.

        >>> import llr
        >>> learner = llr.Learner("gaussian")
        >>> bool(learner.learn(*llr.streams.gaussian(seed=1).take(2000)))
        True
        >>> abs(learner.coverage(0.9) - 0.9) < 0.02
        True
        """
        intervals.place(level)
        if self._state is None:
            return None
        return intervals.coverage(self._state.calibration, level, self._in_classes)

    @property
    def _in_classes(self) -> bool:
        return self.config.of_model.classes or self.config.of_model.binary

    def _expected(self, out: Vector, calibration: Vector, level: float) -> Any:
        """The intervals, or the prediction sets, of predictions whose variances are last."""
        if not self._in_classes:
            which = list(MODELS).index(self.config.model)
            return intervals.bounds(which, calibration, level, out[:, 0], out[:, -1])
        names: list[Any] = list(self.config.classes or range(max(2, self.config.scores)))
        classes = Classes([str(name) for name in names])
        found = intervals.members(calibration, level, classes.by_class(self._natural(out[:, :-1])))
        return [[names[k] for k in np.flatnonzero(row).tolist()] for row in found]

    def _indexes(self, labels: Any) -> Any:
        """Labels as learners know them: the indexes of classes that were named."""
        if self.config.classes is None or is_numbers(labels):
            return labels
        return Classes(self.config.classes).indexes(labels)

    def _told(self, out: Vector) -> Array:
        """Predictions as callers know them: on the natural scale, or the names of classes."""
        natural = self._natural(out)
        if self.config.classes is None:
            return natural
        return np.array(Classes(self.config.classes).likeliest(natural))

    def _natural(self, out: Vector) -> Vector:
        return out if self.config.of_model.classes else out[:, 0]


class Status(Enum):
    """The two ends of a call to learn, each with a sentence for people."""

    LEARNT = "every sample was learnt"
    DIVERGED = (
        "the next step would leave the finite numbers; the learner stays at its last finite "
        "state: start again with a smaller eta0, or scale the samples"
    )


class Outcome(NamedTuple):
    """The end of a call to learn; true if every sample was learnt.

    Attributes:
        status: which end.
        accepted: how many samples were learnt, counted from the first.
        predictions: what was predicted for each of them before learning from it, if asked for.
        excess: the loss of each beyond the least that its label allows, if asked for.
    """

    status: Status
    accepted: int
    predictions: Array | None = None
    excess: Vector | None = None

    def __bool__(self) -> bool:
        return self.status is Status.LEARNT

    def __repr__(self) -> str:
        return f"Outcome(status={self.status!r}, accepted={self.accepted})"
