"""Proposition 1 and Lemma 1 against finite differences of whole trajectories."""

import math
from typing import Any

import numpy as np
import pytest
from support.samples_of import options_of, samples_of, theta0_of, tried

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
