"""A learner whose samples name the features they have."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from llr.base import NOT_COMPARED, BaseLearner, Outcome, Regret, Schedules, Status
from llr.classes import named_classes
from llr.errors import NotFiniteError, ShapeError, StateError
from llr.history import History
from llr.intervals import first_row
from llr.kernels import validation
from llr.kernels.layout import NO_NUMBERS, NO_ROWS
from llr.kernels.runner import KernelRunner
from llr.named import serialization
from llr.named.config import NamedConfig
from llr.named.feature_rows import NamedRows
from llr.named.state import NamedState, initial, read_history, settled_theta
from llr.named.touched_columns import TouchedColumns
from llr.types import Array, Counts, Vector
from llr.validation import check_labels, check_weights, is_ready, numbers, weights_of

Samples = NamedRows | Mapping[str, Any] | Sequence[Mapping[str, Any]] | Any
"""Rows, objects, or a frame of pandas, polars or pyarrow."""


class NamedLearner(BaseLearner):
    """A learner of features that have names, may come up at any time, and are 0 where they miss.

    What a sample costs depends on the features it has, not on those that are known, but for the
    filters of `auto`, up to 64 names. The methods are those of `llr.Learner`, with θ by name.

    Args:
        model: which loss, a name from `llr.MODELS`; one that has features.
        algorithm: a name from `llr.ALGORITHMS` whose steps leave alone what a sample does not have.
        eta0: the first step size, or the only one; `auto` has no use for it.
        theta0: where θ starts, by name; zero if left out.
        max_features: how many names get a column of their own.
        hash_bits: any further ones share 2**hash_bits columns by their hash.
        schedule: f(t) ≥ 1 in place of √(t+2)·log(t+3), or a pair (f, μ) (R1).
        classes: as for `llr.Learner`.
        options: of the model and the algorithm.

    >>> import llr
    >>> learner = llr.NamedLearner("linear", algorithm="sg/ag", eta0=0.1)
    >>> learner.learn([{"age": 0.4, "city": "Rome"}, {"age": 0.1, "member": True}], [1.0, 0.0])
    Outcome(status=<Status.LEARNT: 'every sample was learnt'>, accepted=2)
    >>> list(learner.theta), learner.t
    (['age', 'city=Rome', 'member'], 2)
    """

    _state: NamedState

    def __init__(
        self,
        model: str,
        algorithm: str = "auto",
        eta0: float = 1e-3,
        theta0: Mapping[str, Any] | None = None,
        *,
        max_features: int = NamedConfig.max_features,
        hash_bits: int = NamedConfig.hash_bits,
        schedule: Schedules | None = None,
        classes: int | Sequence[str] | None = None,
        **options: Any,
    ) -> None:
        class_names, options = named_classes(classes, options)
        config = NamedConfig(
            model,
            algorithm=algorithm,
            eta0=eta0,
            theta0=theta0,
            options=options,
            classes=class_names,
            max_features=max_features,
            hash_bits=hash_bits,
        )
        self._begin(config, initial(config), schedule)

    @classmethod
    def from_config(cls, config: NamedConfig, schedule: Schedules | None = None) -> "NamedLearner":
        """A fresh learner with these settings."""
        return cls._of(config, initial(config), schedule)

    @classmethod
    def _of(
        cls, config: NamedConfig, state: NamedState, schedule: Schedules | None
    ) -> "NamedLearner":
        learner = cls.__new__(cls)
        learner._begin(config, state, schedule)
        return learner

    def _begin(self, config: NamedConfig, state: NamedState, schedule: Schedules | None) -> None:
        self.config: NamedConfig = config
        self.schedule = schedule
        self._runner = KernelRunner(config)
        self._state = state

    def learn(
        self,
        rows: Samples,
        y: Any,
        *,
        w: Any = None,
        predictions: bool = False,
        excess: bool = False,
    ) -> Outcome:
        """Learn from samples, in order: one object with one label, or several with as many.

        `w` are their weights, as for `llr.Learner`. Of a frame, `y` and `w` may be names of its
        columns; the others are features (`llr.compat.narwhals`).

        Raises a `SampleError` that names the first bad sample; then nothing is learnt. A step that
        would leave the finite numbers ends the call: the outcome says how many samples were learnt,
        and the learner stays there.

        >>> import llr
        >>> learner = llr.NamedLearner("logistic")
        >>> learner.learn({"clicks": 3, "country": "IT"}, 1).accepted
        1
        >>> learner.learn([{"clicks": 3}, {"clicks": None}], [1, 0])
        Traceback (most recent call last):
        llr.errors.DtypeError: sample 1: x.clicks: must be a number, true or false, or a string
        """
        if _is_frame(rows):
            rows, y, w = _frames().samples(rows, y, w)
        samples, labels = _rows(rows), _labels(rows, self._indexes(y))
        if samples.n != labels.size:
            raise ShapeError(f"{samples.n} samples but {labels.size} labels")
        before, runner = self._state, self._runner
        weights = weights_of(w, labels.size)
        f = self._damping(before, labels.size, weights)
        out = np.empty((labels.size, self.config.scores)) if predictions else NO_ROWS
        beyond = np.empty(labels.size) if excess else NO_NUMBERS
        body = TouchedColumns(self.config, before, samples)
        after = runner.advance(body.working_copy(), body.rows, labels, weights, f, out, beyond)
        if after is None:
            check_labels(self.config, labels)
            _check_values(samples)
            check_weights(weights)
            after = runner.last_finite(body.working_copy(), body.rows, labels, weights, f)
        accepted = after.t - before.t
        self._state = body.learnt(after, accepted)
        status = Status.LEARNT if accepted == labels.size else Status.DIVERGED
        return Outcome(
            status,
            accepted,
            self._told(out[:accepted]) if predictions else None,
            beyond[:accepted] if excess else None,
        )

    def predict(self, rows: Samples) -> Any:
        """The prediction on the natural scale: a mean, a probability, or one per class.

        One object gives one prediction, several give as many. Names that are not known count as 0,
        and stay unknown. Where classes have names it is that of the likeliest.

        >>> import llr
        >>> float(llr.NamedLearner("logistic").predict({"clicks": 3}))
        0.5
        """
        return self._predicted(rows, self._told)

    def probabilities(self, rows: Samples) -> Any:
        """The same in numbers, where classes have names too."""
        return self._predicted(rows, self._natural)

    def interval(self, rows: Samples, level: float = 0.9) -> Any:
        """Between which bounds the label is expected, as for `llr.Learner`.

        >>> import llr
        >>> learner = llr.NamedLearner("linear")
        >>> bool(learner.learn([{"a": 1.0}, {"a": 2.0}] * 50, [1.0, 2.0] * 50))
        True
        >>> bool(learner.interval({"a": 1.0}).lower <= learner.predict({"a": 1.0}))
        True
        """
        samples = _rows(rows)
        _check_values(samples)
        body = TouchedColumns(self.config, self._state, samples, learns=False)
        out = self._runner.predict(body.working_copy(), body.rows, samples.n, variance=True)
        found = self._expected(out, self._state.calibration, level)
        return first_row(found) if isinstance(rows, Mapping) else found

    def _predicted(self, rows: Samples, told: Callable[[Vector], Array]) -> Any:
        samples = _rows(rows)
        _check_values(samples)
        body = TouchedColumns(self.config, self._state, samples, learns=False)
        predicted = told(self._runner.predict(body.working_copy(), body.rows, samples.n))
        return predicted[0] if isinstance(rows, Mapping) else predicted

    @property
    def theta(self) -> dict[str, Any]:
        """θ by name: a number a feature, for softmax a list of one a class.

        >>> import llr
        >>> llr.NamedLearner("linear", theta0={"age": 0.5}).theta
        {'age': 0.5}
        """
        version = self._state.version
        return self._by_name(version.names, version.whole(), np.arange(version.size))

    def theta_of(self, names: Iterable[str]) -> dict[str, Any]:
        """θ of these names alone, 0 for those that are not known.

        >>> import llr
        >>> llr.NamedLearner("linear", theta0={"age": 0.5}).theta_of(["age", "height"])
        {'age': 0.5, 'height': 0.0}
        """
        wanted, version = list(names), self._state.version
        places = version.find(wanted)
        return self._by_name(wanted, version.read(places), places)

    @property
    def known(self) -> int:
        """How many names have a column of their own."""
        return min(self._state.version.size, self.config.max_features)

    @property
    def hashing(self) -> bool:
        """Whether there were more names than that, so that some share a column.

        >>> import llr
        >>> learner = llr.NamedLearner("linear", max_features=1)
        >>> bool(learner.learn({"a": 1.0, "b": 2.0}, 1.0)), learner.known, learner.hashing
        (True, 1, True)
        """
        return self._state.version.size > self.config.max_features

    @property
    def dim(self) -> int:
        """How many columns there are: names of their own, and shared ones."""
        return self._state.version.size

    @property
    def regret(self) -> Regret:
        """None: there is no exact comparison for features that come up at any time."""
        return NOT_COMPARED

    @property
    def quick_regret(self) -> Regret:
        """None as well."""
        return NOT_COMPARED

    @property
    def history(self) -> History:
        """The past in at most 513 points, θ of the first columns, with their names."""
        return read_history(self.config, self._state)

    def copy(self) -> "NamedLearner":
        """A learner in the same state that goes its own way."""
        return NamedLearner._of(self.config, self._state.copy(), self.schedule)

    def pack(self, *, history: bool = True) -> bytes:
        """Config and state as bytes, exact to the last bit; a `schedule` has to be given again.

        Without its `history` the state is small, and learns and predicts the same. Of the past it
        has the first point only, and the next are far apart, as those of a long past are.

        >>> import llr
        >>> learner = llr.NamedLearner("linear")
        >>> bool(learner.learn({"age": 31.0}, 1.0))
        True
        >>> llr.NamedLearner.unpack(learner.pack()).theta == learner.theta
        True
        """
        return serialization.pack(self.config, self._state, self.schedule is not None, history)

    @classmethod
    def unpack(cls, data: bytes, schedule: Schedules | None = None) -> "NamedLearner":
        """The learner that was packed. One with its own schedule needs it again."""
        return cls._go_on(*serialization.unpack(data), schedule)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and deep-copy through `pack`."""
        return type(self).unpack, (self.pack(), self.schedule)

    def to_plain(self) -> dict[str, Any]:
        """Config and state as plain JSON values, every bit of them."""
        return serialization.to_plain(self.config, self._state, self.schedule is not None)

    @classmethod
    def from_plain(cls, plain: Any, schedule: Schedules | None = None) -> "NamedLearner":
        """The learner that `to_plain` wrote. Raises `StateError` on anything else."""
        return cls._go_on(*serialization.from_plain(plain), schedule)

    @classmethod
    def _go_on(
        cls, config: NamedConfig, state: NamedState, scheduled: bool, schedule: Schedules | None
    ) -> "NamedLearner":
        if scheduled != (schedule is not None):
            raise StateError("was learnt with a schedule: give it" if scheduled else "had none")
        return cls._of(config, state, schedule)

    def _by_name(self, names: Sequence[str], columns: Vector, places: Counts) -> dict[str, Any]:
        theta = settled_theta(self.config, self._state, columns, places)
        values = theta.T if self.config.of_model.classes else theta[0]
        return dict(zip(names, values.tolist(), strict=True))

    def __repr__(self) -> str:
        config = self.config
        return f"<NamedLearner {config.model} {config.algorithm} known={self.known} t={self.t}>"


def _is_frame(rows: Any) -> bool:
    """Whether it is a table of pandas, polars or pyarrow, all of which export Arrow."""
    return hasattr(rows, "__arrow_c_stream__")


def _frames() -> Any:
    from llr.compat import narwhals  # noqa: PLC0415 - an extra

    return narwhals


def _rows(rows: Any) -> NamedRows:
    if isinstance(rows, NamedRows):
        return rows
    if _is_frame(rows):
        return _frames().rows(rows)  # type: ignore[no-any-return]
    return NamedRows.of([rows] if isinstance(rows, Mapping) else rows)


def _labels(rows: Any, y: Any) -> Vector:
    if isinstance(rows, NamedRows) and is_ready(y, 1):
        return y  # type: ignore[no-any-return]
    labels = numbers(y, "y")
    if labels.ndim > 1:
        raise ShapeError(f"has shape {labels.shape}, must be one label a sample", field="y")
    if isinstance(rows, Mapping) != (labels.ndim == 0) and not isinstance(rows, NamedRows):
        raise ShapeError("one sample has one label, several have as many", field="y")
    return np.require(np.atleast_1d(labels), np.float64, ["C", "A"])


def _check_values(samples: NamedRows) -> None:
    if validation.first_not_finite(samples.values.reshape(1, -1)) >= 0:
        bad = np.flatnonzero(~np.isfinite(samples.values))
        index = int(np.searchsorted(samples.starts, bad[0], side="right")) - 1
        name = samples.names[samples.columns[bad[0]]]
        raise NotFiniteError("is not finite", index, feature=name)
