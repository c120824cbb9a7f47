"""`kalman` against filters with dense covariances, written from the equations in its file."""

import math
from typing import Any

import numpy as np
import pytest
from support.auto_reference import LOGISTIC, implicit
from support.bank_reference import factored

import llr
from llr import kalman

Array = np.ndarray[Any, Any]


def made(seed: int, n: int = 80, dim: int = 3) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, dim)) * [1.0, 3.0, 0.2][:dim]
    return X, X @ [1.0, -0.5, 2.0][:dim] + 1.5 + 0.3 * rng.normal(size=n)


class Dense:
    """θ and P of one score."""

    def __init__(self, n: int, ridge: float, window: int) -> None:
        self.theta, self.P = np.zeros(n), np.eye(n) / ridge
        self.ridge, self.keep = ridge, window / (window + 1) if window else 1.0

    def forget(self) -> None:
        U, D = factored(self.P)
        self.P = (U * np.maximum(D, np.minimum(D / self.keep, 1 / self.ridge))) @ U.T

    def learn(self, z: Array, k: float, w: float) -> None:
        b = self.P @ z
        self.theta = self.theta + k * b
        self.P = self.P - np.outer(b, b) / (1 / w + z @ b)


def test_without_forgetting_it_is_the_ridge_regression_of_the_past() -> None:
    X, y = made(1)
    learner = llr.Learner("linear", 3, "kalman", ridge=0.5, robust=1e9)
    found = learner.learn(X, y, predictions=True).predictions
    assert found is not None
    Z = np.column_stack([np.ones(len(y)), X])
    for t in range(len(y)):
        past = np.linalg.solve(Z[:t].T @ Z[:t] + 0.5 * np.eye(4), Z[:t].T @ y[:t])
        assert found[t] == pytest.approx(Z[t] @ past, rel=1e-9, abs=1e-11)
    theta = np.linalg.solve(Z.T @ Z + 0.5 * np.eye(4), Z.T @ y)
    np.testing.assert_allclose([learner.intercept, *learner.theta], theta, rtol=1e-10)


def test_without_an_intercept_there_is_none() -> None:
    X, y = made(2)
    learner = llr.Learner("linear", 3, "kalman", ridge=0.5, robust=1e9, intercept=False)
    learner.learn(X, y)
    theta = np.linalg.solve(X.T @ X + 0.5 * np.eye(3), X.T @ y)
    np.testing.assert_allclose(learner.theta, theta, rtol=1e-10)
    assert learner.intercept is None
    assert learner.predict(X[0]) == pytest.approx(X[0] @ theta, rel=1e-10)


def test_the_mean_of_a_stream_is_that_of_the_ridge() -> None:
    learner = llr.Learner("gaussian", algorithm="kalman", ridge=2.0, theta0=5.0, robust=1e9)
    learner.learn([1.0, 2.0, 6.0])
    assert learner.theta[0] == pytest.approx((2 * 5 + 1 + 2 + 6) / 5)


@pytest.mark.parametrize("window", [0, 20])
def test_a_linear_model_is_the_dense_filter_errors_held_and_the_past_forgotten(
    window: int,
) -> None:
    X, y = made(3)
    y[40] += 50.0
    learner = llr.Learner("linear", 3, "kalman", window=window, robust=3.0)
    found = learner.learn(X, y, predictions=True).predictions
    assert found is not None
    one, errors, weight = Dense(4, 0.1, window), 0.0, 0.0
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        one.forget()
        z = np.array([1, *x])
        s, q = one.theta @ z, z @ one.P @ z
        assert found[t] == pytest.approx(s, rel=1e-8, abs=1e-10)
        error, sigma = label - s, math.sqrt(errors / weight) if weight else 0.0
        most = 3 * sigma * math.sqrt(1 + q) if sigma else math.inf
        w = min(1.0, most / abs(error))
        errors = one.keep * errors + w * error**2 / (1 + q)
        weight = one.keep * weight + 1 / (1 + q)
        one.learn(z, w * error / (1 + w * q), w)
    np.testing.assert_allclose(learner.theta, one.theta[1:], rtol=1e-8)
    z = np.array([1, *X[0]])
    expected = errors / weight * (1 + z @ one.P @ z)
    assert learner.variance(X[0]) == pytest.approx(expected, rel=1e-8)


def test_a_logistic_model_is_the_dense_filter() -> None:
    X, s = made(4)
    y = 1.0 * (np.random.default_rng(4).random(len(s)) < 1 / (1 + np.exp(-s)))
    learner = llr.Learner("logistic", 3, "kalman", ridge=1.0, window=50)
    found = learner.learn(X, y, predictions=True).predictions
    assert found is not None
    one = Dense(4, 1.0, 50)
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        one.forget()
        z = np.array([1, *x])
        s_t, q = float(one.theta @ z), float(z @ one.P @ z)
        assert found[t] == pytest.approx(1 / (1 + math.exp(-s_t)), rel=1e-8)
        k = implicit(LOGISTIC, s_t, q, 1.0, label)
        one.learn(z, k, LOGISTIC.curvature(s_t + k * q, label))


def shares(s: Array) -> Array:
    e: Array = np.exp(s - s.max())
    return e / float(e.sum())


def test_softmax_is_a_dense_filter_a_class_with_one_step_together() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    learner = llr.Learner("softmax", 2, "kalman", classes=3, ridge=1.0)
    found = learner.learn(X, y, predictions=True).predictions
    assert found is not None
    filters = [Dense(3, 1.0, 0) for _ in range(3)]
    for t in range(60):
        z = np.array([1, *X[t]])
        s = np.array([one.theta @ z for one in filters])
        q = np.array([z @ one.P @ z for one in filters])
        np.testing.assert_allclose(found[t], shares(s), rtol=1e-7)
        k, target = np.zeros(3), np.eye(3)[y[t]]
        for _ in range(400):  # a damped fixed point
            k += 0.2 * (target - shares(s + k * q) - k)
        at_end = shares(s + k * q)
        for one, k_j, p_j in zip(filters, k, at_end, strict=True):
            one.learn(z, k_j, p_j * (1 - p_j))
    theta = np.array([one.theta for one in filters])
    np.testing.assert_allclose(learner.theta, theta[:, 1:], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(np.array(learner.intercept), theta[:, 0], rtol=1e-6, atol=1e-8)


def test_a_wild_label_counts_as_so_many_standard_deviations() -> None:
    X, y = made(6, 400)
    wild = y.copy()
    wild[300] += 1e4
    calm, held, loose = (
        llr.Learner("linear", 3, "kalman", robust=robust) for robust in (6.0, 6.0, 1e9)
    )
    calm.learn(X, y)
    held.learn(X, wild)
    loose.learn(X, wild)
    assert np.abs(held.theta - calm.theta).max() < 0.05 < np.abs(loose.theta - calm.theta).max()


def test_a_constant_feature_does_not_let_the_covariance_explode() -> None:
    rng = np.random.default_rng(7)
    X = np.column_stack([np.ones(20_000), rng.normal(size=20_000)])
    X[:, 0] = 0.0
    learner = llr.Learner("linear", 2, "kalman", window=10)
    assert learner.learn(X, X[:, 1])
    learner.learn([[1.0, 0.0]], [1.0])
    assert abs(learner.theta[0]) <= 1.0


def test_too_many_features_are_refused_before_anything_is_learnt() -> None:
    most = kalman.most_features(1)
    with pytest.raises(llr.ConfigError, match=f"kalman has at most {most} features"):
        llr.Learner("linear", most + 1, "kalman")
    with pytest.raises(llr.ConfigError, match="at most"):
        llr.Learner("softmax", most, "kalman", classes=10)
    learner = llr.Learner("linear", algorithm="kalman")
    with pytest.raises(llr.ConfigError, match="at most"):
        learner.learn(np.ones((1, most + 1)), [1.0])
    assert learner.t == 0


def test_one_name_too_many_is_refused_by_its_name_and_nothing_is_learnt() -> None:
    most = kalman.MOST_NAMES
    learner = llr.NamedLearner("linear", "kalman")
    rows = [{f"f{i}": 1.0} for i in range(most)]
    assert learner.learn(rows, np.arange(float(most)))
    before = learner.pack()
    with pytest.raises(llr.FeatureError, match=f"learns at most {most}") as caught:
        learner.learn([{"f1": 1.0}, {"f2": 1.0, "new": 1.0}], [1.0, 2.0])
    assert (caught.value.index, caught.value.feature) == (1, "new")
    assert learner.pack() == before
    assert learner.learn({"f1": 2.0}, 1.0)
    assert learner.predict({"new": 1.0}) == learner.predict({})
    with pytest.raises(llr.ConfigError, match="theta0"):
        llr.NamedLearner("linear", "kalman", theta0={f"f{i}": 1.0 for i in range(most + 1)})


def test_names_start_where_they_are_told_whenever_they_come_up() -> None:
    learner = llr.NamedLearner("linear", "kalman", theta0={"a": 3.0, "b": -2.0, "c": 7.0})
    assert learner.predict({"b": 1.0, "c": 2.0}) == 12.0
    learner.learn({"c": 1.0}, 7.0)
    assert learner.theta == {"a": 3.0, "b": -2.0, "c": 7.0}
    assert learner.predict({"a": 1.0, "b": 2.0, "c": 1.0}) == pytest.approx(6.0)
    learner.learn({}, 4.0)
    assert np.all(np.array(learner.intercept) > 0.0)
    assert learner.theta["b"] == -2.0


def test_names_that_a_sample_does_not_have_are_zeros() -> None:
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(90, 4)), rng.normal(size=90)
    X[rng.random(X.shape) < 0.5] = 0.0
    X[:30, 3] = 0.0
    rows = [{f"f{i}": v for i, v in enumerate(x.tolist()) if v != 0.0} for x in X]
    order = list(dict.fromkeys(name for row in rows for name in row))
    columns = [int(name[1:]) for name in order]
    dense, by_name = llr.Learner("linear", 4, "kalman"), llr.NamedLearner("linear", "kalman")
    expected = dense.learn(X[:, columns], y, predictions=True).predictions
    assert expected is not None
    found = by_name.learn(rows, y, predictions=True).predictions
    assert found is not None
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(list(by_name.theta.values()), dense.theta, rtol=1e-9)


def test_it_has_no_step_size() -> None:
    learner = llr.Learner("linear", 1, "kalman")
    learner.learn([[1.0]] * 200, [1.0] * 200)
    assert learner.eta_status.state == "fixed"
    assert "no step size" in learner.eta_status.advice
