"""The start of a bank: samples are kept, scales and ridges found, filters fitted again."""

import math

from llr import filters
from llr.auto.bank_layout import (
    AGE,
    AT_FIRST,
    DUE,
    EARLY,
    ERROR_WEIGHT,
    ERRORS,
    EXPERTS,
    FEATURES,
    FILTERS,
    FITTED,
    HEAD,
    LOG_WEIGHTS,
    LONG,
    LOST,
    MERIT,
    OPEN,
    ORIGIN,
    PRIOR,
    PRIOR_OF_BINARY,
    PRIOR_OF_COUNTS,
    PROBABILITIES,
    QUICK_NOISE,
    RIDGE,
    RIDGES,
    RIDGES_OF_CURVED,
    SELDOM,
    SLOW_NOISE,
    START,
    STARTING,
    TRUST,
    WON,
    copy_filter,
    end,
    first_filter,
    kept_sample,
    labels,
)
from llr.auto.experts import share_out
from llr.filters import BINARY, COUNTS, CURVED, SQUARED, filter_at
from llr.kernels.jit import inline_jit, jit, simd_loop
from llr.kernels.vectors import dot
from llr.types import Vector

FARTHEST = 3.0
"""By how many e-folds a mean is above its count, at most, where a kept sample is fitted again."""


@inline_jit
def begin(bank: Vector, model: int, d: int, theta0: Vector, origin: float, free: bool) -> None:
    """Before the first sample; without a `free` intercept it stays at `origin`."""
    for i in range(bank.size):
        bank[i] = 0.0
    for k in range(EXPERTS):
        bank[LOG_WEIGHTS + k] = AT_FIRST[k]
    bank[WON], bank[LOST], bank[AGE], bank[MERIT] = 0.5, 1.0, 1e6, 4.0
    bank[TRUST] = 1.0 / (1.0 + math.exp(-4.0))
    bank[PROBABILITIES], bank[ORIGIN] = (1.0 if BINARY[model] else 0.0), origin
    bank[FEATURES], bank[STARTING] = d, 1.0
    for i in range(d):
        bank[HEAD + 2 * d + i] = theta0[i]
    for k in range(FILTERS):
        ridge = RIDGES_OF_CURVED[k] if CURVED[model] else RIDGES[k]
        bank[RIDGE + k] = ridge
        if free:
            bank[PRIOR + k] = prior(model, d, ridge)
        at = first_filter(d) + k * (2 * (d + 1) + d * (d + 1) // 2)
        bank[at], bank[at + d + 1] = origin, bank[PRIOR + k]
        for i in range(d):
            bank[at + 1 + i] = theta0[i]
    share_out(bank)


@inline_jit
def prior(model: int, d: int, ridge: float) -> float:
    """The prior variance of the intercept."""
    if BINARY[model]:
        return PRIOR_OF_BINARY
    return PRIOR_OF_COUNTS if CURVED[model] else 3.0 * (1.0 + d / ridge)


@inline_jit
def to_refit(bank: Vector, t: int, beyond: bool) -> bool:
    """Whether the filters are fitted again after sample t, which may be `beyond` its scales.

    A fit costs O(t), so one that heavy tails call for waits until there are enough new samples.
    """
    if beyond:
        bank[DUE] = 1.0
    again = t < EARLY or ((t + 1) & t) == 0
    if again or (bank[DUE] != 0.0 and t + 1 >= SELDOM * bank[FITTED]):
        bank[DUE], bank[FITTED] = 0.0, t + 1
        return True
    return False


@jit
def refit(
    bank: Vector,
    model: int,
    p: float,
    t: int,
    d: int,
    mean: Vector,
    spread: Vector,
    room: Vector,
) -> None:
    """Begin again with better scales, and learn the t kept samples again.

    Other losses than the squared one are fitted by the parabolas at their scores so far
    (iteratively reweighted least squares).
    """
    n = d + 1
    c, v = bank[HEAD : HEAD + d], bank[HEAD + d : HEAD + 2 * d]
    z, b, f, before = room[:n], room[n : 2 * n], room[2 * n : 5 * n], room[5 * n :]
    noise = max(bank[SLOW_NOISE], bank[QUICK_NOISE])
    reweighted = not SQUARED[model] and (t > 2 or not CURVED[model])
    for k in range(FILTERS if reweighted else 0):
        one = filter_at(bank, first_filter(d), k, n, f)
        for r in range(t):
            kept_sample(bank, r, d, z)
            before[k * START + r] = dot(one.theta, z)
    _scale(t, mean, spread, c, v)
    for k in range(FILTERS):
        one, prior = filter_at(bank, first_filter(d), k, n, f), bank[PRIOR + k]
        theta0 = bank[HEAD + 2 * d : HEAD + 3 * d]
        filters.restart(one, bank[ORIGIN], theta0, c, v, bank[RIDGE + k], prior)
        bank[ERRORS + k] = bank[ERROR_WEIGHT + k] = 0.0
        for r in range(t):
            kept_sample(bank, r, d, z)
            y, (s, q) = bank[labels(d) + r], filters.measure(one, z)
            importance = bank[end(d) - START + r]
            if reweighted:
                step, w = _parabola(model, before[k * START + r], y, p, importance, noise)
                gain = (step - s) / (1.0 / w + q)
            else:
                gain, w = filters.correction(model, s, q, y, p, importance, 0.0, math.inf)
            measure_error(bank, k, y - s, importance * q, importance)
            filters.learn(one, b, gain, w)


@inline_jit
def _parabola(
    model: int, s: float, y: float, p: float, importance: float, noise: float
) -> tuple[float, float]:
    """Where the parabola at s has its lowest point, and its curvature.

    That of a count's mean far above the count would be e^s, and outweigh all other samples.
    """
    if COUNTS[model]:
        s = min(s, math.log(max(y, 1.0)) + FARTHEST)
    g = filters.residual(model, s, y, p)
    if CURVED[model]:
        w = max(filters.curvature(model, s, y, p), 1e-3)
        return s + min(max(g / w, -5.0), 5.0), importance * w
    w = filters.weight(model, s, y, p, noise / importance)
    return s + g / w, importance * w


@inline_jit
def measure_error(bank: Vector, k: int, error: float, q: float, w: float) -> None:
    """Take an error of weight w into the measure of the noise; in it, it is known to 1 + q."""
    bank[ERRORS + k] += w * error * error / (1.0 + q)
    bank[ERROR_WEIGHT + k] += 1.0 / (1.0 + q)


@simd_loop
def _scale(t: int, mean: Vector, spread: Vector, c: Vector, v: Vector) -> None:
    """Centres and variances from t samples."""
    for i in range(c.size):
        c[i] = mean[i]
        v[i] = spread[i] * (t / (t - 1.0)) if t > 1 else 0.0


@inline_jit
def admit(bank: Vector, d: int, x: Vector, c: Vector, v: Vector, spread: Vector) -> None:
    """A feature that varies for the first time gets its prior."""
    for i in range(d):
        if v[i] == 0.0 and x[i] != c[i]:
            v[i] = max((x[i] - c[i]) ** 2, spread[i])
            for k in range(FILTERS):
                at = first_filter(d) + k * (2 * (d + 1) + d * (d + 1) // 2)
                bank[at + d + 2 + i] = 1.0 / (bank[RIDGE + k] * v[i])


@inline_jit
def settle_ridge(bank: Vector, model: int, d: int, leader: int) -> int:
    """The filter with the best ridge becomes all three; returns which leads."""
    ridge, free = bank[RIDGE + leader], bank[PRIOR + leader] > 0.0
    bank[STARTING] = bank[FITTED] = bank[DUE] = 0.0
    for k in range(FILTERS):
        if k != leader:
            copy_filter(bank, d, leader, k)
    top = bank[LOG_WEIGHTS + leader]
    for k in range(FILTERS):
        bank[LOG_WEIGHTS + k] = top - 2.0 * k
        bank[RIDGE + k] = ridge if k == LONG else min(ridge, OPEN)
        if free:
            bank[PRIOR + k] = prior(model, d, bank[RIDGE + k])
    share_out(bank)
    return LONG
