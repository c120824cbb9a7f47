"""Proposition 1 and Lemma 1 against finite differences of whole trajectories."""

import math
from typing import Any

import numpy as np
import pytest
from support import reference
from support.like_reference import reference_samples
from support.samples_of import config_of, options_of, samples_of, theta0_of, tried

import llr
from llr.types import Vector

SMOOTH = [name for name, model in llr.MODELS.items() if model.smooth]
STEPS = 40


def total_loss(model: str, samples: tuple[Vector, ...], theta0: Vector, eta: float) -> float:
    learner = llr.Learner(model, algorithm="sg", eta0=eta, theta0=theta0, **options_of(model))
    assert learner.learn(*samples)
    return learner.loss.total


@pytest.mark.parametrize("model", SMOOTH)
def test_lemma_1_is_the_slope_of_the_whole_run(model: str) -> None:
    samples, theta0 = samples_of(model, 1, STEPS), theta0_of(model, 1)
    own = tried(llr.MODELS[model].parameters)
    exact = llr.exact.derivative(model, *samples, eta=0.2, theta0=theta0, **own)
    step = 1e-5
    up = total_loss(model, samples, theta0, 0.2 * math.exp(step))
    down = total_loss(model, samples, theta0, 0.2 * math.exp(-step))
    assert exact.of_loss == pytest.approx((up - down) / (2 * step), rel=1e-6)


def test_the_trajectory_is_that_of_the_fixed_step() -> None:
    samples = samples_of("softmax", 2, STEPS)
    learner = llr.Learner("softmax", dim=4, algorithm="sg", eta0=0.2, classes=3)
    assert learner.learn(*samples)
    exact = llr.exact.derivative("softmax", *samples, eta=0.2, classes=3)
    np.testing.assert_allclose(exact.theta[-1], learner.theta, rtol=1e-12)


def replayed(model: str, samples: tuple[Vector, ...], theta0: Vector, etas: list[float]) -> float:
    """ℓ of the last sample after SG with η_{t+1} = etas[t], by fixed steps of one sample each."""
    theta, loss = theta0, 0.0
    for t, eta in enumerate([*etas, 1.0]):
        one = llr.Learner(
            model, algorithm="sg", eta0=eta, theta0=theta, schedule=fixed_at(t), **options_of(model)
        )
        assert one.learn(*(column[t : t + 1] for column in samples))
        theta, loss = one.theta.ravel(), one.loss.total
    return -loss


def fixed_at(t: int) -> Any:
    return lambda _: math.sqrt(t + 2) * math.log(t + 3)


@pytest.mark.parametrize("model", SMOOTH)
def test_proposition_1_lambda_is_the_slope_along_all_past_log_etas(model: str) -> None:
    samples, theta0 = samples_of(model, 3, 12), theta0_of(model, 3)
    learner = llr.Learner(
        model, algorithm="sg/sg", eta0=0.2, theta0=theta0, hessian="exact", **options_of(model)
    )
    etas: list[float] = []
    for t in range(11):
        assert learner.learn(*(column[t : t + 1] for column in samples))
        etas.append(learner.eta)
    before = learner.log_eta
    assert learner.learn(*(column[11:12] for column in samples))
    lam = (learner.log_eta - before) * math.sqrt(13) * math.log(14)
    step = 1e-5
    up = replayed(model, samples, theta0, [eta * math.exp(step) for eta in etas])
    down = replayed(model, samples, theta0, [eta * math.exp(-step) for eta in etas])
    assert lam == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-8)


def test_the_quadratic_way_differentiates_each_prefix_at_its_own_eta() -> None:
    (y,) = samples_of("gaussian", 4, 20)
    etas = np.linspace(0.1, 0.5, 20)
    exact = llr.exact.lambdas("gaussian", y, etas=etas)
    for t in (0, 7, 19):
        alone = llr.exact.derivative("gaussian", y[: t + 1], eta=float(etas[t]))
        assert exact[t] == alone.lam[t]
    X, labels = samples_of("linear", 4, 5)
    assert llr.exact.lambdas("linear", X, labels, etas=etas[:5])[0] == 0.0


@pytest.mark.parametrize("model", ["gaussian", "logistic", "poisson", "softmax", "huber"])
@pytest.mark.parametrize("hessian", ["exact", "difference"])
def test_both_forms_of_a_are_those_of_fifty_digits(model: str, hessian: str) -> None:
    samples, theta0 = samples_of(model, 5, 30), theta0_of(model, 5)
    own = tried(llr.MODELS[model].parameters)
    ours = llr.exact.derivative(model, *samples, eta=0.2, theta0=theta0, hessian=hessian, **own)
    numbers: dict[str, Any] = {"classes": int(own["classes"])} if model == "softmax" else {}
    if model == "huber":
        numbers["parameter"] = config_of(model).model_number
    theirs = reference.lemma1(
        model,
        reference_samples(samples),
        theta0.tolist(),
        0.2,
        shifted=hessian == "difference",
        **numbers,
    )
    A = np.array([[float(v) for v in one.a] for one in theirs])
    ours_A = ours.A[1:].reshape(len(A), -1)
    np.testing.assert_allclose(ours_A, A, rtol=1e-10, atol=1e-10 * np.abs(A).max())
    assert ours.of_loss == pytest.approx(float(theirs[-1].dloss), rel=1e-10)


@pytest.mark.parametrize("model", SMOOTH)
def test_the_numerical_a_is_the_exact_one_to_eight_digits(model: str) -> None:
    samples, theta0 = samples_of(model, 6, STEPS), theta0_of(model, 6)
    own = tried(llr.MODELS[model].parameters)
    runs = {
        hessian: llr.exact.derivative(
            model, *samples, eta=0.2, theta0=theta0, hessian=hessian, **own
        ).A
        for hessian in ("exact", "numerical")
    }
    scale = float(np.abs(runs["exact"]).max())
    np.testing.assert_allclose(runs["numerical"], runs["exact"], atol=1e-8 * scale)


@pytest.mark.parametrize("model", SMOOTH)
@pytest.mark.parametrize("rate", ["sg", "ag"])
def test_the_exact_rate_climbs_the_loss_of_runs_with_one_eta(model: str, rate: str) -> None:
    """Each log η is computed here from fixed-step runs alone, differentiated by differences."""
    n = 12
    samples, theta0 = samples_of(model, 7, n), theta0_of(model, 7)
    own = tried(llr.MODELS[model].parameters)
    exact = llr.exact.ExactSG(model, 0.2, theta0, rate=rate, **own)
    assert exact.learn(*(column[:5] for column in samples))
    assert exact.learn(*(column[5:] for column in samples))
    log_eta, n2, d = math.log(0.2), 0.0, 0.0
    for t in range(n):
        head = tuple(column[: t + 1] for column in samples)
        past = tuple(column[:t] for column in samples)
        up, down = (math.exp(log_eta + step) for step in (1e-5, -1e-5))
        slopes = [
            (total_loss(model, part, theta0, up) - total_loss(model, part, theta0, down)) / 2e-5
            for part in (head, past)
            if len(part[-1])
        ]
        lam = sum(slopes[1:]) - slopes[0]  # of the last sample's ℓ alone
        mu = math.sqrt(t + 2) * math.log(t + 3)
        assert exact.lam[t] == pytest.approx(lam, rel=1e-5, abs=1e-8)
        d = (1 - 1 / mu) * d + 1 / mu
        n2 = ((1 - 1 / mu) * n2 + lam**2 / mu) / d
        if t > 0:
            log_eta += lam / mu / (math.sqrt(n2) if rate == "ag" else 1.0)
        assert exact.log_etas[t + 1] == pytest.approx(log_eta, abs=1e-4)
    fixed = llr.exact.derivative(model, *samples, eta=exact.eta, theta0=theta0, **own)
    np.testing.assert_array_equal(exact.theta, fixed.theta[-1])
    np.testing.assert_array_equal(exact.A, fixed.A[-1])


def test_along_is_a_run_from_the_start_for_every_eta() -> None:
    X, y = samples_of("linear", 4, 9)
    etas = np.linspace(0.1, 0.5, 9)
    found = llr.exact.along("linear", X, y, etas=etas)
    for t in (1, 4, 8):
        alone = llr.exact.derivative("linear", X[:t], y[:t], eta=float(etas[t]))
        np.testing.assert_array_equal(found.A[t], alone.A[-1])
        np.testing.assert_array_equal(found.theta[t], alone.theta[-1])


def test_a_caller_s_schedule_damps_the_exact_derivative_too() -> None:
    """One schedule, and a pair whose μ differs: against a learner and against differences."""
    samples, theta0 = samples_of("logistic", 8, STEPS), theta0_of("logistic", 8)

    def f(t: int) -> float:
        return 2.0 + 0.1 * t

    def mu(t: int) -> float:
        return 1.5 + 0.2 * t

    def fixed(eta: float) -> llr.Learner:
        learner = llr.Learner("logistic", algorithm="sg", eta0=eta, theta0=theta0, schedule=f)
        assert learner.learn(*samples)
        return learner

    one = llr.exact.derivative("logistic", *samples, eta=0.2, theta0=theta0, schedule=f)
    np.testing.assert_allclose(one.theta[-1], fixed(0.2).theta, rtol=1e-12)
    up, down = (fixed(0.2 * math.exp(step)).loss.total for step in (1e-5, -1e-5))
    assert one.of_loss == pytest.approx((up - down) / 2e-5, rel=1e-6)
    etas = np.full(STEPS, 0.2)
    each = llr.exact.along("logistic", *samples, etas=etas, theta0=theta0, schedule=(f, mu))
    np.testing.assert_array_equal(each.A, one.A[:-1])
    slow = llr.exact.ExactSG("logistic", 0.2, theta0, rate="sg", schedule=(f, mu))
    assert slow.learn(*samples)
    moves = np.diff(slow.log_etas) * [mu(t) for t in range(STEPS)]
    np.testing.assert_allclose(moves, slow.lam, rtol=1e-9, atol=1e-12)
    again = llr.exact.derivative(
        "logistic", *samples, eta=slow.eta, theta0=theta0, schedule=(f, None)
    )
    np.testing.assert_array_equal(again.theta[-1], slow.theta)


def test_a_schedule_below_one_is_refused() -> None:
    with pytest.raises(llr.ConfigError, match=r"f.t. must be finite"):
        llr.exact.derivative("gaussian", [1.0, 2.0], eta=0.1, schedule=lambda t: 0.5)


def test_a_quadratic_cost_is_refused_beyond_its_bound() -> None:
    many = np.zeros(llr.exact.MAX_SAMPLES + 1)
    with pytest.raises(llr.SampleError, match="10,000 at most"):
        llr.exact.along("gaussian", many, etas=many + 1.0)
    learner = llr.exact.ExactSG("gaussian")
    assert learner.learn([1.0, 2.0])
    with pytest.raises(llr.SampleError, match="10,000 at most"):
        learner.learn(many[:-2])
    assert learner.t == 2


def test_the_exact_rate_stays_at_its_last_finite_step() -> None:
    learner = llr.exact.ExactSG("poisson", 1.0)
    X, y = np.full((4, 1), 1e3), np.array([0.0, 1e6, 0.0, 0.0])
    outcome = learner.learn(X, y)
    assert not outcome
    assert learner.t == outcome.accepted < 4
    assert np.isfinite(learner.theta).all()


@pytest.mark.parametrize("wrong", [{"rate": "fixed"}, {"rate": "exact"}, {"hessian": "guess"}])
def test_a_wrong_rate_or_hessian_is_a_config_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(llr.ConfigError):
        llr.exact.ExactSG("gaussian", **wrong)


def test_an_unknown_model_is_a_config_error() -> None:
    with pytest.raises(llr.ConfigError):
        llr.exact.derivative("nonsense", [1.0], eta=0.1)


@pytest.mark.parametrize("label", [5e7, -3.0, float("nan"), 0.5])
def test_labels_are_checked_before_anything_is_computed(label: float) -> None:
    with pytest.raises(llr.SampleError):
        llr.exact.derivative("softmax", [[1.0, 2.0]] * 2, [label, 0.0], eta=0.1, classes=3)


def test_features_that_are_not_finite_are_refused() -> None:
    with pytest.raises(llr.NotFiniteError):
        llr.exact.derivative("linear", [[1.0], [float("inf")]], [0.0, 0.0], eta=0.1)
