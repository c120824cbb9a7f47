"""The models: which ℓ a learner climbs. To add one, write its file and give it a line in `MODELS`.

The dispatchers at the end of this file take the model's index first and work on arrays of scores,
one entry for a scalar model, one per class for softmax.
"""

from collections.abc import Callable
from typing import Any

from llr.kernels.jit import dispatch, inline_jit, jit
from llr.kernels.layout import EXACT, NUMERICAL
from llr.models import (
    featureless,
    huber,
    linear,
    logistic,
    poisson,
    quantile,
    softmax,
)
from llr.models.model import Comparator, Model
from llr.types import Vector

__all__ = ["MODELS", "Comparator", "Model"]

MODELS: dict[str, Model] = {
    "gaussian": featureless.GAUSSIAN,
    "bernoulli": featureless.BERNOULLI,
    "linear": linear.MODEL,
    "logistic": logistic.MODEL,
    "poisson": poisson.MODEL,
    "softmax": softmax.MODEL,
    "quantile": quantile.MODEL,
    "huber": huber.MODEL,
}


NEAR = 2.0**-17
"""How far apart the two points of a numerical derivative are from its own, against max(1, |s|).

About the cube root of float64's precision, where rounding and the third derivative err alike.
"""


def _loss(model: Model) -> Callable[..., Any]:
    of_score = model.loss
    return of_score if model.classes else inline_jit(lambda s, y, p: of_score(s[0], y, p))


def _residual(model: Model) -> Callable[..., Any]:
    of_score = model.residual
    if model.classes:
        return of_score

    def residual(s: Vector, y: float, p: float, out: Vector) -> None:
        out[0] = of_score(s[0], y, p)

    return inline_jit(residual)


def _curvature(model: Model) -> Callable[..., Any]:
    of_score = model.curvature
    if model.classes:
        return of_score

    def curvature(s: Vector, y: float, p: float, sigma: Vector, out: Vector) -> None:
        out[0] = of_score(s[0], y, p) * sigma[0]

    return inline_jit(curvature)


def _mean(model: Model) -> Callable[..., Any]:
    of_score = model.mean
    if model.classes:
        return of_score

    def mean(s: Vector, p: float, out: Vector) -> None:
        out[0] = of_score(s[0], p)

    return inline_jit(mean)


def _respond(model: Model) -> Callable[..., Any]:
    """Loss, residual, and the tangent's residual (R6), for the scores s of θ and σ of h."""
    loss, residual, curvature = model.loss, model.residual, model.curvature
    if model.classes:
        # one score is not enough
        return inline_jit(lambda s, sigma, y, p, hessian: (0.0, 0.0, 0.0))

    def respond(
        s: float, sigma: float, y: float, p: float, hessian: int
    ) -> tuple[float, float, float]:
        g = residual(s, y, p)
        if hessian == EXACT:
            g_h = g - curvature(s, y, p) * sigma
        elif hessian == NUMERICAL:
            up, down = s + NEAR * max(1.0, abs(s)), s - NEAR * max(1.0, abs(s))
            g_h = g + (residual(up, y, p) - residual(down, y, p)) / (up - down) * sigma
        else:
            g_h = residual(s + sigma, y, p)
        return loss(s, y, p), g, g_h

    return inline_jit(respond)


def _weight(model: Model) -> Callable[..., Any]:
    of_score = model.weight
    if model.classes:
        return of_score

    def weight(s: Vector, y: float, p: float, noise: float, out: Vector) -> None:
        out[0] = of_score(s[0], y, p, noise)

    return inline_jit(weight)


@inline_jit
def _no_comparator(statistics: Vector, room: Vector, x: Vector, y: float, w: float) -> float:
    return 0.0


def _observe(model: Model) -> Callable[..., Any]:
    return model.comparator.observe if model.comparator else _no_comparator


loss = dispatch([_loss(m) for m in MODELS.values()])
residual = dispatch([_residual(m) for m in MODELS.values()])
curvature = dispatch([_curvature(m) for m in MODELS.values()])
respond = dispatch([_respond(m) for m in MODELS.values()])
weight = dispatch([_weight(m) for m in MODELS.values()])
score_range = dispatch([m.score_range for m in MODELS.values()])
most_beyond = dispatch([m.most_beyond for m in MODELS.values()])
min_loss = dispatch([m.min_loss for m in MODELS.values()])
mean = dispatch([_mean(m) for m in MODELS.values()], jit)
admits = dispatch([m.admits for m in MODELS.values()])
observe = dispatch([_observe(m) for m in MODELS.values()], jit)


@jit
def residual_along(
    model: int,
    hessian: int,
    s: Vector,
    sigma: Vector,
    y: float,
    p: float,
    g: Vector,
    room: Vector,
    more: Vector,
    out: Vector,
) -> None:
    """R6: out = the residual at s + σ; with the exact Hessian (Proposition 1), g − curvature·σ.

    With the numerical one, a central difference along σ takes the place of the curvature. `room`
    and `more` are scratch.
    """
    if hessian == EXACT:
        curvature(model, s, y, p, sigma, out)
        for k in range(s.size):
            out[k] = g[k] - out[k]
    elif hessian == NUMERICAL:
        size, length = 1.0, 0.0
        for k in range(s.size):
            size, length = max(size, abs(s[k])), max(length, abs(sigma[k]))
        near = NEAR * size / length if length > 0.0 else 0.0
        for k in range(s.size):
            room[k] = s[k] + near * sigma[k]
        residual(model, room, y, p, out)
        for k in range(s.size):
            room[k] = s[k] - near * sigma[k]
        residual(model, room, y, p, more)
        for k in range(s.size):
            out[k] = g[k] + ((out[k] - more[k]) / (2.0 * near) if near > 0.0 else 0.0)
    else:
        for k in range(s.size):
            room[k] = s[k] + sigma[k]
        residual(model, room, y, p, out)
