"""What `auto` predicts: its four predictors by their shares, each within bounds."""

from llr import models
from llr.auto import bounds
from llr.auto.mixture import mixture
from llr.auto.places import (
    CONSTANT,
    EACH,
    FIRST,
    MEAN,
    OF_MEAN,
    OF_RUNNER,
    OF_WALKER,
    RUNNER,
    SHARES,
    WALKER,
)
from llr.block import PREDICT
from llr.compiled import kernel
from llr.layout import THETA
from llr.types import Vector
from llr.vectors import dot, dots


@kernel(PREDICT)
def predict(
    model: int, p: float, X: Vector, V: Vector, scalars: Vector, S: Vector, out: Vector
) -> None:
    """out[i] = the prediction for row i of X on the natural scale, per score."""
    s, learnt = S[0], scalars[SHARES] > 0.0
    for i in range(X.shape[0]):
        for k in range(s.size):
            if not learnt:
                s[k] = dot(V[THETA, k], X[i])
                continue
            at = FIRST + EACH * k
            walker, runner = dots(V[WALKER, k], V[RUNNER, k], X[i])
            mean = dot(V[MEAN, k], X[i])
            s[k] = mixture(
                scalars,
                bounds.within(scalars, mean + scalars[at + OF_MEAN]),
                bounds.within(scalars, walker + scalars[at + OF_WALKER]),
                bounds.within(scalars, runner + scalars[at + OF_RUNNER]),
                scalars[at + CONSTANT],
            )
        models.mean(model, s, p, out[i])
