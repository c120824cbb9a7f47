"""The comparator of linear regression: its O(d²) series beside eigenvalues and exact arithmetic."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.reference import best_fixed_loss, mp

import llr
from llr.models import linear
from llr.types import Vector

Change = Callable[[Vector], None]


def always_zero(X: Vector) -> None:
    X[:, 1] = 0.0


def equal(X: Vector) -> None:
    X[:, 1] = X[:, 0]


def collinear(X: Vector) -> None:
    X[:] = np.round(1024.0 * X) / 1024.0  # so that not even the last bit tells more
    X[:, 1] = 0.5 * X[:, 0] - 2.0 * X[:, 2]


def one_hot_and_constant(X: Vector) -> None:
    X[:] = np.eye(X.shape[1])[np.abs(X[:, 0] * 1e6).astype(int) % (X.shape[1] - 1)]
    X[:, -1] = 1.0


def large_and_equal(X: Vector) -> None:
    X *= 100.0
    X[:, 1] = X[:, 0]


def far_from_zero_and_equal(X: Vector) -> None:
    X += 10.0
    X[:, 1] = X[:, 0]


def badly_scaled(X: Vector) -> None:
    X[:, 1] *= 1e6
    X[:, 2] *= 0.1


def barely_seen(X: Vector) -> None:
    X[:, 1] *= 1e-6


PLAIN: list[Change] = [always_zero, equal, collinear, one_hot_and_constant]
HARD: list[Change] = [large_and_equal, far_from_zero_and_equal, badly_scaled]


def samples(change: Change, dim: int, n: int, noise: float = 0.1) -> tuple[Vector, Vector]:
    rng = np.random.default_rng(dim + n)
    X = rng.normal(size=(n, dim))
    change(X)
    return X, X @ rng.normal(size=dim) + noise * rng.normal(size=n)


def observed(X: Vector, y: Vector, theta0: Vector) -> Vector:
    statistics = np.zeros(linear.size(theta0.size))
    linear.start(statistics, theta0)
    room = np.zeros(3 * (theta0.size + 1))
    for t in range(y.size):
        linear.observe(statistics, room, X[t], y[t], 1.0)
    return statistics


@pytest.mark.parametrize("n", [1, 9, 10, 40, 3000])
@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("change", PLAIN)
def test_the_series_tells_the_best_loss_at_every_rank(change: Change, noise: float, n: int) -> None:
    theta0 = np.linspace(-1.0, 1.0, 10)
    statistics = observed(*samples(change, 10, n, noise), theta0)
    quick = linear.quick(statistics, theta0, n)
    exact = linear.exact(statistics, theta0)
    assert quick == pytest.approx(exact, rel=0.0, abs=1e-12 * statistics[0])


@pytest.mark.parametrize("dim", [3, 30])
@pytest.mark.parametrize("change", [*PLAIN, *HARD])
def test_the_series_does_so_late_in_a_stream(change: Change, dim: int) -> None:
    statistics = observed(*samples(change, dim, 30_000), np.zeros(dim))
    quick = linear.quick(statistics, np.zeros(dim), 30_000)
    exact = linear.exact(statistics, np.zeros(dim))
    assert quick == pytest.approx(exact, rel=0.0, abs=1e-12 * statistics[0])


@pytest.mark.parametrize("n", [2, 4, 30])
@pytest.mark.parametrize("change", [*PLAIN, *HARD, barely_seen])
def test_the_best_loss_is_that_of_arithmetic_with_80_digits(change: Change, n: int) -> None:
    X, y = samples(change, 4, n)
    truth = best_fixed_loss("linear", list(zip(X.tolist(), y.tolist(), strict=True)))
    assert truth is not None
    statistics = observed(X, y, np.zeros(4))
    found = linear.best(statistics, np.zeros(4), n)
    assert found == pytest.approx(float(truth), rel=0.0, abs=1e-9 * max(statistics[0], 1e-3))


@pytest.mark.parametrize("power", range(-16, 1))
def test_the_rest_of_the_series_is_within_its_bound_or_it_is_not_used(power: int) -> None:
    """Eigenvalues of S from 1e−16 to 1 beside one of 100, by digits that float64 has not."""
    small, ridge = mp.mpf(10) ** power, mp.mpf("1e-6")
    u = np.array([1.0, 1e-3])
    D = np.array([float(1 / (100 + ridge)), float(1 / (small + ridge))])
    for loss in (0.0, 1e-3, 1.0, 1e6):
        spared = [ridge**2 * mp.mpf(u[i]) ** 2 / s / 2 for i, s in enumerate((100, small))]
        of_ridge = ridge * sum(mp.mpf(one) ** 2 for one in u) / 2
        J = mp.mpf(loss) + of_ridge + sum(spared)
        statistics = np.array([float(J), *u, *D, 0.0])
        quick = linear.quick(statistics, np.zeros(2), 2)
        if quick is None:
            continue
        exactly = J - of_ridge - spared[0] - (spared[1] if power > -15 else 0)
        assert abs(quick - exactly) <= (1e-12 if power > -10 else 1e-7) * J + 1e-15 * J


def test_a_direction_barely_seen_is_left_to_the_eigenvalues() -> None:
    X, y = samples(barely_seen, 20, 100)
    y += 1e6 * X[:, 1]
    statistics = observed(X, y, np.zeros(20))
    assert linear.quick(statistics, np.zeros(20), 100) is None
    truth = 0.5 * np.sum((y - X @ np.linalg.lstsq(X, y, rcond=1e-14)[0]) ** 2)
    assert linear.best(statistics, np.zeros(20), 100) == pytest.approx(truth, rel=1e-6)


def test_a_learner_tells_at_once_what_it_can() -> None:
    X, y = samples(barely_seen, 20, 100)
    y += 1e6 * X[:, 1]
    learner = llr.Learner("linear", 20, "sg", 1e-6, regret="exact")
    assert learner.quick_regret == (0.0, 0.0)
    assert learner.learn(X, y)
    assert learner.quick_regret == learner.regret._replace(best_fixed=None)
    assert learner.regret.best_fixed is not None
    few = llr.Learner("linear", 3, "sg", 1e-6, regret="exact")
    assert few.learn(X[:, :3], y)
    assert few.quick_regret == few.regret
    known = llr.Learner("linear", 20, "sg", 1e-6, regret="exact")
    assert known.learn(*samples(always_zero, 20, 100))
    assert known.quick_regret == known.regret


def with_intercept(X: Vector) -> Vector:
    return np.column_stack([X, np.ones(len(X))])


@pytest.mark.parametrize("algorithm", ["auto", "kalman"])
@pytest.mark.parametrize("change", [always_zero, collinear, far_from_zero_and_equal, badly_scaled])
def test_a_learner_with_an_intercept_is_compared_with_the_best_that_has_one(
    algorithm: str, change: Change
) -> None:
    """R23, beside least squares by singular values, and the ridge's normal equations."""
    X, y = samples(change, 5, 300)
    y += 40.0
    learner = llr.Learner("linear", 5, algorithm, regret="exact")
    learner.learn(X, y)
    Z = with_intercept(X)
    fit = np.linalg.lstsq(Z, y, rcond=None)[0]
    best = 0.5 * float(np.sum((y - Z @ fit) ** 2))
    found = learner.regret.best_fixed
    assert found is not None
    total = learner.loss.total
    assert found == pytest.approx(total - best, abs=1e-6 * best + 1e-12 * total)
    assert learner.quick_regret == learner.regret


def test_the_running_likelihood_of_a_learner_with_an_intercept_has_one() -> None:
    X, y = samples(lambda _: None, 3, 60)
    y += 7.0
    learner = llr.Learner("linear", 3, "auto", regret="exact")
    learner.learn(X, y)
    Z, total = with_intercept(X), 0.0
    for t in range(len(y)):
        S = Z[:t].T @ Z[:t] + linear.RIDGE * np.eye(4)
        total += 0.5 * (y[t] - Z[t] @ np.linalg.solve(S, Z[:t].T @ y[:t])) ** 2
    found = learner.regret.ml
    assert found is not None
    assert learner.loss.total - found == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("algorithm", ["auto", "kalman", "sg"])
def test_a_learner_without_an_intercept_is_compared_with_the_best_that_has_none(
    algorithm: str,
) -> None:
    X, y = samples(lambda _: None, 20, 400)
    y += 5.0
    off: dict[str, Any] = {} if algorithm == "sg" else {"intercept": False}
    learner = llr.Learner("linear", 20, algorithm, regret="exact", **off)
    learner.learn(X, y)
    fit = np.linalg.lstsq(X, y, rcond=None)[0]
    found = learner.quick_regret.best_fixed
    assert found is not None
    assert learner.loss.total - found == pytest.approx(
        0.5 * float(np.sum((y - X @ fit) ** 2)), rel=1e-9
    )


def test_the_quick_regret_with_an_intercept_is_exact_beyond_sixteen_features() -> None:
    X, y = samples(lambda _: None, 40, 400)
    learner = llr.Learner("linear", 40, "auto", regret="exact")
    learner.learn(X + 3.0, y + 100.0)
    quick, exact = learner.quick_regret.best_fixed, learner.regret.best_fixed
    assert quick is not None
    assert quick == pytest.approx(exact, rel=1e-9)
    fit = np.linalg.lstsq(with_intercept(X + 3.0), y + 100.0, rcond=None)[0]
    best = 0.5 * float(np.sum((y + 100.0 - with_intercept(X + 3.0) @ fit) ** 2))
    assert learner.loss.total - quick == pytest.approx(best, rel=1e-6)


def test_a_state_from_before_the_intercept_goes_on_with_the_comparator_it_has() -> None:
    X, y = samples(lambda _: None, 4, 200)
    old = llr.Learner("linear", 4, "auto", regret="exact", intercept=False)
    old.learn(X, y)
    plain = old.to_plain()
    plain["config"]["options"] = {}
    again = llr.Learner.from_plain(plain)
    assert again.learn(X, y)
    fit = np.linalg.lstsq(X, y, rcond=None)[0]
    found = again.regret.best_fixed
    assert found is not None
    assert again.loss.total - found == pytest.approx(float(np.sum((y - X @ fit) ** 2)), rel=1e-6)
