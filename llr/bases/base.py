"""What a base is: the step θ' = F(θ, η) whose η is to be learnt, together with its tangent."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from llr.parameter import Parameter
from llr.slope import Sample, Slope

__all__ = ["Base", "Pace", "Sample", "Slope"]


class Pace(NamedTuple):
    """How far to go.

    Attributes:
        eta: η_{t+1}, used for θ and for h (R5).
        gamma: what the new tangent is multiplied by, 1 without memory.
        learns: whether there is a tangent at all.
        exact: whether the tangent takes the exact Hessian (R6).
        own: the base's own number, 0 if it has none.
    """

    eta: float
    gamma: float
    learns: bool
    exact: bool
    own: float


@dataclass(frozen=True)
class Base:
    """A registered base.

    The state's vectors are V[row, k] for score k: θ is row 0, its tangent h row 1, the base's own
    rows follow; and it may keep numbers that are no vectors. θ changes by adding to it, and
    whatever else is kept either does so too or reaches θ: what is not finite is found out.

    Attributes:
        name: the word before the slash of an algorithm's name.
        summary: one line for the catalogue.
        step: compiled; (V, numbers, sample, slope, pace), moves all rows and numbers.
        rows: how many rows of its own it keeps, tangents among them.
        numbers: (own, scores, dim) → how many numbers it keeps besides; all start at 0.
        parameter: the base's own number, if it has one.
        sparse: whether a coordinate stays, in every row, where x_i = 0: for named features.
    """

    name: str
    summary: str
    step: Callable[..., None]
    rows: int = 0
    numbers: Callable[[float, int, int], int] = lambda *_: 0
    parameter: Parameter | None = None
    sparse: bool = False
