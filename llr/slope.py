"""What a step is given: a sample at its time, and what the model says about it."""

from typing import NamedTuple

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
        s: scores θ·x; a prediction is read off them.
        sigma: the tangent's scores h·x.
        g: residual at θ: the gradient ∂ℓ(θ) is g ⊗ x.
        g_h: residual for the tangent: at θ + h, or of g + ∂²ℓ(θ)·h with the exact Hessian (R6).
        other: room for the scores of one more point.
        g_other: room for the residual there.
        q: room for a number per score.
        rows: all of the scratch, a row a purpose, with what an algorithm asked for besides.
        room: room for 2·dim numbers.
    """

    model: int
    p: float
    s: Vector
    sigma: Vector
    g: Vector
    g_h: Vector
    other: Vector
    g_other: Vector
    q: Vector
    rows: Vector
    room: Vector
