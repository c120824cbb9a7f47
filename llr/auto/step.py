"""The step of `auto`: three learners and a constant, each sample judged, then learnt by all.

The adaptive expert steps implicitly by the η that LLR learns. The aggressive expert always takes
(nearly) full steps, on a loss made quadratic at the common prediction, so that its noise does not
bias it. The averaged expert is the mean of where the aggressive one has been, and starts over from
it when it has fallen behind for good. The intercept alone knows no features. A
prediction is their mixture by shares, and so is θ.

The weight of a sample multiplies every loss, slope and curvature that is taken of it, so a label of
weight w counts as one whose noise is w times smaller. What is known of the features' scales and of
the labels' range does not depend on it.
"""

import math

from llr import filters, models
from llr.auto import (
    bank,
    bank_names,
    bank_start,
    class_filters,
    clipping,
    expert_weights,
    several,
    single,
)
from llr.auto.bank_layout import FEATURES as KNOWN
from llr.auto.bank_layout import copy_into
from llr.auto.layout import (
    ADAPTIVE,
    AGGRESSIVE,
    AVERAGED,
    CEILING,
    CENTRE,
    CENTRED,
    EACH,
    FIRST,
    FLOOR,
    HIGHEST,
    INTERCEPT,
    INTERCEPT_ONLY,
    INVERSE,
    INVERSE_NOW,
    LOWEST,
    NO_CENTRE,
    OF_ALL,
    ROWS,
    SEEN,
    SHARES,
    SPREAD,
    TRUST,
    has_bank,
)
from llr.auto.mixture import mix
from llr.auto.preconditioner import observe, observe_each, weight_of
from llr.kernels.jit import CUBE, INT, NOTHING, READ_COUNTS, VECTOR, inline_jit, kernel
from llr.kernels.layout import ETA, LOG_ETA, OWN, THETA, Sample, StepContext
from llr.models import MODELS
from llr.types import Counts, Vector

FEATURES = tuple(model.features for model in MODELS.values())
MEASURED = tuple(model.is_log_likelihood for model in MODELS.values())


@inline_jit
def step(own: Vector, V: Vector, scalars: Vector, sample: Sample, context: StepContext) -> float:
    """Learn from one sample; returns the loss of its prediction."""
    x, model = sample.x, context.model
    named = V.shape[0] > OWN + ROWS
    if sample.t == 0:
        _begin(V, scalars, named)
    features = FEATURES[model]
    intercept = features and own[INTERCEPT] != 0.0
    centred = intercept and own[CENTRED] != 0.0
    weight, u = weight_of(sample.t), context.room[: x.size]
    centre = V[NO_CENTRE if named else CENTRE, 0]
    inverse, spread = V[INVERSE_NOW if named else INVERSE, 0], V[SPREAD, 0]
    aim = 1.0
    if named:
        observe_each(x, centre, spread, inverse, V[SEEN, 0])
    else:
        aim = observe(x, centre, spread, inverse, sample.t, weight, centred)
    constant = intercept or not features
    scores = V.shape[1]
    filtered = has_bank(scalars, scores)
    second_order = filtered and scores == 1
    before = scalars[FIRST + INTERCEPT_ONLY]
    low, high, trust = scalars[FLOOR], scalars[CEILING], scalars[TRUST]
    if second_order:
        filtered = second_order = _meet(V, scalars, sample, context, features, constant)
    if filtered and scores > 1:
        if sample.t == 0:
            class_filters.begin(scalars[FIRST + EACH * scores :], V[THETA], intercept, context.room)
        class_filters.measure(scalars[FIRST + EACH * scores :], scalars, sample, context, spread)
    if scores == 1:
        loss = single.learn(
            V,
            scalars,
            sample,
            context,
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
            V, scalars, sample, context, centre, inverse, u, aim, intercept, weight, constant
        )
    if second_order:
        bounds = (low, high, trust)
        constant_score = before if sample.t > 0 else context.s[0]
        context.other[0] = loss
        loss = _filter(
            V, scalars, sample, context, centre, spread, weight, intercept, constant_score, bounds
        )
    elif filtered:
        bank_of_classes, first_order = scalars[FIRST + EACH * scores :], loss
        loss = class_filters.learn(
            bank_of_classes, sample, context, centre, spread, first_order, intercept
        )
        context.other[0] = first_order
    _look_around(scalars, sample, model)
    return loss


@inline_jit
def _meet(
    V: Vector,
    scalars: Vector,
    sample: Sample,
    context: StepContext,
    features: bool,
    constant: bool,
) -> bool:
    """Prepare the bank for this sample; returns whether it goes on (`llr.auto.bank_names`)."""
    of, named = scalars[FIRST + EACH :], V.shape[0] > OWN + ROWS
    if sample.t == 0:
        d = sample.x.size if features and not named else 0
        origin = 0.0 if features else V[THETA, 0, 0]
        bank_start.begin(of, context.model, d, V[THETA, 0], origin, constant)
    if not named:
        return True
    bank_names.meet(of, context.model, sample, V)
    if has_bank(scalars, 1):
        return True
    context.variance[0] = math.nan
    return False


@inline_jit
def _filter(
    V: Vector,
    scalars: Vector,
    sample: Sample,
    context: StepContext,
    centre: Vector,
    spread: Vector,
    weight: float,
    intercept: bool,
    constant_score: float,
    bounds: tuple[float, float, float],
) -> float:
    """Let the bank predict and learn, after the first order did; returns the loss of both."""
    x, model = sample.x, context.model
    named = V.shape[0] > OWN + ROWS
    of, d = scalars[FIRST + EACH :], int(scalars[FIRST + EACH + KNOWN])
    work = context.room[2 * x.size + (V.size if named else 0) :]
    whole, mean, low, high, trust = work[:d], centre[:d], bounds[0], bounds[1], bounds[2]
    if named:
        bank_names.fill(x, sample.columns, sample.places, whole)
        mean, spread = bank_names.observe(of, whole, weight, intercept)
    else:
        copy_into(x, whole)
    context.s[0], context.variance[0] = bank.learn(
        of,
        model,
        context.p,
        sample.t,
        whole,
        sample.y,
        mean,
        spread[:d],
        context.s[0],
        constant_score,
        low,
        high,
        trust,
        models.min_loss(model, sample.y, context.p),
        sample.importance,
        work[d:],
    )
    return float(sample.importance * filters.loss(model, context.s[0], sample.y, context.p))


@inline_jit
def watched(scalars: Vector, context: StepContext, loss: float) -> float:
    """The loss of the first-order learners: a bank gets over a jump too soon for drift to show."""
    return float(context.other[0]) if has_bank(scalars, context.s.size) else loss


@inline_jit
def settle(
    model: int,
    V: Vector,
    scalars: Vector,
    columns: Counts,
    places: Counts,
) -> None:
    """Write θ and its intercepts, before they are read."""
    if not scalars[SHARES] > 0.0:  # no sample had a weight yet: all experts start at θ_0
        for k in range(V.shape[1] if V.shape[0] > OWN + ROWS else 0):
            for i in range(V.shape[2]):
                V[THETA, k, i] = V[AVERAGED, k, i]
        return
    if scalars[ETA] > 0.0:
        scalars[LOG_ETA] = math.log(scalars[ETA])
    for k in range(V.shape[1]):
        mix(V, scalars, k)
    scores = V.shape[1]
    second_order = has_bank(scalars, scores)
    if not FEATURES[model]:  # x is 1: the constant is a part of θ
        V[THETA, 0, 0] += scalars[FIRST + OF_ALL]
        if second_order:
            V[THETA, 0, 0] = bank.score_without_features(
                scalars[FIRST + EACH :],
                model,
                V[THETA, 0, 0],
                scalars[FIRST + INTERCEPT_ONLY],
                scalars[FLOOR],
                scalars[CEILING],
                scalars[TRUST],
            )
    elif second_order and scores > 1:
        for k in range(scores):
            at = FIRST + EACH * k + OF_ALL
            scalars[at] = class_filters.mix(
                scalars[FIRST + EACH * scores :], V[THETA, k], k, scores, scalars[at]
            )
    elif second_order and places.size > 0:
        scalars[FIRST + OF_ALL] = bank_names.mix(
            scalars[FIRST + EACH :],
            V,
            columns,
            places,
            scalars[FIRST + OF_ALL],
            scalars[FIRST + INTERCEPT_ONLY],
        )
    elif second_order:
        scalars[FIRST + OF_ALL] = bank.mix(
            scalars[FIRST + EACH :],
            V[THETA, 0],
            scalars[FIRST + OF_ALL],
            scalars[FIRST + INTERCEPT_ONLY],
        )


@kernel(NOTHING(INT, CUBE, VECTOR, READ_COUNTS, READ_COUNTS), long=False)
def show(model: int, V: Vector, scalars: Vector, columns: Counts, places: Counts) -> None:
    """`settle` for some of the features."""
    settle(model, V, scalars, columns, places)


@inline_jit
def _begin(V: Vector, scalars: Vector, named: bool) -> None:
    """All experts start at θ_0; named features do so at their first sample."""
    expert_weights.begin(scalars)
    clipping.begin(scalars)
    for k in range(0 if named else V.shape[1]):
        for i in range(V.shape[2]):
            V[ADAPTIVE, k, i] = V[AGGRESSIVE, k, i] = V[AVERAGED, k, i] = V[THETA, k, i]


@inline_jit
def _look_around(scalars: Vector, sample: Sample, model: int) -> None:
    """Widen the range of labels, and with it the bounds of the next sample's score."""
    scalars[LOWEST] = min(scalars[LOWEST], sample.y)
    scalars[HIGHEST] = max(scalars[HIGHEST], sample.y)
    low, high = models.score_range(model, sample.t + 1.0, scalars[LOWEST], scalars[HIGHEST])
    scalars[FLOOR], scalars[CEILING] = max(low, -clipping.WIDEST), min(high, clipping.WIDEST)
