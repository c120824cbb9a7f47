"""Clipping of predictions to the range of past labels, as long as labels stay in it.

A score s is predicted as clipped s + (1 − τ)(s − clipped s): the model says how far a score may
reach, given the labels so far, and the trust τ = 1/(1 + e^−a) falls whenever the clipped prediction
loses more than the raw one. So a feature that is suddenly a hundred times larger does not cost a
hundred squared, and a heavy-tailed one gets its due after it was right once. However little the
bounds are trusted, a score leaks only so far beyond them, which the model says on the scale of its
labels: numbers ten times the width of the bounds, the logarithm of a count log 2. So one
heavy-tailed feature cannot make the exponential of a count explode.
"""

import math

from llr import models
from llr.auto.layout import CEILING, FLOOR, MERIT, TRUST
from llr.kernels.jit import inline_jit
from llr.types import Vector

MOST = 4.0
WIDEST = 1.7e308


@inline_jit
def judge(scalars: Vector, gain: float) -> None:
    """Move the trust by what the bounds gained on a sample, in units of the noise."""
    moved = scalars[MERIT] + min(max(gain, -MOST), MOST)
    scalars[MERIT] = min(max(moved, -MOST), MOST)
    scalars[TRUST] = 1.0 / (1.0 + math.exp(-scalars[MERIT]))


@inline_jit
def begin(scalars: Vector) -> None:
    """No bounds before the first label, and full trust in those to come."""
    scalars[FLOOR], scalars[CEILING] = -WIDEST, WIDEST
    judge(scalars, MOST)


@inline_jit
def within(scalars: Vector, model: int, s: float) -> float:
    """The score s kept within bounds as far as they are trusted."""
    return bounded(model, s, scalars[FLOOR], scalars[CEILING], scalars[TRUST])


@inline_jit
def bounded(model: int, s: float, low: float, high: float, trust: float) -> float:
    """The score s kept between low and high as far as these are trusted."""
    if low <= s <= high:
        return s
    inside, most = min(max(s, low), high), models.most_beyond(model, low, high)
    return float(inside + (1.0 - trust) * min(max(s - inside, -most), most))
