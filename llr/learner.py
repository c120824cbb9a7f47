"""The library's face: a learner that takes samples and shows θ, η, loss and regret."""

from typing import Any

import numpy as np

from llr import packing
from llr.checks import check_features, check_labels
from llr.config import Config
from llr.errors import SampleError, StateError
from llr.face import NOT_COMPARED, Face, Regret, Schedule
from llr.history import History, before_dim, read
from llr.layout import LOSS, REGRET, THETA, H, T
from llr.outcome import Outcome, Status
from llr.rows import NO_NUMBERS, NO_ROWS, Rows
from llr.samples import matrix_of, rows
from llr.state import State, initial
from llr.stepper import Stepper
from llr.types import Vector

SMALL = 16
"""Features up to which the exact comparator takes no longer than the rest of an answer."""


class Learner(Face):
    """A stochastic gradient learner that can also learn its step size. One thread at a time.

    Args:
        model: which loss, a name from `llr.MODELS`.
        dim: number of features; the first sample tells if left out.
        algorithm: a name from `llr.ALGORITHMS`.
        eta0: the first step size, or the only one; `auto` has no use for it.
        theta0: where θ starts; zero if left out.
        regret: "exact" to compare with the best parameter, where a model has an exact one.
        schedule: f(t) ≥ 1, for θ and log η alike, in place of √(t+2)·log(t+3) (R1).
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
        schedule: Schedule | None = None,
        **options: Any,
    ) -> None:
        self._begin(Config(model, dim, algorithm, eta0, theta0, regret, options), None, schedule)

    @classmethod
    def from_config(cls, config: Config, schedule: Schedule | None = None) -> "Learner":
        """A fresh learner with these settings."""
        learner = cls.__new__(cls)
        learner._begin(config, None, schedule)
        return learner

    def _begin(self, config: Config, state: State | None, schedule: Schedule | None) -> None:
        self.config = config
        self.schedule = schedule
        self._stepper = Stepper(config)
        self._state: State | None = state
        if state is None and config.dim is not None:
            self._state = initial(config, config.dim)

    def learn(
        self, X: Any, y: Any = None, *, predictions: bool = False, excess: bool = False
    ) -> Outcome:
        """Learn from samples, in order: `learn(X, y)`, or `learn(y)` for a model without features.

        X is n × d with n labels, or one row with one label. Raises a `SampleError` that names the
        first bad sample; then nothing is learnt. A step that would leave the finite numbers ends
        the call: the outcome says how many samples were learnt, and the learner stays there.

        With `excess` the outcome has each loss beyond the least that its label allows, in which
        `llr.Drift` sees drift; of `auto` it is the loss of its first-order learners.

        >>> import llr
        >>> learner = llr.Learner("linear", dim=2, eta0=0.1)
        >>> learner.learn([[1.0, 0.0], [0.0, 1.0]], [1.0, -1.0]).accepted
        2
        >>> learner.learn([0.5, 0.5], 0.0, predictions=True).predictions.shape
        (1,)
        >>> learner.learn([[1.0, float("nan")]], [1.0])
        Traceback (most recent call last):
        llr.errors.NotFiniteError: sample 0: x: is not finite
        """
        matrix, labels = rows(X, y, self.config.of_model.features, self.dim)
        before = self._state or initial(self.config, matrix.shape[1])
        n, samples = labels.size, Rows(matrix)
        f = self._damping(before, n)
        out = np.empty((n, before.vectors.shape[1])) if predictions else NO_ROWS
        beyond = np.empty(n) if excess else NO_NUMBERS
        draft = before.draft(matrix.size)
        after, accepted = self._stepper.advance(draft, samples, labels, f, out, beyond), n
        if after is None:
            check_labels(self.config, labels)
            check_features(matrix)
            after = self._stepper.last_finite(before, samples, labels, f)
            accepted = after.t - before.t
        self._state = after
        status = Status.LEARNT if accepted == n else Status.DIVERGED
        return Outcome(
            status,
            accepted,
            self._natural(out[:accepted]) if predictions else None,
            beyond[:accepted] if excess else None,
        )

    def predict(self, X: Any = None) -> Any:
        """The prediction on the natural scale: a mean, a probability, or one per class.

        One row gives one prediction, n rows give n. Models without features take no X.

        >>> import llr
        >>> float(llr.Learner("bernoulli").predict())
        0.5
        >>> llr.Learner("softmax", dim=2, classes=4).predict([[1.0, 2.0]])
        array([[0.25, 0.25, 0.25, 0.25]])
        """
        features = self.config.of_model.features
        if features == (X is None):
            raise SampleError("predict(X)" if features else "this model has none: predict()")
        matrix = matrix_of(X, self.dim) if features else np.ones((1, 1))
        check_features(matrix)
        state = self._state or initial(self.config, matrix.shape[1])
        out = self._stepper.predict(state, Rows(matrix), len(matrix))
        predicted = self._natural(out)
        return predicted if matrix is X or np.ndim(X) == 2 else predicted[0]

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
        stepper, state = self._stepper, self._state
        comparator = stepper.comparator
        if comparator is None:
            return NOT_COMPARED
        t = 0 if state is None else state.counts.item(T)
        if state is None or t == 0:
            return Regret(0.0, 0.0)
        dim = state.vectors.shape[2]
        quick = comparator.quick if at_once and dim > SMALL else None
        best = (quick or comparator.best)(state.statistics, stepper.theta0(dim), t)
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
            return before_dim(self.config.eta0, compared)
        return read(self._state, compared)

    def copy(self) -> "Learner":
        """A learner in the same state that goes its own way."""
        twin = Learner.from_config(self.config, self.schedule)
        twin._state = None if self._state is None else self._state.copy()
        return twin

    def pack(self) -> bytes:
        """Config and state as bytes, exact to the last bit; a `schedule` has to be given again.

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
        return packing.pack(self.config, state, self.schedule is not None)

    @classmethod
    def unpack(cls, data: bytes, schedule: Schedule | None = None) -> "Learner":
        """The learner that was packed. One with its own schedule needs it again."""
        return cls._go_on(*packing.unpack(data), schedule)

    def to_plain(self) -> dict[str, Any]:
        """Config and state as plain JSON values, every bit of them."""
        if self._state is None:
            raise SampleError("nothing to write before dim is known: give dim, or a sample")
        return packing.to_plain(self.config, self._state, self.schedule is not None)

    @classmethod
    def from_plain(cls, plain: Any, schedule: Schedule | None = None) -> "Learner":
        """The learner that `to_plain` wrote. Raises `StateError` on anything else."""
        return cls._go_on(*packing.from_plain(plain), schedule)

    @classmethod
    def _go_on(
        cls, config: Config, state: State, scheduled: bool, schedule: Schedule | None
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
