"""The library's face: a learner that takes samples and shows θ, η, loss and regret."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from llr import serialization
from llr.base import NOT_COMPARED, BaseLearner, Outcome, Regret, Schedules, Status
from llr.classes import named_classes
from llr.config import Config
from llr.errors import SampleError, StateError
from llr.history import History, before_dim, read
from llr.intervals import first_row
from llr.kernels.layout import LOSS, NO_NUMBERS, NO_ROWS, REGRET, THETA, H, Rows, T
from llr.kernels.runner import KernelRunner
from llr.state import State, initial
from llr.types import Array, Vector
from llr.validation import check_features, check_labels, check_weights, matrix_of, rows, weights_of

SMALL = 16
"""Features up to which the exact comparator takes no longer than the rest of an answer."""


class Learner(BaseLearner):
    """A stochastic gradient learner that can also learn its step size. One thread at a time.

    Args:
        model: which loss, a name from `llr.MODELS`.
        dim: number of features; the first sample tells if left out.
        algorithm: a name from `llr.ALGORITHMS`.
        eta0: the first step size, or the only one; `auto` has no use for it.
        theta0: where θ starts; zero if left out.
        regret: "exact" to compare with the best parameter, where a model has an exact one.
        schedule: f(t) ≥ 1, for θ and log η alike, in place of √(t+2)·log(t+3) (R1); or a pair
            (f, μ), f for θ and μ for log η, of which None is the paper's.
        classes: of softmax, how many there are, or their names; of bernoulli and logistic the names
            of 0 and of 1. With names, labels and predictions are names.
        options: of the model and the algorithm, such as `hessian="exact"`.

    The mean of a stream of numbers, from a step size ten thousand times too small:

    >>> import llr
    >>> learner = llr.Learner("gaussian", eta0=1e-4, algorithm="sg/ag", regret="exact")
    >>> learner.learn(*llr.streams.gaussian(seed=1).take(2500))
    Outcome(status=<Status.LEARNT: 'every sample was learnt'>, accepted=2500)
    >>> print(f"theta {learner.theta[0]:.2f} eta {learner.eta:.2f} after {learner.t} samples")
    theta 4.96 eta 1.73 after 2500 samples
    """

    def __init__(
        self,
        model: str,
        dim: int | None = None,
        algorithm: str = "auto",
        eta0: float = 1e-3,
        theta0: Any = None,
        regret: str = "off",
        *,
        schedule: Schedules | None = None,
        classes: int | Sequence[str] | None = None,
        **options: Any,
    ) -> None:
        names, options = named_classes(classes, options)
        config = Config(model, dim, algorithm, eta0, theta0, regret, options, names)
        self._begin(config, None, schedule)

    @classmethod
    def from_config(cls, config: Config, schedule: Schedules | None = None) -> "Learner":
        """A fresh learner with these settings."""
        learner = cls.__new__(cls)
        learner._begin(config, None, schedule)
        return learner

    def _begin(self, config: Config, state: State | None, schedule: Schedules | None) -> None:
        self.config = config
        self.schedule = schedule
        self._runner = KernelRunner(config)
        self._state: State | None = state
        if state is None and config.dim is not None:
            self._state = initial(config, config.dim)

    def learn(
        self,
        X: Any,
        y: Any = None,
        *,
        w: Any = None,
        predictions: bool = False,
        excess: bool = False,
    ) -> Outcome:
        """Learn from samples, in order: `learn(X, y)`, or `learn(y)` for a model without features.

        X is n × d with n labels, or one row with one label. Raises a `SampleError` that names the
        first bad sample; then nothing is learnt. A step that would leave the finite numbers ends
        the call: the outcome says how many samples were learnt, and the learner stays there.

        `w` are the samples' weights, one each, or one for all: finite, 0 or more, 1 if left out. A
        weight multiplies ℓ, so the loss, its slope and its curvature, in the regret as well. A
        sample of weight 0 counts in t and changes nothing else.

        With `excess` the outcome has each loss beyond the least that its label allows, in which
        `llr.Drift` sees drift, as if its weight were 1; of `auto` it is the loss of its first-order
        learners.

        >>> import llr
        >>> learner = llr.Learner("linear", dim=2, eta0=0.1)
        >>> learner.learn([[1.0, 0.0], [0.0, 1.0]], [1.0, -1.0]).accepted
        2
        >>> learner.learn([0.5, 0.5], 0.0, predictions=True).predictions.shape
        (1,)
        >>> learner.learn([0.5, 0.5], 0.0, w=3.0).accepted
        1
        >>> learner.learn([[1.0, float("nan")]], [1.0])
        Traceback (most recent call last):
        llr.errors.NotFiniteError: sample 0: x: is not finite
        """
        if self.config.classes is not None:
            alone = y is None
            X, y = (self._indexes(X), None) if alone else (X, self._indexes(y))
        matrix, labels = rows(X, y, self.config.of_model.features, self.dim)
        before = self._state or initial(self.config, matrix.shape[1])
        n, samples, weights = labels.size, Rows(matrix), weights_of(w, labels.size)
        f = self._damping(before, n, weights)
        out = np.empty((n, before.vectors.shape[1])) if predictions else NO_ROWS
        beyond = np.empty(n) if excess else NO_NUMBERS
        working = before.working_copy(matrix.size)
        after, accepted = self._runner.advance(working, samples, labels, weights, f, out, beyond), n
        if after is None:
            check_labels(self.config, labels)
            check_features(matrix)
            check_weights(weights)
            after = self._runner.last_finite(before, samples, labels, weights, f)
            accepted = after.t - before.t
        self._state = after
        status = Status.LEARNT if accepted == n else Status.DIVERGED
        return Outcome(
            status,
            accepted,
            self._told(out[:accepted]) if predictions else None,
            beyond[:accepted] if excess else None,
        )

    def predict(self, X: Any = None) -> Any:
        """The prediction on the natural scale: a mean, a probability, or one per class.

        One row gives one prediction, n rows give n. Models without features take no X. Where
        classes have names it is that of the likeliest, and `probabilities` tells the numbers.

        >>> import llr
        >>> float(llr.Learner("bernoulli").predict())
        0.5
        >>> llr.Learner("softmax", dim=2, classes=4).predict([[1.0, 2.0]])
        array([[0.25, 0.25, 0.25, 0.25]])
        >>> spam = llr.Learner("logistic", dim=1, classes=["ham", "spam"])
        >>> bool(spam.learn([[1.0], [-1.0]] * 20, ["spam", "ham"] * 20))
        True
        >>> print(spam.predict([2.0]))
        spam
        """
        return self._predicted(X, self._told)

    def probabilities(self, X: Any = None) -> Any:
        """The same in numbers, where classes have names too.

        >>> import llr
        >>> llr.Learner("softmax", dim=2, classes=["a", "b"]).probabilities([1.0, 2.0])
        array([0.5, 0.5])
        """
        return self._predicted(X, self._natural)

    def _predicted(self, X: Any, told: Callable[[Vector], Array]) -> Any:
        features = self.config.of_model.features
        if features == (X is None):
            raise SampleError("predict(X)" if features else "this model has none: predict()")
        matrix = matrix_of(X, self.dim) if features else np.ones((1, 1))
        check_features(matrix)
        state = self._state or initial(self.config, matrix.shape[1])
        out = self._runner.predict(state, Rows(matrix), len(matrix))
        predicted = told(out)
        return predicted if matrix is X or np.ndim(X) == 2 else predicted[0]

    def variance(self, X: Any = None) -> Any:
        """The variance of the label that is predicted; NaN if the algorithm does not know it.

        `kalman` knows, and `auto` where it learns correlations: how uncertain θ is, how far its
        experts disagree, and the noise of the labels. One row gives one number, n rows give n.

        >>> import llr
        >>> learner = llr.Learner("linear", 1, "kalman")
        >>> bool(learner.learn([[1.0], [2.0], [3.0]], [1.1, 1.9, 3.0]))
        True
        >>> bool(learner.variance([2.0]) < learner.variance([20.0]))
        True
        """
        features = self.config.of_model.features
        if features == (X is None):
            raise SampleError("variance(X)" if features else "this model has none: variance()")
        matrix = matrix_of(X, self.dim) if features else np.ones((1, 1))
        check_features(matrix)
        state = self._state or initial(self.config, matrix.shape[1])
        out = self._runner.predict(state, Rows(matrix), len(matrix), variance=True)[:, -1]
        return out if np.ndim(X) == 2 else out[0]

    def interval(self, X: Any = None, level: float = 0.9) -> Any:
        """Between which bounds the label is expected, as often as `level` says.

        The level is 0.5, 0.8, 0.9, 0.95 or 0.99. One row gives an `Interval` of two numbers, n rows
        one of two arrays, NaN before the third sample. A model of classes gives a prediction set
        instead: a list of classes, or n of them. How often they were right is `coverage`.

        >>> import llr
        >>> learner = llr.Learner("gaussian")
        >>> bool(learner.learn(*llr.streams.gaussian(seed=1).take(2000)))
        True
        >>> found = learner.interval(level=0.8)
        >>> bool(2.5 < found.lower < 4.0 < 6.0 < found.upper < 7.5)
        True
        """
        features = self.config.of_model.features
        if features == (X is None):
            raise SampleError("interval(X)" if features else "this model has none: interval()")
        matrix = matrix_of(X, self.dim) if features else np.ones((1, 1))
        check_features(matrix)
        state = self._state or initial(self.config, matrix.shape[1])
        out = self._runner.predict(state, Rows(matrix), len(matrix), variance=True)
        found = self._expected(out, state.calibration, level)
        return found if np.ndim(X) == 2 else first_row(found)

    @property
    def dim(self) -> int | None:
        """Number of features, None until the first sample tells.

        >>> import llr
        >>> llr.Learner("linear").dim is None
        True
        """
        return self.config.dim if self._state is None else self._state.vectors.shape[2]

    @property
    def theta(self) -> Vector:
        """A copy of θ: one number a feature; for softmax classes × features.

        >>> import llr
        >>> llr.Learner("linear", dim=2, theta0=[1.0, 2.0]).theta
        array([1., 2.])
        >>> llr.Learner("softmax", dim=2, classes=3).theta.shape
        (3, 2)
        """
        return self._row(THETA)

    @property
    def h(self) -> Vector:
        """A copy of the tangent h, the derivative of θ with respect to log η; 0 if η is fixed.

        >>> import llr
        >>> learner = llr.Learner("gaussian", algorithm="sg/sg", eta0=1.0, schedule=lambda t: 2.0)
        >>> bool(learner.learn(4.0))
        True
        >>> learner.h
        array([2.])
        """
        return self._row(H)

    @property
    def regret(self) -> Regret:
        """The regret against the best parameter; None where it is off or has no exact form.

        >>> import llr
        >>> learner = llr.Learner("gaussian", eta0=1.0, regret="exact")
        >>> learner.learn([1.0, 3.0]).accepted, learner.regret.best_fixed > 0
        (2, True)
        """
        return self._compared(at_once=False)

    @property
    def quick_regret(self) -> Regret:
        """The same in O(d²): `best_fixed` is None where only an O(d³) step would tell it.

        That is so while a direction of the features was seen, but barely, and there are more than
        16 features: an answer to a request cannot wait for the step then.

        >>> import llr
        >>> learner = llr.Learner("linear", dim=2, eta0=0.1, regret="exact")
        >>> bool(learner.learn([[1.0, 0.0], [2.0, 0.0]], [1.0, -1.0]))
        True
        >>> learner.quick_regret == learner.regret
        True
        """
        return self._compared(at_once=True)

    def _compared(self, at_once: bool) -> Regret:
        runner, state = self._runner, self._state
        comparator = runner.comparator
        if comparator is None:
            return NOT_COMPARED
        t = 0 if state is None else state.counts.item(T)
        if state is None or t == 0:
            return Regret(0.0, 0.0)
        dim = state.vectors.shape[2]
        quick = comparator.quick if at_once and dim > SMALL else None
        best = (quick or comparator.best)(state.statistics, runner.theta0(dim), t)
        scalars = state.scalars
        return Regret(scalars.item(REGRET), None if best is None else scalars.item(LOSS) - best)

    @property
    def history(self) -> History:
        """The past of t, log η, η, loss, regret and θ in at most 513 points.

        >>> import llr
        >>> learner = llr.Learner("gaussian")
        >>> bool(learner.learn([4.0, 5.0, 6.0]))
        True
        >>> learner.history.t
        array([0, 1, 2, 3])
        """
        compared = self.config.comparator is not None
        if self._state is None:
            return before_dim(self.config.eta0, compared, self._in_classes)
        return read(self._state, compared, self._in_classes)

    def copy(self) -> "Learner":
        """A learner in the same state that goes its own way."""
        twin = Learner.from_config(self.config, self.schedule)
        twin._state = None if self._state is None else self._state.copy()
        return twin

    def pack(self, *, history: bool = True) -> bytes:
        """Config and state as bytes, exact to the last bit; a `schedule` has to be given again.

        Without its `history` the state is small, and learns and predicts the same. Of the past it
        has the first point only, and the next are far apart, as those of a long past are.

        >>> import llr
        >>> learner = llr.Learner("gaussian", eta0=0.5)
        >>> bool(learner.learn([4.0, 5.0]))
        True
        >>> again = llr.Learner.unpack(learner.pack())
        >>> bool(again.learn(6.0)) and bool(learner.learn(6.0)) and again.pack() == learner.pack()
        True
        """
        state = self._state
        if state is None:
            raise SampleError("nothing to pack before dim is known: give dim, or a sample")
        return serialization.pack(self.config, state, self.schedule is not None, history)

    @classmethod
    def unpack(cls, data: bytes, schedule: Schedules | None = None) -> "Learner":
        """The learner that was packed. One with its own schedule needs it again."""
        return cls._go_on(*serialization.unpack(data), schedule)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and deep-copy through `pack`."""
        if self._state is None:
            return type(self).from_config, (self.config, self.schedule)
        return type(self).unpack, (self.pack(), self.schedule)

    def to_plain(self) -> dict[str, Any]:
        """Config and state as plain JSON values, every bit of them."""
        if self._state is None:
            raise SampleError("nothing to write before dim is known: give dim, or a sample")
        return serialization.to_plain(self.config, self._state, self.schedule is not None)

    @classmethod
    def from_plain(cls, plain: Any, schedule: Schedules | None = None) -> "Learner":
        """The learner that `to_plain` wrote. Raises `StateError` on anything else."""
        return cls._go_on(*serialization.from_plain(plain), schedule)

    @classmethod
    def _go_on(
        cls, config: Config, state: State, scheduled: bool, schedule: Schedules | None
    ) -> "Learner":
        if scheduled != (schedule is not None):
            raise StateError("was learnt with a schedule: give it" if scheduled else "had none")
        learner = cls.__new__(cls)
        learner._begin(config, state, schedule)
        return learner

    def _row(self, row: int) -> Vector:
        if self._state is None:
            return np.zeros(0)
        per_score: Vector = self._state.vectors[row]
        # not flatten(), which gives up the GIL for however few numbers
        return per_score.copy() if self.config.of_model.classes else per_score[0].copy()

    def __repr__(self) -> str:
        config = self.config
        return f"<Learner {config.model} {config.algorithm} dim={self.dim} t={self.t}>"
