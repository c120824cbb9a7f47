"""A team as bytes and as plain JSON values, exact to the last bit.

A champion alone is packed as a learner is. A team is `LLRT`, the length of a JSON header, the
header, then the packed learners, the champion's first. As plain values the champion is `state`, and
`team` is what else there is, if there is anything.
"""

import struct
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic_core import from_json, to_json

from llr import Drift, StateError
from llr_service.sessions import learners as kinds
from llr_service.sessions.config import SHADOWS, ShadowName
from llr_service.sessions.shadow import Mark, Shadow
from llr_service.sessions.team import Team

MAGIC = b"LLRT"
LENGTH = struct.Struct("<I")
Time = Annotated[int, Field(ge=0, lt=2**53)]


class _Place(BaseModel):
    """What belongs to a shadow, besides its learner."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    start: Time
    since: Time
    champion: float
    own: float
    diverged: Time | None


class _Beside(BaseModel):
    """What belongs to a team, besides its learners."""

    model_config = ConfigDict(strict=True)

    version: Literal[1] = 1
    start: Time
    name: ShadowName | None
    former: ShadowName | None
    drift: list[float] | None
    changes: Time = 0
    shadows: Annotated[dict[ShadowName, _Place], Field(max_length=SHADOWS)]


_SIZES = TypeAdapter(tuple[int, ...])


def pack(team: Team) -> bytes:
    """A team as bytes."""
    first = team.champion.pack()
    if _alone(team):
        return first
    learners = [first, *(shadow.learner.pack() for shadow in team.shadows.values())]
    header = to_json({"team": _beside(team).model_dump(), "sizes": [*map(len, learners)]})
    return b"".join([MAGIC, LENGTH.pack(len(header)), header, *learners])


def unpack(data: bytes, drift: bool) -> Team:
    """The team that was packed. Raises `StateError`.

    `drift` says whether to look out for it if there is nothing about that.
    """
    if not data.startswith(MAGIC):
        return Team(kinds.unpack(data)).watched(drift)
    try:
        at = len(MAGIC) + LENGTH.size
        end = at + LENGTH.unpack_from(data, len(MAGIC))[0]
        header = from_json(data[at:end])
        learners = []
        for size in _SIZES.validate_python(header["sizes"]):
            learners.append(kinds.unpack(data[end : end + size]))
            end += size
        return _team(header["team"], learners)
    except (LookupError, TypeError, ValueError, struct.error) as wrong:
        raise StateError(f"not a packed team: {wrong!r:.200}") from None


def to_plain(team: Team) -> dict[str, Any]:
    """A team as JSON values: `state` and `team`."""
    state = team.champion.to_plain()
    if _alone(team):
        return {"state": state, "team": None}
    states = [shadow.learner.to_plain() for shadow in team.shadows.values()]
    return {"state": state, "team": _beside(team).model_dump() | {"states": states}}


def from_plain(state: Any, beside: Any, drift: bool) -> Team:
    """The team of what `to_plain` wrote. Raises `StateError` on anything else."""
    champion = kinds.from_plain(state)
    if beside is None:
        return Team(champion).watched(drift)
    try:
        return _team(beside, [champion, *map(kinds.from_plain, beside["states"])])
    except (LookupError, TypeError, ValueError) as wrong:
        raise StateError(f"not a team: {wrong!r:.200}") from None


def _alone(team: Team) -> bool:
    changed = team.start or team.name or team.former or team.version
    return not (team.shadows or team.drift or changed)


def _beside(team: Team) -> _Beside:
    return _Beside(
        start=team.start,
        name=team.name,
        former=team.former,
        drift=team.drift.to_plain() if team.drift else None,
        changes=team.version,
        shadows={
            name: _Place(
                start=one.start,
                since=one.mark.since,
                champion=one.mark.champion,
                own=one.mark.own,
                diverged=one.diverged,
            )
            for name, one in team.shadows.items()
        },
    )


def _team(members: Any, learners: list[kinds.AnyLearner]) -> Team:
    beside = _Beside.model_validate(members)
    champion, *others = learners
    shadows = {
        name: Shadow(learner, at.start, Mark(at.since, at.champion, at.own), at.diverged)
        for (name, at), learner in zip(beside.shadows.items(), others, strict=True)
    }
    drift = None if beside.drift is None else Drift.from_plain(beside.drift)
    own = (beside.name, beside.former, beside.changes)
    team = Team(champion, beside.start, shadows, drift, *own)
    _check(team)
    return team


def _check(team: Team) -> None:
    """Names are of one each, and everybody is at the same t, or stopped before it."""
    if team.name in team.shadows:
        raise StateError(f"{team.name} is the champion and a shadow")
    for name, one in team.shadows.items():
        at = team.t if one.diverged is None else one.diverged
        if one.start + one.learner.t != at or max(at, one.mark.since) > team.t:
            raise StateError(f"shadow {name} is not at the t of its session")
        model, dim = one.learner.config.model, kinds.dim_of(one.learner)
        if (model, dim) != (team.champion.config.model, team.dim):
            raise StateError(f"shadow {name} has another model")
    if team.drift is not None and team.drift.t != team.t:
        raise StateError("drift is not at the t of its session")
