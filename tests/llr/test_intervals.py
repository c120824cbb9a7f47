"""Intervals: held to a plain restatement, and right as often as they say, whatever the stream."""

import math
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from support.samples_of import PAIRS, options_of, samples_of

import llr
from llr import intervals
from llr.intervals import LEVELS
from llr.models import MODELS
from llr.types import Vector

NUMERIC = [name for name, m in MODELS.items() if not (m.classes or m.binary)]


class Plain:
    """The intervals of errors in plain Python, without a variance."""

    def __init__(self) -> None:
        self.n, self.scale = 0, 0.0
        self.below, self.above, self.missed = ([0.0] * 5 for _ in range(3))

    def edges(self, i: int) -> tuple[float, float]:
        """Half widths of a level, never below those of a lower one."""
        both = []
        for side in (self.below, self.above):
            logs = [
                math.log(NormalDist().inv_cdf((1 + LEVELS[k]) / 2))
                + side[k]
                + min(max(0.1 * self.missed[k], -3.0), 3.0)
                for k in range(i + 1)
            ]
            both.append(self.scale * math.exp(max(logs)))
        return both[0], both[1]

    def take(self, error: float) -> None:
        """Learn from an error."""
        if self.n >= 2:
            edges = [self.edges(i) for i in range(5)]
            for i, (low, high) in enumerate(edges):
                z = NormalDist().inv_cdf((1 + LEVELS[i]) / 2)
                dense, tail = z * NormalDist().pdf(z), (1 - LEVELS[i]) / 2
                floor = 2 * 0.08**2 * dense / (tail * (1 - tail))
                rate = max(min(1 / (dense * (self.n + 20)), 0.5), floor)
                share = min(max(0.5 + (self.below[i] - self.above[i]) / 4, 0.0), 1.0)
                self.below[i] += rate * ((error < -low) - 2 * tail * share)
                self.above[i] += rate * ((error > high) - 2 * tail * (1 - share))
                self.missed[i] += (error < -low or error > high) - 2 * tail
        found = math.sqrt(math.pi / 2) * abs(error)
        if self.n >= 20 and self.scale > 0:
            found = min(found, 6 * self.scale)
        self.n += 1
        self.scale += (found - self.scale) / min(self.n, 100)


def test_they_agree_with_a_plain_restatement() -> None:
    (y,) = llr.streams.gaussian(seed=2).take(600)
    y = np.where(np.arange(600) > 400, 3 * y, y)
    learner, plain = llr.Learner("gaussian", algorithm="sg/ag", eta0=0.1), Plain()
    predicted = learner.learn(y, predictions=True).predictions
    assert predicted is not None
    for error in (y - predicted).tolist():
        plain.take(error)
    for i, level in enumerate(LEVELS):
        found, mean = learner.interval(level=level), float(learner.predict())
        low, high = plain.edges(i)
        assert found.lower == pytest.approx(mean - low, rel=1e-9)
        assert found.upper == pytest.approx(mean + high, rel=1e-9)
        share = level - plain.missed[i] / (plain.n - 2)
        assert learner.coverage(level) == pytest.approx(share, abs=1e-12)


def told(learner: llr.Learner, X: Vector, y: Vector, level: float) -> tuple[float, float]:
    """How often labels are within what was told before each, and the mean width."""
    hits, widths = 0, 0.0
    for x, label in zip(X, y, strict=True):
        found = learner.interval(x, level)
        hits += bool(found.lower <= label <= found.upper)
        widths += 0.0 if math.isnan(found.upper) else found.upper - found.lower
        learner.learn(x, label)
    return hits / y.size, widths / y.size


@pytest.mark.parametrize("kind", ["normal", "skewed", "heavy", "jump", "wrong"])
@pytest.mark.parametrize("algorithm", ["auto", "kalman", "sg/ag"])
def test_what_is_told_before_each_sample_is_right_as_often(kind: str, algorithm: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1500, 3))
    noise = {
        "skewed": rng.exponential(size=1500) - 1.0,
        "heavy": rng.standard_t(2, 1500),
        "jump": rng.normal(size=1500) * np.where(np.arange(1500) < 700, 1.0, 8.0),
    }.get(kind, rng.normal(size=1500))
    y = X @ [1.0, -2.0, 0.5] + noise + (3 * X[:, 0] ** 2 if kind == "wrong" else 0.0)
    for level in (0.5, 0.9):
        learner = llr.Learner("linear", 3, algorithm, eta0=0.05)
        share, _ = told(learner, X, y, level)
        assert share == pytest.approx(level, abs=0.02)
        assert learner.coverage(level) == pytest.approx(share, abs=2 / 1500)


def test_errors_of_one_sign_are_covered_as_often() -> None:
    y = 50.0 + np.random.default_rng(6).normal(size=(1500, 1))
    learner = llr.Learner("linear", 1, "sg", eta0=1e-9)  # it hardly moves: every error is about 50
    X = np.ones((1500, 1))
    for level in (0.5, 0.8):
        share, _ = told(learner.copy(), X, y[:, 0], level)
        assert share == pytest.approx(level, abs=0.02)


@pytest.mark.parametrize(("model", "algorithm"), PAIRS)
def test_every_algorithm_has_them_in_blocks_one_by_one_and_resumed(
    model: str, algorithm: str
) -> None:
    samples = samples_of(model, 3, 40)
    whole, single = (
        llr.Learner(model, algorithm=algorithm, eta0=0.02, **options_of(model)) for _ in range(2)
    )
    whole.learn(*samples)
    for t in range(40):
        single.learn(*(column[t : t + 1] for column in samples))
        single = llr.Learner.unpack(single.pack()) if t == 20 else single
    assert single.pack() == whole.pack()
    x = samples[0][:3] if len(samples) > 1 else None
    found = whole.interval(x, level=0.9)
    if isinstance(found, llr.Interval):
        assert np.all(np.isfinite(found.lower) & (found.lower <= found.upper))
    else:
        assert all(len(one) > 0 for one in ([found] if x is None else found))


def test_levels_are_nested_and_others_refused() -> None:
    X, y = samples_of("linear", 4, 300)
    learner = llr.Learner("linear", X.shape[1])
    assert learner.coverage(0.9) is None
    assert math.isnan(learner.interval(X[0]).lower)
    learner.learn(X, y)
    found = [learner.interval(X[:5], level) for level in LEVELS]
    for inner, outer in pairwise(found):
        assert np.all(outer.lower <= inner.lower)
        assert np.all(inner.upper <= outer.upper)
    with pytest.raises(llr.ConfigError, match="interval: must be one of the levels"):
        learner.interval(X[0], 0.7)


def test_weight_0_is_not_looked_at() -> None:
    X, y = samples_of("linear", 5, 100)
    w = np.where(np.arange(100) % 3 == 0, 0.0, 1.0)
    with_them, without = (llr.Learner("linear", X.shape[1]) for _ in range(2))
    with_them.learn(X, y, w=w)
    without.learn(X[w > 0], y[w > 0])
    assert with_them.coverage(0.9) == without.coverage(0.9)
    assert with_them.interval(X[0]) == without.interval(X[0])


def test_counts_have_no_negative_bound_and_widths_follow_the_mean() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(3000, 2))
    y = rng.poisson(np.exp(1.0 + X @ [0.7, -0.5])).astype(float)
    for algorithm in ("auto", "sg/ag"):
        learner = llr.Learner("poisson", 2, algorithm, eta0=0.01)
        learner.learn(X, y)
        few, many = learner.interval([-1.5, 1.0]), learner.interval([1.5, -1.0])
        assert few.lower >= 0.0
        assert many.upper - many.lower > 1.5 * (few.upper - few.lower)
        assert learner.coverage(0.9) == pytest.approx(0.9, abs=0.02)


def test_sets_of_classes_hold_the_label_as_often_and_the_likeliest_always() -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(3000, 2))
    scores = X @ rng.normal(size=(2, 4)) + rng.gumbel(size=(3000, 4))
    names = ["a", "b", "c", "d"]
    y = [names[k] for k in scores.argmax(axis=1)]
    learner = llr.Learner("softmax", 2, classes=names)
    hits, sizes = 0, 0
    for x, label in zip(X, y, strict=True):
        found: Any = learner.interval(x, 0.9)
        assert str(learner.predict(x)) in found
        hits += label in found
        sizes += len(found)
        learner.learn(x, label)
    assert hits / 3000 == pytest.approx(0.9, abs=0.02)
    assert 1.0 < sizes / 3000 < 4.0
    coin = llr.Learner("bernoulli")
    coin.learn([1.0, 0.0] * 50)
    assert coin.interval(level=0.99) == [0, 1]
    named = llr.NamedLearner("logistic", classes=["no", "yes"])
    named.learn([{"a": 1.0}, {"b": 1.0}] * 200, ["yes", "no"] * 200)
    assert named.interval({"a": 1.0}, 0.8) == ["yes"]
    assert named.interval([{"a": 1.0}, {"b": 1.0}], 0.8) == [["yes"], ["no"]]


def test_the_state_takes_little_room() -> None:
    assert intervals.SIZE * 8 < 200
