"""The step of every algorithm that is a base with a rate: all of the paper's are.

For a base, a rate and a model, with g = ∂ℓ_t(θ_t):

    λ       = g · h                                   the derivative of ℓ_t along log η
    log η'  = rate(log η, λ)                          R5: first η, R24: held at FLOOR once there,
    h'      = h + base(η', ∂ℓ_t(θ + h))               then h and θ, both with η'
    θ'      = θ + base(η', g)                         and both from the old θ and h

The loss, g and ∂ℓ_t(θ + h) of a sample of weight w are those of w·ℓ_t.

**Memory** (Section 4.3) forgets how long-past step sizes moved θ.

The tangent is multiplied by γ = exp(−1/τ) at each step, where τ is the number of samples in recent
memory. R12: one τ for the whole vector, from moving averages ḡ and v̄ of g and g² at rate 1/τ,

    τ ← (1 − Σḡ²/Σv̄) τ + 1.

Kept are ḡ and the variance v = v̄ − ḡ², whose update only adds and multiplies what is not negative:

    v ← (1 − 1/τ) (v + (g − ḡ)²/τ),   ḡ ← ḡ + (g − ḡ)/τ,   1 − Σḡ²/Σv̄ = Σv / (Σv + Σḡ²),

so rounding cannot take τ below 1. At 1 it would stay for ever: the first 10 samples are averaged
plainly, with τ = t + 1, and from then on τ is held at or above 1.1.

Reference: Schaul, Zhang & LeCun, *No more pesky learning rates*, 2013, section 4.2.
"""

import math
from collections.abc import Callable
from typing import Any

from llr import models
from llr.algorithms import rates
from llr.algorithms.algorithm import FLOOR, Base, StepParams
from llr.kernels.jit import inline_jit, inline_source, jit, simd_loop, specialize
from llr.kernels.layout import (
    ETA,
    HESSIAN,
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
    Sample,
    StepContext,
)
from llr.kernels.vectors import dot, dots
from llr.types import Vector

WARM_UP = 10
MIN_TAU = 1.1
MEMORY_ROWS = 2


@simd_loop
def _average(mean: Vector, spread: Vector, rate: float, g: float, x: Vector) -> tuple[float, float]:
    """Move one score's ḡ and v towards those of g x; returns its share of Σḡ² and Σv."""
    squares, variance = 0.0, 0.0
    for i in range(x.size):
        off = g * x[i] - mean[i]
        mean[i] += rate * off
        spread[i] = (1.0 - rate) * (spread[i] + rate * (off * off))
        squares += mean[i] * mean[i]
        variance += spread[i]
    return squares, variance


@jit
def update_memory(V: Vector, g: Vector, x: Vector, t: int, tau: float) -> float:
    """Take ∂ℓ(θ) = g ⊗ x into the averages, which are the last two rows; returns the new τ."""
    rate = 1.0 / (t + 1.0) if t < WARM_UP else 1.0 / tau
    row = V.shape[0] - MEMORY_ROWS
    squares, variance = 0.0, 0.0
    for k in range(V.shape[1]):
        of_mean, of_spread = _average(V[row, k], V[row + 1, k], rate, g[k], x)
        squares += of_mean
        variance += of_spread
    if t < WARM_UP:
        return t + 1.0
    total = squares + variance
    return max((variance / total if total > 0.0 else 1.0) * tau + 1.0, MIN_TAU)


def of_base(base: Base) -> Callable[..., Any]:
    """The compiled step of this base, whose settings say which rate moves its η."""
    return inline_source(specialize(_step, f"step_{base.name}", move=inline_source(base.step)))


def move(
    V: Vector, numbers: Vector, sample: Sample, context: StepContext, params: StepParams
) -> None:
    """Leave θ and h where they are; `of_base` puts the step of a base in its place."""


def _step(own: Vector, V: Vector, scalars: Vector, sample: Sample, context: StepContext) -> float:
    """Learn from one sample; returns its loss."""
    eta, log_eta, gamma = scalars[ETA], scalars[LOG_ETA], 1.0
    learns, hessian = own[LEARNS] != 0.0, int(own[HESSIAN])
    loss, g, sigma = _respond(learns, hessian, V, sample, context)
    if learns and log_eta > FLOOR:
        log_eta, scalars[RATE_A], scalars[RATE_B] = rates.advance(
            int(own[RATE]),
            log_eta,
            g,
            sigma,
            sample.rate,
            scalars[RATE_A],
            scalars[RATE_B],
            own[OF_RATE],
        )
        log_eta = max(log_eta, FLOOR)
        if log_eta != scalars[LOG_ETA]:  # R19: log η is the state; unmoved, η is η_0 to the bit
            eta = math.exp(log_eta)
            scalars[LOG_ETA], scalars[ETA] = log_eta, eta
    if learns and own[MEMORY] != 0.0:
        scalars[TAU] = update_memory(V, context.g, sample.x, sample.t, scalars[TAU])
        gamma = math.exp(-1.0 / scalars[TAU])
    params = StepParams(eta, gamma, learns, hessian, own[OF_BASE])
    move(V, scalars[SCALARS:], sample, context, params)
    return loss


@inline_jit
def _respond(
    learns: bool, hessian: int, V: Vector, sample: Sample, context: StepContext
) -> tuple[float, float, float]:
    """Fill the context with scores and residuals; returns the loss and λ = ∂ℓ(θ)·h (R2).

    λ comes as two factors, because their product may be beyond float64 (R16).
    """
    x, y, model, p = sample.x, sample.y, context.model, context.p
    if V.shape[1] == 1:  # one score stays in registers: a step has to wait for each number here
        s, sigma = dots(V[THETA, 0], V[H, 0], x) if learns else (dot(V[THETA, 0], x), 0.0)
        loss, g, g_h = models.respond(model, s, sigma, y, p, hessian)
        g *= sample.importance
        context.s[0], context.sigma[0] = s, sigma
        context.g[0], context.g_h[0] = g, sample.importance * g_h
        return sample.importance * loss, g, sigma
    return _respond_each(hessian, V, sample, context)


@jit
def _respond_each(
    hessian: int, V: Vector, sample: Sample, context: StepContext
) -> tuple[float, float, float]:
    """The same for several scores, whose residuals are bounded: λ is a sum, and 1."""
    x, y, model, p = sample.x, sample.y, context.model, context.p
    for k in range(V.shape[1]):
        context.s[k], context.sigma[k] = dots(V[THETA, k], V[H, k], x)
    models.residual(model, context.s, y, p, context.g)
    room, more = context.other, context.q
    models.residual_along(
        model, hessian, context.s, context.sigma, y, p, context.g, room, more, context.g_h
    )
    lam = 0.0
    for k in range(V.shape[1]):
        context.g[k] *= sample.importance
        context.g_h[k] *= sample.importance
        lam += context.g[k] * context.sigma[k]
    return sample.importance * models.loss(model, context.s, y, p), lam, 1.0
