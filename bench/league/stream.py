"""What every learner of the league is given: samples in an order, and the model they are for."""

from typing import NamedTuple

import numpy as np

from llr.types import Vector

LEAST = 1e-15
"""A probability below this is taken for this: a learner that was certain and wrong pays 35."""


class Stream(NamedTuple):
    """Samples to be predicted one by one, each before it is learnt from.

    Attributes:
        model: the loss, by its name in `llr.MODELS`.
        X: features; a column of ones for a model that has none.
        y: labels.
        classes: how many of them there are, for softmax.
    """

    model: str
    X: Vector
    y: Vector
    classes: int = 0

    @property
    def features(self) -> bool:
        """Whether X says anything."""
        return self.model not in {"gaussian", "bernoulli"}

    @property
    def binary(self) -> bool:
        """Whether labels are 0 and 1."""
        return self.model in {"bernoulli", "logistic"}


def squared(s: Vector, y: Vector) -> Vector:
    """½(y − s)² of each."""
    return 0.5 * (y - s) ** 2


def logistic(s: Vector, y: Vector) -> Vector:
    """log(1 + e^s) − ys of each."""
    loss: Vector = np.maximum(s, 0.0) - y * s + np.log1p(np.exp(-np.abs(s)))
    return loss


def losses(stream: Stream, s: Vector) -> Vector:
    """The losses of these scores, one a sample, under the stream's model of one score."""
    with np.errstate(all="ignore"):
        return logistic(s, stream.y) if stream.binary else squared(s, stream.y)


def surprises(p: Vector) -> Vector:
    """−log p, of the probabilities that a learner gave to what happened."""
    return -np.log(np.clip(p, LEAST, 1.0))


def nothing(stream: Stream) -> float:
    """The loss of who always predicts 0: the score, not the label."""
    if stream.classes:
        return len(stream.y) * float(np.log(stream.classes))
    return float(losses(stream, np.zeros(len(stream.y))).sum())


def summed(each: Vector) -> float:
    """Their sum; infinite for a learner that left the numbers."""
    total = float(each.sum())
    return total if total < np.inf else float("inf")
