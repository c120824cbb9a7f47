"""The models: which ℓ a learner climbs. To add one, write its file and give it a line in `MODELS`.

The folded functions at the foot take the model's index first and work on arrays of scores, one
entry for a scalar model, one per class for softmax.
"""

from collections.abc import Callable
from typing import Any

from llr.compiled import apart, fold, part
from llr.models import (
    bernoulli,
    gaussian,
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
    "gaussian": gaussian.MODEL,
    "bernoulli": bernoulli.MODEL,
    "linear": linear.MODEL,
    "logistic": logistic.MODEL,
    "poisson": poisson.MODEL,
    "softmax": softmax.MODEL,
    "quantile": quantile.MODEL,
    "huber": huber.MODEL,
}


def _loss(model: Model) -> Callable[..., Any]:
    of_score = model.loss
    return of_score if model.classes else part(lambda s, y, p: of_score(s[0], y, p))


def _residual(model: Model) -> Callable[..., Any]:
    of_score = model.residual
    if model.classes:
        return of_score

    def residual(s: Vector, y: float, p: float, out: Vector) -> None:
        out[0] = of_score(s[0], y, p)

    return part(residual)


def _curvature(model: Model) -> Callable[..., Any]:
    of_score = model.curvature
    if model.classes:
        return of_score

    def curvature(s: Vector, y: float, p: float, sigma: Vector, out: Vector) -> None:
        out[0] = of_score(s[0], y, p) * sigma[0]

    return part(curvature)


def _mean(model: Model) -> Callable[..., Any]:
    of_score = model.mean
    if model.classes:
        return of_score

    def mean(s: Vector, p: float, out: Vector) -> None:
        out[0] = of_score(s[0], p)

    return part(mean)


def _respond(model: Model) -> Callable[..., Any]:
    """Loss, residual, and the tangent's residual (R6), for the scores s of θ and σ of h."""
    loss, residual, curvature = model.loss, model.residual, model.curvature
    if model.classes:
        return part(lambda s, sigma, y, p, exact: (0.0, 0.0, 0.0))  # one score is not enough

    def respond(
        s: float, sigma: float, y: float, p: float, exact: bool
    ) -> tuple[float, float, float]:
        g = residual(s, y, p)
        g_h = g - curvature(s, y, p) * sigma if exact else residual(s + sigma, y, p)
        return loss(s, y, p), g, g_h

    return part(respond)


def _weight(model: Model) -> Callable[..., Any]:
    of_score = model.weight
    if model.classes:
        return of_score

    def weight(s: Vector, y: float, p: float, noise: float, out: Vector) -> None:
        out[0] = of_score(s[0], y, p, noise)

    return part(weight)


@part
def _no_comparator(statistics: Vector, room: Vector, x: Vector, y: float, t: int) -> float:
    return 0.0


def _observe(model: Model) -> Callable[..., Any]:
    return model.comparator.observe if model.comparator else _no_comparator


loss = fold([_loss(m) for m in MODELS.values()])
residual = fold([_residual(m) for m in MODELS.values()])
curvature = fold([_curvature(m) for m in MODELS.values()])
respond = fold([_respond(m) for m in MODELS.values()])
weight = fold([_weight(m) for m in MODELS.values()])
reach = fold([m.reach for m in MODELS.values()])
least = fold([m.least for m in MODELS.values()])
mean = fold([_mean(m) for m in MODELS.values()], apart)
admits = fold([m.admits for m in MODELS.values()])
observe = fold([_observe(m) for m in MODELS.values()], apart)


@apart
def residual_along(
    model: int,
    exact: bool,
    s: Vector,
    sigma: Vector,
    y: float,
    p: float,
    g: Vector,
    room: Vector,
    out: Vector,
) -> None:
    """R6: out = the residual at s + σ; with the exact Hessian (Proposition 1), g − curvature·σ."""
    if exact:
        curvature(model, s, y, p, sigma, out)
        for k in range(s.size):
            out[k] = g[k] - out[k]
    else:
        for k in range(s.size):
            room[k] = s[k] + sigma[k]
        residual(model, room, y, p, out)
