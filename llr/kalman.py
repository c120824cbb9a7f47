"""`kalman`: θ and its covariance, learnt together; O(d²) a sample, and no step size.

Every score s = θ·z has a Kalman filter of its own (`llr.filters`, P = UDUᵀ of `llr.ud`), with
z = (1, x), or (0, x) without an intercept. It starts at θ_0 with P = I/ridge. For one sample

    D_j ← min(D_j/λ, 1/ridge),   λ = 1 − 1/(window + 1)     forget, unless the window is 0
    f = Uᵀz,   q = Σ D f² = zᵀPz,   s = θ·z                 the score, and how uncertain it is
    k = m residual(s + k q)                                 implicit: it cannot overshoot
    θ ← θ + k·Pz,   P⁻¹ ← P⁻¹ + w zzᵀ                       w = m × the curvature at s + k q

where m is the weight of the sample. Ollivier (2018) shows that this is online natural gradient: P⁻¹
is the Fisher information of the samples so far, and the rate of the gradient is 1/t without
forgetting, 1 − λ with. So λ plays the part of a step size, and η means nothing here. For a linear
model without forgetting θ is the ridge regression of the past.

Losses without a curvature that would do (quantile, huber) are stepped on by a parabola that
touches them. For softmax the classes share one implicit step; each has the curvature π_k(1 − π_k).

* `window`: about how many samples the memory is long, 0 for ever. No variance grows beyond that at
  the start, so that a feature which stays constant cannot make P explode.
* `robust`: errors beyond so many standard deviations σ√(1 + q) count as that many, where the loss
  is squared; σ² is measured as the errors come, Σ w e²/(1 + q) over Σ 1/(1 + q).
* `ridge`: how strongly θ is held at θ_0, in samples of a feature of size 1.

**Named features** get a coordinate each as they come up, at most MOST_NAMES; a sample costs what
is known, not what it has. One name more is refused.

Reference: Y. Ollivier, *Online natural gradient as a Kalman filter*, Electronic Journal of
Statistics 12, 2018.
"""

import math
from typing import Any

from llr import filters, models
from llr.algorithms.algorithm import Algorithm, Sparse
from llr.filters import SQUARED, Filter
from llr.kernels import block
from llr.kernels.block import of_score
from llr.kernels.jit import (
    CUBE,
    INT,
    NOTHING,
    READ_COUNTS,
    VECTOR,
    inline_jit,
    jit,
    kernel,
    simd_loop,
)
from llr.kernels.layout import SCALARS, THETA, Sample, StepContext
from llr.models import MODELS, implicit
from llr.parameter import Parameter
from llr.types import Counts, Vector

MOST_NUMBERS = 2**20
"""Numbers that all covariances have together, at most."""
MOST_NAMES = 64

INTERCEPT = Parameter("intercept", "learn a constant term beside theta", "flag", True)
RIDGE = Parameter("ridge", "how strongly theta is held at theta0, in samples", "real", 0.1)
WINDOW = Parameter(
    "window", "samples that the memory is long; 0 forgets nothing", "whole", 0, example=200
)
ROBUST = Parameter(
    "robust", "errors beyond so many standard deviations count as that many", "real", 6.0
)

# what a step reads after the model's own number, in the order of the parameters
WITH_INTERCEPT, HELD, LENGTH, BEYOND = 1, 2, 3, 4

# its numbers: the coordinates known, Σ of errors and of their weights; then the filters
KNOWN, ERRORS, WEIGHT, FIRST = range(SCALARS, SCALARS + 4)

FEATURES = tuple(model.features for model in MODELS.values())
ONE_SCORE = tuple(not model.classes for model in MODELS.values())


def most_features(scores: int) -> int:
    """Features up to which the covariances of so many scores are small enough."""
    return int(math.sqrt(2.0 * MOST_NUMBERS / scores + 2.25) - 1.5) - 1


def numbers(options: dict[str, Any], scores: int, dim: int) -> int:
    """How many numbers are kept for so many features."""
    return FIRST - SCALARS + scores * filters.size(dim + 1)


def room(dim: int) -> int:
    """How much scratch a step needs."""
    return 3 * (dim + 1)


def intercept(options: dict[str, Any], scores: int, scalars: Vector) -> Vector | None:
    """The constant term of each score; None without one."""
    if not INTERCEPT.number(options):
        return None
    return scalars[FIRST :: (scalars.size - FIRST) // scores].copy()


@inline_jit
def _capacity(scalars: Vector, scores: int) -> int:
    """Coordinates that there is room for: size = 2n + n(n − 1)/2 solved for n."""
    size = (scalars.size - FIRST) // scores
    return int(math.sqrt(2.0 * size + 2.25) - 1.5 + 0.5)


@inline_jit
def _filter(scalars: Vector, k: int, scores: int, n: int, f: Vector) -> Filter:
    """The filter of score k, its first n coordinates."""
    size = (scalars.size - FIRST) // scores
    at, most = FIRST + k * size, _capacity(scalars, scores)
    return Filter(
        scalars[at : at + n],
        scalars[at + most : at + most + n],
        scalars[at + 2 * most : at + 2 * most + n * (n - 1) // 2],
        f,
    )


@inline_jit
def _begin(own: Vector, V: Vector, scalars: Vector, constant: bool, n: int, f: Vector) -> None:
    """Before the first sample: θ_0, and the prior; named features get theirs when they come up."""
    scalars[KNOWN] = n
    for k in range(V.shape[1]):
        one = _filter(scalars, k, V.shape[1], n, f)
        one.D[0] = 1.0 / own[HELD] if constant else 0.0
        for i in range(n - 1):
            one.theta[i + 1], one.D[i + 1] = V[THETA, k, i], 1.0 / own[HELD]


@inline_jit
def _meet(own: Vector, V: Vector, scalars: Vector, sample: Sample, f: Vector) -> int:
    """Give names that come up a coordinate; returns how many coordinates there are."""
    known = int(scalars[KNOWN])
    for i in range(sample.x.size):
        known = max(known, sample.places[sample.columns[i]] + 2)
    scalars[KNOWN] = known
    for k in range(V.shape[1]):
        one = _filter(scalars, k, V.shape[1], known, f)
        for i in range(sample.x.size):
            j = sample.places[sample.columns[i]] + 1
            if one.D[j] == 0.0:
                one.theta[j], one.D[j] = V[THETA, k, i], 1.0 / own[HELD]
    return known


@inline_jit
def _fill(z: Vector, x: Vector, columns: Counts, places: Counts, constant: bool) -> None:
    """z = (1, x), the values of named features where their names are."""
    z[0] = 1.0 if constant else 0.0
    if places.size == 0:
        for i in range(x.size):
            z[i + 1] = x[i]
        return
    for j in range(1, z.size):
        z[j] = 0.0
    for i in range(x.size):
        j = places[columns[i]] + 1
        if 0 < j < z.size:
            z[j] += x[i]


@inline_jit
def _noise(scalars: Vector) -> float:
    return float(scalars[ERRORS] / scalars[WEIGHT]) if scalars[WEIGHT] > 0.0 else 0.0


@inline_jit
def step(own: Vector, V: Vector, scalars: Vector, sample: Sample, context: StepContext) -> float:
    """Learn from one sample; returns its loss."""
    x, y, model, p, scores = sample.x, sample.y, context.model, context.p, V.shape[1]
    named = sample.places.size > 0
    constant = FEATURES[model] and own[WITH_INTERCEPT] != 0.0
    n = 1 if named else x.size + 1
    work = context.room[2 * x.size + (V.size if named else 0) :]
    if sample.t == 0:
        _begin(own, V, scalars, constant, n, work)
    if named:
        n = _meet(own, V, scalars, sample, work)
    z, f, b = work[:n], work[n : 2 * n], work[2 * n : 3 * n]
    _fill(z, x, sample.columns, sample.places, constant)
    keep = own[LENGTH] / (own[LENGTH] + 1.0) if own[LENGTH] > 0.0 else 1.0
    for k in range(scores):
        one = _filter(scalars, k, scores, n, f)
        if keep < 1.0:
            filters.widen(one.D, keep, 1.0 / own[HELD])
        context.s[k], context.q[k] = filters.measure(one, z)
    loss, m = float(models.loss(model, context.s, y, p)), sample.importance
    if ONE_SCORE[model]:
        s, q, noise = context.s[0], context.q[0], _noise(scalars)
        context.variance[0] = filters.variance(model, s, q, noise)
        context.g[0], context.g_h[0] = filters.correction(model, s, q, y, p, m, noise, own[BEYOND])
        excess = 2.0 * (loss - models.min_loss(model, y, p))
        counted = context.g_h[0] if SQUARED[model] else m
        scalars[ERRORS] = keep * scalars[ERRORS] + counted * excess / (1.0 + m * q)
        scalars[WEIGHT] = keep * scalars[WEIGHT] + 1.0 / (1.0 + m * q)
    else:
        _joint(model, y, p, m, context)
    for k in range(scores):
        one = _filter(scalars, k, scores, n, f)
        if scores > 1:
            filters.measure(one, z)
        filters.learn(one, b, context.g[k], context.g_h[k])
    return m * loss


@jit
def _joint(model: int, y: float, p: float, m: float, context: StepContext) -> None:
    """The implicit step of all scores in g, the curvature of each at its end in g_h."""
    implicit.solve_each(model, context.s, context.q, m, y, p, context.g)
    for k in range(context.s.size):
        context.other[k] = context.s[k] + context.g[k] * context.q[k]
    models.mean(model, context.other, p, context.g_other)
    for k in range(context.s.size):
        share = context.g_other[k]
        context.g_h[k] = m * max(share * (1.0 - share), filters.LEAST_WEIGHT)


@inline_jit
def settle(model: int, V: Vector, scalars: Vector, columns: Counts, places: Counts) -> None:
    """Write θ where it is looked for."""
    scores, named = V.shape[1], places.size > 0
    n = int(scalars[KNOWN])
    for k in range(scores if n > 0 else 0):  # before any sample had a weight it is θ_0
        one = _filter(scalars, k, scores, n, scalars[:0])
        if not named:
            _copy(one.theta, V[THETA, k])
        else:
            for i in range(V.shape[2]):
                j = places[columns[i]] + 1
                if 0 < j < n and one.D[j] > 0.0:
                    V[THETA, k, i] = one.theta[j]


@simd_loop
def _copy(theta: Vector, out: Vector) -> None:
    for i in range(out.size):
        out[i] = theta[i + 1]


@inline_jit
def score(
    model: int,
    V: Vector,
    scalars: Vector,
    x: Vector,
    columns: Counts,
    places: Counts,
    s: Vector,
    room: Vector,
) -> float:
    """Fill the scores of a sample; returns the variance of its label."""
    scores, named, known = s.size, places.size > 0, int(scalars[KNOWN])
    if known == 0:
        return block.linear(model, V, scalars, x, columns, places, s, room)
    work = room[2 * x.size + (V.size if named else 0) :]
    z, f = work[:known], work[known : 2 * known]
    _fill(z, x, columns, places, FEATURES[model])  # without an intercept θ_0 is 0
    q = 0.0
    for k in range(scores):
        one = _filter(scalars, k, scores, known, f)
        s[k], q = filters.measure(one, z)
        for i in range(x.size if named else 0):  # θ_0 of names that did not come up yet
            j = places[columns[i]] + 1
            if j >= known or one.D[j] == 0.0:
                s[k] += V[THETA, k, i] * x[i]
    return filters.variance(model, s[0], q, _noise(scalars)) if ONE_SCORE[model] else math.nan


@kernel(NOTHING(INT, CUBE, VECTOR, READ_COUNTS, READ_COUNTS), long=False)
def show(model: int, V: Vector, scalars: Vector, columns: Counts, places: Counts) -> None:
    """`settle` for some of the features."""
    settle(model, V, scalars, columns, places)


ALGORITHM = Algorithm(
    name="kalman",
    summary="a Kalman filter of theta, online natural gradient: no step size; O(d²) a sample",
    learn=block.of_step("kalman", step, settle, score=score),
    predict=of_score("kalman", score),
    parameters=(INTERCEPT, RIDGE, WINDOW, ROBUST),
    numbers=numbers,
    room=room,
    intercept=intercept,
    learns=False,
    uses_eta0=False,
    most=most_features,
    sparse=Sparse(most=MOST_NAMES, refuses=True, settle=show),
)
