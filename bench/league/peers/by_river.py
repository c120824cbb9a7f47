"""river: its linear models with plain SGD, AdaGrad or Adam, alone and behind a StandardScaler.

Its intercept has a step size of its own, which is swept together with the optimizer's.
BayesianLinearRegression, of second order, has no step size: its prior `alpha` is swept.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from river import compose, linear_model, optim, preprocessing

from bench.league.peers.peer import Peer
from bench.league.stream import Stream, losses, surprises
from llr.types import Vector

Optimizer = Callable[..., Any]


def model_of(stream: Stream, optimizer: Optimizer | None, rate: float | None) -> Any:
    """river's model for the stream; its own default optimizer if none is given."""
    given: dict[str, Any] = {}
    if optimizer is not None or rate is not None:
        given["optimizer"] = (optimizer or optim.SGD)(*(() if rate is None else (rate,)))
    if stream.classes:
        return linear_model.SoftmaxRegression(**given)
    if rate is not None:
        given["intercept_lr"] = rate
    kind = linear_model.LogisticRegression if stream.binary else linear_model.LinearRegression
    return kind(**given)


def run(model: Any, stream: Stream) -> Vector:
    """The loss of each sample."""
    rows = [dict(enumerate(row)) for row in stream.X.tolist()]
    if not stream.binary and not stream.classes:
        s = np.empty(len(rows))
        for t, (x, y) in enumerate(zip(rows, stream.y.tolist(), strict=True)):
            s[t] = model.predict_one(x)
            model.learn_one(x, y)
        return losses(stream, s)
    return surprises(_probabilities(model, rows, stream))


def _probabilities(model: Any, rows: list[dict[int, float]], stream: Stream) -> Vector:
    """What it gave to the label that came; to one it had not seen, as if it knew nothing."""
    p, unseen = np.empty(len(rows)), 1.0 / (stream.classes or 2)
    labels = stream.y.astype(int).tolist()
    for t, (x, label) in enumerate(zip(rows, labels, strict=True)):
        y = label if stream.classes else bool(label)
        p[t] = model.predict_proba_one(x).get(y, unseen)
        model.learn_one(x, y)
    return p


def peer(name: str, optimizer: Optimizer | None = None) -> Peer:
    def alone(stream: Stream, rate: float | None) -> Vector:
        return run(model_of(stream, optimizer, rate), stream)

    return Peer(name, alone)


def pipeline(name: str, optimizer: Optimizer | None = None) -> Peer:
    """As river's documentation has it: StandardScaler() | model."""

    def scaled(stream: Stream, rate: float | None) -> Vector:
        model = model_of(stream, optimizer, rate)
        return run(compose.Pipeline(preprocessing.StandardScaler(), model), stream)

    return Peer(name, scaled, swept=False, real=True, synthetic=False)


def bayesian(stream: Stream, alpha: float | None) -> Vector:
    """O(d²) a sample, for squared loss, without an intercept."""
    given = {} if alpha is None else {"alpha": alpha}
    return run(linear_model.BayesianLinearRegression(**given), stream)


PEERS = [
    peer("river"),
    peer("river AdaGrad", optim.AdaGrad),
    peer("river Adam", optim.Adam),
    Peer("river Bayesian", bayesian, real=True, numeric=True),
    pipeline("river scaled"),
    pipeline("river scaled, Adam", optim.Adam),
]
