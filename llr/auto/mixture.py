"""The four predictors as one: by their shares, in a prediction and in θ."""

from llr.auto.places import (
    CONSTANT,
    CONSTANT_VOTE,
    EACH,
    FIRST,
    MEAN,
    MEAN_VOTE,
    OF_ALL,
    OF_MEAN,
    OF_RUNNER,
    OF_WALKER,
    RUNNER,
    RUNNER_VOTE,
    SHARES,
    WALKER,
    WALKER_VOTE,
)
from llr.compiled import loop, part
from llr.layout import THETA
from llr.types import Vector


@part
def mixture(scalars: Vector, mean: float, walker: float, runner: float, constant: float) -> float:
    """The four by their shares."""
    return float(
        scalars[SHARES + MEAN_VOTE] * mean
        + scalars[SHARES + WALKER_VOTE] * walker
        + scalars[SHARES + RUNNER_VOTE] * runner
        + scalars[SHARES + CONSTANT_VOTE] * constant
    )


@part
def mix(V: Vector, scalars: Vector, score: int) -> None:
    """θ and its intercept for one score."""
    at = FIRST + EACH * score
    _mix(
        V[THETA, score],
        V[MEAN, score],
        V[WALKER, score],
        V[RUNNER, score],
        scalars[SHARES + MEAN_VOTE],
        scalars[SHARES + WALKER_VOTE],
        scalars[SHARES + RUNNER_VOTE],
    )
    scalars[at + OF_ALL] = mixture(
        scalars,
        scalars[at + OF_MEAN],
        scalars[at + OF_WALKER],
        scalars[at + OF_RUNNER],
        scalars[at + CONSTANT],
    )


@loop
def _mix(
    theta: Vector, mean: Vector, walker: Vector, runner: Vector, a: float, b: float, c: float
) -> None:
    for i in range(theta.size):
        theta[i] = a * mean[i] + b * walker[i] + c * runner[i]
