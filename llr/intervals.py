"""Intervals: between which bounds a label will be, as often as was asked for, whatever the model.

A prediction alone does not say how wrong it may be. Its errors of the past do. With e = y − μ, the
error of a prediction μ, in units of

    w = σ·c,   σ the mean size of the last errors (about 100 of them, outliers cut),
               c the sd that the algorithm knows, by the usual one, between ½ and 2; 1 without one

the interval of a level p is [μ − w·e^{a + u}, μ + w·e^{b + u}]. Of the three numbers of a level

* a and b are log quantiles of −e/w and of e/w: whenever an error lies beyond, the quantile grows,
  and else it shrinks, a ← a + r·(miss − (1 − p)·(½ + (a − b)/4)), the share within 0 and 1. So the
  wider side has more of the misses: half each where errors are symmetric; where all errors have one
  sign, the side without any shrinks and leaves its misses to the other. The rate r falls with the
  samples to a floor, at which a quantile trembles by 8 %: how errors are spread is learnt, be it
  skewed or heavy-tailed, and followed;
* u = γ·Σ(miss − (1 − p)), γ = 0.1, is adaptive conformal inference (Gibbs & Candès 2021) on the
  logarithm of the width: as long as u is bounded, the share of misses is 1 − p up to its bound by
  γ times the number of samples. No assumption on the samples or the model is needed.

A level's interval is never narrower than that of a lower level. They are given from the third
sample on.

**Classes.** The score of a label is −log P(y), tracked in the same way on one side. The prediction
set of a level has the classes whose score is within, and the likeliest in any case.

Samples of weight 0 are not looked at; other weights do not matter here.

References: Gibbs & Candès, *Adaptive conformal inference under distribution shift*, NeurIPS 2021;
Angelopoulos, Candès & Tibshirani, *Conformal PID control for time series prediction*, NeurIPS 2023.
"""

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from llr.errors import ConfigError
from llr.kernels.jit import inline_jit, jit
from llr.models import MODELS
from llr.types import Array, Vector

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)

# the numbers: samples, σ, samples whose variance was known, the usual log sd; then for each level
# a, b and Σ(miss − (1 − p))
SEEN, SCALE, KNOWN, USUAL, FIRST = range(5)
BELOW, ABOVE, MISSES, EACH = range(4)
SIZE = FIRST + EACH * len(LEVELS)

FEW = 2
"""Samples before there is an interval."""
GAMMA, FARTHEST = 0.1, 3.0
RECENT, EARLY, OUTLIER = 100.0, 20.0, 6.0
TREMBLE, FASTEST = 0.08, 0.5
WIDEST = math.log(2.0)
OF_NORMAL = math.sqrt(math.pi / 2.0)
"""The sd of a normal number by its mean size."""

_NORMAL = NormalDist()
_EDGES = tuple(_NORMAL.inv_cdf(0.5 + 0.5 * level) for level in LEVELS)
TAILS = tuple(0.5 * (1.0 - level) for level in LEVELS)
STARTS = tuple(math.log(edge) for edge in _EDGES)
CLASS_STARTS = tuple(math.log(-math.log(1.0 - level)) for level in LEVELS)
DENSITIES = tuple(edge * _NORMAL.pdf(edge) for edge in _EDGES)
"""How dense the logarithms of normal errors are at the edges: what a quantile's rate is made of."""
FLOORS = tuple(
    2.0 * TREMBLE**2 * dense / (tail * (1.0 - tail))
    for dense, tail in zip(DENSITIES, TAILS, strict=True)
)
CLASS_FLOORS = tuple(
    4.0 * TREMBLE**2 * dense / (2.0 * tail * (1.0 - 2.0 * tail))
    for dense, tail in zip(DENSITIES, TAILS, strict=True)
)
IN_CLASSES = tuple(model.classes or model.binary for model in MODELS.values())
"""Which models predict the probabilities of classes."""
COUNTS = tuple(name == "poisson" for name in MODELS)
"""Which models predict a count, whose variance is like its mean unless the algorithm knows it."""


class Interval(NamedTuple):
    """Between which bounds labels are expected; arrays for many rows, NaN while it is too early."""

    lower: Any
    upper: Any


def first_row(found: Any) -> Any:
    """The interval or the prediction set of the first row."""
    return Interval(found.lower[0], found.upper[0]) if isinstance(found, Interval) else found[0]


def place(level: float) -> int:
    """Which of the levels this is. Raises `ConfigError` for one that is not tracked."""
    if level not in LEVELS:
        known = ", ".join(map(str, LEVELS))
        raise ConfigError("interval", f"must be one of the levels that are tracked: {known}")
    return LEVELS.index(level)


@inline_jit
def _size(c: Vector, model: int, mean: float, variance: float) -> float:
    """The algorithm's sd of a label by the usual one, within bounds; 1 if it is not known."""
    if COUNTS[model] and not variance > 0.0:
        variance = mean
    if not 0.0 < variance < math.inf or c[KNOWN] == 0.0:
        return 1.0
    return math.exp(min(max(0.5 * math.log(variance) - c[USUAL], -WIDEST), WIDEST))


@inline_jit
def _aim(c: Vector, at: int) -> float:
    """u of the level whose numbers are there."""
    return float(min(max(GAMMA * c[at + MISSES], -FARTHEST), FARTHEST))


@jit
def calibrate(model: int, c: Vector, prediction: Vector, y: float, variance: float) -> None:
    """Take in how far the label was from its prediction on the natural scale."""
    if IN_CLASSES[model]:
        _track_classes(c, prediction[int(y)] if prediction.size > 1 else _of_one(prediction, y))
    else:
        _track(c, model, prediction[0], y, variance)


@inline_jit
def _of_one(prediction: Vector, y: float) -> float:
    return float(prediction[0] if y == 1.0 else 1.0 - prediction[0])


@inline_jit
def _log(size: float) -> float:
    return math.log(size) if size > 0.0 else -math.inf


@inline_jit
def _track(c: Vector, model: int, mean: float, y: float, variance: float) -> None:
    error, size, n = y - mean, _size(c, model, mean, variance), c[SEEN]
    if n >= FEW:
        off = _log(abs(error)) - _log(c[SCALE] * size) if error != 0.0 else -math.inf
        below, above = -math.inf, -math.inf
        for i in range(len(LEVELS)):
            at = FIRST + EACH * i
            aim = STARTS[i] + _aim(c, at)
            below, above = max(below, aim + c[at + BELOW]), max(above, aim + c[at + ABOVE])
            under, over = error < 0.0 and off > below, error > 0.0 and off > above
            rate = max(min(1.0 / (DENSITIES[i] * (n + EARLY)), FASTEST), FLOORS[i])
            share = min(max(0.5 + 0.25 * (c[at + BELOW] - c[at + ABOVE]), 0.0), 1.0)
            c[at + BELOW] += rate * ((1.0 if under else 0.0) - 2.0 * TAILS[i] * share)
            c[at + ABOVE] += rate * ((1.0 if over else 0.0) - 2.0 * TAILS[i] * (1.0 - share))
            c[at + MISSES] += (1.0 if under or over else 0.0) - 2.0 * TAILS[i]
    if COUNTS[model] and not variance > 0.0:
        variance = mean
    if 0.0 < variance < math.inf:
        c[KNOWN] += 1.0
        c[USUAL] += (0.5 * math.log(variance) - c[USUAL]) / min(c[KNOWN], RECENT)
    found = OF_NORMAL * (abs(error) / size)
    if n >= EARLY and c[SCALE] > 0.0:
        found = min(found, OUTLIER * c[SCALE])
    c[SEEN] = n + 1.0
    c[SCALE] += (found - c[SCALE]) / min(n + 1.0, RECENT)


@inline_jit
def _track_classes(c: Vector, probability: float) -> None:
    n, off = c[SEEN], _log(-math.log(max(probability, 1e-300)))
    edge = -math.inf
    for i in range(len(LEVELS)):
        at, miss = FIRST + EACH * i, 2.0 * TAILS[i]
        edge = max(edge, CLASS_STARTS[i] + c[at + ABOVE] + _aim(c, at))
        over = 1.0 if off > edge else 0.0
        rate = max(min(0.5 / (DENSITIES[i] * (n + EARLY)), FASTEST), CLASS_FLOORS[i])
        c[at + ABOVE] += rate * (over - miss)
        c[at + MISSES] += over - miss
    c[SEEN] = n + 1.0


def bounds(model: int, c: Vector, level: float, mean: Vector, variance: Vector) -> Interval:
    """The interval of each prediction; NaN while there were too few samples."""
    i = place(level)
    if c[SEEN] < FEW:
        return Interval(np.full(mean.size, np.nan), np.full(mean.size, np.nan))
    edges = c[FIRST:].reshape(-1, EACH)[: i + 1]
    aims = np.array(STARTS[: i + 1]) + np.clip(GAMMA * edges[:, MISSES], -FARTHEST, FARTHEST)
    pairs = zip(mean.tolist(), variance.tolist(), strict=True)
    widths = c[SCALE] * np.array([_size(c, model, *pair) for pair in pairs])
    lower = mean - widths * math.exp(float(np.max(aims + edges[:, BELOW])))
    upper = mean + widths * math.exp(float(np.max(aims + edges[:, ABOVE])))
    return Interval(np.maximum(lower, 0.0) if COUNTS[model] else lower, upper)


def members(c: Vector, level: float, probabilities: Vector) -> Array:
    """Which classes are in the prediction set of each row of probabilities, one column each."""
    i = place(level)
    edges = c[FIRST:].reshape(-1, EACH)[: i + 1]
    aims = np.array(CLASS_STARTS[: i + 1]) + np.clip(GAMMA * edges[:, MISSES], -FARTHEST, FARTHEST)
    most = math.exp(float(np.max(aims + edges[:, ABOVE])))
    found: Array = -np.log(np.maximum(probabilities, 1e-300)) <= most
    found[np.arange(len(found)), probabilities.argmax(axis=1)] = True
    return found


def coverage(c: Vector, level: float, in_classes: bool) -> float | None:
    """The share of labels that were within their interval or set so far; None before any."""
    n = float(c[SEEN]) - (0 if in_classes else FEW)
    return level - float(c[FIRST + EACH * place(level) + MISSES]) / n if n > 0 else None
