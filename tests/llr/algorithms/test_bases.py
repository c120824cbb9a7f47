"""The bases beyond the paper's: against their literal reference, and what they are there for."""

from typing import Any

import numpy as np
import pytest
from support import reference_bases
from support.like_reference import MODELS, assert_like
from support.samples_of import options_of, samples_of, theta0_of

import llr

pytestmark = pytest.mark.slow

STEPS = 60
BASES = ["isg", "adagrad", "momentum", "saga", "sag"]
ETA0 = {"isg": 0.5, "adagrad": 0.1, "momentum": 0.05, "saga": 0.02, "sag": 0.02}
OWN: dict[str, dict[str, Any]] = {
    "momentum": {"beta": 0.7},
    "saga": {"table": 7},
    "sag": {"table": 7},
}
every_model = pytest.mark.parametrize("model", MODELS)
every_base = pytest.mark.parametrize("base", BASES)


def assert_like_reference(model: str, base: str, rate: str, seed: int, **options: Any) -> None:
    algorithm, run = f"{base}/{rate}" if rate else base, reference_bases.run
    steps = 12 if (model, base) == ("softmax", "isg") else STEPS  # a system of equations each
    options |= OWN.get(base, {})
    assert_like(run, model, algorithm, seed=seed, steps=steps, eta0=ETA0[base], **options)


@every_model
@every_base
@pytest.mark.parametrize("rate", ["", "sg", "ag"])
def test_a_base_with_a_rate_is_the_literal_one_to_ten_digits(
    model: str, base: str, rate: str
) -> None:
    assert_like_reference(model, base, rate, seed=1)


@every_model
@every_base
def test_the_exact_hessian_goes_through_all_of_the_bases_state(model: str, base: str) -> None:
    assert_like_reference(model, base, "ag", seed=2, hessian="exact")


@every_model
@every_base
def test_memory_fades_the_whole_tangent(model: str, base: str) -> None:
    assert_like_reference(model, base, "sg", seed=3, memory=True)


@every_base
def test_memory_can_use_the_difference_of_gradients(base: str) -> None:
    assert_like_reference("logistic", base, "ag", seed=3, memory=True, hessian="difference")


@pytest.mark.parametrize("model", [name for name in MODELS if llr.MODELS[name].smooth])
@every_base
def test_the_numerical_hessian_is_the_exact_one_to_seven_digits(model: str, base: str) -> None:
    samples, ends = samples_of(model, 8, STEPS), {}
    for hessian in ("exact", "numerical", "difference"):
        learner = llr.Learner(
            model,
            algorithm=f"{base}/ag",
            eta0=ETA0[base],
            theta0=theta0_of(model, 8),
            hessian=hessian,
            **options_of(model),
            **OWN.get(base, {}),
        )
        assert learner.learn(*samples)
        ends[hessian] = learner
    exact, numerical = ends["exact"], ends["numerical"]
    scale = float(np.abs(exact.h).max())
    np.testing.assert_allclose(numerical.h, exact.h, rtol=1e-7, atol=1e-7 * scale)
    assert numerical.log_eta == pytest.approx(exact.log_eta, rel=1e-7)
    if model in ("logistic", "poisson", "softmax"):  # where gradients at θ + h say something else
        assert abs(ends["difference"].h - exact.h).max() > 1e-5 * scale


@pytest.mark.parametrize("model", [name for name in MODELS if llr.MODELS[name].has_curvature])
def test_vsgd_is_the_literal_one_to_ten_digits(model: str) -> None:
    own = {"features": options_of(model).get("dim", 1)}
    run = reference_bases.run
    assert_like(run, model, "vsgd", seed=4, steps=40, eta0=0.1, own=own)


def test_vsgd_refuses_a_loss_that_has_no_curvature() -> None:
    with pytest.raises(llr.ConfigError, match="curvature") as caught:
        llr.Learner("quantile", algorithm="vsgd")
    assert caught.value.field == "algorithm"


def test_vsgd_needs_no_step_size() -> None:
    rng, truth = np.random.default_rng(3), np.array([3.0, -1.0, 0.0, 2.0, 0.5])
    X = rng.normal(size=(3000, 5)) * [0.1, 1.0, 1.0, 10.0, 100.0]
    y = X @ truth + 0.1 * rng.normal(size=3000)
    thetas = []
    for eta0 in (1e-8, 1.0, 1e8):
        learner = llr.Learner("linear", dim=5, algorithm="vsgd", eta0=eta0)
        assert learner.learn(X, y)
        thetas.append(learner.theta)
    assert np.array_equal(thetas[0], thetas[1])
    assert np.array_equal(thetas[0], thetas[2])
    np.testing.assert_allclose(thetas[0], truth, atol=0.3)


@pytest.mark.parametrize("eta0", [1e2, 1e6, 1e10])
@pytest.mark.parametrize("model", ["linear", "logistic", "poisson", "softmax", "huber"])
def test_an_implicit_step_however_large_does_not_diverge(model: str, eta0: float) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(2000, 3))
    y = (X @ [1.0, -1.0, 0.5] + rng.normal(size=2000) > 0.0).astype(float)
    options: dict[str, Any] = {"classes": 2} if model == "softmax" else {}
    learner = llr.Learner(model, dim=3, algorithm="isg", eta0=eta0, **options)
    assert learner.learn(X, y)
    assert np.abs(learner.theta).max() < 1e3
    if model in ("linear", "poisson") and eta0 > 1e3:
        explicit = llr.Learner(model, dim=3, algorithm="sg", eta0=eta0)
        assert not explicit.learn(X, y)


def test_the_quadratic_of_1e8_never_grows_under_implicit_steps() -> None:
    learner = llr.Learner("linear", 1, "isg/ag", 1e-4, 1.0)
    for _ in range(300):
        assert learner.learn([1e4], 0.0)
        assert abs(learner.theta[0]) <= 1.0


def test_the_first_step_of_adagrad_is_eta_whatever_the_scale_of_a_feature() -> None:
    X, _ = llr.streams.regression(seed=1, dim=4).take(1)
    scales = np.array([2.0**-20, 1.0, 2.0**7, 2.0**15])
    learner = llr.Learner("linear", dim=4, algorithm="adagrad", eta0=0.5)
    assert learner.learn(X[0] * scales, 1.0)
    np.testing.assert_allclose(np.abs(learner.theta), 0.5, rtol=1e-12)


def test_a_feature_never_seen_stays_put_under_adagrad() -> None:
    learner = llr.Learner("linear", dim=2, algorithm="adagrad/ag", eta0=0.5, theta0=3.0)
    for _ in range(20):
        assert learner.learn([1.0, 0.0], 1.0)
    assert learner.theta[1] == 3.0
    assert learner.h[1] == 0.0


def test_momentum_without_any_is_stochastic_gradient() -> None:
    samples = llr.streams.regression(seed=2, dim=6).take(300)
    for rate in ("", "/ag"):
        rolling = llr.Learner("linear", 6, f"momentum{rate}", 1e-3, beta=0.0)
        plain = llr.Learner("linear", 6, f"sg{rate}", 1e-3)
        assert rolling.learn(*samples)
        assert plain.learn(*samples)
        np.testing.assert_allclose(rolling.theta, plain.theta, rtol=1e-12)
        assert rolling.log_eta == pytest.approx(plain.log_eta, rel=1e-12)


@pytest.mark.parametrize("base", ["saga", "sag"])
def test_a_table_of_one_is_stochastic_gradient_without_damping(base: str) -> None:
    samples = llr.streams.regression(seed=2, dim=6).take(300)
    saga = llr.Learner("linear", 6, f"{base}/ag", 1e-4, table=1)
    assert saga.learn(*samples)
    theta = np.zeros(6)
    fixed = llr.Learner("linear", 6, base, 1e-4, table=1)
    assert fixed.learn(*samples)
    for x, y in zip(*samples, strict=True):
        theta = theta + 1e-4 * (y - theta @ x) * x
    np.testing.assert_allclose(fixed.theta, theta, rtol=1e-10)
    assert saga.eta > 1e-4


@pytest.mark.parametrize("base", ["saga", "sag"])
def test_a_table_lowers_the_noise_of_theta_at_a_constant_step(base: str) -> None:
    rng = np.random.default_rng(7)
    truth = np.array([1.0, -2.0, 0.5, 3.0])
    X = rng.normal(size=(20_000, 4))
    y = X @ truth + 3.0 * rng.normal(size=20_000)
    errors = {}
    for table in (1, 64):
        learner = llr.Learner("linear", 4, base, 0.01, table=table)
        off = []
        for low in range(0, 20_000, 50):
            assert learner.learn(X[low : low + 50], y[low : low + 50])
            if low > 5000:
                off.append(float(np.sum((learner.theta - truth) ** 2)))
        errors[table] = np.mean(off)
    assert errors[64] < errors[1]


def test_an_outlier_leaves_no_trace_in_the_sums_once_it_has_left_the_table() -> None:
    learner = llr.Learner("linear", 2, "saga/ag", 1e-9, table=4)
    assert learner.learn([1e12, 1.0], 1e12)
    for _ in range(12):
        assert learner.learn([0.0, 0.0], 0.0)
    before = learner.theta
    assert learner.learn([0.0, 0.0], 0.0)
    np.testing.assert_array_equal(learner.theta, before)


@pytest.mark.parametrize("table", [0, 10_001, 2.5])
def test_the_size_of_a_table_is_bounded(table: float) -> None:
    with pytest.raises(llr.ConfigError, match="from 1 to 10000"):
        llr.Learner("linear", 2, "saga", table=table)
