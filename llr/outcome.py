"""How a call to learn ended."""

from enum import Enum
from typing import NamedTuple

from llr.types import Vector


class Status(Enum):
    """The two ends of a call to learn, each with a sentence for people."""

    LEARNT = "every sample was learnt"
    DIVERGED = (
        "the next step would leave the finite numbers; the learner stays at its last finite "
        "state: start again with a smaller eta0, or scale the samples"
    )


class Outcome(NamedTuple):
    """The end of a call to learn; true if every sample was learnt.

    Attributes:
        status: which end.
        accepted: how many samples were learnt, counted from the first.
        predictions: what was predicted for each of them before learning from it, if asked for.
        excess: the loss of each beyond the least that its label allows, if asked for.
    """

    status: Status
    accepted: int
    predictions: Vector | None = None
    excess: Vector | None = None

    def __bool__(self) -> bool:
        return self.status is Status.LEARNT

    def __repr__(self) -> str:
        return f"Outcome(status={self.status!r}, accepted={self.accepted})"
