import numpy as np
import pytest

import llr


def sg_in_log_eta(theta0: float, eta0: float, alpha: float) -> llr.GenSG:
    """Plain SG on ½(y − θ)² with u = log η as its hyperparameter."""
    return llr.GenSG(
        step=lambda theta, u, y: theta + np.exp(u) * (y - theta),
        along_theta=lambda theta, u, y, h: h - np.exp(u) * h,
        along_eta=lambda theta, u, y, e: np.exp(u) * (y - theta) * e,
        gradient=lambda theta, y: y - theta,
        theta0=[theta0],
        eta0=np.log(eta0),
        alpha=alpha,
    )


def test_with_alpha_0_the_hyperparameter_stays_and_h_is_the_derivative() -> None:
    y = np.random.default_rng(0).normal(size=30)

    def end(eta: float) -> float:
        learner = sg_in_log_eta(2.0, eta, 0.0)
        for sample in y:
            learner.learn(sample)
        return float(learner.theta[0])

    learner = sg_in_log_eta(2.0, 0.1, 0.0)
    for sample in y:
        learner.learn(sample)
    slope = (end(0.1 * np.exp(1e-6)) - end(0.1 * np.exp(-1e-6))) / 2e-6
    assert learner.h[0] == pytest.approx(slope, rel=1e-6)


def test_r11_f_is_differentiated_at_the_old_eta_and_stepped_with_the_new() -> None:
    learner = sg_in_log_eta(0.0, 0.5, 0.25)
    learner.learn(1.0)
    assert (learner.theta[0], learner.h[0]) == (0.5, 0.5)
    learner.learn(1.0)
    # slope = (1 − ½)·½ = ¼, so log η grows by 1/16; h uses η = ½, θ uses the new η
    assert learner.eta == pytest.approx(np.log(0.5) + 1 / 16)
    assert learner.h[0] == pytest.approx(0.5 - 0.5 * 0.5 + 0.5 * 0.5)
    assert learner.theta[0] == pytest.approx(0.5 + 0.5 * np.exp(1 / 16) * 0.5)


def test_alpha_may_depend_on_t_and_eta_may_be_a_vector() -> None:
    learner = llr.GenSG(
        step=lambda theta, eta, y: theta + eta * (y - theta),
        along_theta=lambda theta, eta, y, h: (1 - eta) * h,
        along_eta=lambda theta, eta, y, e: e * (y - theta),
        gradient=lambda theta, y: y - theta,
        theta0=[0.0, 0.0],
        eta0=np.array([0.1, 0.2]),
        alpha=lambda t: 0.1 / (t + 1),
        direction=np.array([1.0, 0.0]),
    )
    for _ in range(5):
        learner.learn(np.array([1.0, 1.0]))
    assert learner.t == 5
    assert learner.eta[0] > 0.1
    assert learner.eta[1] == 0.2


def test_a_step_out_of_the_finite_numbers_is_not_taken() -> None:
    learner = sg_in_log_eta(0.0, 5.0, 1.0)
    outcomes = [bool(learner.learn(1.0)) for _ in range(50)]
    assert not outcomes[-1]
    assert np.isfinite(learner.theta).all()
    assert learner.t == sum(outcomes)
