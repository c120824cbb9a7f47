"""The implicit step: how far to go so that the slope *there* asked for just this step.

For a sample with scores s = θ·x, a step of θ along x by k moves the scores by k·q, q = |x|² (or
xᵀDx under a metric D). The implicit step of size r is the k with

    k = r · residual(s + k q),

which never overshoots, however large r is: the residual keeps its sign on the way. Squared error,
huber and quantile have it in closed form; every other scalar model gets a root finder that keeps
the root between two bounds and halves them whenever Newton's steps do not shrink.

With w = r q · curvature(s + k q), the derivative of k with respect to log r, when s moves by σ, is
dk = (k − w σ/q)/(1 + w); at a kink, where the score is held at the label, w is infinite.

>>> from llr.models import MODELS
>>> k, w = solve(list(MODELS).index("linear"), 0.0, 1.0, 1e10, 5.0, 0.0)
>>> print(f"{k:.6f}")
5.000000
"""

import functools
import math
from collections.abc import Callable
from typing import Any

from llr.kernels.jit import dispatch, inline_jit, jit
from llr.models import MODELS, NEAR, Model
from llr.types import Vector

MOST = 200
"""Rounds of the root finder; far more than were ever seen to be needed."""

CLOSE = 4e-16
"""A step this small against the numbers it is made of is lost in their rounding."""


@inline_jit
def between(low: float, high: float) -> float:
    """A point between two bounds ≥ 0: halfway, counting in orders of magnitude beyond 1."""
    if high <= 1.0:
        return 0.5 * (low + high)
    return math.sqrt(1.0 + low) * math.sqrt(1.0 + high) - 1.0


@inline_jit
def tangent(k: float, w: float, q: float, sigma: float) -> float:
    """dk: how k changes with log r while the score at its start moves by σ."""
    if not w > 0.0:
        return k
    return -sigma / q if math.isinf(w) else (k - w * (sigma / q)) / (1.0 + w)


@functools.cache
def root_of(residual: Callable[..., float], curvature: Callable[..., float]) -> Any:
    """The root finder of a smooth scalar model: (s, q, r, y, p) → (k, w).

    Solved for the way d = k q ≥ 0 in the direction of the residual, which lies between 0 and
    r q |residual(s)|.
    """

    def root(s: float, q: float, r: float, y: float, p: float) -> tuple[float, float]:
        R, g = r * q, residual(s, y, p)
        if not R > 0.0 or g == 0.0:
            return r * g, R * curvature(s, y, p)
        sign = 1.0 if g > 0.0 else -1.0
        low, high = 0.0, R * abs(g)
        if math.isinf(high):
            high = 1.0
            while high < R * sign * residual(s + sign * high, y, p):
                high *= 2.0
        d = min(high, R * abs(g) / (1.0 + R * curvature(s, y, p)))
        if not d > 0.0:
            d = between(low, high)
        last = d
        for _ in range(MOST):
            at = s + sign * d
            miss = d - R * sign * residual(at, y, p)
            if miss > 0.0:
                high = d
            else:
                low = d
            w = R * curvature(at, y, p)
            to = d - miss / (1.0 + w)
            if abs(to - d) <= CLOSE * (d + w / (1.0 + w) * max(1.0, abs(s))):  # s is rounded, too
                break
            if not low <= to <= high or 2.0 * abs(to - d) > last:
                to = between(low, high)
            last = abs(to - d)
            d = to
            if last <= CLOSE * d:
                break
        return sign * d / q, R * curvature(s + sign * d, y, p)

    return jit(root)


def _of(model: Model) -> Callable[..., Any]:
    if model.classes:
        return _no_step
    return model.implicit or root_of(model.residual, model.curvature)


@inline_jit
def _no_step(s: float, q: float, r: float, y: float, p: float) -> tuple[float, float]:
    """A model of several scores has `solve_each`."""
    return 0.0, 0.0


@inline_jit
def _no_steps(s: Vector, q: Vector, r: float, y: float, p: float, k: Vector) -> None:
    """A model of one score has `solve`."""


@inline_jit
def _no_tangents(
    s: Vector, q: Vector, r: float, y: float, p: float, sigma: Vector, k: Vector, dk: Vector
) -> None:
    """A model of one score has `tangent`."""


def _each(
    model: Model, given: Callable[..., Any] | None, otherwise: Callable[..., Any]
) -> Callable[..., Any]:
    if not model.classes:
        return otherwise
    if given is None:
        raise TypeError(f"{model.name} has several scores and has to bring its implicit step")
    return given


solve = dispatch([_of(m) for m in MODELS.values()])
"""(model, s, q, r, y, p) → (k, w), for a model of one score."""

solve_each = dispatch([_each(m, m.implicit, _no_steps) for m in MODELS.values()], jit)
"""(model, s, q, r, y, p, k): fills k, one step per score, for a model of several.

q has one number per score too, so that each may have a metric of its own.
"""

tangent_each = dispatch([_each(m, m.implicit_tangent, _no_tangents) for m in MODELS.values()], jit)
"""(model, s, q, r, y, p, σ, k, dk): fills dk, given the k of `solve_each`."""


@inline_jit
def nearby(s: Vector, sigma: Vector) -> float:
    """How far along (σ, 1) the two points of a numerical derivative of k are."""
    size, length = 1.0, 0.0
    for i in range(s.size):
        size, length = max(size, abs(s[i])), max(length, abs(sigma[i]))
    return NEAR / max(length / size, 1.0)


@jit
def numerical(
    model: int, s: float, q: float, r: float, y: float, p: float, sigma: float, near: float
) -> float:
    """dk by a central difference: s moves by σ and log r by 1."""
    up = solve(model, s + near * sigma, q, r * math.exp(near), y, p)[0]
    down = solve(model, s - near * sigma, q, r * math.exp(-near), y, p)[0]
    return float((up - down) / (2.0 * near))


@jit
def numerical_each(
    model: int,
    s: Vector,
    q: Vector,
    r: float,
    y: float,
    p: float,
    sigma: Vector,
    room: Vector,
    more: Vector,
    dk: Vector,
) -> None:
    """The same for a model of several scores; `room` and `more` are scratch."""
    near = nearby(s, sigma)
    for i in range(s.size):
        room[i] = s[i] + near * sigma[i]
    solve_each(model, room, q, r * math.exp(near), y, p, dk)
    for i in range(s.size):
        room[i] = s[i] - near * sigma[i]
    solve_each(model, room, q, r * math.exp(-near), y, p, more)
    for i in range(s.size):
        dk[i] = (dk[i] - more[i]) / (2.0 * near)
