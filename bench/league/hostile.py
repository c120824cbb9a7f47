"""Streams that are meant to hurt: wild labels, sudden scales, pure noise, heavy tails, offsets.

And those that hurt a learner of second order: a truth that jumps often or comes back, classes that
a line separates, features of which one at a time is there, and scales that are learnt too small.
"""

import functools

import numpy as np

from bench.league.stream import Stream
from llr.types import Vector

N, DIM = 5000, 20
HALF = N // 2
PERIOD, SMALL = 500, 100


@functools.cache
def streams(seed: int) -> dict[str, Stream]:
    """All of them, by what happens in each."""
    rng = np.random.default_rng(1000 + seed)
    X = rng.normal(size=(N, DIM))
    theta = 0.8 * rng.normal(size=DIM)
    y = X @ theta + rng.normal(size=N)
    wild = rng.random(N) < 0.01
    y_wild = np.where(wild, y + rng.normal(0.0, 100.0, N), y)
    apart = X + 10.0
    y_apart = apart @ theta + rng.normal(size=N)
    noise = rng.normal(size=N)
    heavy = rng.standard_t(2.0, size=(N, DIM))
    y_heavy = heavy @ theta + rng.normal(size=N)
    heaviest = np.exp(rng.normal(0.0, 2.0, size=(N, DIM)))
    y_heaviest = 0.1 * (heaviest @ theta) + rng.normal(size=N)
    sparse = X * (rng.random((N, DIM)) < 0.05)
    y_sparse = sparse @ theta + 0.3 * rng.normal(size=N)
    y_t = X @ theta + rng.standard_t(2.0, size=N)
    y_far = X @ theta + 50.0 + rng.normal(size=N)
    large, small = _scaled(X, 100.0), _scaled(X, 0.01)
    return {
        "1 % of labels off by a normal of sd 100": Stream("linear", X, y_wild),
        "half of the features suddenly ×100": Stream("linear", large, y),
        "half of the features suddenly ×0.01": Stream("linear", small, y),
        "pure noise": Stream("linear", X, noise),
        "heavy-tailed features (Student t2)": Stream("linear", heavy, y_heavy),
        "heavier ones (lognormal, σ = 2)": Stream("linear", heaviest, y_heaviest),
        "heavy-tailed noise (Student t2)": Stream("linear", X, y_t),
        "features with a mean of 10 sd": Stream("linear", apart, y_apart),
        "labels with a mean of 50 sd": Stream("linear", X, y_far),
        "sparse features (5 %)": Stream("linear", sparse, y_sparse),
        "logistic, pure noise": Stream("logistic", X, _toss(rng, 0.0 * y)),
        "logistic, suddenly ×100": Stream("logistic", large, _toss(rng, X @ theta)),
        "logistic, heavy tails": Stream("logistic", heavy, _toss(rng, heavy @ theta)),
        "logistic, rare ones": Stream("logistic", X, _toss(rng, X @ theta - 4.0)),
        **_of_second_order(seed, X, theta),
    }


def _of_second_order(seed: int, X: Vector, theta: Vector) -> dict[str, Stream]:
    rng = np.random.default_rng(2000 + seed)
    noise, at = rng.normal(size=N), np.arange(N)
    thetas = 0.8 * rng.normal(size=(N // PERIOD, DIM))
    often = (X * thetas[at // PERIOD]).sum(axis=1) + noise
    back = (X * thetas[at // PERIOD % 2]).sum(axis=1) + noise
    one_hot = np.eye(DIM)[rng.integers(0, DIM, N)]
    small = X * np.where(at < SMALL, 0.01, 1.0)[:, None]
    y_small = small @ theta + noise
    return {
        f"a jump every {PERIOD} samples": Stream("linear", X, often),
        f"two truths in turn, {PERIOD} samples each": Stream("linear", X, back),
        "logistic, separable": Stream("logistic", X, (X @ theta > 0.0).astype(np.float64)),
        "one-hot features": Stream("linear", one_hot, one_hot @ theta + 0.3 * noise),
        f"features ×0.01 in the first {SMALL} samples": Stream("linear", small, y_small),
    }


def _scaled(X: Vector, by: float) -> Vector:
    """Every second feature times that from halfway on."""
    changed = X.copy()
    changed[HALF:, ::2] *= by
    return changed


def _toss(rng: np.random.Generator, s: Vector) -> Vector:
    coins: Vector = (rng.random(s.size) < 0.5 * (1.0 + np.tanh(0.5 * s))).astype(np.float64)
    return coins
