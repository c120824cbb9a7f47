"""A bank of filters for features that have names: a coordinate for each name, as they come up.

The bank (`llr.auto.bank`) is laid out for the d names that it has met, in the order of their
columns. A sample that brings new names moves its numbers apart: a new coordinate begins as if it
had been 0 in every sample so far, which is what a missing feature means. Behind the bank are the
means and variances of the features over all samples, which the first order does not keep of
features with names. So a sample costs O(d²) of the names known, however few it has.

A name beyond LARGEST retires the filters: from that sample on the first order learns alone, and
their numbers are dropped from the state.
"""

import numpy as np

from llr.auto import bank, bank_start
from llr.auto.bank_layout import (
    FEATURES,
    FILTERS,
    FIRST_ORDER,
    HEAD,
    INTERCEPT_ONLY,
    LARGEST,
    PRIOR,
    RIDGE,
    START,
    WEIGHTS,
    end,
    first_filter,
    labels,
    numbers,
)
from llr.auto.layout import AVERAGED, EACH, FIRST, NAMED_NUMBERS, SEEN
from llr.auto.preconditioner import watch, watch_raw
from llr.kernels.jit import inline_jit, jit, simd_loop
from llr.kernels.layout import THETA, Sample
from llr.types import Counts, Vector

RETIRED = -1.0
"""What FEATURES is when there was a name too many."""


def size(names: int) -> int:
    """How many numbers a bank of so many names keeps."""
    known = min(names, LARGEST)
    return numbers(known) + 2 * known


def resized(scalars: Vector, names: int) -> Vector:
    """The scalars with room for so many names; without a bank if that has retired."""
    head, tail = FIRST + EACH, scalars.size - NAMED_NUMBERS
    if tail <= head:
        return scalars
    if scalars[head + FEATURES] == RETIRED:
        return np.concatenate((scalars[:head], scalars[tail:]))
    wanted = head + size(names)
    if wanted == tail:
        return scalars
    kept = min(tail, wanted)
    return np.concatenate((scalars[:kept], np.zeros(wanted - kept), scalars[tail:]))


@jit
def meet(of: Vector, model: int, sample: Sample, V: Vector) -> None:
    """Give the names of a sample that come up for the first time their coordinates."""
    d, columns, places = int(of[FEATURES]), sample.columns, sample.places
    known = d
    for i in range(columns.size):
        known = max(known, places[columns[i]] + 1)
    if known > LARGEST:
        of[FEATURES] = RETIRED
        return
    if known > d:
        _grow(of, d, known)
        for k in range(FILTERS):
            if of[PRIOR + k] > 0.0:
                of[PRIOR + k] = bank_start.prior(model, known, of[RIDGE + k])
    size = 2 * (known + 1) + known * (known + 1) // 2
    for k in range(FILTERS):
        at = first_filter(known) + k * size
        if sample.t == 0:
            of[at + known + 1] = of[PRIOR + k]
        for i in range(columns.size):
            if V[SEEN, 0, i] == 1.0:
                j = places[columns[i]]
                of[HEAD + 2 * known + j] = of[at + 1 + j] = V[AVERAGED, 0, i]


@inline_jit
def _grow(of: Vector, d: int, known: int) -> None:
    """Move the numbers of a bank of d names to where those of more names have them."""
    n, m = d + 1, known + 1
    before, after = 2 * n + d * n // 2, 2 * m + known * m // 2
    _move(of, end(d) + d, end(known) + known, d, known)
    _move(of, end(d), end(known), d, known)
    _move(of, end(d) - START, end(known) - START, START, START)
    for k in range(FILTERS - 1, -1, -1):
        source, target = first_filter(d) + k * before, first_filter(known) + k * after
        _move(of, source + 2 * n, target + 2 * m, d * n // 2, known * m // 2)
        _move(of, source + n, target + m, n, m)
        _move(of, source, target, n, m)
    _move(of, labels(d), labels(known), START, START)
    for r in range(START - 1, -1, -1):
        _move(of, HEAD + 3 * d + r * d, HEAD + 3 * known + r * known, d, known)
    for row in range(2, -1, -1):
        _move(of, HEAD + row * d, HEAD + row * known, d, known)
    of[FEATURES] = known


@inline_jit
def _move(of: Vector, source: int, target: int, size: int, wanted: int) -> None:
    """Move so many numbers up, the last one first; further ones that are wanted are 0."""
    for i in range(size - 1, -1, -1):
        of[target + i] = of[source + i]
    for i in range(size, wanted):
        of[target + i] = 0.0


@inline_jit
def fill(x: Vector, columns: Counts, places: Counts, out: Vector) -> None:
    """The values of a sample where their names are, 0 elsewhere."""
    for j in range(out.size):
        out[j] = 0.0
    for i in range(x.size):
        j = places[columns[i]]
        if 0 <= j < out.size:
            out[j] += x[i]


@inline_jit
def observe(of: Vector, x: Vector, weight: float, centred: bool) -> tuple[Vector, Vector]:
    """Take the whole sample x into means and variances; returns both."""
    d = x.size
    at = end(d)
    mean, spread = of[at : at + d], of[at + d : at + 2 * d]
    if centred:
        watch(x, mean, spread, weight)
    else:
        watch_raw(x, spread, weight)
    return mean, spread


@simd_loop
def unmet(V: Vector, x: Vector) -> float:
    """What the names that were never learnt add to a score: they are where θ starts."""
    total = 0.0
    for i in range(x.size):
        if V[SEEN, 0, i] == 0.0:
            total += V[AVERAGED, 0, i] * x[i]
    return total


@inline_jit
def mix(
    of: Vector, V: Vector, columns: Counts, places: Counts, intercept: float, constant: float
) -> float:
    """θ of the first order becomes that of all experts, for some names; returns the intercept."""
    d = int(of[FEATURES])
    size = 2 * (d + 1) + d * (d + 1) // 2
    theta = V[THETA, 0]
    for i in range(columns.size):
        j = places[columns[i]]
        theta[i] *= of[WEIGHTS + FIRST_ORDER]
        for k in range(FILTERS):
            own = V[AVERAGED, 0, i]
            if 0 <= j < d and V[SEEN, 0, i] > 0.0:
                own = of[first_filter(d) + k * size + 1 + j]
            theta[i] += of[WEIGHTS + k] * own
    total = of[WEIGHTS + FIRST_ORDER] * intercept + of[WEIGHTS + INTERCEPT_ONLY] * constant
    return float(total + bank.intercept_of_filters(of, d))
