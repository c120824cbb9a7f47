"""Metrics agree with a recomputation from the predictions, and do not depend on the grouping."""

import math
from typing import Any

import numpy as np
import pytest

import llr
from llr import metrics

N = 1500


def _samples(model: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, 3))
    s = X @ [1.0, -2.0, 0.5] + 0.3
    if model == "logistic":
        return X, (rng.random(N) < 1.0 / (1.0 + np.exp(-s))).astype(float)
    if model == "softmax":
        return X, np.digitize(s, (-1.0, 1.0)).astype(float)
    return X, s + rng.normal(size=N)


def _recent(values: Any) -> float:
    mean = 0.0
    for n, value in enumerate(values, 1):
        mean += (value - mean) / min(n, 200)
    return mean


def _learner(model: str, algorithm: str = "sg/ag") -> llr.Learner:
    more: dict[str, Any] = {"classes": 3} if model == "softmax" else {}
    return llr.Learner(model, dim=3, algorithm=algorithm, eta0=0.05, **more)


@pytest.mark.parametrize("algorithm", ["sg/ag", "auto"])
def test_numbers_are_those_of_the_errors(algorithm: str) -> None:
    X, y = _samples("linear")
    learner = _learner("linear", algorithm)
    errors = y - learner.learn(X, y, predictions=True).predictions
    means = np.concatenate(([0.0], np.cumsum(y)[:-1] / np.arange(1, N)))
    found: Any = learner.metrics
    for measures, off in ((found, errors), (found.baseline, y - means)):
        assert measures.rmse.overall == pytest.approx(math.sqrt((off**2).mean()))
        assert measures.rmse.recent == pytest.approx(math.sqrt(_recent(off**2)))
        assert measures.mae == pytest.approx((_recent(abs(off)), abs(off).mean()))
    assert (found.accuracy, found.auc) == (None, None)
    assert found.coverage.overall == learner.coverage(0.9)
    assert abs(found.coverage.recent - 0.9) < 0.1


def test_the_recent_loss_is_a_mean_of_about_the_last_200() -> None:
    X, y = _samples("linear")
    learner = _learner("linear")
    losses, before = [], 0.0
    for row, label in zip(X, y, strict=True):
        learner.learn(row, label)
        losses.append(learner.loss.total - before)
        before = learner.loss.total
    assert learner.loss.recent == pytest.approx(_recent(losses))
    assert learner.history.recent[-1] == learner.loss.recent
    assert np.isnan(learner.history.recent[0])
    found: Any = learner.metrics
    assert learner.history.metric[-1] == found.rmse.recent
    assert learner.history.baseline[-1] == found.baseline.rmse.recent


def _auc(p: Any, y: Any, w: Any) -> float:
    ones, zeros = p[y == 1.0], p[y == 0.0]
    pairs = (ones[:, None] > zeros) + 0.5 * (ones[:, None] == zeros)
    weights = np.outer(w[y == 1.0], w[y == 0.0])
    return float((pairs * weights).sum() / weights.sum())


def test_two_classes_have_accuracy_and_auc() -> None:
    X, y = _samples("logistic")
    learner = _learner("logistic")
    p: Any = learner.learn(X, y, predictions=True).predictions
    hits, ones = (p > 0.5) == y, np.cumsum(y)
    most, counts = 0, [0, 0]
    majority = []
    for label in y.astype(int):
        majority.append(most == label)
        counts[label] += 1
        most = label if counts[label] > counts[most] else most
    found: Any = learner.metrics
    assert found.accuracy == pytest.approx((_recent(hits), hits.mean()))
    assert found.baseline.accuracy == pytest.approx((_recent(majority), np.mean(majority)))
    assert ones[-1] > 100
    decay = (1.0 - 1.0 / metrics.RECENT) ** np.arange(N)[::-1]
    assert found.auc.overall == pytest.approx(_auc(p, y, np.ones(N)), abs=0.01)
    assert found.auc.recent == pytest.approx(_auc(p, y, decay), abs=0.01)
    assert found.baseline.auc == (0.5, 0.5)
    assert (found.rmse, found.mae) == (None, None)


def test_the_recent_auc_outlives_the_scaling_of_its_weights() -> None:
    learner = llr.Learner("logistic", dim=1, algorithm="sg", eta0=0.1)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60_000, 1))
    y = (rng.random(60_000) < 1.0 / (1.0 + np.exp(-2.0 * X[:, 0]))).astype(float)
    assert learner.learn(X, y)
    auc: Any = learner.metrics.auc
    assert auc.recent == pytest.approx(auc.overall, abs=0.08)


def test_several_classes_have_an_accuracy() -> None:
    X, y = _samples("softmax")
    learner = _learner("softmax")
    p: Any = learner.learn(X, y, predictions=True).predictions
    hits = p.argmax(axis=1) == y
    found: Any = learner.metrics
    assert found.accuracy == pytest.approx((_recent(hits), hits.mean()))
    assert found.auc is None
    assert found.baseline.accuracy.overall < found.accuracy.overall


@pytest.mark.parametrize("model", ["linear", "logistic", "softmax"])
def test_grouping_does_not_matter_and_packing_keeps_all(model: str) -> None:
    X, y = _samples(model)
    whole, singly = _learner(model), _learner(model)
    assert whole.learn(X, y)
    for row, label in zip(X[:700], y[:700], strict=True):
        assert singly.learn(row, label)
    singly = llr.Learner.unpack(singly.pack())
    assert singly.learn(X[700:], y[700:])
    assert singly.pack() == whole.pack()
    again = llr.Learner.from_plain(whole.to_plain())
    assert (again.metrics, again.loss) == (whole.metrics, whole.loss)


def test_named_features_have_the_same_metrics() -> None:
    X, y = _samples("linear")
    named = llr.NamedLearner("linear", algorithm="sg/ag", eta0=0.05)
    rows = [dict(zip("abc", row.tolist(), strict=True)) for row in X]
    errors = y - named.learn(rows, y, predictions=True).predictions
    assert named.metrics.mae == pytest.approx((_recent(abs(errors)), abs(errors).mean()))
    again = llr.NamedLearner.unpack(named.pack())
    assert (again.metrics, again.loss) == (named.metrics, named.loss)


def test_nothing_is_known_before_the_first_sample() -> None:
    for learner in (llr.Learner("linear"), llr.Learner("logistic", dim=2)):
        found: Any = learner.metrics
        assert learner.loss.recent is None
        assert found.coverage == (None, None)
        assert {*(found.rmse or ()), *(found.accuracy or ()), *(found.auc or ())} == {None}


def test_weight_0_is_left_out() -> None:
    learner = _learner("linear")
    learner.learn([[1.0, 0.0, 0.0]] * 2, [1.0, 5.0], w=[1.0, 0.0])
    assert learner.metrics.mae == (1.0, 1.0)


def test_huge_labels_leave_the_numbers_finite() -> None:
    learner = llr.Learner("gaussian", algorithm="sg", eta0=1e-300)
    assert learner.learn([1e153, -1e153, 1e150])
    assert llr.Learner.unpack(learner.pack()).metrics == learner.metrics
    found: Any = learner.metrics
    assert math.isfinite(found.rmse.overall)


@pytest.mark.parametrize(("place", "value"), [(metrics.SEEN, 99.0), (metrics.BASELINE, 7.0)])
def test_numbers_that_cannot_be_are_refused(place: int, value: float) -> None:
    learner = _learner("logistic")
    learner.learn(*(part[:5] for part in _samples("logistic")))
    plain = learner.to_plain()
    plain["arrays"]["metrics"]["data"][place] = value
    with pytest.raises(llr.StateError, match="metrics"):
        llr.Learner.from_plain(plain)
