"""What a base is: the step θ' = F(θ, η) whose η is to be learnt, together with its tangent."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from llr.parameter import Parameter
from llr.types import Vector


class Sample(NamedTuple):
    """One sample at its time.

    Attributes:
        x: its features.
        y: its label.
        t: its index, from 0.
        w: 1/f(t).
    """

    x: Vector
    y: float
    t: int
    w: float


class Slope(NamedTuple):
    """What the model says about a sample, one number per score.

    Attributes:
        model: the model's index, for the folded functions of `llr.models`.
        p: the model's own parameter.
        s: scores θ·x.
        sigma: the tangent's scores h·x.
        g: residual at θ: the gradient ∂ℓ(θ) is g ⊗ x.
        g_h: residual for the tangent: at θ + h, or of g + ∂²ℓ(θ)·h with the exact Hessian (R6).
        other: room for the scores of one more point.
        g_other: room for the residual there.
    """

    model: int
    p: float
    s: Vector
    sigma: Vector
    g: Vector
    g_h: Vector
    other: Vector
    g_other: Vector


class Pace(NamedTuple):
    """How far to go.

    Attributes:
        eta: η_{t+1}, used for θ and for h (R5).
        gamma: what the new tangent is multiplied by, 1 without memory.
        learns: whether there is a tangent at all.
        own: the base's own number, 0 if it has none.
    """

    eta: float
    gamma: float
    learns: bool
    own: float


@dataclass(frozen=True)
class Base:
    """A registered base.

    The state's vectors are V[row, k] for score k: θ is row 0, its tangent h row 1, the base's own
    rows follow. All change by adding to them: what is not finite stays so, and is found out.

    Attributes:
        name: the word before the slash of an algorithm's name.
        summary: one line for the catalogue.
        rows: how many rows of its own it keeps.
        step: compiled; (V, sample, slope, pace), moves all rows.
        parameter: the base's own number, if it has one.
    """

    name: str
    summary: str
    rows: int
    step: Callable[..., None]
    parameter: Parameter | None = None
