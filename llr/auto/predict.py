"""What `auto` predicts: its four predictors by their shares, each within bounds."""

from llr.auto import bank, bounds
from llr.auto.mixture import mixture
from llr.auto.places import (
    CEILING,
    CONSTANT,
    EACH,
    FIRST,
    FLOOR,
    MEAN,
    OF_MEAN,
    OF_RUNNER,
    OF_WALKER,
    ROWS,
    RUNNER,
    SHARES,
    WALKER,
    has_bank,
)
from llr.block import of_score
from llr.compiled import part
from llr.layout import OWN, THETA
from llr.types import Vector
from llr.vectors import dot, dots


@part
def score(V: Vector, scalars: Vector, x: Vector, s: Vector, room: Vector) -> None:
    """Fill the scores of a sample."""
    learnt = scalars[SHARES] > 0.0
    named = V.shape[0] > OWN + ROWS
    start = MEAN if named else THETA
    for k in range(s.size):
        if not learnt:
            s[k] = dot(V[start, k], x)
            continue
        at = FIRST + EACH * k
        walker, runner = dots(V[WALKER, k], V[RUNNER, k], x)
        mean = dot(V[MEAN, k], x)
        s[k] = mixture(
            scalars,
            bounds.within(scalars, mean + scalars[at + OF_MEAN]),
            bounds.within(scalars, walker + scalars[at + OF_WALKER]),
            bounds.within(scalars, runner + scalars[at + OF_RUNNER]),
            scalars[at + CONSTANT],
        )
    if learnt and has_bank(scalars, s.size):
        s[0] = bank.score(
            scalars[FIRST + EACH :],
            x,
            s[0],
            scalars[FIRST + CONSTANT],
            scalars[FLOOR],
            scalars[CEILING],
            room[2 * x.size :],
        )


predict = of_score("auto", score)
