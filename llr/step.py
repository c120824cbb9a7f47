"""The step of every algorithm of the paper, and the kernel that runs it over a block of samples.

For a base, a rate and a model, with g = ∂ℓ_t(θ_t):

    λ       = g · h                                   the derivative of ℓ_t along log η
    log η'  = rate(log η, λ)                          R5: first η,
    h'      = h + base(η', ∂ℓ_t(θ + h))               then h and θ, both with η'
    θ'      = θ + base(η', g)                         and both from the old θ and h

One by one, in blocks or as a stream, samples go through this one loop, so the results agree to the
last bit.

The loop does not look out for infinity and NaN. Every update of the state adds to what was there,
so a number of the state that stops being finite stays so, and one look at the end of a block is
enough (`llr.stepper`).
"""

import math

from llr import bases, models, rates
from llr.bases.base import Pace, Sample, Slope
from llr.compiled import (
    COUNTS,
    CUBE,
    INT,
    MATRIX,
    NOTHING,
    READ_MATRIX,
    READ_VECTOR,
    REAL,
    TRUTH,
    VECTOR,
    kernel,
    part,
)
from llr.layout import (
    BASE,
    COMPARE,
    ETA,
    EXACT,
    LEARNS,
    LOG_ETA,
    LOSS,
    MEMORY,
    MODEL,
    NEXT,
    OF_BASE,
    OF_MODEL,
    OF_RATE,
    RATE,
    RATE_A,
    RATE_B,
    REGRET,
    STRIDE,
    TAU,
    THETA,
    H,
    T,
)
from llr.memory import remember
from llr.recorder import record
from llr.schedule import damping
from llr.types import Counts, Vector
from llr.vectors import dot, dots, probe


@part
def step(
    choice: Counts,
    own: Vector,
    sample: Sample,
    slope: Slope,
    V: Vector,
    scalars: Vector,
    statistics: Vector,
    room: Vector,
) -> None:
    """Learn from one sample."""
    x, y, t, w = sample
    eta, log_eta, gamma = scalars[ETA], scalars[LOG_ETA], 1.0
    learns = choice[LEARNS] != 0
    loss, lam = _respond(learns, choice[EXACT] != 0, V, sample, slope)
    if learns:
        log_eta, scalars[RATE_A], scalars[RATE_B] = rates.advance(
            choice[RATE], log_eta, lam, w, scalars[RATE_A], scalars[RATE_B], own[OF_RATE]
        )
        if log_eta != scalars[LOG_ETA]:  # R19: log η is the state; unmoved, η is η_0 to the bit
            eta = math.exp(log_eta)
            scalars[LOG_ETA], scalars[ETA] = log_eta, eta
        if choice[MEMORY] != 0:
            scalars[TAU] = remember(V, slope.g, x, t, scalars[TAU])
            gamma = math.exp(-1.0 / scalars[TAU])
    bases.step(choice[BASE], V, sample, slope, Pace(eta, gamma, learns, own[OF_BASE]))
    scalars[LOSS] += loss
    if choice[COMPARE] != 0:
        scalars[REGRET] += loss - models.observe(slope.model, statistics, room, x, y, t)


@part
def _respond(
    learns: bool, exact: bool, V: Vector, sample: Sample, slope: Slope
) -> tuple[float, float]:
    """Fill the slope with scores and residuals; returns the loss and λ = ∂ℓ(θ)·h (R2)."""
    x, y, model, p = sample.x, sample.y, slope.model, slope.p
    if V.shape[1] == 1:  # one score stays in registers: a step has to wait for each number here
        s, sigma = dots(V[THETA, 0], V[H, 0], x) if learns else (dot(V[THETA, 0], x), 0.0)
        loss, g, g_h = models.respond(model, s, sigma, y, p, exact)
        slope.s[0], slope.g[0], slope.g_h[0] = s, g, g_h
        return loss, g * sigma
    for k in range(V.shape[1]):
        slope.s[k], slope.sigma[k] = dots(V[THETA, k], V[H, k], x)
    models.residual(model, slope.s, y, p, slope.g)
    _residual_of_tangent(exact, slope, y)
    lam = 0.0
    for k in range(V.shape[1]):
        lam += slope.g[k] * slope.sigma[k]
    return models.loss(model, slope.s, y, p), lam


@part
def _residual_of_tangent(exact: bool, slope: Slope, y: float) -> None:
    """R6: the residual at θ + h; with the exact Hessian (Proposition 1), of g + ∂²ℓ(θ)·h."""
    if exact:
        models.curvature(slope.model, slope.s, y, slope.p, slope.sigma, slope.g_h)
        for k in range(slope.s.size):
            slope.g_h[k] = slope.g[k] - slope.g_h[k]
    else:
        for k in range(slope.s.size):
            slope.other[k] = slope.s[k] + slope.sigma[k]
        models.residual(slope.model, slope.other, y, slope.p, slope.g_h)


@kernel(
    NOTHING(
        COUNTS,
        VECTOR,
        READ_MATRIX,
        READ_VECTOR,
        VECTOR,
        CUBE,
        VECTOR,
        COUNTS,
        VECTOR,
        MATRIX,
        MATRIX,
        VECTOR,
        MATRIX,
    )
)
def learn(
    choice: Counts,
    own: Vector,
    X: Vector,
    y: Vector,
    schedule: Vector,
    V: Vector,
    scalars: Vector,
    counts: Counts,
    statistics: Vector,
    history: Vector,
    S: Vector,
    room: Vector,
    predictions: Vector,
) -> None:
    """Learn from the rows of X and y, in order.

    `schedule` holds f(t) for each row, or nothing for the paper's. `S` and `room` are scratch.
    `predictions` receives what was predicted for each row before learning from it, unless it has
    no rows. `history` has room for every point that falls due.
    """
    p = own[OF_MODEL]
    slope = Slope(choice[MODEL], p, S[0], S[1], S[2], S[3], S[4], S[5])
    for i in range(y.size):
        t = counts[T]
        f = schedule[i] if schedule.size > 0 else damping(t)
        step(choice, own, Sample(X[i], y[i], t, 1.0 / f), slope, V, scalars, statistics, room)
        if predictions.shape[0] > 0:
            models.mean(slope.model, slope.s, p, predictions[i])
        counts[T] = t + 1
        if t + 1 == counts[NEXT]:
            counts[NEXT] += counts[STRIDE]
            record(history, counts, t + 1, scalars, V)


@kernel(NOTHING(INT, REAL, READ_MATRIX, CUBE, MATRIX, MATRIX))
def predict(model: int, p: float, X: Vector, V: Vector, S: Vector, out: Vector) -> None:
    """out[i] = the prediction for row i of X on the natural scale, per score."""
    s = S[0]
    for i in range(X.shape[0]):
        for k in range(s.size):
            s[k] = dot(V[THETA, k], X[i])
        models.mean(model, s, p, out[i])


@kernel(TRUTH(CUBE, VECTOR, VECTOR))
def is_finite(V: Vector, scalars: Vector, statistics: Vector) -> bool:
    """Whether every number of the state is finite."""
    total = probe(scalars) + probe(statistics)
    for row in range(V.shape[0]):
        for k in range(V.shape[1]):
            total += probe(V[row, k])
    return total == 0.0


@kernel(INT(READ_MATRIX))
def first_not_finite(X: Vector) -> int:
    """The first row with a number that is not finite, or −1."""
    for i in range(X.shape[0]):
        if probe(X[i]) != 0.0:
            return i
    return -1


@kernel(INT(INT, REAL, READ_VECTOR))
def first_refused(model: int, p: float, y: Vector) -> int:
    """The first label that is not finite or not in the model's domain, or −1."""
    for i in range(y.size):
        if not math.isfinite(y[i]) or not models.admits(model, y[i], p):
            return i
    return -1
