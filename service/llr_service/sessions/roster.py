"""Who is in a team: how it is put together, and how shadows come, go and take over."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from llr import Config, ConfigError, Drift, ShapeError
from llr_service.codec.samples import NAMED
from llr_service.problems import Problem
from llr_service.sessions.config import SHADOWS, Options, SessionConfig, ShadowConfig
from llr_service.sessions.learners import TAKES_LISTS, AnyLearner, dim_of, fresh, theta_of
from llr_service.sessions.shadow import Shadow
from llr_service.sessions.team import Team


def new_team(config: SessionConfig, dim: int | None, max_dim: int | None = None) -> Team:
    """A team that has learnt nothing, once dim is known. A Problem if that exceeds `max_dim`.

    Raises a `SampleError` if features have names and the session takes none.
    """
    if dim == NAMED and config.takes_names is False:
        raise ShapeError(TAKES_LISTS, 0)
    if max_dim is not None:
        config.check(max_dim, dim)
    shadows = {
        name: Shadow(fresh(config.of_shadow(shadow).of_learner(dim)))
        for name, shadow in config.shadows.items()
    }
    champion = fresh(config.of_learner(dim))
    return Team(champion, 0, shadows, Drift() if config.drift else None)


def config_now(config: SessionConfig, team: Team | None) -> SessionConfig:
    """The config of a session that was created with another one, as its team is now."""
    if team is None:
        return config
    champion = team.champion.config
    own = {"algorithm": champion.algorithm, "eta0": champion.eta0, "options": _told(champion)}
    shadows = {name: _of_shadow(one.learner.config) for name, one in team.shadows.items()}
    return config.model_copy(update=own | {"shadows": shadows})


def belongs(team: Team, config: SessionConfig) -> bool:
    """Whether a team is what comes of a config, wherever its learners started."""
    watched = config.drift == (team.drift is not None)
    if not watched or {*team.shadows} != {*config.shadows}:
        return False
    configs = {name: config.of_shadow(one) for name, one in config.shadows.items()}
    pairs = [(one, configs[name], one.start) for name, one in team.shadows.items()]
    return _fits(team.champion, config, team.start) and all(
        _fits(one.learner, of, start) for one, of, start in pairs
    )


def _fits(learner: AnyLearner, config: SessionConfig, start: int) -> bool:
    try:
        expected = config.of_learner(dim_of(learner))
    except ConfigError:
        return False
    return learner.config == (
        replace(expected, theta0=learner.config.theta0) if start else expected
    )


def added(team: Team, name: str, config: SessionConfig, shadow: ShadowConfig) -> Team:
    """With one shadow more, which starts now at the champion's θ. A Problem if it cannot be."""
    if len(team.shadows) >= SHADOWS:
        raise Problem("invalid", f"a session has at most {SHADOWS} shadows: remove one first")
    if name == team.name:
        raise Problem("shadow-exists", f"{name} is the champion now: choose another name")
    start = config.of_shadow(shadow)
    if team.t:
        start = start.model_copy(update={"theta0": theta_of(team.champion)})
    learner = fresh(start.of_learner(team.dim))
    one = Shadow(learner, team.t).compared(team.champion.loss, team.t)
    more = team.view()
    more.shadows[name] = one
    return more


def removed(team: Team, name: str) -> Team:
    """Without a shadow. A Problem if there is none of that name."""
    _of_name(team, name)
    left = team.view()
    left.shadows = {one: shadow for one, shadow in left.shadows.items() if one != name}
    left.former = None if left.former == name else left.former
    return left


def promoted(team: Team, name: str) -> Team:
    """With a shadow as champion, and the champion as a shadow. A Problem if it cannot be."""
    shadow, t = _of_name(team, name), team.t
    if shadow.diverged is not None:
        detail = f"{name} diverged at t = {shadow.diverged} and has learnt nothing since"
        raise Problem("diverged", detail, t=t)
    ahead = team.view()
    former = ahead.name or next(_free_names(team))
    others = {one: beside for one, beside in ahead.shadows.items() if one != name}
    others[former] = Shadow(ahead.champion, ahead.start)
    champion = ahead.shadows[name].learner
    shadows = {one: beside.compared(champion.loss, t) for one, beside in others.items()}
    if ahead.drift is not None:
        ahead.drift.restart()
    return Team(champion, shadow.start, shadows, ahead.drift, name, former)


def _of_name(team: Team, name: str) -> Shadow:
    shadow = team.shadows.get(name)
    if shadow is None:
        known = ", ".join(team.shadows) or "none"
        raise Problem("shadow-not-found", f"the shadows of this session: {known}")
    return shadow


def _free_names(team: Team) -> Iterator[str]:
    """Names for the champion as a shadow: its algorithm's, with a number if need be."""
    word = team.champion.config.algorithm.replace("/", "-")
    tried = (word if n == 1 else f"{word}-{n}" for n in count(1))
    return (name for name in tried if name not in team.shadows)


def _of_shadow(config: Config) -> ShadowConfig:
    models = {one.name for one in config.of_model.parameters}
    own = {name: value for name, value in _told(config).items() if name not in models}
    return ShadowConfig(algorithm=config.algorithm, eta0=config.eta0, options=own)


def _told(config: Config) -> Options:
    """Options as they are told: JSON has one kind of number."""
    options = config.options.items()
    return {name: float(value) if type(value) is int else value for name, value in options}
