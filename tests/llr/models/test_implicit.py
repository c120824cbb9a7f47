"""The implicit step against its own equation at 50 digits, from tame samples to hopeless ones."""

import math
import random

import numpy as np
import pytest
from support.reference import Number, make_model, mp, probabilities
from support.samples_of import config_of

from llr.models import MODELS, implicit
from llr.types import Vector

SCALAR = [name for name, model in MODELS.items() if not model.classes]
SMOOTH = ["logistic", "bernoulli", "poisson"]
SEEDS = range(40)
EPSILON = 2.0**-52


def label(model: str, rng: random.Random) -> float:
    if model in ("logistic", "bernoulli"):
        return float(rng.randrange(2))
    return float(rng.choice([0, 1, 2, 50])) if model == "poisson" else rng.gauss(0.0, 3.0)


def start(model: str, rng: random.Random) -> float:
    """A score: near 0, or where the model is very sure of itself."""
    far = rng.uniform(-60.0, 30.0 if model == "poisson" else 60.0)
    return rng.choice([rng.gauss(0.0, 1.0), far])


def solved(model: str, s: float, q: float, r: float, y: float) -> tuple[float, float]:
    number = config_of(model).model_number
    k, w = implicit.solve(list(MODELS).index(model), s, q, r, y, number)
    return float(k), float(w)


def slope(model: str, s: Number, y: float) -> tuple[Number, Number]:
    """∂ℓ and −∂²ℓ of one score, by the reference."""
    named = {"bernoulli": "logistic", "gaussian": "linear"}.get(model, model)
    number = config_of(model).model_number
    literal = make_model(named, number if number else None)
    sample = ([1], y)
    return literal.gradient([s], sample)[0], -literal.hessian_times([s], sample, [1])[0]


@pytest.mark.parametrize("model", [*SMOOTH, "linear", "gaussian", "huber"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_step_is_the_one_the_slope_at_its_end_asks_for(model: str, seed: int) -> None:
    rng = random.Random(seed)
    s, y = start(model, rng), label(model, rng)
    q = 10.0 ** rng.uniform(-3.0, 3.0)
    r = 10.0 ** rng.uniform(-10.0, 10.0) / q
    k, _ = solved(model, s, q, r, y)
    end = mp.mpf(s) + mp.mpf(k) * mp.mpf(q)
    g, curvature = slope(model, end, y)
    stiff = r * q * curvature
    error = abs(mp.mpf(k) - mp.mpf(r) * g) / (1 + stiff)  # of k, to first order
    lost = abs(k) + stiff / (1 + stiff) * max(1.0, abs(s)) / q  # what s being rounded costs
    assert error <= 8 * EPSILON * lost


@pytest.mark.parametrize("model", [name for name in SCALAR if name != "quantile"])
@pytest.mark.parametrize("R", [1e-10, 1.0, 1e4, 1e6, 1e8, 1e10])
def test_a_wrong_score_is_set_right_and_never_overshot(model: str, R: float) -> None:
    rng = random.Random(3)
    for _ in range(200):
        s, y = start(model, rng), label(model, rng)
        k, _ = solved(model, s, 1.0, R, y)
        before, after = (float(slope(model, mp.mpf(at), y)[0]) for at in (s, s + k))
        assert abs(after) <= abs(before)
        assert before * after >= -1e-12
        if R >= 1e4 and abs(before) > 0.5:
            assert k * before > 0.0
            assert abs(after) < 0.05  # a step of this size does not stop on the way


@pytest.mark.parametrize("R", [1e-10, 1.0, 1e4, 1e10])
def test_a_quantile_goes_its_step_or_up_to_the_label(R: float) -> None:
    rng = random.Random(4)
    for _ in range(200):
        s, y = start("quantile", rng), label("quantile", rng)
        k, w = solved("quantile", s, 1.0, R, y)
        full = R * float(slope("quantile", mp.mpf(s), y)[0])
        reaches = abs(full) >= abs(y - s)
        assert k == (pytest.approx(y - s, rel=1e-15) if reaches else full)
        assert math.isinf(w) == reaches


@pytest.mark.parametrize("model", ["linear", "huber", "quantile", *SMOOTH])
def test_the_tangent_is_the_derivative_along_log_r_and_a_moving_score(model: str) -> None:
    rng, tiny = random.Random(5), 1e-6
    for _ in range(60):
        s, y, sigma = rng.gauss(0.0, 2.0), label(model, rng), rng.gauss(0.0, 1.0)
        q, r = math.exp(rng.uniform(-1.0, 1.0)), 10.0 ** rng.uniform(-3.0, 3.0)
        k, w = solved(model, s, q, r, y)
        up, of_up = solved(model, s + tiny * sigma, q, r * math.exp(tiny), y)
        down, of_down = solved(model, s - tiny * sigma, q, r * math.exp(-tiny), y)
        if model in ("huber", "quantile") and (of_up > 0.0) != (of_down > 0.0):
            continue  # a corner lies between the two
        measured = (up - down) / (2.0 * tiny)
        scale = 1.0 + abs(k) + abs(sigma) / q
        assert abs(implicit.tangent(k, w, q, sigma) - measured) <= 1e-8 * scale


@pytest.mark.parametrize("model", SCALAR)
def test_without_features_the_step_is_the_explicit_one(model: str) -> None:
    y = label(model, random.Random(1))
    for s in (0.3, y):
        k, w = solved(model, s, 0.0, 0.7, y)
        assert k == pytest.approx(0.7 * float(slope(model, mp.mpf(s), y)[0]), abs=1e-15)
        assert implicit.tangent(k, w, 0.0, 0.0) == k


@pytest.mark.parametrize("s", [709.0, 712.0, 1e4])
def test_a_count_expected_beyond_all_numbers_still_comes_down(s: float) -> None:
    k, _ = solved("poisson", s, 1.0, 1.0, 3.0)
    assert s + k < 710.0
    assert k == pytest.approx(3.0 - math.exp(s + k), rel=1e-9)


def softmax(s: Vector, q: Vector, r: float, y: int) -> Vector:
    k = np.empty_like(s)
    implicit.solve_each(list(MODELS).index("softmax"), s, q, r, float(y), float(s.size), k)
    return k


def scores(seed: int) -> tuple[Vector, Vector, float, int]:
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 7))
    s = rng.normal(size=classes) * rng.choice([1.0, 30.0])
    q = np.exp(rng.normal(size=classes)) if seed % 2 else np.full(classes, 0.8)
    return s, q, 10.0 ** float(rng.uniform(-10.0, 10.0)), int(rng.integers(classes))


@pytest.mark.parametrize("seed", range(80))
def test_the_steps_of_softmax_are_those_the_slopes_at_their_end_ask_for(seed: int) -> None:
    s, q, r, y = scores(seed)
    k = softmax(s, q, r, y)
    end = [mp.mpf(a) + mp.mpf(b) * mp.mpf(c) for a, b, c in zip(s, k, q, strict=True)]
    pi = probabilities(end)
    asked = [-r * pi[j] for j in range(s.size)]
    asked[y] = r * sum(pi[j] for j in range(s.size) if j != y)
    for j in range(s.size):
        stiff = float(r * q[j] * pi[j] * (1 - pi[j]))
        error = float(abs(mp.mpf(k[j]) - asked[j])) / (1.0 + stiff)
        assert error <= 64 * EPSILON * (abs(k[j]) + np.abs(k).max() + np.abs(s).max() / q[j])


def test_softmax_of_two_classes_is_logistic_with_twice_the_step() -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        s, r, y = rng.normal(size=2) * 10.0, 10.0 ** float(rng.uniform(-5.0, 10.0)), seed % 2
        k = softmax(s, np.ones(2), r, y)
        alone, _ = solved("logistic", float(s[1] - s[0]), 2.0, r, float(y))
        np.testing.assert_allclose(k, [-alone, alone], rtol=1e-11)


@pytest.mark.parametrize("seed", range(40))
def test_the_tangent_of_softmax_is_the_derivative_of_its_steps(seed: int) -> None:
    s, q, _, y = scores(seed)
    rng = np.random.default_rng(seed + 1000)
    s, sigma, r = s / np.abs(s).max(), rng.normal(size=s.size), 10.0 ** float(rng.uniform(-3, 3))
    k, dk, tiny = softmax(s, q, r, y), np.empty_like(s), 1e-6
    which, classes = list(MODELS).index("softmax"), float(s.size)
    implicit.tangent_each(which, s, q, r, float(y), classes, sigma, k, dk)
    up = softmax(s + tiny * sigma, q, r * math.exp(tiny), y)
    down = softmax(s - tiny * sigma, q, r * math.exp(-tiny), y)
    np.testing.assert_allclose(dk, (up - down) / (2.0 * tiny), rtol=1e-6, atol=1e-7)


def test_the_steps_of_softmax_sum_to_nothing_and_stand_still_at_zero() -> None:
    still = softmax(np.array([0.1, 0.2, -0.3]), np.ones(3), 0.0, 1)
    np.testing.assert_array_equal(still, np.zeros(3))
    for seed in range(20):
        s, _, r, y = scores(seed)
        k = softmax(s, np.ones(s.size), r, y)
        assert abs(k.sum()) <= 1e-12 * np.abs(k).max()
