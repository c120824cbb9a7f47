"""The stored form of an ensemble, as bytes and as JSON values; both are exact to the last bit.

A champion alone without times is packed as its learner is. An ensemble is the bytes `LLRT`, the
length of a JSON header, the header, the packed learners, the champion first, then the packed times.
As JSON values the champion is `state`, `times` has the wall-clock times, and `team` has everything
else; it is null for a champion alone.
"""

import struct
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic_core import from_json, to_json

from llr import Drift, Learner, NamedLearner, StateError, StateTooNew
from llr.named.serialization import MAGIC as NAMED_MAGIC
from llr_service.sessions.config import SHADOWS, ShadowName
from llr_service.sessions.ensemble import AnyLearner, Baseline, Ensemble, Shadow, dim_of
from llr_service.sessions.times import Times

MAGIC, FORMAT = b"LLRT", 1
LENGTH = struct.Struct("<I")
SampleCount = Annotated[int, Field(ge=0, lt=2**53)]


class _ShadowFields(BaseModel):
    """The fields of a shadow besides its learner."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    start: SampleCount
    since: SampleCount
    champion: float
    own: float
    diverged: SampleCount | None


class _EnsembleFields(BaseModel):
    """The fields of an ensemble besides its learners."""

    model_config = ConfigDict(strict=True)

    version: int
    start: SampleCount
    name: ShadowName | None
    former: ShadowName | None
    drift: list[float] | None
    changes: SampleCount = 0
    shadows: Annotated[dict[ShadowName, _ShadowFields], Field(max_length=SHADOWS)]


_SIZES = TypeAdapter(tuple[int, ...])


def pack(ensemble: Ensemble) -> bytes:
    """Pack an ensemble into bytes."""
    first = ensemble.champion.pack()
    if _is_champion_alone(ensemble) and ensemble.times.last is None:
        return first
    learners = [first, *(shadow.learner.pack() for shadow in ensemble.shadows.values())]
    fields, sizes = _fields(ensemble).model_dump(), [*map(len, learners)]
    header = to_json({"team": fields, "sizes": sizes})
    return b"".join([MAGIC, LENGTH.pack(len(header)), header, *learners, ensemble.times.pack()])


def unpack(data: bytes, drift: bool) -> Ensemble:
    """Unpack an ensemble. Raises `StateError`.

    `drift` turns the drift test on where the bytes hold a champion alone.
    """
    if not data.startswith(MAGIC):
        return Ensemble(_unpack_learner(data)).with_drift(drift)
    try:
        at = len(MAGIC) + LENGTH.size
        end = at + LENGTH.unpack_from(data, len(MAGIC))[0]
        header = from_json(data[at:end])
        _check_format(header["team"])
        learners = []
        for size in _SIZES.validate_python(header["sizes"]):
            learners.append(_unpack_learner(data[end : end + size]))
            end += size
        ensemble = _ensemble(header["team"], learners)
        return _with_times(ensemble, Times.unpack(data[end:]))
    except StateTooNew:
        raise
    except (LookupError, TypeError, ValueError, struct.error) as error:
        raise StateError(f"not a packed ensemble: {error!r:.200}") from None


def to_plain(ensemble: Ensemble) -> dict[str, Any]:
    """Convert an ensemble to JSON values: `state`, `team` and `times`."""
    state, times = ensemble.champion.to_plain(), ensemble.times.to_plain()
    if _is_champion_alone(ensemble):
        return {"state": state, "team": None, "times": times}
    states = [shadow.learner.to_plain() for shadow in ensemble.shadows.values()]
    team = _fields(ensemble).model_dump() | {"states": states}
    return {"state": state, "team": team, "times": times}


def from_plain(state: Any, fields: Any, times: Any, drift: bool) -> Ensemble:
    """Convert the values of `to_plain` to an ensemble. Raises `StateError` for anything else."""
    champion = _learner_from_plain(state)
    try:
        if fields is None:
            ensemble = Ensemble(champion).with_drift(drift)
        else:
            states = map(_learner_from_plain, fields["states"])
            ensemble = _ensemble(fields, [champion, *states])
        return _with_times(ensemble, Times.from_plain(times))
    except StateTooNew:
        raise
    except (LookupError, TypeError, ValueError) as error:
        raise StateError(f"not an ensemble: {error!r:.200}") from None


def _unpack_learner(data: bytes) -> AnyLearner:
    """Unpack a learner with numbers or with names. Raises `StateError`."""
    return NamedLearner.unpack(data) if data.startswith(NAMED_MAGIC) else Learner.unpack(data)


def _learner_from_plain(plain: Any) -> AnyLearner:
    """Convert JSON values to a learner. Raises `StateError`."""
    named = isinstance(plain, dict) and "names" in plain
    return NamedLearner.from_plain(plain) if named else Learner.from_plain(plain)


def _is_champion_alone(ensemble: Ensemble) -> bool:
    changed = ensemble.start or ensemble.name or ensemble.previous_champion or ensemble.version
    return not (ensemble.shadows or ensemble.drift or changed)


def _fields(ensemble: Ensemble) -> _EnsembleFields:
    return _EnsembleFields(
        version=FORMAT,
        start=ensemble.start,
        name=ensemble.name,
        former=ensemble.previous_champion,
        drift=ensemble.drift.to_plain() if ensemble.drift else None,
        changes=ensemble.version,
        shadows={
            name: _ShadowFields(
                start=one.start,
                since=one.baseline.since,
                champion=one.baseline.champion,
                own=one.baseline.own,
                diverged=one.diverged,
            )
            for name, one in ensemble.shadows.items()
        },
    )


def _check_format(members: Any) -> None:
    """Raise `StateTooNew` for a newer format, before anything else of the fields is read."""
    number = members["version"]
    if type(number) is not int or number < 1:
        raise StateError(f"format {number} of an ensemble: this version reads {FORMAT}")
    if number > FORMAT:
        raise StateTooNew(f"format {number} of an ensemble: this version reads {FORMAT}")


def _ensemble(members: Any, learners: list[AnyLearner]) -> Ensemble:
    _check_format(members)
    fields = _EnsembleFields.model_validate(members)
    champion, *others = learners
    shadows = {
        name: Shadow(learner, at.start, Baseline(at.since, at.champion, at.own), at.diverged)
        for (name, at), learner in zip(fields.shadows.items(), others, strict=True)
    }
    drift = None if fields.drift is None else Drift.from_plain(fields.drift)
    own = (fields.name, fields.former, fields.changes)
    ensemble = Ensemble(champion, fields.start, shadows, drift, *own)
    _check(ensemble)
    return ensemble


def _with_times(ensemble: Ensemble, times: Times) -> Ensemble:
    ensemble.times = times
    if times.t > ensemble.t:
        raise StateError("times: a sample that was not learnt")
    return ensemble


def _check(ensemble: Ensemble) -> None:
    """Raise `StateError` unless names are unique and all learners are at the session's t."""
    if ensemble.name in ensemble.shadows:
        raise StateError(f"{ensemble.name} is the champion and a shadow")
    for name, one in ensemble.shadows.items():
        at = ensemble.t if one.diverged is None else one.diverged
        if one.start + one.learner.t != at or max(at, one.baseline.since) > ensemble.t:
            raise StateError(f"shadow {name} is not at the t of its session")
        model, dim = one.learner.config.model, dim_of(one.learner)
        if (model, dim) != (ensemble.champion.config.model, ensemble.dim):
            raise StateError(f"shadow {name} has another model")
    if ensemble.drift is not None and ensemble.drift.t != ensemble.t:
        raise StateError("drift is not at the t of its session")
