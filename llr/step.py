"""The step of every algorithm that is a base with a rate: all of the paper's are.

For a base, a rate and a model, with g = ∂ℓ_t(θ_t):

    λ       = g · h                                   the derivative of ℓ_t along log η
    log η'  = rate(log η, λ)                          R5: first η, R24: held at FLOOR once there,
    h'      = h + base(η', ∂ℓ_t(θ + h))               then h and θ, both with η'
    θ'      = θ + base(η', g)                         and both from the old θ and h
"""

import math
from collections.abc import Callable
from typing import Any

from llr import models, rates
from llr.bases.base import Base, Pace
from llr.compiled import apart, part, with_parts, woven
from llr.layout import (
    ETA,
    EXACT,
    LEARNS,
    LOG_ETA,
    MEMORY,
    OF_BASE,
    OF_RATE,
    RATE,
    RATE_A,
    RATE_B,
    SCALARS,
    TAU,
    THETA,
    H,
)
from llr.memory import remember
from llr.rates.rate import FLOOR
from llr.slope import Sample, Slope
from llr.types import Vector
from llr.vectors import dot, dots


def of_base(base: Base) -> Callable[..., Any]:
    """The compiled step of this base, whose settings say which rate moves its η."""
    return woven(with_parts(_step, f"step_{base.name}", move=woven(base.step)))


def move(V: Vector, numbers: Vector, sample: Sample, slope: Slope, pace: Pace) -> None:
    """Stands for the base's step that `of_base` puts in its place."""
    raise NotImplementedError


def _step(own: Vector, V: Vector, scalars: Vector, sample: Sample, slope: Slope) -> float:
    """Learn from one sample; returns its loss."""
    eta, log_eta, gamma = scalars[ETA], scalars[LOG_ETA], 1.0
    learns, exact = own[LEARNS] != 0.0, own[EXACT] != 0.0
    loss, lam = _respond(learns, exact, V, sample, slope)
    if learns and log_eta > FLOOR:
        log_eta, scalars[RATE_A], scalars[RATE_B] = rates.advance(
            int(own[RATE]), log_eta, lam, sample.w, scalars[RATE_A], scalars[RATE_B], own[OF_RATE]
        )
        log_eta = max(log_eta, FLOOR)
        if log_eta != scalars[LOG_ETA]:  # R19: log η is the state; unmoved, η is η_0 to the bit
            eta = math.exp(log_eta)
            scalars[LOG_ETA], scalars[ETA] = log_eta, eta
    if learns and own[MEMORY] != 0.0:
        scalars[TAU] = remember(V, slope.g, sample.x, sample.t, scalars[TAU])
        gamma = math.exp(-1.0 / scalars[TAU])
    move(V, scalars[SCALARS:], sample, slope, Pace(eta, gamma, learns, exact, own[OF_BASE]))
    return loss


@part
def _respond(
    learns: bool, exact: bool, V: Vector, sample: Sample, slope: Slope
) -> tuple[float, float]:
    """Fill the slope with scores and residuals; returns the loss and λ = ∂ℓ(θ)·h (R2)."""
    x, y, model, p = sample.x, sample.y, slope.model, slope.p
    if V.shape[1] == 1:  # one score stays in registers: a step has to wait for each number here
        s, sigma = dots(V[THETA, 0], V[H, 0], x) if learns else (dot(V[THETA, 0], x), 0.0)
        loss, g, g_h = models.respond(model, s, sigma, y, p, exact)
        slope.s[0], slope.sigma[0], slope.g[0], slope.g_h[0] = s, sigma, g, g_h
        return loss, g * sigma
    return _respond_each(exact, V, sample, slope)


@apart
def _respond_each(exact: bool, V: Vector, sample: Sample, slope: Slope) -> tuple[float, float]:
    """The same for several scores."""
    x, y, model, p = sample.x, sample.y, slope.model, slope.p
    for k in range(V.shape[1]):
        slope.s[k], slope.sigma[k] = dots(V[THETA, k], V[H, k], x)
    models.residual(model, slope.s, y, p, slope.g)
    models.residual_along(model, exact, slope.s, slope.sigma, y, p, slope.g, slope.other, slope.g_h)
    lam = 0.0
    for k in range(V.shape[1]):
        lam += slope.g[k] * slope.sigma[k]
    return models.loss(model, slope.s, y, p), lam
