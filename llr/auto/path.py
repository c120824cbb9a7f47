"""Where everybody goes: along the direction u, by a step each."""

from typing import NamedTuple

from llr.auto import vote
from llr.auto.places import (
    COUNT,
    COUNTED,
    EACH,
    EPOCH,
    FIRST,
    MEAN,
    MEAN_VOTE,
    OF_MEAN,
    OF_RUNNER,
    OF_TANGENT,
    OF_WALKER,
    ROWS,
    RUNNER,
    WALKER,
)
from llr.auto.scale import Heading
from llr.compiled import loop, part
from llr.layout import OWN, H
from llr.types import Vector

KEEP = 0.999
"""What is kept of the tangent at each step: how long ago a step size still matters."""

FULL = 4.0
BEYOND = 0.8
"""The runner's step in units of 1/q̄, and how much of the damping of an implicit step it takes."""

RESTART = 5.0
"""The mean starts over as if so many samples were in it."""


@part
def run(unit: float, g: float, bend: float, ahead: float, q: float) -> float:
    """The runner's step on the parabola at the prediction, which is so far ahead of it."""
    r = FULL * unit
    return r * (g + bend * ahead) / (1.0 + BEYOND * r * bend * q)


class Portions(NamedTuple):
    """The weight of the runner's place in the mean.

    Attributes:
        one: of everything, or only of the intercept.
        each: whether each feature has its own.
        own: which it then is.
    """

    one: float
    each: bool
    own: Vector


@part
def portions(V: Vector, scalars: Vector, room: Vector) -> Portions:
    """The weight of the runner's place in the mean, which starts over if it has lost."""
    each, n = V.shape[0] > OWN + ROWS, V.shape[2]
    over = vote.lost(scalars, MEAN_VOTE)
    if over:
        scalars[COUNT] = min(scalars[COUNT], RESTART)
    scalars[COUNT] += 1.0
    if each:
        last = scalars.size - 1
        scalars[last] += 1.0 if over else 0.0
        _portion_each(V[COUNTED, 0], V[EPOCH, 0], scalars[last], room[n : 2 * n])
    return Portions(1.0 / scalars[COUNT], each, room[n : 2 * n])


@loop
def _portion_each(counted: Vector, epoch: Vector, now: float, out: Vector) -> None:
    """The same for features that live in their own time, and so hear late of a start."""
    for i in range(out.size):
        late = epoch[i] != now and counted[i] > RESTART
        counted[i] = (RESTART if late else counted[i]) + 1.0
        epoch[i] = now
        out[i] = 1.0 / counted[i]


@part
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
    """Take the walker k along u, its tangent dk, the runner run, and the mean after the runner."""
    at, u_0 = FIRST + EACH * score, heading.u_0
    _walk(V[WALKER, score], V[H, score], heading.u, k, dk)
    if portions.each:
        _run_each(V[RUNNER, score], V[MEAN, score], heading.u, run, portions.own)
    else:
        _run(V[RUNNER, score], V[MEAN, score], heading.u, run, portions.one)
    scalars[at + OF_WALKER] += k * u_0
    scalars[at + OF_TANGENT] = KEEP * (scalars[at + OF_TANGENT] + dk * u_0)
    scalars[at + OF_RUNNER] += run * u_0
    scalars[at + OF_MEAN] += portions.one * (scalars[at + OF_RUNNER] - scalars[at + OF_MEAN])


@loop
def _walk(walker: Vector, tangent: Vector, u: Vector, k: float, dk: float) -> None:
    for i in range(u.size):
        walker[i] += k * u[i]
        tangent[i] = KEEP * (tangent[i] + dk * u[i])


@loop
def _run(runner: Vector, mean: Vector, u: Vector, run: float, portion: float) -> None:
    for i in range(u.size):
        runner[i] += run * u[i]
        mean[i] += portion * (runner[i] - mean[i])


@loop
def _run_each(runner: Vector, mean: Vector, u: Vector, run: float, portions: Vector) -> None:
    for i in range(u.size):
        runner[i] += run * u[i]
        mean[i] += portions[i] * (runner[i] - mean[i])
