"""The weights of the five experts: what they predict together, and which are believed."""

import math

from llr import filters
from llr.auto import clipping
from llr.auto.bank_layout import (
    ERROR_WEIGHT,
    ERRORS,
    EXPERTS,
    FILTERS,
    FIRST_ORDER,
    FLOOR,
    INTERCEPT_ONLY,
    LOG_WEIGHTS,
    LONG,
    MERIT,
    MODERATION,
    NU,
    PROBABILITIES,
    QUICK,
    QUICK_NOISE,
    RECENT,
    SENTINEL,
    SHORT,
    SLOW_NOISE,
    STRICT,
    TRUST,
    WEIGHTS,
    lateness,
)
from llr.filters import BINARY, COUNTS, SQUARED
from llr.kernels.jit import inline_jit, jit
from llr.types import Vector


@inline_jit
def moderated(
    bank: Vector, s: tuple[float, float, float], q: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Scores of a probability, drawn towards even odds by what is uncertain (MacKay 1992)."""
    if bank[PROBABILITIES] == 0.0:
        return s
    return (
        s[0] / math.sqrt(1.0 + MODERATION * q[0]),
        s[1] / math.sqrt(1.0 + MODERATION * q[1]),
        s[2] / math.sqrt(1.0 + MODERATION * q[2]),
    )


@inline_jit
def bounded(
    bank: Vector,
    model: int,
    raw: tuple[float, float, float],
    low: float,
    high: float,
    trust: float,
) -> tuple[float, float, float]:
    """The filters' scores within their bounds as far as these are trusted.

    What the first order found counts as much as what the filters did: a score that rightly was
    beyond may have come too early for a filter to see.
    """
    trust = min(trust, bank[TRUST])
    return (
        clipping.bounded(model, raw[0], low, high, trust),
        clipping.bounded(model, raw[1], low, high, trust),
        clipping.bounded(model, raw[2], low, high, trust),
    )


@inline_jit
def mixed(
    bank: Vector, s: tuple[float, float, float], constant: float, first_order: float
) -> float:
    """The experts' scores by their weights; of a probability, its log-odds."""
    weights = bank[WEIGHTS : WEIGHTS + EXPERTS]
    if bank[PROBABILITIES] == 0.0:
        return float(
            weights[LONG] * s[LONG]
            + weights[SHORT] * s[SHORT]
            + weights[SENTINEL] * s[SENTINEL]
            + weights[INTERCEPT_ONLY] * constant
            + weights[FIRST_ORDER] * first_order
        )
    ones = (
        weights[LONG] * odds(s[LONG])
        + weights[SHORT] * odds(s[SHORT])
        + weights[SENTINEL] * odds(s[SENTINEL])
        + weights[INTERCEPT_ONLY] * odds(constant)
        + weights[FIRST_ORDER] * odds(first_order)
    )
    zeros = (
        weights[LONG] * odds(-s[LONG])
        + weights[SHORT] * odds(-s[SHORT])
        + weights[SENTINEL] * odds(-s[SENTINEL])
        + weights[INTERCEPT_ONLY] * odds(-constant)
        + weights[FIRST_ORDER] * odds(-first_order)
    )
    return math.log(ones) - math.log(zeros)


@inline_jit
def variance(
    bank: Vector,
    model: int,
    together: float,
    s: tuple[float, float, float],
    q: tuple[float, float, float],
    constant: float,
    first_order: float,
) -> float:
    """The variance of the label, of the experts' mixture.

    With weights w_k, means m_k and variances v_k of the experts, and m of all:
    Σ w_k (v_k + (m_k − m)²). Only filters know how uncertain their scores are.
    """
    if BINARY[model]:
        return filters.variance(model, together, 0.0, 0.0)
    phi, m = max(bank[SLOW_NOISE], bank[QUICK_NOISE]), _natural(model, together)
    total = 0.0
    for k in range(FILTERS):
        noise, weight = phi, bank[ERROR_WEIGHT + k]
        if SQUARED[model] and weight > 0.0:
            noise = bank[ERRORS + k] / weight
        apart_by = _natural(model, s[k]) - m
        of_filter = filters.variance(model, s[k], q[k], noise)
        total += bank[WEIGHTS + k] * (of_filter + apart_by * apart_by)
    apart_by = _natural(model, constant) - m
    of_constant = filters.variance(model, constant, 0.0, phi)
    total += bank[WEIGHTS + INTERCEPT_ONLY] * (of_constant + apart_by * apart_by)
    apart_by = _natural(model, first_order) - m
    of_first = filters.variance(model, first_order, 0.0, phi)
    return float(total + bank[WEIGHTS + FIRST_ORDER] * (of_first + apart_by * apart_by))


@inline_jit
def _natural(model: int, s: float) -> float:
    """The mean of a label whose score is s."""
    return min(math.exp(min(s, 700.0)), filters.LARGEST_MEAN) if COUNTS[model] else s


@inline_jit
def odds(s: float) -> float:
    """1/(1 + e^−s), never quite 0."""
    if s >= 0.0:
        return 1.0 / (1.0 + math.exp(-s))
    e = math.exp(max(s, -700.0))
    return e / (1.0 + e)


@jit
def judge(
    bank: Vector,
    model: int,
    p: float,
    t: int,
    y: float,
    importance: float,
    within: tuple[float, float, float],
    raw: tuple[float, float, float],
    constant: float,
    first_order: float,
    low: float,
    high: float,
    least: float,
) -> int:
    """Move the weights and the trust in bounds by the losses; returns the leading filter."""
    losses = (
        importance * (filters.loss(model, within[0], y, p) - least),
        importance * (filters.loss(model, within[1], y, p) - least),
        importance * (filters.loss(model, within[2], y, p) - least),
        importance * (filters.loss(model, constant, y, p) - least),
        importance * (filters.loss(model, first_order, y, p) - least),
    )
    unit = 1.0
    if not BINARY[model]:
        unit = _noise(bank, t, min(losses[LONG], losses[SHORT], losses[SENTINEL], losses[4]))
    if unit > 0.0:
        best, top = math.inf, -math.inf
        for k in range(EXPERTS):
            best = min(best, _behind(model, losses[k], unit))
        for k in range(EXPERTS):
            behind = min(_behind(model, losses[k], unit) - best, STRICT)
            bank[LOG_WEIGHTS + k] -= behind
            top = max(top, bank[LOG_WEIGHTS + k])
        for k in range(EXPERTS):
            bank[LOG_WEIGHTS + k] = max(bank[LOG_WEIGHTS + k] - top, FLOOR - lateness(t))
        share_out(bank)
    leader = _leader(bank)
    s = raw[leader]
    if unit > 0.0 and not low <= s <= high:
        clipped = filters.loss(model, min(max(s, low), high), y, p)
        gain = importance * (filters.loss(model, s, y, p) - clipped) / unit
        bank[MERIT] = min(max(bank[MERIT] + min(max(gain, -4.0), 4.0), -4.0), 4.0)
        bank[TRUST] = 1.0 / (1.0 + math.exp(-bank[MERIT]))
    return leader


@inline_jit
def _behind(model: int, excess: float, unit: float) -> float:
    if BINARY[model]:
        return excess
    return 0.5 * (NU + 1.0) * math.log1p(2.0 * excess / (NU * unit))


@inline_jit
def _noise(bank: Vector, t: int, excess: float) -> float:
    """Take in the least excess of all experts; returns φ, the larger of its two means."""
    if t > 0:
        r, slow, quick = 2.0 * excess, bank[SLOW_NOISE], bank[QUICK_NOISE]
        by_slow = r * (NU + 1.0) / (NU + r / slow) if t > 20 and slow > 0.0 else r
        by_quick = r * (NU + 1.0) / (NU + r / quick) if t > 20 and quick > 0.0 else r
        bank[SLOW_NOISE] += (by_slow - slow) / min(float(t), RECENT)
        bank[QUICK_NOISE] += (by_quick - quick) / min(float(t), QUICK)
    return float(max(bank[SLOW_NOISE], bank[QUICK_NOISE]))


@inline_jit
def share_out(bank: Vector) -> None:
    """Weights from log weights, summing to 1."""
    total = 0.0
    for k in range(EXPERTS):
        bank[WEIGHTS + k] = math.exp(bank[LOG_WEIGHTS + k])
        total += bank[WEIGHTS + k]
    for k in range(EXPERTS):
        bank[WEIGHTS + k] /= total


@inline_jit
def _leader(bank: Vector) -> int:
    """The filter with the highest weight."""
    leader = LONG
    for k in range(1, FILTERS):
        if bank[LOG_WEIGHTS + k] > bank[LOG_WEIGHTS + leader]:
            leader = k
    return leader
