"""The experts' updates: a step of each along the direction u."""

from typing import NamedTuple

from llr.auto import expert_weights
from llr.auto.layout import (
    ADAPTIVE,
    AGGRESSIVE,
    AVERAGED,
    AVERAGED_VOTE,
    COUNT,
    COUNTED,
    EACH,
    EPOCH,
    FIRST,
    OF_ADAPTIVE,
    OF_AGGRESSIVE,
    OF_AVERAGED,
    OF_TANGENT,
    ROWS,
)
from llr.auto.preconditioner import Heading
from llr.kernels.jit import inline_jit, simd_loop
from llr.kernels.layout import OWN, H
from llr.types import Vector

KEEP = 0.999
"""What is kept of the tangent at each step: how long ago a step size still matters."""

FULL = 4.0
BEYOND = 0.8
"""The aggressive step in units of 1/q̄, and how much of the damping of an implicit step it takes."""

RESTART = 5.0
"""The mean starts over as if so many samples were in it."""


@inline_jit
def run(unit: float, g: float, bend: float, ahead: float, q: float) -> float:
    """The aggressive expert's step on the parabola at the prediction, so far ahead of it."""
    r = FULL * unit
    return r * (g + bend * ahead) / (1.0 + BEYOND * r * bend * q)


class Portions(NamedTuple):
    """The weight of the aggressive expert's place in the mean.

    Attributes:
        one: of everything, or only of the intercept.
        each: whether each feature has its own.
        own: which it then is.
    """

    one: float
    each: bool
    own: Vector


@inline_jit
def portions(V: Vector, scalars: Vector, room: Vector) -> Portions:
    """The weight of the aggressive expert's place in the mean, which starts over if it has lost."""
    each, n = V.shape[0] > OWN + ROWS, V.shape[2]
    over = expert_weights.lost(scalars, AVERAGED_VOTE)
    if over:
        scalars[COUNT] = min(scalars[COUNT], RESTART)
    scalars[COUNT] += 1.0
    if each:
        last = scalars.size - 1
        scalars[last] += 1.0 if over else 0.0
        _portion_each(V[COUNTED, 0], V[EPOCH, 0], scalars[last], room[n : 2 * n])
    return Portions(1.0 / scalars[COUNT], each, room[n : 2 * n])


@simd_loop
def _portion_each(counted: Vector, epoch: Vector, now: float, out: Vector) -> None:
    """The same for features that live in their own time, and so hear late of a start."""
    for i in range(out.size):
        late = epoch[i] != now and counted[i] > RESTART
        counted[i] = (RESTART if late else counted[i]) + 1.0
        epoch[i] = now
        out[i] = 1.0 / counted[i]


@inline_jit
def move(
    V: Vector,
    scalars: Vector,
    score: int,
    heading: Heading,
    k: float,
    dk: float,
    run: float,
    portions: Portions,
) -> None:
    """Move the adaptive expert k along u, its tangent dk, the aggressive one run, then the mean."""
    at, u_0 = FIRST + EACH * score, heading.u_0
    _walk(V[ADAPTIVE, score], V[H, score], heading.u, k, dk)
    if portions.each:
        _run_each(V[AGGRESSIVE, score], V[AVERAGED, score], heading.u, run, portions.own)
    else:
        _run(V[AGGRESSIVE, score], V[AVERAGED, score], heading.u, run, portions.one)
    scalars[at + OF_ADAPTIVE] += k * u_0
    scalars[at + OF_TANGENT] = KEEP * (scalars[at + OF_TANGENT] + dk * u_0)
    scalars[at + OF_AGGRESSIVE] += run * u_0
    scalars[at + OF_AVERAGED] += portions.one * (
        scalars[at + OF_AGGRESSIVE] - scalars[at + OF_AVERAGED]
    )


@simd_loop
def _walk(adaptive: Vector, tangent: Vector, u: Vector, k: float, dk: float) -> None:
    for i in range(u.size):
        adaptive[i] += k * u[i]
        tangent[i] = KEEP * (tangent[i] + dk * u[i])


@simd_loop
def _run(aggressive: Vector, mean: Vector, u: Vector, run: float, portion: float) -> None:
    for i in range(u.size):
        aggressive[i] += run * u[i]
        mean[i] += portion * (aggressive[i] - mean[i])


@simd_loop
def _run_each(aggressive: Vector, mean: Vector, u: Vector, run: float, portions: Vector) -> None:
    for i in range(u.size):
        aggressive[i] += run * u[i]
        mean[i] += portions[i] * (aggressive[i] - mean[i])
