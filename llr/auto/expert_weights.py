"""Weights of the experts: each one's weight grows as its losses stay behind the others'.

With the noise φ of the labels as the unit, a predictor's vote falls by its loss beyond that of the
best one, at most by STRICT; the votes are counted from the highest, none falls below its floor, so
that each of them can recover; shares are e^vote, summing to 1. This is the exponentially weighted
forecaster with a share for the losers (Herbster & Warmuth 1998).
"""

import math

from llr.auto.layout import (
    ADAPTIVE_VOTE,
    AGGRESSIVE_VOTE,
    AVERAGED_VOTE,
    INTERCEPT_ONLY_VOTE,
    NOISE,
    SHARES,
    VOTERS,
    VOTES,
)
from llr.kernels.jit import inline_jit
from llr.types import Vector

STRICT = 2.0
RECENT = 300.0
LOWEST = (-4.0, -4.0, -7.0, -10.0)
AT_LEAST = (math.exp(-4.0), math.exp(-4.0), math.exp(-7.0), math.exp(-10.0))
AT_FIRST = (0.0, -2.0, -2.0, 0.0)


@inline_jit
def begin(scalars: Vector) -> None:
    """Votes before the first sample."""
    for k in range(VOTERS):
        scalars[VOTES + k] = AT_FIRST[k]
    _share_out(scalars)


@inline_jit
def noise(scalars: Vector, t: int, excess: float) -> float:
    """Take in twice the loss that could not be helped; returns φ, its mean of late."""
    if t > 0:
        weight = 1.0 / t if t < RECENT else 1.0 / RECENT
        scalars[NOISE] += weight * (2.0 * excess - scalars[NOISE])
    return float(scalars[NOISE])


@inline_jit
def count(
    scalars: Vector, unit: float, mean: float, adaptive: float, aggressive: float, constant: float
) -> None:
    """Move the votes by these losses, measured in `unit`."""
    if not unit > 0.0:
        return
    best = min(mean, adaptive, aggressive, constant)
    per = 1.0 / unit
    _judge(scalars, AVERAGED_VOTE, per * (mean - best))
    _judge(scalars, ADAPTIVE_VOTE, per * (adaptive - best))
    _judge(scalars, AGGRESSIVE_VOTE, per * (aggressive - best))
    _judge(scalars, INTERCEPT_ONLY_VOTE, per * (constant - best))
    top = scalars[VOTES]
    for k in range(1, VOTERS):
        top = max(top, scalars[VOTES + k])
    for k in range(VOTERS):
        scalars[VOTES + k] = max(scalars[VOTES + k] - top, LOWEST[k])
    _share_out(scalars)


@inline_jit
def lost(scalars: Vector, voter: int) -> bool:
    """Whether this one's vote is at its floor."""
    return bool(scalars[VOTES + voter] <= LOWEST[voter])


@inline_jit
def _judge(scalars: Vector, voter: int, behind: float) -> None:
    scalars[VOTES + voter] -= min(behind, STRICT)


@inline_jit
def _share_out(scalars: Vector) -> None:
    total = 0.0
    for k in range(VOTERS):
        vote = scalars[VOTES + k]
        share = AT_LEAST[k]
        if vote > LOWEST[k]:
            share = math.exp(vote) if vote < 0.0 else 1.0
        scalars[SHARES + k] = share
        total += share
    total = 1.0 / total
    for k in range(VOTERS):
        scalars[SHARES + k] *= total
