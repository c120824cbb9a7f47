"""Sample weights: a weight multiplies ℓ, 1 changes nothing, 0 counts and teaches nothing."""

import math
from typing import Any

import numpy as np
import pytest
from support.samples_of import PAIRS, options_of, samples_of

import llr
from llr.types import Vector

N = 24


def learner_of(model: str, algorithm: str) -> llr.Learner:
    regret = "exact" if llr.MODELS[model].comparator else "off"
    return llr.Learner(model, algorithm=algorithm, eta0=0.05, regret=regret, **options_of(model))


def arrays(learner: llr.Learner) -> dict[str, Any]:
    """What a learner knows, without its past and its counts."""
    found = learner.to_plain()["arrays"]
    return {name: found[name] for name in ("vectors", "scalars", "statistics")}


def best_loss(learner: llr.Learner) -> float:
    """The loss of the best fixed parameter."""
    regret = learner.regret.best_fixed
    assert regret is not None
    return learner.loss.total - regret


def weights(n: int, seed: int = 5) -> Vector:
    """Weights around 1, some of them 0."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.3, 0.0, np.exp(0.5 * rng.normal(size=n)))


@pytest.mark.parametrize(("model", "algorithm"), PAIRS)
def test_a_weight_of_1_is_no_weight(model: str, algorithm: str) -> None:
    samples = samples_of(model, 1, N)
    bare, one = learner_of(model, algorithm), learner_of(model, algorithm)
    bare.learn(*samples)
    one.learn(*samples, w=np.ones(N))
    assert one.pack() == bare.pack()


@pytest.mark.parametrize(("model", "algorithm"), PAIRS)
def test_weight_0_counts_and_changes_nothing_else(model: str, algorithm: str) -> None:
    samples, w = samples_of(model, 2, N), weights(N)
    w[0] = 0.0
    with_them, without = learner_of(model, algorithm), learner_of(model, algorithm)
    found = with_them.learn(*samples, w=w, predictions=True, excess=True)
    kept = w > 0
    expected = without.learn(*(column[kept] for column in samples), w=w[kept], predictions=True)
    assert (with_them.t, without.t) == (N, int(kept.sum()))
    assert arrays(with_them) == arrays(without)
    assert found.predictions is not None
    assert expected.predictions is not None
    np.testing.assert_array_equal(found.predictions[kept], expected.predictions)
    assert np.isfinite(found.predictions).all()
    assert found.excess is not None
    assert (found.excess[~kept] == -1.0).all()
    assert (found.excess[kept] >= 0.0).all()


@pytest.mark.parametrize(("model", "algorithm"), PAIRS)
def test_weights_in_blocks_one_by_one_and_resumed_agree(model: str, algorithm: str) -> None:
    samples, w = samples_of(model, 3, N), weights(N)
    whole, single = learner_of(model, algorithm), learner_of(model, algorithm)
    whole.learn(*samples, w=w)
    for t in range(N):
        single.learn(*(column[t : t + 1] for column in samples), w=w[t : t + 1])
        if t == N // 2:
            single = llr.Learner.unpack(single.pack())
    assert single.pack() == whole.pack()


def plain_sg_ag(model: str, X: Vector, y: Vector, w: Vector, eta0: float) -> tuple[Vector, float]:
    """SG/AG in plain Python: θ after all samples, and the loss of each before it."""

    def gradient(theta: list[float], x: Vector, label: float, weight: float) -> list[float]:
        s = sum(a * b for a, b in zip(theta, x, strict=True))
        residual = label - s if model == "linear" else label - 1 / (1 + math.exp(-s))
        return [weight * residual * x_i for x_i in x]

    def loss(theta: list[float], x: Vector, label: float) -> float:
        s = float(sum(a * b for a, b in zip(theta, x, strict=True)))
        return 0.5 * (label - s) ** 2 if model == "linear" else math.log1p(math.exp(s)) - label * s

    d = X.shape[1]
    theta, h = [0.0] * d, [0.0] * d
    log_eta, n2, norm, total, t = math.log(eta0), 0.0, 0.0, 0.0, 0
    for x, label, weight in zip(X, y, w, strict=True):
        if weight == 0.0:
            continue
        mu = math.sqrt(t + 2) * math.log(t + 3)
        total += weight * loss(theta, x, label)
        g = gradient(theta, x, label, weight)
        g_h = gradient([a + b for a, b in zip(theta, h, strict=True)], x, label, weight)
        lam = sum(a * b for a, b in zip(g, h, strict=True))
        norm = (1 - 1 / mu) * norm + 1 / mu
        n2 = ((1 - 1 / mu) * n2 + lam * lam / mu) / norm
        log_eta += lam / (math.sqrt(n2) * mu) if n2 > 0 else 0.0
        r = math.exp(log_eta) / mu
        theta = [a + r * b for a, b in zip(theta, g, strict=True)]
        h = [a + r * b for a, b in zip(h, g_h, strict=True)]
        t += 1
    return np.array(theta), total


@pytest.mark.parametrize("model", ["linear", "logistic"])
def test_sg_ag_agrees_with_plain_python(model: str) -> None:
    X, y = samples_of(model, 4, 200)
    w = weights(200)
    learner = llr.Learner(model, dim=X.shape[1], algorithm="sg/ag", eta0=0.05)
    learner.learn(X, y, w=w)
    theta, total = plain_sg_ag(model, X, y, w, 0.05)
    np.testing.assert_allclose(learner.theta, theta, rtol=1e-10)
    assert learner.loss.total == pytest.approx(total, rel=1e-12)
    assert learner.loss.mean == learner.loss.total / 200


@pytest.mark.parametrize("algorithm", ["sg", "isg", "svrg", "saga", "momentum"])
def test_doubled_weights_are_a_doubled_step_size(algorithm: str) -> None:
    X, y = samples_of("logistic", 6, 50)
    twice = llr.Learner("logistic", dim=X.shape[1], algorithm=algorithm, eta0=0.01)
    quick = llr.Learner("logistic", dim=X.shape[1], algorithm=algorithm, eta0=0.02)
    twice.learn(X, y, w=2.0)
    quick.learn(X, y)
    np.testing.assert_array_equal(twice.theta, quick.theta)
    assert twice.loss.total == 2 * quick.loss.total


@pytest.mark.parametrize("model", ["gaussian", "bernoulli", "linear"])
def test_the_comparator_of_weight_2_has_the_sample_twice(model: str) -> None:
    samples = samples_of(model, 7, 40)
    w = np.where(np.arange(40) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(40), w.astype(int))
    weighted, repeated = learner_of(model, "sg"), learner_of(model, "sg")
    weighted.learn(*samples, w=w)
    repeated.learn(*(column[twice] for column in samples))
    assert best_loss(weighted) == pytest.approx(best_loss(repeated), rel=1e-9)


def test_the_best_fixed_loss_is_that_of_weighted_least_squares() -> None:
    X, y = samples_of("linear", 8, 60)
    w = weights(60)
    learner = learner_of("linear", "sg")
    learner.learn(X, y, w=w)
    root = np.sqrt(w)
    theta, *_ = np.linalg.lstsq(X * root[:, None], y * root, rcond=None)
    least = 0.5 * float(np.sum(w * (y - X @ theta) ** 2))
    assert learner.regret.best_fixed == pytest.approx(learner.loss.total - least, rel=1e-9)


def test_the_running_comparator_is_the_weighted_one_of_the_past() -> None:
    (y,) = samples_of("gaussian", 9, 30)
    w = weights(30) + 0.1
    learner = learner_of("gaussian", "sg")
    learner.learn(y, w=w)
    past = [0.0] + [float(np.average(y[:t], weights=w[:t])) for t in range(1, 30)]
    running = 0.5 * float(np.sum(w * (y - past) ** 2))
    assert learner.regret.ml == pytest.approx(learner.loss.total - running, rel=1e-10)


@pytest.mark.parametrize(
    ("w", "why"),
    [
        ([1.0, -1.0], "sample 1: w: -1 is not a weight: 0 or more"),
        ([math.nan, 1.0], "sample 0: w: is not finite"),
        ([1.0, math.inf], "sample 1: w: is not finite"),
        ([1.0], "w: has shape"),
        (["a", "b"], "w: must be integers or floats"),
    ],
)
def test_what_is_no_weight_is_refused(w: Any, why: str) -> None:
    learner = llr.Learner("linear", dim=1)
    before = learner.pack()
    with pytest.raises(llr.SampleError, match=why):
        learner.learn([[1.0], [2.0]], [1.0, 2.0], w=w)
    named = llr.NamedLearner("linear")
    with pytest.raises(llr.SampleError, match=why):
        named.learn([{"a": 1.0}, {"a": 2.0}], [1.0, 2.0], w=w)
    assert learner.pack() == before


def test_named_features_learn_with_weights() -> None:
    rows: list[dict[str, Any]] = [{"a": 1.0, "b": -0.5}, {"b": 2.0}, {"c": True}, {"a": 0.3}] * 5
    y, w = np.arange(20.0) % 3, weights(20)
    whole, single = llr.NamedLearner("linear"), llr.NamedLearner("linear")
    whole.learn(rows, y, w=w)
    for row, label, weight in zip(rows, y, w, strict=True):
        single.learn(row, label, w=weight)
    assert single.pack() == whole.pack()
    without = llr.NamedLearner("linear")
    kept = np.flatnonzero(w > 0)
    without.learn([rows[i] for i in kept], y[kept], w=w[kept])
    assert without.theta == {name: whole.theta[name] for name in without.theta}


@pytest.mark.parametrize("algorithm", ["auto", "sg/ag"])
def test_theta0_stays_while_no_sample_has_a_weight(algorithm: str) -> None:
    dense = llr.Learner("linear", dim=2, algorithm=algorithm, theta0=[1.0, 2.0])
    dense.learn([[1.0, 1.0]] * 3, [0.0] * 3, w=0.0)
    assert dense.theta.tolist() == [1.0, 2.0]
    assert dense.history.theta.tolist() == [[1.0, 2.0]] * 4
    assert dense.predict([1.0, 1.0]) == 3.0
    named = llr.NamedLearner("linear", algorithm=algorithm, theta0={"a": 1.0})
    named.learn([{"a": 1.0}] * 3, [0.0] * 3, w=0.0)
    assert named.theta == {"a": 1.0}
    assert named.predict({"a": 1.0}) == 1.0


def test_a_schedule_counts_what_has_a_weight() -> None:
    (y,) = samples_of("gaussian", 10, 20)
    w = weights(20)
    bare = llr.Learner("gaussian", algorithm="sg/ag", eta0=0.1, schedule=lambda t: 1.0 + t)
    weighted = llr.Learner("gaussian", algorithm="sg/ag", eta0=0.1, schedule=lambda t: 1.0 + t)
    weighted.learn(y, w=w)
    bare.learn(y[w > 0], w=w[w > 0])
    assert weighted.theta[0] == bare.theta[0]


def test_drift_does_not_look_at_weight_0_nor_at_weights() -> None:
    (y,) = llr.streams.gaussian(seed=1).take(600)
    w = np.where(np.arange(600) % 2 == 0, 0.0, 1.0)
    drift, bare = llr.Drift(), llr.Drift()
    weighted = llr.Learner("gaussian", algorithm="sg/ag")
    plain = llr.Learner("gaussian", algorithm="sg/ag")
    for watcher, outcome in (
        (drift, weighted.learn(y, w=w, excess=True)),
        (bare, plain.learn(y[1::2], excess=True)),
    ):
        assert outcome.excess is not None
        watcher.watch(outcome.excess)
    assert drift.t == 600
    assert drift.to_plain()[1:] == bare.to_plain()[1:]


def test_the_smallest_weights_do_no_harm() -> None:
    for model in ("linear", "quantile", "logistic", "poisson", "huber"):
        X, y = samples_of(model, 12, 20)
        learner = llr.Learner(model, dim=X.shape[1])
        w = np.full(20, 1e-99)
        w[::3] = 5e-324
        assert learner.learn(X, y, w=w), model
