"""The running maximum likelihood (R17): at each t, fitted to the samples before it.

The service compares with it but does not tell where it was, so it is computed here from the same
samples; the regrets of the figures are the service's own.
"""

from collections.abc import Callable

import numpy as np

from llr.models.least_squares import RIDGE
from llr.streams import STREAMS, Stream
from llr.types import Counts, Vector
from llr_cli.replay.experiments import shown


def running_ml(stream: str, seed: int, t: Counts) -> Vector:
    """What the paper shows of the maximum likelihood's θ, at each t; t rises."""
    source = STREAMS[stream](seed)
    theta = ESTIMATES[source.model](source, t)
    return np.asarray(shown(source, theta))


def mean(stream: Stream, t: Counts) -> Vector:
    """The mean of the past; θ_0 before any."""
    (y,) = stream.take(int(t[-1]))
    sums = np.concatenate(([0.0], np.cumsum(y)))[t]
    return np.where(t > 0, sums / np.maximum(t, 1), stream.theta0)[:, None]


def log_odds(stream: Stream, t: Counts) -> Vector:
    """The logit of (ones + ½)/(t + 1): never infinite."""
    (y,) = stream.take(int(t[-1]))
    ones = np.concatenate(([0.0], np.cumsum(y)))[t]
    return np.log((ones + 0.5) / (t - ones + 0.5))[:, None]


def least_squares(stream: Stream, t: Counts) -> Vector:
    """Least squares with a ridge that pulls to θ_0."""
    A, b = RIDGE * np.eye(stream.dim), np.full(stream.dim, RIDGE * stream.theta0)
    theta, at = np.empty((t.size, stream.dim)), 0
    for row, upto in enumerate(t):
        X, y = stream.take(int(upto) - at)
        A, b, at = A + X.T @ X, b + X.T @ y, int(upto)
        theta[row] = np.linalg.solve(A, b)
    return theta


ESTIMATES: dict[str, Callable[[Stream, Counts], Vector]] = {
    "gaussian": mean,
    "bernoulli": log_odds,
    "linear": least_squares,
}
