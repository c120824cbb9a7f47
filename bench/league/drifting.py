"""Fifteen streams: five kinds, each with a truth that stays, that jumps halfway, and that walks.

Regret is counted against the truth where it moves, and against the maximum likelihood of the
samples so far (`bench.league.likelihood`) where it stays.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bench.league import likelihood
from bench.league.stream import Stream, losses
from llr.types import Vector

STAYS, JUMPS, WALKS = "", "jump", "walk"
DRIFTS = (STAYS, JUMPS, WALKS)
Random = np.random.Generator


class Drawn(NamedTuple):
    """A stream, the scores of its truth, and features of like scales."""

    stream: Stream
    truth: Vector
    even: Vector


def gaussian(rng: Random, drift: str, n: int = 2500) -> Drawn:
    """Numbers around 5, of variance 2."""
    mean = np.full(n, 5.0)
    if drift == JUMPS:
        mean[n // 2 :] = -5.0
    if drift == WALKS:
        mean = 5.0 + np.cumsum(rng.normal(0.0, 0.05, n))
    y = mean + rng.normal(0.0, np.sqrt(2.0), n)
    ones = np.ones((n, 1))
    return Drawn(Stream("gaussian", ones, y), mean, ones)


def bernoulli(rng: Random, drift: str, n: int = 2500) -> Drawn:
    """Coins that show a one three times in ten."""
    s = np.full(n, np.log(0.3 / 0.7))
    if drift == JUMPS:
        s[n // 2 :] *= -1.0
    if drift == WALKS:
        s = s + np.cumsum(rng.normal(0.0, 0.03, n))
    ones = np.ones((n, 1))
    return Drawn(Stream("bernoulli", ones, _toss(rng, s)), s, ones)


def linear(rng: Random, drift: str, n: int = 7500, dim: int = 50) -> Drawn:
    """The paper's regression: X = MZ, y = Z_1, without noise."""
    mixing = rng.normal(size=(dim, dim))
    Z = rng.normal(size=(n, dim))
    y = Z[:, 0].copy()
    if drift == JUMPS:
        y[n // 2 :] = Z[n // 2 :, 1]
    if drift == WALKS:
        walk = np.eye(1, dim)[0] + np.cumsum(rng.normal(0.0, 0.01, (n, dim)), 0)
        y = (walk * Z).sum(1)
    X = Z @ mixing.T
    return Drawn(Stream("linear", X, y), y, X)


def scales(rng: Random, drift: str, n: int = 5000, dim: int = 20) -> Drawn:
    """Regression on features of scales from 0.01 to 100, with noise."""
    scale = np.logspace(-2.0, 2.0, dim)
    rng.shuffle(scale)
    X = rng.normal(size=(n, dim)) * scale
    theta = _theta(rng, drift, n, scale)
    truth = (X * theta).sum(1)
    return Drawn(Stream("linear", X, truth + rng.normal(0.0, 1.0, n)), truth, X / scale)


def logistic(rng: Random, drift: str, n: int = 5000, dim: int = 20) -> Drawn:
    """Coins whose odds depend on features."""
    X = rng.normal(size=(n, dim))
    s = (X * _theta(rng, drift, n, np.ones(dim))).sum(1)
    return Drawn(Stream("logistic", X, _toss(rng, s)), s, X)


def _theta(rng: Random, drift: str, n: int, scale: Vector) -> Vector:
    """A θ for each sample."""
    dim = scale.size
    theta = np.tile(rng.normal(size=dim) / scale, (n, 1))
    if drift == JUMPS:
        theta[n // 2 :] = rng.normal(size=dim) / scale
    if drift == WALKS:
        theta = theta + np.cumsum(rng.normal(0.0, 0.02, (n, dim)), 0) / scale
    return theta


def _toss(rng: Random, s: Vector) -> Vector:
    coins: Vector = (rng.random(s.size) < 1.0 / (1.0 + np.exp(-s))).astype(np.float64)
    return coins


KINDS: dict[str, Callable[[Random, str], Drawn]] = {
    "gaussian": gaussian,
    "bernoulli": bernoulli,
    "linear": linear,
    "scales": scales,
    "logistic": logistic,
}
RUNNING: dict[str, Callable[[Stream, Vector], Vector]] = {
    "gaussian": lambda stream, _: likelihood.mean(stream.y),
    "bernoulli": lambda stream, _: likelihood.coin(stream.y),
    "linear": lambda stream, even: likelihood.least_squares(even, stream.y),
    "scales": lambda stream, even: likelihood.least_squares(even, stream.y),
    "logistic": lambda stream, even: likelihood.logistic(even, stream.y),
}
STATIONARY = tuple(KINDS)
NAMES = tuple(f"{kind}-{drift}" if drift else kind for kind in KINDS for drift in DRIFTS)


@functools.cache
def drawn(name: str, seed: int) -> Drawn:
    """The stream of this name and seed, always the same numbers."""
    kind, _, drift = name.partition("-")
    return KINDS[kind](np.random.default_rng([seed, _key(kind), _key(drift)]), drift)


def stream(name: str, seed: int) -> Stream:
    """What a learner is given of it."""
    return drawn(name, seed).stream


def least(name: str, seed: int) -> float:
    """The loss that regret is counted from."""
    found = drawn(name, seed)
    moves = "-" in name
    scores = found.truth if moves else RUNNING[name](found.stream, found.even)
    return float(losses(found.stream, scores).sum())


def _key(word: str) -> int:
    """A number for a word, the same in every process."""
    return sum(ord(letter) * pow(31, place, 100003) for place, letter in enumerate(word)) % 100003
