"""Real data that comes inside packages, in the order it is given: river's and scikit-learn's."""

import functools
from typing import Any

import numpy as np
from river import datasets as river
from sklearn import datasets as sklearn

from bench.league.stream import Stream

STREAMS = {
    "Phishing": "logistic",
    "TrumpApproval": "linear",
    "ChickWeights": "linear",
    "WaterFlow": "linear",
    "Bananas": "logistic",
    "ImageSegments": "softmax",
    "diabetes": "linear",
    "diabetes, raw": "linear",
    "breast cancer": "logistic",
    "digits, even or odd": "logistic",
    "digits": "softmax",
}
"""Every set, and the model that anybody would take for it."""


@functools.cache
def stream(name: str) -> Stream:
    """The samples of this set."""
    if name.startswith("diabetes"):
        scaled = name == "diabetes"
        return _of("linear", *sklearn.load_diabetes(return_X_y=True, scaled=scaled))
    if name == "breast cancer":
        return _of("logistic", *sklearn.load_breast_cancer(return_X_y=True))
    if name.startswith("digits"):
        X, y = sklearn.load_digits(return_X_y=True)
        return _of("softmax", X, y) if name == "digits" else _of("logistic", X, y % 2)
    return _of_river(getattr(river, name)(), STREAMS[name])


def _of_river(samples: Any, model: str) -> Stream:
    """The numbers among its features, a missing one as 0; classes by their alphabet."""
    rows, labels = zip(*samples, strict=True)
    known = sorted({k for row in rows for k, v in row.items() if isinstance(v, int | float)})
    X = np.array([[float(row.get(name, 0.0)) for name in known] for row in rows])
    if model == "softmax":
        return _of(model, X, np.unique(labels, return_inverse=True)[1])
    return _of(model, X, np.array(labels, np.float64))


def _of(model: str, X: Any, y: Any) -> Stream:
    """As floats; a set without features gets one that is always 0."""
    X = np.ascontiguousarray(X, np.float64) if X.shape[1] else np.zeros((len(y), 1))
    return Stream(model, X, y.astype(np.float64), int(y.max()) + 1 if model == "softmax" else 0)
