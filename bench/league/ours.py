"""The library's learners over a stream."""

from typing import Any

import numpy as np

import llr
from bench.league.stream import Stream

PAPERS = ("sg/ag", "svrg/ag")
FIXED, CONSTANT = "sg, η/f(t)", "sg, η constant"


def learner(stream: Stream, algorithm: str, eta0: float | None = None, **how: Any) -> llr.Learner:
    """One with defaults, but for what is given."""
    given: dict[str, Any] = {} if eta0 is None else {"eta0": eta0}
    if stream.classes:
        given["classes"] = stream.classes
    return llr.Learner(stream.model, None, algorithm, **given, **how)


def total(stream: Stream, algorithm: str, eta0: float | None = None, **how: Any) -> float:
    """Its progressive loss over the whole stream; infinite if it did not get through."""
    return _learnt(learner(stream, algorithm, eta0, **how), stream)


def plain(stream: Stream, eta: float, constant: bool) -> float:
    """The loss of stochastic gradient: with the paper's 1/f(t), or a step that stays."""
    if not constant:
        return total(stream, "sg", eta)
    start = llr.Learner(stream.model, None, "sg", eta, schedule=_one)
    return _learnt(start, stream)


def largest_theta(algorithm: str, steps: int = 2000, **options: Any) -> float:
    """The largest |θ| on the way down the quadratic of 10⁸ from θ = 1 (R16)."""
    samples = llr.streams.quadratic()
    walker = llr.Learner("linear", 1, algorithm, theta0=samples.theta0, **options)
    most = 0.0
    for x, y in zip(*samples.take(steps), strict=True):
        if not walker.learn(x, y):
            return float("inf")
        most = max(most, float(np.abs(walker.theta).max()))
    return most


def _learnt(learner: llr.Learner, stream: Stream) -> float:
    samples = (stream.X, stream.y) if stream.features else (stream.y,)
    return learner.loss.total if learner.learn(*samples) else float("inf")


def _one(t: int) -> float:  # noqa: ARG001 - the same at every t
    return 1.0
