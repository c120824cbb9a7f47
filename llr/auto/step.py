"""The step of `auto`: three learners and a constant, each sample judged, then learnt by all.

The walker steps implicitly by the η that LLR learns; the runner always takes (nearly) full steps,
on a loss made quadratic at the common prediction, so that its noise does not bias it; the mean
averages where the runner has been, and starts over from it when it has fallen behind for good. The
constant knows no features. A prediction is their mixture by shares, and so is θ.
"""

import math

from llr import models
from llr.auto import bank, bank_start, bounds, filters, several, single, vote
from llr.auto.mixture import mix
from llr.auto.places import (
    CEILING,
    CENTRE,
    CENTRED,
    CONSTANT,
    EACH,
    FIRST,
    FLOOR,
    HIGHEST,
    INTERCEPT,
    INVERSE,
    INVERSE_NOW,
    LOWEST,
    MEAN,
    NO_CENTRE,
    OF_ALL,
    ROWS,
    RUNNER,
    SEEN,
    SPREAD,
    WALKER,
    has_bank,
)
from llr.auto.scale import observe, observe_each, weight_of
from llr.compiled import CUBE, INT, NOTHING, VECTOR, kernel, part
from llr.layout import ETA, LOG_ETA, OWN, THETA
from llr.models import MODELS
from llr.slope import Sample, Slope
from llr.types import Vector

FEATURES = tuple(model.features for model in MODELS.values())
MEASURED = tuple(model.measured for model in MODELS.values())


@part
def step(own: Vector, V: Vector, scalars: Vector, sample: Sample, slope: Slope) -> float:
    """Learn from one sample; returns the loss of its prediction."""
    x, model = sample.x, slope.model
    named = V.shape[0] > OWN + ROWS
    if sample.t == 0:
        _begin(V, scalars, named)
    features = FEATURES[model]
    intercept = features and own[INTERCEPT] != 0.0
    centred = intercept and own[CENTRED] != 0.0
    weight, u = weight_of(sample.t), slope.room[: x.size]
    centre = V[NO_CENTRE if named else CENTRE, 0]
    inverse, spread = V[INVERSE_NOW if named else INVERSE, 0], V[SPREAD, 0]
    aim = 1.0
    if named:
        observe_each(x, centre, spread, inverse, V[SEEN, 0])
    else:
        aim = observe(x, centre, spread, inverse, sample.t, weight, centred)
    constant = intercept or not features
    second_order = has_bank(scalars, V.shape[1])
    before = scalars[FIRST + CONSTANT]
    low, high = scalars[FLOOR], scalars[CEILING]
    if second_order and sample.t == 0:
        used = x[:0] if not features else x
        origin = 0.0 if features else V[THETA, 0, 0]
        bank_start.begin(scalars[FIRST + EACH :], model, used.size, V[THETA, 0], origin, constant)
    if V.shape[1] == 1:
        loss = single.learn(
            V,
            scalars,
            sample,
            slope,
            centre,
            inverse,
            u,
            aim,
            intercept,
            weight,
            constant,
            MEASURED[model],
        )
    else:
        loss = several.learn(
            V, scalars, sample, slope, centre, inverse, u, aim, intercept, weight, constant
        )
    if second_order:
        d = x.size if features else 0
        slope.s[0] = bank.learn(
            scalars[FIRST + EACH :],
            model,
            slope.p,
            sample.t,
            x[:d],
            sample.y,
            centre[:d],
            spread[:d],
            slope.s[0],
            before if sample.t > 0 else slope.s[0],
            low,
            high,
            models.least(model, sample.y, slope.p),
            slope.room[2 * x.size :],
        )
        slope.other[0] = loss
        loss = filters.loss(model, slope.s[0], sample.y, slope.p)
    _look_around(scalars, sample, model)
    return loss


@part
def watched(scalars: Vector, slope: Slope, loss: float) -> float:
    """The loss of the first-order learners: a bank gets over a jump too soon for drift to show."""
    return float(slope.other[0]) if has_bank(scalars, slope.s.size) else loss


@part
def settle(model: int, V: Vector, scalars: Vector) -> None:
    """Write θ and its intercepts anew, when somebody is going to look."""
    if scalars[ETA] > 0.0:
        scalars[LOG_ETA] = math.log(scalars[ETA])
    for k in range(V.shape[1]):
        mix(V, scalars, k)
    second_order = has_bank(scalars, V.shape[1])
    if not FEATURES[model]:  # x is 1: the constant is a part of θ
        V[THETA, 0, 0] += scalars[FIRST + OF_ALL]
        if second_order:
            V[THETA, 0, 0] = bank.score_without_features(
                scalars[FIRST + EACH :],
                V[THETA, 0, 0],
                scalars[FIRST + CONSTANT],
                scalars[FLOOR],
                scalars[CEILING],
            )
    elif second_order:
        scalars[FIRST + OF_ALL] = bank.mix(
            scalars[FIRST + EACH :],
            V[THETA, 0],
            scalars[FIRST + OF_ALL],
            scalars[FIRST + CONSTANT],
        )


@kernel(NOTHING(INT, CUBE, VECTOR), long=False)
def show(model: int, V: Vector, scalars: Vector) -> None:
    """`settle` for some of the features."""
    settle(model, V, scalars)


@part
def _begin(V: Vector, scalars: Vector, named: bool) -> None:
    """Everybody starts at θ_0; named features do so when they come up."""
    vote.begin(scalars)
    bounds.begin(scalars)
    for k in range(0 if named else V.shape[1]):
        for i in range(V.shape[2]):
            V[WALKER, k, i] = V[RUNNER, k, i] = V[MEAN, k, i] = V[THETA, k, i]


@part
def _look_around(scalars: Vector, sample: Sample, model: int) -> None:
    """Widen the range of labels, and with it the bounds of the next sample's score."""
    scalars[LOWEST] = min(scalars[LOWEST], sample.y)
    scalars[HIGHEST] = max(scalars[HIGHEST], sample.y)
    low, high = models.reach(model, sample.t + 1.0, scalars[LOWEST], scalars[HIGHEST])
    scalars[FLOOR], scalars[CEILING] = max(low, -bounds.WIDEST), min(high, bounds.WIDEST)
