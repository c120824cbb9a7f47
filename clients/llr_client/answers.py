"""The service's answers as frozen dataclasses of plain numbers and lists."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar

from llr_client.errors import UnexpectedAnswer

T = TypeVar("T")
Theta = list[Any] | dict[str, Any]
"""One number per feature, or one list per class; for named features a dict from each name to its
number, or to one number per class."""


@dataclass(frozen=True, slots=True)
class Loss:
    """The progressive loss: each sample's loss before it was learnt.

    `recent` is an exponentially weighted mean over about the last 200 samples.
    """

    total: float
    mean: float | None
    recent: float | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric: recent, weighted over about the last 200 samples, and overall."""

    recent: float | None
    overall: float | None


@dataclass(frozen=True, slots=True)
class BaselineMetrics:
    """The metrics of predicting the mean label so far, or the most frequent class."""

    rmse: Measure | None = None
    mae: Measure | None = None
    accuracy: Measure | None = None
    auc: Measure | None = None


@dataclass(frozen=True, slots=True)
class Metrics:
    """Quality of the predictions, each made before its sample was learnt.

    Attributes:
        rmse: root mean squared error; None for classes.
        mae: mean absolute error; None for classes.
        accuracy: share of correct classes; None for numbers.
        auc: area under the ROC curve; None unless there are two classes.
        coverage: share of labels inside their 90 % interval or prediction set.
        baseline: the same metrics of the baseline.
    """

    rmse: Measure | None = None
    mae: Measure | None = None
    accuracy: Measure | None = None
    auc: Measure | None = None
    coverage: Measure | None = None
    baseline: BaselineMetrics | None = None


@dataclass(frozen=True, slots=True)
class Regret:
    """Loss in excess of the best parameter's; None if it is off or has no exact form."""

    ml: float | None
    best_fixed: float | None


@dataclass(frozen=True, slots=True)
class EtaStatus:
    """The state of the step size, such as `settled` or `vanished`, and a line of advice."""

    state: str
    advice: str


@dataclass(frozen=True, slots=True)
class Shadow:
    """A shadow: another algorithm on the samples of a session.

    Attributes:
        algorithm: its algorithm.
        status: `ok`, or `diverged`: it has stopped learning.
        t: samples it has learnt.
        since: the t of the session at which its comparison with the champion began.
        lead: the champion's mean loss minus its own, since then; None before any sample.
        eta: its step size.
        log_eta: the logarithm of eta.
        loss: total and mean loss of its samples.
        regret: against the best parameter so far at each step, and against the best fixed one.
    """

    algorithm: str
    status: str
    t: int
    since: int
    lead: float | None
    eta: float
    log_eta: float | None
    loss: Loss
    regret: Regret


@dataclass(frozen=True, slots=True)
class Drift:
    """The number of drift alarms, and the t and the time of the last 16."""

    alarms: int
    at: list[int]
    time: list[str | None] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Features:
    """The feature names of a session with named features.

    Attributes:
        known: names that have a column of their own.
        max_features: the most names with a column of their own; later names are hashed.
        hash_bits: later names share 2 to the power of `hash_bits` columns.
        hashing: whether any name is hashed.
    """

    known: int
    max_features: int
    hash_bits: int
    hashing: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to learning: the samples were applied exactly once and are on disk.

    Attributes:
        name: the session.
        t: samples the session has learnt.
        accepted: samples of this call that were new to the service.
        duplicate: whether all of them had been learnt before: the retry was not needed.
        eta: the step size.
        log_eta: the logarithm of eta.
        loss: total and mean loss of each sample before it was learnt.
        regret: against the best parameter so far at each step, and against the best fixed one.
        theta: the parameters, by name for named features, where beyond 1,000 only those of this
            call are listed; None if omitted.
        intercept: the constant term, one per class; None without one.
        predictions: for each sample before it was learnt, if requested; None after a retry.
        probabilities: with predictions, of each class by name; None if classes have no names.
        shadows: the shadows by name.
    """

    name: str
    t: int
    accepted: int
    duplicate: bool
    eta: float
    log_eta: float | None
    loss: Loss
    regret: Regret
    theta: Theta | None = None
    intercept: Any = None
    predictions: list[Any] | None = None
    probabilities: list[dict[str, float]] | None = None
    shadows: dict[str, Shadow] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction with an interval: single values for one row, lists for several rows.

    Attributes:
        name: the session.
        t: samples the session had learnt.
        predictions: as `Session.predict` returns them without an interval.
        lower: the lower bound of the label; None before the third sample, and for classes.
        upper: the upper bound.
        set: the classes that the label may be; None for numbers.
        probabilities: of each class by name; None if classes have no names.
    """

    name: str
    t: int
    predictions: Any
    lower: Any = None
    upper: Any = None
    set: Any = None
    probabilities: Any = None


@dataclass(frozen=True, slots=True)
class Retained:
    """The samples a session retains, and whether these are all it has learnt."""

    samples: int
    bytes: int
    complete: bool


@dataclass(frozen=True, slots=True)
class LateLabels:
    """Counts of pending, learnt and expired labels of predictions with an id."""

    waiting: int
    learnt: int
    expired: int


@dataclass(frozen=True, slots=True)
class Relearning:
    """The progress of a what-if, which learns another session's samples.

    Attributes:
        source: the other session.
        done: samples learnt.
        of: samples to learn.
        stopped: why it cannot continue; None while it can.
    """

    source: str
    done: int
    of: int
    stopped: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """The state of a session.

    Attributes:
        name: the session.
        t: samples it has learnt.
        model: its model.
        algorithm: its algorithm.
        dim: its number of features; None before the first sample.
        status: `ok`, `diverged` after a refused batch, or `stopped` for a what-if.
        config: the config it was created with.
        eta: the step size.
        log_eta: the logarithm of eta.
        theta: the parameters, by name for named features; events have the largest 1,000.
        loss: total and mean loss of each sample before it was learnt.
        regret: against the best parameter so far at each step, and against the best fixed one.
        eta_status: the state of the step size, with a line of advice.
        intercept: the constant term, one per class; None without one.
        kept: examples that wait for their late labels.
        labels: counts of late labels; None if there were no predictions with an id.
        retained: the retained samples; None without `retain`.
        relearning: the progress of a fork with `relearn`.
        shadows: the shadows by name.
        champion: the name of the shadow that was promoted last; None if none was.
        former: the shadow name of the previous champion.
        drift: the drift alarms; None if drift detection is off.
        features: the feature names; None if features have no names.
        metrics: the quality of the predictions; None if the service does not record it.
        created_at: when it was created, RFC 3339 in UTC; None if unknown.
        last_sample_at: when its last sample was learnt; None before the first.
        activity: `learning`, `idle` or `drifting`.
        expires_at: when it is deleted unless a sample comes; None if it does not expire.
    """

    name: str
    t: int
    model: str
    algorithm: str
    dim: int | None
    status: str
    config: dict[str, Any]
    eta: float
    log_eta: float | None
    theta: Theta
    loss: Loss
    regret: Regret
    eta_status: EtaStatus | None = None
    intercept: Any = None
    kept: int = 0
    labels: LateLabels | None = None
    retained: Retained | None = None
    relearning: Relearning | None = None
    shadows: dict[str, Shadow] = field(default_factory=dict)
    champion: str | None = None
    former: str | None = None
    drift: Drift | None = None
    features: Features | None = None
    metrics: Metrics | None = None
    created_at: str | None = None
    last_sample_at: str | None = None
    activity: str | None = None
    expires_at: str | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of the list of sessions; the numbers are None while it is not loaded."""

    name: str
    t: int
    model: str
    algorithm: str
    dim: int | None
    eta: float | None = None
    loss: Loss | None = None
    regret: Regret | None = None
    created_at: str | None = None
    last_sample_at: str | None = None
    activity: str | None = None
    metrics: Metrics | None = None
    status: str | None = None


@dataclass(frozen=True, slots=True)
class History:
    """The history as columns, oldest first; `theta` has the `coordinates` of theta at each t.

    `labels` has the latest late labels: `t` and `at` (in ms) of learning, `predicted_t` and
    `predicted_at` of the prediction; None if there were none. `shadows` has such columns for each
    shadow, without theta; `drift` has the t of each drift alarm.

    `_low` and `_high` are the minimum and maximum since the previous point; for theta only of the
    first 8 coordinates, None for the others. `recent` is the recent loss, `metric` the recent RMSE
    or accuracy, `baseline` the baseline's. They are empty if the service does not record them.
    """

    name: str
    t: list[int]
    log_eta: list[float]
    eta: list[float]
    loss: list[float]
    regret: list[float] | None
    theta: list[list[float]]
    coordinates: list[int] | list[str]
    labels: dict[str, list[int]] | None = None
    shadows: dict[str, Any] = field(default_factory=dict)
    drift: list[int] = field(default_factory=list)
    log_eta_low: list[float] = field(default_factory=list)
    log_eta_high: list[float] = field(default_factory=list)
    loss_low: list[float] = field(default_factory=list)
    loss_high: list[float] = field(default_factory=list)
    theta_low: list[list[float | None]] = field(default_factory=list)
    theta_high: list[list[float | None]] = field(default_factory=list)
    recent: list[float | None] = field(default_factory=list)
    metric: list[float | None] = field(default_factory=list)
    baseline: list[float | None] = field(default_factory=list)
    time: list[str | None] = field(default_factory=list)
    drift_time: list[str | None] = field(default_factory=list)


def parse(shape: type[T], members: Any) -> T:
    """Convert an answer's JSON to a dataclass. Members of a newer service are ignored.

    >>> parse(Loss, {"total": 1.0, "mean": 0.5, "later": "unknown"})
    Loss(total=1.0, mean=0.5, recent=None)
    """
    if not isinstance(members, Mapping):
        raise UnexpectedAnswer(f"{shape.__name__} is not an object")
    known: dict[str, Any] = {}
    for one in fields(shape):  # type: ignore[arg-type]
        if one.name in members:
            known[one.name] = _value(one.name, members[one.name], shape)
        elif one.default is MISSING and one.default_factory is MISSING:
            raise UnexpectedAnswer(f"{shape.__name__} without {one.name}")
    return shape(**known)


def _value(name: str, value: Any, shape: type) -> Any:
    if shape is History or value is None:
        return value
    if name == "shadows":
        return {each: parse(Shadow, members) for each, members in value.items()}
    return parse(PARTS[name], value) if name in PARTS else value


PARTS: dict[str, type] = {
    "loss": Loss,
    "regret": Regret,
    "eta_status": EtaStatus,
    "labels": LateLabels,
    "retained": Retained,
    "relearning": Relearning,
    "drift": Drift,
    "features": Features,
    "metrics": Metrics,
    "baseline": BaselineMetrics,
    **dict.fromkeys(("rmse", "mae", "accuracy", "auc", "coverage"), Measure),
}
