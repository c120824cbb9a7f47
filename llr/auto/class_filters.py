"""A filter for each class of softmax, beside the first-order learners: two experts.

Every class k has a Kalman filter of its own (`llr.filters`) in the coordinates z = (1, x − c), with
the prior variances PRIOR for the intercept and 1/(RIDGE·v_j) for feature j. A sample is

    s_k = θ_k·z,   q_k = zᵀP_k z                       each class by itself
    g = m·residual(s + g∘q)                            one implicit step of all classes together
    θ_k ← θ_k + g_k·P_k z,   P_k⁻¹ ← P_k⁻¹ + w_k zzᵀ    w_k = m·π_k(1 − π_k), π of s + g∘q

so P_k is a block of the Fisher information: blocks that join two classes are left out. Nothing is
forgotten. The scores are not drawn towards even odds by their uncertainty, as those of a single
probability are: with many features that costs more than it saves.

* **Start.** The first START samples are kept, and the filters are fitted to them again at the first
  EARLY and at powers of two, with the features' means and variances so far, unless there are so
  many classes that a fit would take a millisecond. Until then a feature
  counts as at most √10 standard deviations away.
* **Mixture.** Probabilities of the filters and of the first-order mixture are mixed by weights that
  follow their log losses (Herbster & Warmuth 1998), with a floor that falls with log t.
* **Restart.** Filters whose weight has fallen to its floor have lost: the truth has moved. Their
  variances go back to the prior, so that they can move, and their weight to RETURN.

A class costs what one filter costs, O(d²). A bank has at most MOST_NUMBERS numbers.
"""

import math

from llr import filters, models
from llr.auto import clipping
from llr.auto.bank_layout import EARLY, FAR, FLOOR, STRICT, centred, lateness
from llr.filters import Filter
from llr.kernels.jit import inline_jit, jit, simd_loop
from llr.kernels.layout import Sample, StepContext
from llr.kernels.vectors import dot
from llr.models import implicit
from llr.types import Vector

MOST_NUMBERS = 24 * 1024
"""Numbers that the filters of all classes have together, at most: 192 KB."""
MOST_CLASSES = 256

START = 16
MOST_FITTED = 1024
"""Samples times classes that are fitted again, at most: a fit of more takes a millisecond."""
RIDGE, PRIOR = 1.0, 4.0
RETURN = -3.0

# its numbers: log weights and weights of the filters and of the first order, whether samples are
# still kept, c, v, θ_0 of every class, the kept samples, their labels and weights, and the filters
OF_FILTERS, OF_FIRST = 0, 1
LOG_WEIGHTS, WEIGHTS, STARTING, HEAD = 0, 2, 4, 5

# rows of scratch: scores of the filters, their variances, the step and its end, and its weights
S_FILTERS, Q_FILTERS, GAIN, BEYOND, CURVED = range(16, 21)
SCRATCH = 21


def numbers(scores: int, dim: int) -> int:
    """How many numbers are kept for so many classes and features."""
    return HEAD + dim * (2 + scores) + START * (dim + 2) + scores * filters.size(dim + 1)


def affordable(scores: int, dim: int) -> bool:
    """Whether filters of so many classes and features are within the budget."""
    return scores <= MOST_CLASSES and scores * filters.size(dim + 1) <= MOST_NUMBERS


@inline_jit
def _first(scores: int, d: int) -> int:
    """Where the filters begin."""
    return HEAD + d * (2 + scores) + START * (d + 2)


@inline_jit
def _filter(bank: Vector, k: int, scores: int, d: int, f: Vector) -> Filter:
    n = d + 1
    triangle = n * (n - 1) // 2
    at = _first(scores, d) + k * (2 * n + triangle)
    return Filter(
        bank[at : at + n],
        bank[at + n : at + 2 * n],
        bank[at + 2 * n : at + 2 * n + triangle],
        f,
    )


@inline_jit
def begin(bank: Vector, theta0: Vector, intercept: bool, room: Vector) -> None:
    """Before the first sample; a row of θ_0 for every class."""
    scores, d = theta0.shape
    for i in range(bank.size):
        bank[i] = 0.0
    bank[LOG_WEIGHTS + OF_FIRST], bank[STARTING] = -1.0, 1.0
    _share_out(bank)
    for k in range(scores):
        one = _filter(bank, k, scores, d, room)
        one.D[0] = PRIOR if intercept else 0.0
        for i in range(d):
            bank[HEAD + d * (2 + k) + i] = one.theta[i + 1] = theta0[k, i]


@inline_jit
def _direction(bank: Vector, x: Vector, z: Vector) -> None:
    """Fill z = (1, x − c), within √10 standard deviations while these are hardly known."""
    d = x.size
    c, v = bank[HEAD : HEAD + d], bank[HEAD + d : HEAD + 2 * d]
    centred(x, c, z)
    if bank[STARTING] != 0.0:
        for i in range(d):
            most = math.sqrt(FAR * v[i])
            z[i + 1] = min(max(z[i + 1], -most), most)


@inline_jit
def measure(
    bank: Vector, scalars: Vector, sample: Sample, context: StepContext, spread: Vector
) -> None:
    """Score a sample, before the first order learns it and moves the trust in bounds."""
    n, work = sample.x.size + 1, context.room[2 * sample.x.size :]
    if sample.t >= START:
        _admit(bank, sample.x, spread, context.s.size)
    _direction(bank, sample.x, work[:n])
    own = context.rows[S_FILTERS]
    _score(bank, scalars, context.model, own, work[:n], work[n : 2 * n])


@jit
def learn(
    bank: Vector,
    sample: Sample,
    context: StepContext,
    mean: Vector,
    spread: Vector,
    first_order: float,
    intercept: bool,
) -> float:
    """Predict and learn the sample that was measured; returns the loss of the mixture.

    On entry `context.s` has the scores of the first order and `first_order` is its loss; on return
    `context.s` has those of the mixture. `mean` and `spread` are of the features with this sample.
    """
    x, t, d, scores = sample.x, sample.t, sample.x.size, context.s.size
    n, work = d + 1, context.room[2 * d :]
    z, f, b = work[:n], work[n : 2 * n], work[2 * n : 3 * n]
    own = context.rows[S_FILTERS]
    loss = float(sample.importance * models.loss(context.model, own, sample.y, context.p))
    _mix(bank, own, context.s)
    _judge(bank, t, loss, first_order)
    if t < START:
        _keep(bank, sample, scores)
        bank[STARTING] = 1.0 if t + 1 < START else 0.0
    affordable = (t + 1) * scores <= MOST_FITTED
    if t < START and affordable and (t < EARLY or ((t + 1) & t) == 0):
        _refit(bank, context, t + 1, d, mean, spread, intercept, work)
    else:
        centred(x, bank[HEAD : HEAD + d], z)
        _take_in(bank, context, z, sample.y, sample.importance, f, b)
    if t >= START and ((t + 1) & t) == 0:
        _recentre(bank, d, scores, mean, spread, f)
    if bank[LOG_WEIGHTS + OF_FILTERS] <= FLOOR - lateness(t):
        _restart(bank, d, scores, intercept, f)
    return float(sample.importance * models.loss(context.model, context.s, sample.y, context.p))


@inline_jit
def score(bank: Vector, scalars: Vector, model: int, x: Vector, s: Vector, room: Vector) -> None:
    """The scores s of the first order become those of the mixture, for x."""
    n = x.size + 1
    z, f, own = room[:n], room[n : 2 * n], room[2 * n : 2 * n + s.size]
    _direction(bank, x, z)
    _mix(bank, _score(bank, scalars, model, own, z, f), s)


@inline_jit
def _score(bank: Vector, scalars: Vector, model: int, own: Vector, z: Vector, f: Vector) -> Vector:
    """Fill the scores of the filters, within bounds."""
    d, scores = z.size - 1, own.size
    for k in range(scores):
        own[k] = clipping.within(scalars, model, dot(_filter(bank, k, scores, d, f).theta, z))
    return own


@inline_jit
def _mix(bank: Vector, own: Vector, s: Vector) -> None:
    """s ← log Σ of both probabilities by their weights, for every class."""
    top, first = own[0], s[0]
    for k in range(1, s.size):
        top, first = max(top, own[k]), max(first, s[k])
    total, total_first = 0.0, 0.0
    for k in range(s.size):
        total += math.exp(own[k] - top)
        total_first += math.exp(s[k] - first)
    a = math.log(bank[WEIGHTS + OF_FILTERS]) - top - math.log(total)
    b = math.log(bank[WEIGHTS + OF_FIRST]) - first - math.log(total_first)
    for k in range(s.size):
        high, low = max(own[k] + a, s[k] + b), min(own[k] + a, s[k] + b)
        s[k] = high + math.log1p(math.exp(low - high))


@inline_jit
def _judge(bank: Vector, t: int, filters: float, first_order: float) -> None:
    """Move the weights by the losses."""
    best = min(filters, first_order)
    bank[LOG_WEIGHTS + OF_FILTERS] -= min(filters - best, STRICT)
    bank[LOG_WEIGHTS + OF_FIRST] -= min(first_order - best, STRICT)
    top = max(bank[LOG_WEIGHTS], bank[LOG_WEIGHTS + 1])
    for k in range(2):
        bank[LOG_WEIGHTS + k] = max(bank[LOG_WEIGHTS + k] - top, FLOOR - lateness(t))
    _share_out(bank)


@inline_jit
def _share_out(bank: Vector) -> None:
    a, b = math.exp(bank[LOG_WEIGHTS]), math.exp(bank[LOG_WEIGHTS + 1])
    bank[WEIGHTS], bank[WEIGHTS + 1] = a / (a + b), b / (a + b)


@jit
def _take_in(
    bank: Vector, context: StepContext, z: Vector, y: float, m: float, f: Vector, b: Vector
) -> None:
    """One step of all filters: their scores at z, the joint step, then each by its own."""
    S, scores, d = context.rows, context.s.size, z.size - 1
    s, q, gain, beyond, pi = S[S_FILTERS], S[Q_FILTERS], S[GAIN], S[BEYOND], S[CURVED]
    for k in range(scores):
        s[k], q[k] = filters.measure(_filter(bank, k, scores, d, f), z)
    implicit.solve_each(context.model, s, q, m, y, context.p, gain)
    for k in range(scores):
        beyond[k] = s[k] + gain[k] * q[k]
    models.mean(context.model, beyond, context.p, pi)
    for k in range(scores):
        one = _filter(bank, k, scores, d, f)
        filters.measure(one, z)
        w = m * max(pi[k] * (1.0 - pi[k]), filters.LEAST_WEIGHT)
        filters.learn(one, b, gain[k], w)


@inline_jit
def _kept(scores: int, d: int) -> int:
    """Where the kept samples begin."""
    return HEAD + d * (2 + scores)


@inline_jit
def _keep(bank: Vector, sample: Sample, scores: int) -> None:
    d = sample.x.size
    at = _kept(scores, d)
    for i in range(d):
        bank[at + sample.t * d + i] = sample.x[i]
    bank[at + START * d + sample.t] = sample.y
    bank[at + START * (d + 1) + sample.t] = sample.importance


@jit
def _refit(
    bank: Vector,
    context: StepContext,
    t: int,
    d: int,
    mean: Vector,
    spread: Vector,
    intercept: bool,
    work: Vector,
) -> None:
    """Begin again with better scales, and learn the t kept samples again."""
    scores, n = context.s.size, d + 1
    z, f, b = work[:n], work[n : 2 * n], work[2 * n : 3 * n]
    c, v, at = bank[HEAD : HEAD + d], bank[HEAD + d : HEAD + 2 * d], _kept(scores, d)
    for i in range(d):
        c[i], v[i] = mean[i], spread[i] * (t / (t - 1.0)) if t > 1 else 0.0
    for k in range(scores):
        theta0 = bank[HEAD + d * (2 + k) : HEAD + d * (3 + k)]
        prior = PRIOR if intercept else 0.0
        filters.restart(_filter(bank, k, scores, d, f), 0.0, theta0, c, v, RIDGE, prior)
    for r in range(t):
        centred(bank[at + r * d : at + (r + 1) * d], c, z)
        y, m = bank[at + START * d + r], bank[at + START * (d + 1) + r]
        _take_in(bank, context, z, y, m, f, b)


@inline_jit
def _admit(bank: Vector, x: Vector, spread: Vector, scores: int) -> None:
    """A feature that varies for the first time gets its prior."""
    d = x.size
    c, v = bank[HEAD : HEAD + d], bank[HEAD + d : HEAD + 2 * d]
    for i in range(d):
        if v[i] == 0.0 and x[i] != c[i]:
            v[i] = max((x[i] - c[i]) ** 2, spread[i])
            for k in range(scores):
                _filter(bank, k, scores, d, x).D[i + 1] = 1.0 / (RIDGE * v[i])


@jit
def _recentre(bank: Vector, d: int, scores: int, mean: Vector, spread: Vector, f: Vector) -> None:
    """Move the centres to the means; no prediction changes."""
    c, v = bank[HEAD : HEAD + d], bank[HEAD + d : HEAD + 2 * d]
    for i in range(d):
        by = mean[i] - c[i]
        if by != 0.0:
            c[i] = mean[i]
            for k in range(scores):
                filters.recentre(_filter(bank, k, scores, d, f), i, by)
        if spread[i] > 0.0:
            v[i] = spread[i]


@jit
def _restart(bank: Vector, d: int, scores: int, intercept: bool, f: Vector) -> None:
    """Open the filters' minds: variances of the prior, around the θ that they have."""
    v = bank[HEAD + d : HEAD + 2 * d]
    for k in range(scores):
        one = _filter(bank, k, scores, d, f)
        for j in range(one.U.size):
            one.U[j] = 0.0
        one.D[0] = PRIOR if intercept else 0.0
        for i in range(d):
            one.D[i + 1] = 1.0 / (RIDGE * v[i]) if v[i] > 0.0 else 0.0
    bank[LOG_WEIGHTS + OF_FILTERS] = RETURN
    _share_out(bank)


@simd_loop
def mix(bank: Vector, theta: Vector, k: int, scores: int, intercept: float) -> float:
    """θ of class k of the first order becomes that of the mixture; returns the intercept."""
    d, share = theta.size, bank[WEIGHTS + OF_FILTERS]
    one, total = _filter(bank, k, scores, d, theta), 0.0
    for i in range(d):
        theta[i] += share * (one.theta[i + 1] - theta[i])
        total += one.theta[i + 1] * bank[HEAD + i]
    return float(intercept + share * (one.theta[0] - total - intercept))
