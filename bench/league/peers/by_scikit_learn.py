"""scikit-learn: SGDRegressor and SGDClassifier, sample by sample, alone and behind a scaler.

The classifier's default schedule has no step size; where one is swept, its schedule is the
regressor's.
"""

from typing import Any

import numpy as np
import sklearn
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.preprocessing import StandardScaler

from bench.league.peers.peer import Peer
from bench.league.stream import Stream, losses, surprises
from llr.types import Vector

UNCHECKED = {"assume_finite": True, "skip_parameter_validation": True}
WILD = 1e12
"""A score beyond this: the learner has diverged, and would raise at the next sample."""


def model_of(stream: Stream, rate: float | None) -> tuple[Any, dict[str, Any]]:
    """The model, and what its first partial_fit has to be told."""
    given: dict[str, Any] = {} if rate is None else {"eta0": rate}
    if not stream.binary and not stream.classes:
        return SGDRegressor(**given), {}
    if rate is not None:
        given |= {"learning_rate": "invscaling", "power_t": 0.25}
    return SGDClassifier(loss="log_loss", **given), {"classes": np.unique(stream.y)}


def run(stream: Stream, rate: float | None, scaler: Any = None) -> Vector:
    """The loss of each sample."""
    model, told = model_of(stream, rate)
    s = np.zeros((len(stream.y), stream.classes or 1))
    with sklearn.config_context(**UNCHECKED), np.errstate(all="ignore"):
        for t in range(len(stream.y)):
            x, y = stream.X[t : t + 1], stream.y[t : t + 1]
            if scaler is not None:
                x = scaler.partial_fit(x).transform(x)
            if t > 0:
                s[t] = model.coef_ @ x[0] + model.intercept_
            if not np.all(np.abs(s[t]) < WILD):
                return np.full(len(s), np.inf)
            try:
                model.partial_fit(x, y, **(told if t == 0 else {}))
            except ValueError:  # it says that its numbers have left the finite ones
                return np.full(len(s), np.inf)
    return _several(stream, s) if stream.classes else losses(stream, s[:, 0])


def _several(stream: Stream, s: Vector) -> Vector:
    """One against the rest, normalised: its predict_proba."""
    p = 1.0 / (1.0 + np.exp(-np.clip(s, -700.0, 700.0)))
    given = p[np.arange(len(p)), stream.y.astype(int)]
    return surprises(given / p.sum(1))


def scaled(stream: Stream, rate: float | None) -> Vector:
    return run(stream, rate, StandardScaler())


PEERS = [
    Peer("scikit-learn", run, real=True),
    Peer("scikit-learn scaled", scaled, swept=False, real=True, synthetic=False),
]
