"""Where each number of a bank of filters stands, and its constants (`llr.auto.bank`)."""

import math

from llr import filters
from llr.kernels.jit import inline_jit, simd_loop
from llr.types import Vector

LARGEST = 64
"""Features up to which there is a bank."""

START = 128
EARLY = 8
"""Samples that are kept, and those after each of which the filters are fitted again."""
SELDOM = 1.125
"""By how much the samples have to have grown until a feature that is far calls for another fit."""

FAR, UNKNOWN = 10.0, 32
"""A squared distance in variances that is far, and samples in which a scale is hardly known."""
HARDLY, PARTLY = 1.0, 2.0
"""How well scales are known at the start: STARTING is 0 after it."""

FILTERS, EXPERTS = 3, 5
LONG, SHORT, SENTINEL, INTERCEPT_ONLY, FIRST_ORDER = range(5)
AT_FIRST = (-1.0, 0.0, -1.0, -1.0, -1.0)
FLOOR, STRICT = -10.0, 8.0
KEEP = 1.0 - 1.0 / 50.0

RIDGES, RIDGES_OF_CURVED = (1.0, 0.1, 0.01), (3.0, 1.0, 0.3)
OPEN = 0.03
"""The ridge of what has to move far: the short memory and the sentinel."""
PRIOR_OF_BINARY, PRIOR_OF_COUNTS = 4.0, 25.0
"""Prior variances of the intercept; of other models 3(1 + d/ridge)."""

ROBUST = 4.0
"""Standard deviations beyond which an error counts as that many, for the long memory."""

NU = 8.0
RECENT, QUICK = 300.0, 30.0
"""Samples over which φ is measured, twice; the larger counts."""

ALARM, SLACK, ALARM_GROWTH = 12.0, 2.0, 2.5
SURPRISE = 20.0
YOUNG, BEHIND = 3, 6.0
"""A sentinel younger than 3n samples is left alone, unless it is this far behind."""
HANDED_ON, BACK = 9.9, -2.0
MODERATION = math.pi / 8.0

# the bank's own numbers
LOG_WEIGHTS, WEIGHTS = 0, 5
SLOW_NOISE, QUICK_NOISE, USUAL, COUNTED, CUSUM, AGE, WON, LOST, PENDING, MERIT, TRUST = range(
    10, 21
)
RIDGE, PRIOR, ERRORS, ERROR_WEIGHT = 21, 24, 27, 30
PROBABILITIES, ORIGIN, FEATURES, STARTING = range(33, 37)
HEAD = 37
FITTED, DUE = CUSUM, PENDING
"""During the start: samples at the last fit, and whether a feature was far since then."""


def numbers(dim: int) -> int:
    """How many numbers a bank for so many features keeps."""
    return HEAD + 3 * dim + START * (dim + 1) + FILTERS * filters.size(dim + 1) + START


def room(dim: int) -> int:
    """How much scratch a step needs; it is enough for `llr.auto.class_filters`."""
    return dim + (FILTERS + 2) * (dim + 1) + FILTERS * START


@inline_jit
def first_filter(d: int) -> int:
    """Where the filters begin."""
    return HEAD + 3 * d + START * (d + 1)


@inline_jit
def end(d: int) -> int:
    """Where a bank for d features ends; the weights of the kept samples are its last numbers."""
    return first_filter(d) + FILTERS * (2 * (d + 1) + d * (d + 1) // 2) + START


@inline_jit
def lateness(t: int) -> float:
    """How far t is beyond a thousand samples, in e-folds."""
    return max(0.0, math.log((t + 1.0) / 1000.0))


@simd_loop
def copy_into(x: Vector, out: Vector) -> None:
    """Fill `out` with as many numbers of x."""
    for i in range(out.size):
        out[i] = x[i]


@simd_loop
def centred(x: Vector, c: Vector, z: Vector) -> None:
    """Fill z = (1, x − c)."""
    z[0] = 1.0
    for i in range(x.size):
        z[i + 1] = x[i] - c[i]


@simd_loop
def direction(bank: Vector, x: Vector, z: Vector) -> bool:
    """Fill z = (1, x − c); whether a feature leaves its scale, while that is not well known.

    While it is hardly known, such a feature counts as √10 standard deviations away.
    """
    d = x.size
    c, v = bank[HEAD : HEAD + d], bank[HEAD + d : HEAD + 2 * d]
    centred(x, c, z)
    beyond = 0
    if bank[STARTING] != 0.0:
        for i in range(d):
            if z[i + 1] * z[i + 1] > FAR * v[i]:
                beyond += 1
                if bank[STARTING] == HARDLY:
                    z[i + 1] = math.copysign(math.sqrt(FAR * v[i]), z[i + 1])
    return beyond > 0


@inline_jit
def labels(d: int) -> int:
    """Where the kept labels begin."""
    return HEAD + 3 * d + START * d


@inline_jit
def kept_sample(bank: Vector, r: int, d: int, z: Vector) -> None:
    """z of kept sample r."""
    at = HEAD + 3 * d + r * d
    centred(bank[at : at + d], bank[HEAD : HEAD + d], z)


@simd_loop
def keep_sample(bank: Vector, t: int, d: int, x: Vector, y: float, importance: float) -> None:
    """Keep sample number t."""
    at = HEAD + 3 * d + t * d
    for i in range(d):
        bank[at + i] = x[i]
    bank[HEAD + 3 * d + START * d + t] = y
    bank[end(d) - START + t] = importance


@simd_loop
def copy_filter(bank: Vector, d: int, one: int, to: int) -> None:
    """Filter `to` gets the state of filter `one`."""
    size = 2 * (d + 1) + d * (d + 1) // 2
    source, target = first_filter(d) + one * size, first_filter(d) + to * size
    for i in range(size):
        bank[target + i] = bank[source + i]
    bank[ERRORS + to], bank[ERROR_WEIGHT + to] = bank[ERRORS + one], bank[ERROR_WEIGHT + one]
