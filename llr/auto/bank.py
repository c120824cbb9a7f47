"""Three filters beside the first-order learners: second order where d is small.

The three (`llr.filters`) are used twice. For the first START samples, which are kept, they are
three ridges: how much to trust early samples is not known yet, and the weights of the experts find
out. Then the best of them is copied into all three, which from then on are

* the **long** memory: it forgets nothing, and errors beyond 4σ count as 4σ;
* the **short** memory: λ = 1 − 1/50, for a truth that walks;
* the **sentinel**: restarted with an open mind whenever a cumulative sum of surprises (CUSUM) says
  that the truth has jumped. If it does better it hands its state to the others.

With the first-order mixture and a constant they are five experts. Their log weights fall by their
loss beyond the best expert's, are counted from the highest, and do not fall below a floor, so that
each can come back (Herbster & Warmuth 1998). The unit of a loss is the noise φ: losses other than
those of probabilities enter as those of a Student distribution, ½(ν+1)·log(1 + 2 loss/(νφ)), and
one wild label decides nothing. Probabilities are mixed as such, scores otherwise.

How much weight the sentinel has after an alarm is learnt from how earlier alarms ended: outliers
make it careful, jumps make it bold. Floors and thresholds grow with log t, so that a million quiet
samples cost no more alarms than a thousand.
"""

import math

from llr import filters
from llr.auto.bank_layout import (
    AGE,
    ALARM,
    ALARM_GROWTH,
    BACK,
    BEHIND,
    COUNTED,
    CUSUM,
    ERROR_WEIGHT,
    ERRORS,
    EXPERTS,
    FEATURES,
    FILTERS,
    FIRST_ORDER,
    HANDED_ON,
    HEAD,
    INTERCEPT_ONLY,
    KEEP,
    LOG_WEIGHTS,
    LONG,
    LOST,
    PARTLY,
    PENDING,
    PRIOR,
    QUICK_NOISE,
    RECENT,
    RIDGE,
    ROBUST,
    SENTINEL,
    SHORT,
    SLACK,
    SLOW_NOISE,
    START,
    STARTING,
    SURPRISE,
    UNKNOWN,
    USUAL,
    WEIGHTS,
    WON,
    YOUNG,
    centred,
    copy_filter,
    direction,
    first_filter,
    keep_sample,
    lateness,
)
from llr.auto.bank_start import admit, measure_error, refit, settle_ridge, to_refit
from llr.auto.experts import bounded, judge, mixed, moderated, odds, share_out, variance
from llr.filters import BINARY, SQUARED, filter_at
from llr.kernels.jit import inline_jit, jit
from llr.types import Vector


@jit
def learn(
    bank: Vector,
    model: int,
    p: float,
    t: int,
    x: Vector,
    y: float,
    mean: Vector,
    spread: Vector,
    first_order: float,
    constant: float,
    low: float,
    high: float,
    trust: float,
    least: float,
    importance: float,
    room: Vector,
) -> tuple[float, float]:
    """Predict and learn a sample; returns what all experts predict, and the label's variance.

    `mean` and `spread` are of the features with this sample, `first_order` and `constant` the
    scores of those experts, `low` and `high` the bounds of a score, `trust` that
    of the first order in them, `importance` its weight.
    """
    d = x.size
    n = d + 1
    c, v = bank[HEAD : HEAD + d], bank[HEAD + d : HEAD + 2 * d]
    z, b, f = room[:n], room[n : 2 * n], room[2 * n : 5 * n]
    if t >= START:
        admit(bank, d, x, c, v, spread)
    beyond = direction(bank, x, z)
    s, q = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(FILTERS):
        one = filter_at(bank, first_filter(d), k, n, f)
        if k == SHORT and t >= START:
            filters.forget(one.D, v, KEEP, bank[RIDGE + k], bank[PRIOR + k])
        s_k, q_k = filters.measure(one, z)
        s = _put(s, k, s_k)
        q = _put(q, k, q_k)
    raw = moderated(bank, s, q)
    within = bounded(bank, model, raw, low, high, trust)
    together = mixed(bank, within, constant, first_order)
    spread_out = variance(bank, model, together, within, q, constant, first_order)
    leader = judge(
        bank, model, p, t, y, importance, within, raw, constant, first_order, low, high, least
    )
    if t < START:
        keep_sample(bank, t, d, x, y, importance)
        if t + 1 >= UNKNOWN and not BINARY[model]:
            bank[STARTING] = PARTLY
        if 2 * (t + 1) > START and not BINARY[model]:
            excess = 2.0 * importance * (filters.loss(model, within[leader], y, p) - least)
            bank[COUNTED] += 1.0
            bank[USUAL] += (excess - bank[USUAL]) / bank[COUNTED]
    if t < START and to_refit(bank, t, beyond):
        refit(bank, model, p, t + 1, d, mean, spread, room)
    else:
        _learn_each(bank, model, p, t, d, y, importance, s, q, f, b)
    if t + 1 == START:
        leader = settle_ridge(bank, model, d, leader)
    elif t >= START:
        if ((t + 1) & t) == 0:
            _recentre(bank, d, mean, spread)
        _hand_on(bank, t, d, leader)
        _watch(bank, model, p, t, d, x, y, importance, within, leader, least, room)
    return together, spread_out


@inline_jit
def score(
    bank: Vector,
    model: int,
    x: Vector,
    first_order: float,
    constant: float,
    low: float,
    high: float,
    trust: float,
    offset: float,
    room: Vector,
) -> tuple[float, float]:
    """What all experts predict together for x, and the variance of the label.

    `offset` is what features that the filters have not met add to their scores.
    """
    d = int(bank[FEATURES])
    n = d + 1
    z, f = room[:n], room[2 * n : 5 * n]
    direction(bank, x, z)
    s, q = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(FILTERS):
        s_k, q_k = filters.measure(filter_at(bank, first_filter(d), k, n, f), z)
        s = _put(s, k, s_k + offset)
        q = _put(q, k, q_k)
    raw = moderated(bank, s, q)
    within = bounded(bank, model, raw, low, high, trust)
    together = mixed(bank, within, constant, first_order)
    return together, variance(bank, model, together, within, q, constant, first_order)


@inline_jit
def score_without_features(
    bank: Vector,
    model: int,
    first_order: float,
    constant: float,
    low: float,
    high: float,
    trust: float,
) -> float:
    """`score` where there are no features."""
    a, b, c = first_filter(0), first_filter(0) + 2, first_filter(0) + 4
    raw = moderated(bank, (bank[a], bank[b], bank[c]), (bank[a + 1], bank[b + 1], bank[c + 1]))
    within = bounded(bank, model, raw, low, high, trust)
    return mixed(bank, within, constant, first_order)


@inline_jit
def mix(bank: Vector, theta: Vector, intercept: float, constant: float) -> float:
    """θ of the first-order learners becomes that of all experts; returns the intercept."""
    d = theta.size
    total = bank[WEIGHTS + FIRST_ORDER] * intercept + bank[WEIGHTS + INTERCEPT_ONLY] * constant
    for i in range(d):
        theta[i] *= bank[WEIGHTS + FIRST_ORDER]
    for k in range(FILTERS):
        at, share = first_filter(d) + k * (2 * (d + 1) + d * (d + 1) // 2), bank[WEIGHTS + k]
        for i in range(d):
            theta[i] += share * bank[at + 1 + i]
    return float(total + intercept_of_filters(bank, d))


@inline_jit
def intercept_of_filters(bank: Vector, d: int) -> float:
    """The filters' intercepts by their weights, for features that are not centred."""
    total = 0.0
    for k in range(FILTERS):
        at, share = first_filter(d) + k * (2 * (d + 1) + d * (d + 1) // 2), bank[WEIGHTS + k]
        total += share * bank[at]
        for i in range(d):
            total -= share * bank[at + 1 + i] * bank[HEAD + i]
    return total


@inline_jit
def _put(of: tuple[float, float, float], k: int, value: float) -> tuple[float, float, float]:
    a, b, c = of
    return (value if k == 0 else a, value if k == 1 else b, value if k == 2 else c)


@inline_jit
def _learn_each(
    bank: Vector,
    model: int,
    p: float,
    t: int,
    d: int,
    y: float,
    importance: float,
    s: tuple[float, float, float],
    q: tuple[float, float, float],
    f: Vector,
    b: Vector,
) -> None:
    noise = max(bank[SLOW_NOISE], bank[QUICK_NOISE])
    for k in range(FILTERS):
        if SQUARED[model]:
            weight = bank[ERROR_WEIGHT + k]
            noise = bank[ERRORS + k] / weight if weight > 0.0 else 0.0
        robust = ROBUST if k == LONG or t < START else math.inf
        gain, w = filters.correction(model, s[k], q[k], y, p, importance, noise, robust)
        if k == SHORT and t >= START:
            bank[ERRORS + k] *= KEEP
            bank[ERROR_WEIGHT + k] *= KEEP
        measure_error(bank, k, y - s[k], importance * q[k], w)
        filters.learn(filter_at(bank, first_filter(d), k, d + 1, f), b, gain, w)


@jit
def _recentre(bank: Vector, d: int, mean: Vector, spread: Vector) -> None:
    """Move the centres to the means; no prediction changes."""
    c, v = bank[HEAD : HEAD + d], bank[HEAD + d : HEAD + 2 * d]
    for i in range(d):
        by = mean[i] - c[i]
        if by != 0.0:
            c[i] = mean[i]
            for k in range(FILTERS):
                filters.recentre(filter_at(bank, first_filter(d), k, d + 1, bank), i, by)
        if spread[i] > 0.0:
            v[i] = spread[i]


@inline_jit
def _hand_on(bank: Vector, t: int, d: int, leader: int) -> None:
    """A filter that leads gives its state to a slower one that has lost for good."""
    top = bank[LOG_WEIGHTS + leader]
    if top < -1.0:
        return
    for k in range(SENTINEL):
        if k < leader and bank[LOG_WEIGHTS + k] <= top - HANDED_ON - lateness(t):
            copy_filter(bank, d, leader, k)
            bank[LOG_WEIGHTS + k] = top + BACK
            share_out(bank)


@jit
def _watch(
    bank: Vector,
    model: int,
    p: float,
    t: int,
    d: int,
    x: Vector,
    y: float,
    importance: float,
    within: tuple[float, float, float],
    leader: int,
    least: float,
    room: Vector,
) -> None:
    """Add up the surprises of the leading filter; restart the sentinel when they are too many."""
    n, log_weights = d + 1, bank[LOG_WEIGHTS : LOG_WEIGHTS + EXPERTS]
    loss = filters.loss(model, within[leader], y, p)
    surprise = _surprise(bank, model, importance, within[leader], loss, least)
    bank[CUSUM] = max(0.0, bank[CUSUM] + surprise)
    bank[AGE] += 1.0
    behind = log_weights[leader] - log_weights[SENTINEL]
    if bank[PENDING] != 0.0 and (
        bank[AGE] >= YOUNG * n or behind > BEHIND or (behind <= 0.0 and bank[AGE] >= 4.0)
    ):
        bank[PENDING] = 0.0
        bank[WON if behind <= 2.0 else LOST] += 1.0
    if bank[CUSUM] <= ALARM + ALARM_GROWTH * lateness(t):
        return
    if behind < BEHIND and bank[AGE] <= YOUNG * n:
        return
    bank[CUSUM], bank[AGE], bank[PENDING] = 0.0, 0.0, 1.0
    if leader == SENTINEL:
        copy_filter(bank, d, SENTINEL, LONG)
        log_weights[LONG], leader = log_weights[SENTINEL], LONG
    copy_filter(bank, d, leader, SENTINEL)
    c, v = bank[HEAD : HEAD + d], bank[HEAD + d : HEAD + 2 * d]
    z, b, f = room[:n], room[n : 2 * n], room[2 * n : 5 * n]
    one = filter_at(bank, first_filter(d), SENTINEL, n, f)
    one.D[0] = bank[PRIOR + SENTINEL]
    for i in range(d):
        one.D[i + 1] = 1.0 / (bank[RIDGE + SENTINEL] * v[i]) if v[i] > 0.0 else 0.0
    centred(x, c, z)
    s, q = filters.measure(one, z)
    noise = 0.0 if SQUARED[model] else max(bank[SLOW_NOISE], bank[QUICK_NOISE])
    gain, w = filters.correction(model, s, q, y, p, importance, noise, math.inf)
    filters.learn(one, b, gain, w)
    log_weights[SENTINEL] = log_weights[leader] + math.log(bank[WON] / bank[LOST])
    share_out(bank)


@inline_jit
def _surprise(
    bank: Vector, model: int, importance: float, s: float, loss: float, least: float
) -> float:
    """How much larger a loss is than usual, less some slack."""
    if BINARY[model]:
        one, zero = odds(s), odds(-s)
        beyond = loss + one * math.log(one) + zero * math.log(zero)
        return importance * beyond - 0.1 * SLACK
    excess, usual = 2.0 * importance * (loss - least), bank[USUAL]
    if not usual > 0.0:
        bank[USUAL] = excess
        return -SLACK
    bank[USUAL] += (min(excess, SURPRISE * usual) - usual) / RECENT
    return float(min(excess / usual, SURPRISE) - 1.0 - SLACK)
