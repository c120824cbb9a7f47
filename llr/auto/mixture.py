"""The four predictors as one: by their shares, in a prediction and in θ."""

from llr.auto.layout import (
    ADAPTIVE,
    ADAPTIVE_VOTE,
    AGGRESSIVE,
    AGGRESSIVE_VOTE,
    AVERAGED,
    AVERAGED_VOTE,
    EACH,
    FIRST,
    INTERCEPT_ONLY,
    INTERCEPT_ONLY_VOTE,
    OF_ADAPTIVE,
    OF_AGGRESSIVE,
    OF_ALL,
    OF_AVERAGED,
    SHARES,
)
from llr.kernels.jit import inline_jit, simd_loop
from llr.kernels.layout import THETA
from llr.types import Vector


@inline_jit
def mixture(
    scalars: Vector, mean: float, adaptive: float, aggressive: float, constant: float
) -> float:
    """The four by their shares."""
    return float(
        scalars[SHARES + AVERAGED_VOTE] * mean
        + scalars[SHARES + ADAPTIVE_VOTE] * adaptive
        + scalars[SHARES + AGGRESSIVE_VOTE] * aggressive
        + scalars[SHARES + INTERCEPT_ONLY_VOTE] * constant
    )


@inline_jit
def mix(V: Vector, scalars: Vector, score: int) -> None:
    """θ and its intercept for one score."""
    at = FIRST + EACH * score
    _mix(
        V[THETA, score],
        V[AVERAGED, score],
        V[ADAPTIVE, score],
        V[AGGRESSIVE, score],
        scalars[SHARES + AVERAGED_VOTE],
        scalars[SHARES + ADAPTIVE_VOTE],
        scalars[SHARES + AGGRESSIVE_VOTE],
    )
    scalars[at + OF_ALL] = mixture(
        scalars,
        scalars[at + OF_AVERAGED],
        scalars[at + OF_ADAPTIVE],
        scalars[at + OF_AGGRESSIVE],
        scalars[at + INTERCEPT_ONLY],
    )


@simd_loop
def _mix(
    theta: Vector, mean: Vector, adaptive: Vector, aggressive: Vector, a: float, b: float, c: float
) -> None:
    for i in range(theta.size):
        theta[i] = a * mean[i] + b * adaptive[i] + c * aggressive[i]
