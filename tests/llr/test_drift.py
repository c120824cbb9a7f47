"""Drift is told when the loss rises, and only then; the same however samples are grouped."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import llr
from llr.drift import CAP, FEW, KEPT, RARE, SHARES, SIZE, SLOWEST
from llr.types import Vector


def watched(excess: Vector) -> llr.Drift:
    drift = llr.Drift()
    drift.watch(excess)
    return drift


def noise(n: int, seed: int = 0) -> Vector:
    return np.random.default_rng(seed).normal(size=n) ** 2


def by_hand(excess: Vector) -> list[int]:
    """The formula as it is written, without a kernel."""
    at, n, m, stakes = [], 0, 0.0, [0.0] * len(SHARES)
    for t, e in enumerate(excess.tolist(), 1):
        n += 1
        ratio = min(e / m, CAP) if m > 0 else 1.0
        if n > FEW:
            stakes = [
                max(old, 1.0) * (1.0 + share * (ratio - 1.0))
                for old, share in zip(stakes, SHARES, strict=True)
            ]
        if sum(stakes) >= RARE * len(SHARES):
            at.append(t)
            n, m, stakes = 0, 0.0, [0.0] * len(SHARES)
        else:
            m += max(2.0 / (n + 1.0), SLOWEST) * ((ratio * m if m > 0 else e) - m)
    return at


def test_the_kernel_does_what_the_formula_says() -> None:
    excess = np.concatenate([noise(2000) * level for level in (1.0, 20.0, 3.0, 100.0, 100.0)])
    assert watched(excess).at == by_hand(excess)
    assert watched(excess).alarms >= 2


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_a_rise_is_told_soon_and_once_whatever_the_scale(scale: float) -> None:
    drift = watched(scale * np.concatenate([noise(3000), 20.0 * noise(3000, 1)]))
    assert drift.alarms == 1
    assert 3000 < drift.at[0] < 3020


def test_a_loss_that_falls_or_stays_is_not_told() -> None:
    falls = 1e6 / np.arange(1.0, 5001.0) ** 2 + 0.1 * noise(5000)
    assert watched(falls).alarms == 0
    assert watched(noise(100_000, seed=1)).alarms == 0
    assert watched(np.zeros(1000)).alarms == 0


def test_a_few_outliers_are_not_news() -> None:
    excess = noise(5000)
    excess[2000], excess[3000], excess[4000:4003] = 1e300, 1e300, 1e9
    assert watched(excess).alarms == 0


def test_the_last_alarms_are_remembered() -> None:
    levels = [100.0 if k % 2 else 1.0 for k in range(2 * KEPT + 10)]
    excess = np.concatenate([level * noise(4000, k) for k, level in enumerate(levels)])
    drift = watched(excess)
    assert drift.alarms > KEPT
    assert drift.at == by_hand(excess)[-KEPT:]


@settings(max_examples=50, deadline=None)
@given(cuts=st.lists(st.integers(0, 700), max_size=8))
def test_grouping_makes_no_difference(cuts: list[int]) -> None:
    excess = np.concatenate([noise(300), 30.0 * noise(400)])
    whole, parts = watched(excess), llr.Drift()
    for part in np.split(excess, sorted(cuts)):
        parts = llr.Drift.from_plain(parts.to_plain())
        parts.watch(part)
    assert parts.to_plain() == whole.to_plain()
    assert whole.alarms == 1


def test_a_view_stays_while_the_other_goes_on() -> None:
    drift = watched(noise(100))
    before, view = drift.to_plain(), drift.view()
    drift.watch(noise(100))
    assert (view.to_plain(), drift.t) == (before, 200)


@pytest.mark.parametrize(
    "plain", [None, [], [0.0] * (SIZE - 1), [math.nan] * SIZE, [-1.0] * SIZE, ["0"] * SIZE]
)
def test_what_is_no_state_is_refused(plain: object) -> None:
    with pytest.raises(llr.StateError):
        llr.Drift.from_plain(plain)


@pytest.mark.parametrize("model", ["linear", "poisson"])
def test_the_excess_is_the_loss_beyond_the_least_there_could_be(model: str) -> None:
    random = np.random.default_rng(3)
    X, y = random.normal(size=(40, 2)), 1.0 * random.poisson(2.0, size=40)
    losses: list[float] = []
    learner, one_by_one = (llr.Learner(model, second_order=False) for _ in range(2))
    outcome = learner.learn(X, y, excess=True)
    for x, label in zip(X, y, strict=True):
        score = one_by_one.predict(x)
        least = label - label * math.log(label) if label > 0 else 0.0
        loss = score - label * math.log(score) if model == "poisson" else (label - score) ** 2 / 2
        losses.append(loss - least if model == "poisson" else loss)
        one_by_one.learn(x, label)
    assert outcome.excess is not None
    assert outcome.excess == pytest.approx(losses, abs=1e-9)
    assert outcome.excess.min() >= 0.0
    whole = llr.Learner(model).learn(X, y, excess=True)
    assert whole.excess is not None
    assert whole.excess.tolist() == outcome.excess.tolist()  # that of its first-order learners
    assert learner.learn(X, y).excess is None
