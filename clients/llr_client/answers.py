"""What the service answers, as values: read-only, with plain numbers and lists."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar

from llr_client.errors import UnexpectedAnswer

T = TypeVar("T")
Theta = list[Any] | dict[str, Any]
"""A number a feature, or a list of them a class; by name where features have names, where each has
a number, or a list with one a class."""


@dataclass(frozen=True, slots=True)
class Loss:
    """The progressive loss: each sample judged before it was learnt."""

    total: float
    mean: float | None


@dataclass(frozen=True, slots=True)
class Regret:
    """Loss beyond that of the best parameter; None where it is off or has no exact form."""

    ml: float | None
    best_fixed: float | None


@dataclass(frozen=True, slots=True)
class EtaStatus:
    """What the step size is doing, as `settled` or `vanished`, and a line of advice."""

    state: str
    advice: str


@dataclass(frozen=True, slots=True)
class Shadow:
    """How another algorithm does on the samples of a session.

    Attributes:
        algorithm: how it learns.
        status: `ok`, or `diverged`: it learns no more.
        t: samples it has learnt.
        since: from which t of the session on it is compared with the champion.
        lead: by how much its mean loss is below the champion's since then; None before any.
        eta: its step size.
        log_eta: its logarithm.
        loss: of its own samples, in total and on average.
        regret: against the best so far at each step, and against the one best for all.
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
    """How often the loss of a session was found to rise, and at which t, the last 16 times."""

    alarms: int
    at: list[int]


@dataclass(frozen=True, slots=True)
class Features:
    """The names of a session whose features have names.

    Attributes:
        known: names it has seen and keeps apart.
        max_features: how many it may keep apart; those after them share a place.
        hash_bits: there are 2 to the power of it such places.
        hashing: whether there were names after those.
    """

    known: int
    max_features: int
    hash_bits: int
    hashing: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to learning: applied exactly once, and on disk.

    Attributes:
        name: the session.
        t: samples the session has learnt, ever.
        accepted: samples of this call that were new to the service.
        duplicate: whether all of them had been learnt before: a retry that was not needed.
        eta: the step size.
        log_eta: its logarithm.
        loss: of each sample before it was learnt, in total and on average.
        regret: against the best so far at each step, and against the one best for all.
        theta: the parameters, by name where features have names, and beyond 1,000 of them those
            of this call alone; None if they were left out.
        intercept: the constant term beside them, one a class; None without one.
        predictions: for each sample before it was learnt, if asked for; None after a retry.
        shadows: how other algorithms do on the same samples, by name.
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
    shadows: dict[str, Shadow] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retained:
    """How much of its samples a session keeps, and whether that is all of them."""

    samples: int
    bytes: int
    complete: bool


@dataclass(frozen=True, slots=True)
class LateLabels:
    """How many labels of predictions with an id are yet to come, came, and did not in time."""

    waiting: int
    learnt: int
    expired: int


@dataclass(frozen=True, slots=True)
class Relearning:
    """How far a what-if is with another session's samples; done when it has learnt all of them.

    Attributes:
        source: that session.
        done: samples learnt.
        of: all of them.
        stopped: why it cannot go on; None while it can.
    """

    source: str
    done: int
    of: int
    stopped: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """All of a session.

    Attributes:
        name: the session.
        t: samples it has learnt, ever.
        model: its loss.
        algorithm: how it learns.
        dim: its number of features; None until the first sample tells.
        status: `ok`, `diverged` after a batch that was refused for it, `stopped` for a what-if.
        config: what it was created with.
        eta: the step size.
        log_eta: its logarithm.
        theta: the parameters, by name where features have names; of an event the largest 1,000.
        loss: of each sample before it was learnt, in total and on average.
        regret: against the best so far at each step, and against the one best for all.
        eta_status: what the step size is doing, with a line of advice.
        intercept: the constant term beside theta, one a class; None without one.
        kept: how many x wait for their late labels.
        labels: what became of predictions with an id; None if there were none.
        retained: how much of its samples it keeps; None without `retain`.
        relearning: how far it is, if it was forked with `relearn`.
        shadows: how other algorithms do on the same samples, by name.
        champion: the name of the shadow that was promoted last; None if none was.
        former: the name the champion before it has as a shadow.
        drift: how often the loss was found to rise; None if nobody looks out for it.
        features: how many names are known and may be; None where features have no names.
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


@dataclass(frozen=True, slots=True)
class Listed:
    """A session in the list; the numbers are None while it is not loaded."""

    name: str
    t: int
    model: str
    algorithm: str
    dim: int | None
    eta: float | None = None
    loss: Loss | None = None
    regret: Regret | None = None


@dataclass(frozen=True, slots=True)
class History:
    """The past as columns, oldest first; `theta` has a list of `coordinates` for each t.

    `labels` are the last late ones: `t` and `at` (in ms) when they were learnt, `predicted_t`
    and `predicted_at` when their x was predicted for; None if there were none. `shadows` has such
    columns for each shadow, without theta; `drift` is at which t the loss was found to rise.

    `_low` and `_high` are the least and the largest since the point before; of theta for its first
    8 coordinates, None for the others. They are empty from a service that does not keep them.
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


def read(shape: type[T], members: Any) -> T:
    """A value from the JSON of an answer. What a newer service adds is left out.

    >>> read(Loss, {"total": 1.0, "mean": 0.5, "later": "unknown"})
    Loss(total=1.0, mean=0.5)
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
        return {each: read(Shadow, members) for each, members in value.items()}
    return read(PARTS[name], value) if name in PARTS else value


PARTS: dict[str, type] = {
    "loss": Loss,
    "regret": Regret,
    "eta_status": EtaStatus,
    "labels": LateLabels,
    "retained": Retained,
    "relearning": Relearning,
    "drift": Drift,
    "features": Features,
}
