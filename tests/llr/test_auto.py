"""`auto`, held to a plain restatement of itself, to its symmetries, and to hard streams."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from support.auto_reference import LINEAR, LOGISTIC, Auto, Says
from support.bank_reference import Bank
from support.class_filters_reference import ClassFilters

import llr
from llr.auto.bank_layout import FITTED
from llr.auto.layout import EACH, FIRST, TRUST
from llr.models import MODELS

Array = np.ndarray[Any, Any]
FEATURES = [name for name, model in MODELS.items() if model.features]


def auto(model: str, **options: Any) -> llr.Learner:
    return llr.Learner(model, algorithm="auto", **options)


def predicted(learner: llr.Learner, X: Array, y: Array, w: Array | None = None) -> Array:
    """What the learner says of each row before learning from it."""
    found = learner.learn(X, y, w=w, predictions=True).predictions
    assert found is not None
    return found


def rows(n: int, dim: int, seed: int) -> tuple[Array, Array, np.random.Generator]:
    """Features of several scales and offsets, scores, and more randomness."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, dim))
    s = X @ rng.normal(size=dim)
    return X * np.logspace(-2, 2, dim) + rng.normal(size=dim), s, rng


def weights(n: int) -> Array:
    """Weights of very different sizes."""
    return np.exp(np.random.default_rng(11).normal(size=n))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("model", "says"), [("linear", LINEAR), ("logistic", LOGISTIC)])
def test_the_kernel_agrees_with_its_plain_restatement(
    model: str, says: Says, weighted: bool
) -> None:
    X, s, rng = rows(400, 4, 3)
    w = weights(400) if weighted else np.ones(400)
    s[200:] *= -1.0  # a jump, for the mean to start over
    y = (
        s + rng.normal(size=400)
        if model == "linear"
        else 1.0 * (rng.random(400) < 1 / (1 + np.exp(-s)))
    )
    learner, plain = auto(model, dim=4, second_order=False), Auto(says, 4)
    found = predicted(learner, X, y, w)
    scores = [plain.learn(*sample) for sample in zip(X, y, w, strict=True)]
    expected: list[float] = (
        scores if model == "linear" else [1 / (1 + math.exp(-one)) for one in scores]
    )
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose([*learner.theta, learner.intercept], plain.theta, rtol=1e-7)
    assert learner.eta == pytest.approx(plain.eta, rel=1e-8)
    assert learner.loss.total == pytest.approx(plain.total, rel=1e-10)
    assert plain.count < 300  # the mean did start over


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("model", "says"), [("linear", LINEAR), ("logistic", LOGISTIC)])
def test_the_bank_agrees_with_its_plain_restatement(model: str, says: Says, weighted: bool) -> None:
    X, s, rng = rows(700, 4, 3)
    w = weights(700) if weighted else np.ones(700)
    s[350:] *= -2.0  # a jump, for the sentinel
    y = (
        s + rng.normal(size=700)
        if model == "linear"
        else 1.0 * (rng.random(700) < 1 / (1 + np.exp(-s)))
    )
    learner, first, plain = auto(model, dim=4), Auto(says, 4), Bank(says, 4)
    found, scores = predicted(learner, X, y, w), []
    for t, (x, label, m) in enumerate(zip(X, y, w, strict=True)):
        constant = first.constant
        bounds = says.reach(t, first.low, first.high) if t else (-math.inf, math.inf)
        trust = 1 / (1 + math.exp(-first.merit))
        alone = first.learn(x, label, m)
        given = (alone, constant if t else alone, bounds, first.centre, first.spread, m, trust)
        scores.append(plain.learn(x, label, *given))
    expected = scores if model == "linear" else [1 / (1 + math.exp(-one)) for one in scores]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    assert model == "logistic" or plain.alarms > 0
    together = auto(model, dim=4)
    for x, label, m in zip(X, y, w, strict=True):
        together.learn(x, label, w=m)
    assert together.pack() == learner.pack()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_filters_of_classes_agree_with_their_plain_restatement(weighted: bool) -> None:
    rng = np.random.default_rng(4)
    X, theta = rng.normal(size=(900, 3)) @ rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    s = 0.5 * X @ theta
    s[450:] *= -1.0  # a jump, for the filters to lose
    y = (s + rng.gumbel(size=s.shape)).argmax(axis=1)
    w = 0.5 + rng.random(900) if weighted else np.ones(900)
    X = X * [0.01, 1.0, 100.0] + [0.1, 3.0, 0.0]
    learner, first = (auto("softmax", dim=3, classes=3, second_order=so) for so in (True, False))
    found, plain = predicted(learner, X, y, w), ClassFilters(3, 3)
    expected = []
    for x, label, m in zip(X, y, w, strict=True):
        trust = first._state.scalars[TRUST] if first.t else 1.0  # type: ignore[union-attr]
        alone = predicted(first, x, label, m)[0]
        expected.append(plain.learn(x, label, alone, m, trust))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    assert plain.restarts > 0
    together = auto("softmax", dim=3, classes=3, second_order=True)
    for x, label, m in zip(X, y, w, strict=True):
        together.learn(x, label, w=m)
    assert together.pack() == learner.pack()
    share = float(np.exp(plain.votes[0]) / np.exp(plain.votes).sum())
    own = plain.theta[:, 1:]
    np.testing.assert_allclose(learner.theta, share * own + (1 - share) * first.theta, rtol=1e-5)
    origin = plain.theta[:, 0] - own @ plain.c
    mixed = share * origin + (1 - share) * np.asarray(first.intercept)
    np.testing.assert_allclose(np.asarray(learner.intercept), mixed, rtol=1e-5, atol=1e-6)


def test_the_filters_stay_within_their_budget() -> None:
    plain, whole = (auto("linear", dim=64, second_order=on).nbytes for on in (False, True))
    assert whole - plain <= 120 * 1024
    assert auto("linear", dim=65).nbytes < plain + 4096


def test_filters_of_classes_stay_within_their_budget() -> None:
    first = auto("softmax", dim=64, classes=10, second_order=False)
    assert auto("softmax", dim=64, classes=10).nbytes > first.nbytes + 8 * 10 * 65 * 64 // 2
    for dim, classes in ((64, 12), (65, 2), (2, 257)):
        first = auto("softmax", dim=dim, classes=classes, second_order=False)
        assert auto("softmax", dim=dim, classes=classes).nbytes == first.nbytes


@pytest.mark.parametrize("model", FEATURES)
def test_predicting_says_what_learning_then_judges(model: str) -> None:
    X, s, _ = rows(60, 3, 5)
    options = {"classes": 3} if model == "softmax" else {}
    y = {
        "logistic": 1.0 * (s > 0),
        "softmax": np.digitize(s, [-1.0, 1.0]) * 1.0,
        "poisson": np.exp(s / 3),
    }.get(model, s)
    learner = auto(model, **options)
    for x, label in zip(X, y, strict=True):
        before = learner.predict(x)
        after = predicted(learner, x, label)[0]
        np.testing.assert_allclose(before, after, rtol=1e-9, atol=1e-12)


def test_the_prediction_is_theta_times_x_plus_the_intercept_where_bounds_are_far() -> None:
    X, s, _ = rows(300, 4, 6)
    learner = auto("linear")
    learner.learn(X, s + 7.0)
    assert learner.intercept is not None
    np.testing.assert_allclose(
        learner.predict(X[:20]), X[:20] @ learner.theta + learner.intercept, rtol=1e-6
    )


@pytest.mark.parametrize("model", ["linear", "logistic"])
def test_a_feature_in_other_units_changes_no_prediction(model: str) -> None:
    X, s, rng = rows(300, 4, 7)
    y = s + rng.normal(size=300) if model == "linear" else 1.0 * (s > 0)
    units = np.array([2.0**40, 2.0**-30, 1.0, 2.0**7])
    one = predicted(auto(model), X, y)
    other = predicted(auto(model), X * units, y)
    np.testing.assert_array_equal(one, other)


def test_a_label_in_other_units_scales_every_prediction() -> None:
    X, s, rng = rows(300, 4, 8)
    y = s + rng.normal(size=300)
    one = predicted(auto("linear"), X, y)
    other = predicted(auto("linear"), X, y * 2.0**30)
    np.testing.assert_array_equal(one * 2.0**30, other)


def test_an_offset_of_the_features_hardly_matters() -> None:
    X, s, rng = rows(2000, 4, 9)
    y = s + rng.normal(size=2000)
    near, far = auto("linear"), auto("linear")
    near.learn(X, y)
    far.learn(X + 1000.0 * X.std(axis=0), y)
    assert far.loss.total == pytest.approx(near.loss.total, rel=1e-6)


def test_eta0_is_not_needed() -> None:
    X, s, _ = rows(200, 3, 10)
    thetas = []
    for eta0 in (1e-10, 1e-3, 1e10):
        learner = auto("linear", eta0=eta0)
        learner.learn(X, s)
        thetas.append(learner.theta.tolist())
    assert thetas[0] == thetas[1] == thetas[2]


@pytest.mark.parametrize("intercept", [True, False])
def test_theta_never_grows_on_the_way_down_a_steep_quadratic(intercept: bool) -> None:
    stream = llr.streams.quadratic(0)
    X, y = stream.take(500)
    learner = auto("linear", theta0=stream.theta0, intercept=intercept)
    sizes = []
    for x, label in zip(X, y, strict=True):
        learner.learn(x, label)
        sizes.append(abs(float(learner.theta[0])))
    assert max(sizes) <= 1.0
    assert abs(float(learner.predict(X[0]))) < 1.0  # it was 10,000


def test_the_mean_of_numbers_is_learnt_as_well_as_by_averaging_them() -> None:
    learner = auto("gaussian", regret="exact")
    learner.learn(*llr.streams.gaussian(seed=4).take(2500))
    assert learner.regret.ml is not None
    assert learner.regret.ml < 3.0


@pytest.mark.parametrize("model", ["gaussian", "bernoulli"])
def test_without_features_theta_is_the_whole_prediction(model: str) -> None:
    learner = auto(model)
    learner.learn(getattr(llr.streams, model)(seed=4).take(300)[0])
    theta = float(learner.theta[0])
    expected = theta if model == "gaussian" else 1 / (1 + math.exp(-theta))
    assert float(learner.predict()) == pytest.approx(expected, rel=1e-12)
    assert learner.intercept is None


def test_a_coin_that_changes_sides_is_noticed() -> None:
    rng = np.random.default_rng(11)
    y = np.concatenate([rng.random(1500) < 0.1, rng.random(300) < 0.9]).astype(float)
    learner = auto("bernoulli")
    learner.learn(y[:1500])
    assert learner.predict() == pytest.approx(0.1, abs=0.03)
    learner.learn(y[1500:])
    assert learner.predict() == pytest.approx(0.9, abs=0.06)


def hard(name: str, seed: int) -> tuple[Array, Array]:
    """A stream of 5,000 × 20 of the kind that ruins a learner."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5000, 20))
    y = X @ rng.normal(size=20) + rng.normal(size=5000)
    if name == "wild labels":
        y += np.where(rng.random(5000) < 0.01, rng.normal(0.0, 100.0, 5000), 0.0)
    if name == "other units":
        X[2500:, ::2] *= 100.0
    if name == "pure noise":
        y = rng.normal(size=5000)
    return X, y


@pytest.mark.parametrize("seed", [21, 22])
@pytest.mark.parametrize("name", ["wild labels", "other units", "pure noise"])
def test_a_hard_stream_costs_hardly_more_than_predicting_nothing(name: str, seed: int) -> None:
    X, y = hard(name, seed)
    learner = auto("linear")
    assert learner.learn(X, y)
    assert learner.loss.total <= 1.02 * float(0.5 * y @ y)


@pytest.mark.parametrize("seed", range(4))
def test_heavy_tailed_features_cost_the_filters_no_more_than_the_first_order(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    X = np.exp(rng.normal(0.0, 2.0, size=(3000, 20)))
    y = 0.1 * X @ rng.normal(size=20) + rng.normal(size=3000)
    losses = []
    for second_order in (True, False):
        learner = auto("linear", second_order=second_order)
        learner.learn(X, y)
        losses.append(learner.loss.total)
    assert losses[0] < 1.05 * losses[1]


def counts(tail: str, dim: int, n: int = 1500) -> tuple[Array, Array]:
    """Counts up to about 3,000 from features with heavy tails."""
    rng = np.random.default_rng([1, dim])
    X = rng.standard_t(2, size=(n, dim))
    if tail == "lognormal":
        X = np.sign(X) * np.exp(rng.normal(0.0, 1.5, size=(n, dim)))
    s = X @ (0.7 * rng.normal(size=dim) / math.sqrt(dim))
    return X, rng.poisson(np.exp(np.clip(s, -8.0, 8.0))).astype(float)


@pytest.mark.parametrize("tail", ["t2", "lognormal"])
@pytest.mark.parametrize(
    ("dim", "second_order", "named"),
    [(5, True, False), (20, True, False), (20, False, False), (70, True, False), (5, True, True)],
)
def test_heavy_tailed_features_cannot_make_a_count_explode(
    tail: str, dim: int, second_order: bool, named: bool
) -> None:
    X, y = counts(tail, dim)
    if named:
        learner = llr.NamedLearner("poisson", "auto", second_order=second_order)
        rows = [{f"f{i}": value for i, value in enumerate(row)} for row in X.tolist()]
        found = learner.learn(rows, y, predictions=True).predictions
        assert found is not None
    else:
        found = predicted(auto("poisson", second_order=second_order), X, y)
    assert len(found) == len(y)
    before = np.maximum.accumulate(np.append(0.0, y[:-1]))
    assert np.all(found[1:] <= 1.001 * 2.0 * (2.0 * before + 1.0)[1:])
    losses = [s - y * np.log(s) for s in (np.maximum(found, 1e-300), np.full(len(y), y.mean()))]
    assert losses[0].sum() < losses[1].sum()


def test_heavy_tails_call_for_a_fit_only_after_enough_new_samples() -> None:
    rng = np.random.default_rng(2)
    X, learner, fits = rng.standard_t(1, size=(128, 20)), auto("linear", dim=20), [0]
    for x in X[:127]:
        learner.learn(x, x[0])
        fitted = int(learner._state.scalars[FIRST + EACH + FITTED])  # type: ignore[union-attr]
        fits += [fitted] if fitted != fits[-1] else []
    later = [(a, b) for a, b in itertools.pairwise(fits) if b > 8 and b & (b - 1)]
    assert len(later) > 10
    assert all(b >= 1.125 * a for a, b in later)


def test_heavy_tails_are_learnt_all_the_same() -> None:
    rng = np.random.default_rng(23)
    X = rng.standard_t(2, size=(5000, 20))
    y = X @ rng.normal(size=20) + rng.normal(size=5000)
    learner = auto("linear")
    assert learner.learn(X, y)
    assert learner.loss.total < 0.05 * float(0.5 * y @ y)


def test_a_feature_that_comes_late_is_learnt() -> None:
    rng = np.random.default_rng(24)
    X = rng.normal(size=(4000, 3))
    X[:2000, 0] = 0.0
    learner = auto("linear")
    learner.learn(X, X @ [3.0, 1.0, -2.0])
    np.testing.assert_allclose(learner.theta, [3.0, 1.0, -2.0], atol=0.02)


def test_a_constant_feature_and_an_empty_one_do_no_harm() -> None:
    rng = np.random.default_rng(25)
    X = np.column_stack([rng.normal(size=500), np.full(500, 1e6), np.zeros(500)])
    learner = auto("linear")
    assert learner.learn(X, 2.0 * X[:, 0] + 1.0)
    assert learner.theta[1:].tolist() == [0.0, 0.0]
    assert learner.intercept == pytest.approx(1.0, abs=0.05)


def test_without_intercept_there_is_none() -> None:
    X, s, _ = rows(50, 2, 26)
    learner = auto("linear", intercept=False)
    learner.learn(X, s)
    assert learner.intercept is None
    assert float(learner.predict(np.zeros(2))) == 0.0
    started = auto("linear", intercept=False, theta0=[3.0, 3.0])
    started.learn(X, s)
    assert float(started.predict(np.zeros(2))) == 0.0


def test_softmax_has_an_intercept_for_each_class() -> None:
    rng = np.random.default_rng(27)
    learner = auto("softmax", classes=3)
    learner.learn(rng.normal(size=(600, 2)), rng.choice(3, 600, p=[0.7, 0.2, 0.1]).astype(float))
    assert isinstance(learner.intercept, np.ndarray)
    assert learner.intercept.shape == (3,)
    assert learner.predict(np.zeros(2)) == pytest.approx([0.7, 0.2, 0.1], abs=0.06)


def test_it_says_when_eta_is_held_at_the_end_of_its_window() -> None:
    learner = auto("gaussian")
    assert learner.eta_status.state == "starting"
    learner.learn(np.arange(300.0))  # never where it was: the longer a step the better
    assert learner.eta_status.state == "pinned"
    assert "largest" in learner.eta_status.advice


@pytest.mark.parametrize("model", ["linear", "softmax"])
def test_a_state_from_before_the_bank_goes_on_at_first_order(model: str) -> None:
    X, s, _ = rows(200, 3, 12)
    options = {"classes": 3} if model == "softmax" else {}
    s = np.digitize(s, [-1.0, 1.0]) * 1.0 if model == "softmax" else s
    plain, whole = auto(model, dim=3, second_order=False, **options), auto(model, dim=3, **options)
    plain.learn(X[:100], s[:100])
    packed = plain.to_plain()
    del packed["config"]["options"]["second_order"]
    older = llr.Learner.from_plain(packed)
    assert older.config == whole.config
    assert (
        predicted(older, X[100:], s[100:]).tolist() == predicted(plain, X[100:], s[100:]).tolist()
    )
