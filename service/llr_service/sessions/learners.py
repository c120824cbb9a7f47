"""Learners of either kind, with features in a row or with names: fresh ones, and stored ones."""

from typing import Any

from llr import Config, Learner, NamedConfig, NamedLearner, NamedRows, ShapeError
from llr.named.packing import MAGIC
from llr.types import Vector
from llr_service.codec.samples import NAMED

AnyLearner = Learner | NamedLearner
Rows = Vector | NamedRows | None

TAKES_NAMES = "this session takes x as an object of named features, in JSON, not as a list"
TAKES_LISTS = "this session takes x as a list of numbers, not as an object of named features"


def fresh(config: Config) -> AnyLearner:
    """A learner that has learnt nothing."""
    if isinstance(config, NamedConfig):
        return NamedLearner.from_config(config)
    return Learner.from_config(config)


def unpack(data: bytes) -> AnyLearner:
    """The learner that was packed, of whichever kind. Raises `StateError` if none was."""
    return NamedLearner.unpack(data) if data.startswith(MAGIC) else Learner.unpack(data)


def from_plain(plain: Any) -> AnyLearner:
    """The learner that was written as plain JSON values. Raises `StateError` on anything else."""
    named = isinstance(plain, dict) and "names" in plain
    return NamedLearner.from_plain(plain) if named else Learner.from_plain(plain)


def dim_of(learner: AnyLearner) -> int | None:
    """How many features it has, None until the first sample tells; NAMED if they have names."""
    return NAMED if isinstance(learner, NamedLearner) else learner.dim


def theta_of(learner: AnyLearner) -> Any:
    """θ as plain values: a number a feature, a list of them a class, or by name."""
    return learner.theta if isinstance(learner, NamedLearner) else learner.theta.tolist()


def width_of(rows: Rows) -> int:
    """How many features rows have; one for models without, NAMED if they have names."""
    if isinstance(rows, NamedRows):
        return NAMED
    return 1 if rows is None else rows.shape[1]


def check_kind(learner: AnyLearner, rows: Rows) -> None:
    """Refuse rows of the other kind, which no learner would understand."""
    named = isinstance(rows, NamedRows)
    if named != isinstance(learner, NamedLearner):
        raise ShapeError(TAKES_LISTS if named else TAKES_NAMES, 0)
