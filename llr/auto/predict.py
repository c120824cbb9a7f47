"""What `auto` predicts: its four predictors by their shares, each within bounds."""

import math

from llr.auto import bank, bank_names, class_filters, clipping
from llr.auto.bank_layout import FEATURES, copy_into
from llr.auto.layout import (
    ADAPTIVE,
    AGGRESSIVE,
    AVERAGED,
    CEILING,
    EACH,
    FIRST,
    FLOOR,
    INTERCEPT_ONLY,
    OF_ADAPTIVE,
    OF_AGGRESSIVE,
    OF_AVERAGED,
    ROWS,
    SHARES,
    TRUST,
    has_bank,
)
from llr.auto.mixture import mixture
from llr.kernels.block import of_score
from llr.kernels.jit import inline_jit
from llr.kernels.layout import OWN, THETA
from llr.kernels.vectors import dot, dots
from llr.types import Counts, Vector


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
    """Fill the scores of a sample; returns the variance of its label, NaN without filters."""
    learnt = scalars[SHARES] > 0.0
    named = V.shape[0] > OWN + ROWS
    start = AVERAGED if named else THETA
    for k in range(s.size):
        if not learnt:
            s[k] = dot(V[start, k], x)
            continue
        at = FIRST + EACH * k
        adaptive, aggressive = dots(V[ADAPTIVE, k], V[AGGRESSIVE, k], x)
        mean = dot(V[AVERAGED, k], x)
        s[k] = mixture(
            scalars,
            clipping.within(scalars, model, mean + scalars[at + OF_AVERAGED]),
            clipping.within(scalars, model, adaptive + scalars[at + OF_ADAPTIVE]),
            clipping.within(scalars, model, aggressive + scalars[at + OF_AGGRESSIVE]),
            scalars[at + INTERCEPT_ONLY],
        )
    if learnt and has_bank(scalars, s.size) and s.size == 1:
        of, d, offset = scalars[FIRST + EACH :], int(scalars[FIRST + EACH + FEATURES]), 0.0
        work = room[2 * x.size + (V.size if named else 0) :]
        whole = work[:d]
        if named:
            bank_names.fill(x, columns, places, whole)
            offset = bank_names.unmet(V, x)
        else:
            copy_into(x, whole)
        s[0], variance = bank.score(
            of,
            model,
            whole,
            s[0],
            scalars[FIRST + INTERCEPT_ONLY],
            scalars[FLOOR],
            scalars[CEILING],
            scalars[TRUST],
            offset,
            work[d:],
        )
        return variance
    if learnt and has_bank(scalars, s.size):
        bank_of_classes = scalars[FIRST + EACH * s.size :]
        class_filters.score(bank_of_classes, scalars, model, x, s, room[2 * x.size :])
    return math.nan


predict = of_score("auto", score)
