"""An ensemble: the learners of a session, which are a champion and its shadows, and a drift test.

The champion answers and predicts. Every sample goes to all learners, and they are stored as one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from math import prod
from typing import Any

from llr import (
    Config,
    ConfigError,
    Drift,
    History,
    Learner,
    Loss,
    NamedConfig,
    NamedLearner,
    NamedRows,
    Outcome,
    ShapeError,
)
from llr.state import shapes
from llr.types import Vector
from llr_service.codec.samples import NAMED
from llr_service.problems import Problem
from llr_service.sessions.config import SHADOWS, Options, SessionConfig, ShadowConfig
from llr_service.sessions.times import Times

AnyLearner = Learner | NamedLearner
Rows = Vector | NamedRows | None

FILTERED = 64
"""Named features up to which `auto` learns their correlations."""
TAKES_NAMES = "this session takes x as an object of named features, in JSON, not as a list"
TAKES_LISTS = "this session takes x as a list of numbers, not as an object of named features"


def new_learner(config: Config) -> AnyLearner:
    """Make a learner at t = 0."""
    if isinstance(config, NamedConfig):
        return NamedLearner.from_config(config)
    return Learner.from_config(config)


def dim_of(learner: AnyLearner) -> int | None:
    """The number of features, None until the first sample sets it; NAMED if they have names."""
    return NAMED if isinstance(learner, NamedLearner) else learner.dim


def theta_of(learner: AnyLearner) -> Any:
    """θ as plain values: a number a feature, a list of them a class, or by name."""
    return learner.theta if isinstance(learner, NamedLearner) else learner.theta.tolist()


STEP_NS, CLASS_NS, NUMBERS_A_NS = 400, 900, 3
"""What a step takes whatever it reads, what each class adds, and how many numbers are read a
nanosecond: bounds of what was measured for all models at d from 1 to 1,000."""


def step_ns(learner: AnyLearner) -> int:
    """About how many nanoseconds a learner takes for a sample of many, rather too many."""
    config = learner.config
    fixed = STEP_NS + (CLASS_NS * config.scores if config.of_model.classes else 0)
    if isinstance(learner, NamedLearner):
        numbers = 5 * min(learner.dim, FILTERED) ** 2
    else:
        shape = shapes(config, learner.dim or 1)
        numbers = sum(prod(shape[name]) for name in ("vectors", "scalars", "statistics"))
    return fixed + numbers // NUMBERS_A_NS


def width_of(rows: Rows) -> int:
    """The number of features of rows; one for models without, NAMED if they have names."""
    if isinstance(rows, NamedRows):
        return NAMED
    return 1 if rows is None else rows.shape[1]


def check_feature_kind(learner: AnyLearner, rows: Rows) -> None:
    """Raise a `ShapeError` for named features where a learner takes numbers, and vice versa."""
    named = isinstance(rows, NamedRows)
    if named != isinstance(learner, NamedLearner):
        raise ShapeError(TAKES_LISTS if named else TAKES_NAMES, 0)


@dataclass(frozen=True)
class Baseline:
    """The start of a comparison: the session's t, and the loss of both learners at that t."""

    since: int = 0
    champion: float = 0.0
    own: float = 0.0


@dataclass
class Shadow:
    """A learner beside the champion: another algorithm on the same samples, for comparison.

    Attributes:
        learner: the learner.
        start: the t of the session at which it began.
        baseline: where the comparison with the champion starts.
        diverged: the t of the session at which its next step would have left the finite numbers;
            it learns nothing from there on. None while it learns.
    """

    learner: AnyLearner
    start: int = 0
    baseline: Baseline = Baseline()
    diverged: int | None = None

    def view(self) -> "Shadow":
        """Another shadow at the same state, at no cost; only one of the two may learn."""
        return replace(self, learner=self.learner.view())

    def copy(self) -> "Shadow":
        """An independent shadow at the same state."""
        return replace(self, learner=self.learner.copy())

    def learn(self, *samples: Any, w: Vector | None = None) -> None:
        """Learn from samples; a step that diverges ends its learning."""
        if self.diverged is None and not self.learner.learn(*samples, w=w):
            self.diverged = self.start + self.learner.t

    def lead(self, champion: Loss, t: int) -> float | None:
        """How much its mean loss is below the champion's since the baseline; None if unknown."""
        n = t - self.baseline.since
        if self.diverged is not None or n == 0:
            return None
        theirs = champion.total - self.baseline.champion
        own = self.learner.loss.total - self.baseline.own
        return (theirs - own) / n

    def compared(self, champion: Loss, t: int) -> "Shadow":
        """The same shadow, compared with the champion from t on."""
        return replace(self, baseline=Baseline(t, champion.total, self.learner.loss.total))


@dataclass
class Ensemble:
    """A champion and its shadows. Not safe for use by several threads at a time.

    Attributes:
        champion: the learner whose θ and η are the session's.
        start: the t of the session at which the champion began: above 0 if it was a shadow.
        shadows: the shadows by name.
        drift: tests whether the champion's loss rises; None if that is off.
        name: the name that the champion had as a shadow, None if it never was one.
        previous_champion: the name of the shadow that was the champion before, None without one.
        version: how often shadows were added, removed or promoted.
        times: when its samples were learnt.

    >>> rival = Shadow(Learner("gaussian", algorithm="sg"))
    >>> ensemble = Ensemble(Learner("gaussian"), shadows={"rival": rival})
    >>> bool(ensemble.learn([4.0, 5.0])), ensemble.t, rival.learner.t
    (True, 2, 2)
    """

    champion: AnyLearner
    start: int = 0
    shadows: dict[str, Shadow] = field(default_factory=dict)
    drift: Drift | None = None
    name: str | None = None
    previous_champion: str | None = None
    version: int = 0
    times: Times = field(default_factory=Times)
    _nbytes: int = field(default=0, init=False, repr=False, compare=False)
    _t: int = field(default=-1, init=False, repr=False, compare=False)

    @property
    def t(self) -> int:
        """Samples that the session has learnt."""
        if self._t < 0:
            self._t = self.start + self.champion.t
        return self._t

    @property
    def dim(self) -> int | None:
        """The number of features, None until the first sample sets it; NAMED if they have names."""
        return dim_of(self.champion)

    @property
    def history(self) -> History:
        """The champion's history, by the session's t."""
        return shift_history(self.champion.history, self.start)

    @property
    def step_ns(self) -> int:
        """About how many nanoseconds all learners take for a sample of many."""
        learners = (self.champion, *(one.learner for one in self.shadows.values()))
        return sum(map(step_ns, learners))

    @property
    def nbytes(self) -> int:
        """The memory that the states take."""
        if not self._nbytes:
            self._nbytes = self._size()
        return self._nbytes

    def _size(self) -> int:
        size = self.champion.nbytes + self.times.nbytes
        if self.drift is not None:
            size += self.drift.nbytes
        for shadow in self.shadows.values():
            size += shadow.learner.nbytes
        return size

    def learn(self, *samples: Any, w: Vector | None = None, predictions: bool = False) -> Outcome:
        """Let all learners learn. Discard the ensemble if the champion diverges."""
        self._nbytes, self._t, watched = 0, -1, self.drift is not None
        outcome = self.champion.learn(*samples, w=w, predictions=predictions, excess=watched)
        if not outcome:
            return outcome
        if self.drift is not None and outcome.excess is not None:
            self.drift.watch(outcome.excess)
        for shadow in self.shadows.values():
            shadow.learn(*samples, w=w)
        return outcome

    def date(self, now: int) -> None:
        """Note that the last batch was learnt now, in milliseconds since 1970."""
        drift = self.drift
        alarms = drift.at if drift is not None and drift.alarms else ()
        self.times = self.times.at(self.t, now, alarms)

    @property
    def alarms(self) -> int:
        """How many drift alarms there were."""
        return self.drift.alarms if self.drift is not None else 0

    def view(self) -> "Ensemble":
        """Another ensemble at the same state, at no cost; only one of the two may learn."""
        return Ensemble(
            self.champion.view(),
            self.start,
            {name: shadow.view() for name, shadow in self.shadows.items()} if self.shadows else {},
            self.drift.view() if self.drift else None,
            self.name,
            self.previous_champion,
            self.version,
            self.times,
        )

    def copy(self) -> "Ensemble":
        """An independent ensemble at the same state."""
        twin = self.view()
        twin.champion = self.champion.copy()
        twin.shadows = {name: shadow.copy() for name, shadow in self.shadows.items()}
        return twin

    def with_drift(self, drift: bool) -> "Ensemble":
        """The same ensemble, with the drift test on or off from now on."""
        if drift != (self.drift is not None):
            self.drift = Drift(self.t) if drift else None
            self._nbytes = 0
        return self


def shift_history(history: History, start: int) -> History:
    """The history of a learner that began at `start`, by the session's t."""
    return history._replace(t=history.t + start)


def new_ensemble(config: SessionConfig, dim: int | None, max_dim: int | None = None) -> Ensemble:
    """Make an ensemble at t = 0, once dim is known.

    Raises:
        Problem: the ensemble would exceed `max_dim`.
        SampleError: features have names and the session takes none.
    """
    if dim == NAMED and config.takes_names is False:
        raise ShapeError(TAKES_LISTS, 0)
    if max_dim is not None:
        config.check(max_dim, dim)
    shadows = {
        name: Shadow(new_learner(config.of_shadow(shadow).of_learner(dim)))
        for name, shadow in config.shadows.items()
    }
    champion = new_learner(config.of_learner(dim))
    return Ensemble(champion, 0, shadows, Drift() if config.drift else None)


def current_config(config: SessionConfig, ensemble: Ensemble | None) -> SessionConfig:
    """The config that a session was created with, changed to what its ensemble is now."""
    if ensemble is None:
        return config
    champion = ensemble.champion.config
    own = {
        "algorithm": champion.algorithm,
        "eta0": champion.eta0,
        "options": _json_options(champion),
    }
    shadows = {name: _shadow_config(one.learner.config) for name, one in ensemble.shadows.items()}
    return config.model_copy(update=own | {"shadows": shadows})


def matches_config(ensemble: Ensemble, config: SessionConfig) -> bool:
    """Whether an ensemble is one of this config, wherever its learners started."""
    same_drift = config.drift == (ensemble.drift is not None)
    if not same_drift or {*ensemble.shadows} != {*config.shadows}:
        return False
    configs = {name: config.of_shadow(one) for name, one in config.shadows.items()}
    return _has_config(ensemble.champion, config, ensemble.start) and all(
        _has_config(one.learner, configs[name], one.start) for name, one in ensemble.shadows.items()
    )


def _has_config(learner: AnyLearner, config: SessionConfig, start: int) -> bool:
    try:
        expected = config.of_learner(dim_of(learner))
    except ConfigError:
        return False
    return learner.config == (
        replace(expected, theta0=learner.config.theta0) if start else expected
    )


def ensure_shadow(
    ensemble: Ensemble, name: str, config: SessionConfig, shadow: ShadowConfig, max_dim: int
) -> Ensemble | None:
    """Add a shadow unless it is there; None if it is. A problem if it has another config."""
    known = current_config(config, ensemble).shadows.get(name)
    if known == shadow:
        return None
    if known is not None:
        detail = "choose another name, or remove that shadow first"
        raise Problem("shadow-exists", detail, config=known.model_dump())
    config.check_shadow(shadow, max_dim, ensemble.dim)
    return add_shadow(ensemble, name, config, shadow)


def add_shadow(
    ensemble: Ensemble, name: str, config: SessionConfig, shadow: ShadowConfig
) -> Ensemble:
    """Add a shadow, which starts now at the champion's θ. A problem if that is impossible."""
    if len(ensemble.shadows) >= SHADOWS:
        raise Problem("invalid", f"a session has at most {SHADOWS} shadows: remove one first")
    if name == ensemble.name:
        raise Problem("shadow-exists", f"{name} is the champion now: choose another name")
    start = config.of_shadow(shadow)
    if ensemble.t:
        start = start.model_copy(update={"theta0": theta_of(ensemble.champion)})
    learner = new_learner(start.of_learner(ensemble.dim))
    changed = ensemble.view()
    changed.shadows[name] = Shadow(learner, ensemble.t).compared(ensemble.champion.loss, ensemble.t)
    return changed


def remove_shadow(ensemble: Ensemble, name: str) -> Ensemble:
    """Remove a shadow. A problem if there is none of that name."""
    _find_shadow(ensemble, name)
    changed = ensemble.view()
    changed.shadows = {one: shadow for one, shadow in changed.shadows.items() if one != name}
    if changed.previous_champion == name:
        changed.previous_champion = None
    return changed


def ensure_champion(ensemble: Ensemble, name: str) -> Ensemble | None:
    """Make a shadow the champion; None if it is."""
    return None if ensemble.name == name else promote_shadow(ensemble, name)


def promote_shadow(ensemble: Ensemble, name: str) -> Ensemble:
    """Make a shadow the champion and the champion a shadow. A problem if that is impossible."""
    shadow, t = _find_shadow(ensemble, name), ensemble.t
    if shadow.diverged is not None:
        detail = f"{name} diverged at t = {shadow.diverged} and has learnt nothing since"
        raise Problem("diverged", detail, t=t)
    view = ensemble.view()
    previous = view.name or next(_free_names(ensemble))
    others = {one: beside for one, beside in view.shadows.items() if one != name}
    others[previous] = Shadow(view.champion, view.start)
    champion = view.shadows[name].learner
    shadows = {one: beside.compared(champion.loss, t) for one, beside in others.items()}
    if view.drift is not None:
        view.drift.restart()
    return Ensemble(champion, shadow.start, shadows, view.drift, name, previous, times=view.times)


def _find_shadow(ensemble: Ensemble, name: str) -> Shadow:
    shadow = ensemble.shadows.get(name)
    if shadow is None:
        known = ", ".join(ensemble.shadows) or "none"
        raise Problem("shadow-not-found", f"the shadows of this session: {known}")
    return shadow


def _free_names(ensemble: Ensemble) -> Iterator[str]:
    """Names for the champion as a shadow: its algorithm's, with a number if that is taken."""
    word = ensemble.champion.config.algorithm.replace("/", "-")
    candidates = (word if n == 1 else f"{word}-{n}" for n in count(1))
    return (name for name in candidates if name not in ensemble.shadows)


def _shadow_config(config: Config) -> ShadowConfig:
    models = {one.name for one in config.of_model.parameters}
    own = {name: value for name, value in _json_options(config).items() if name not in models}
    return ShadowConfig(algorithm=config.algorithm, eta0=config.eta0, options=own)


def _json_options(config: Config) -> Options:
    """Options with floats for integers: JSON has one type of number."""
    options = config.options.items()
    return {name: float(value) if type(value) is int else value for name, value in options}
