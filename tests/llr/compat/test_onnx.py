"""llr.compat.onnx: what both runtimes compute is what the learner predicts."""

import json
from typing import Any

import numpy as np
import onnx.reference
import onnxruntime
import pytest

import llr
from llr.compat.onnx import to_onnx

RNG = np.random.default_rng(4)
WIDE = np.where(np.arange(40) % 5 == 0, 100.0, 2.0)[:, None]
"""Every fifth row is far beyond what was seen, where bounds count."""


def labels(model: str, s: Any) -> Any:
    """Labels of a model whose scores are about s."""
    if model == "poisson":
        return RNG.poisson(np.exp(np.clip(s, -5.0, 3.0))).astype(float)
    if model == "softmax":
        return np.digitize(s, [-2.0, 0.0, 2.0]).astype(float)
    return (s > 0.0).astype(float) if model in ("logistic", "bernoulli") else s


def learnt(model: str, algorithm: str, dim: int, t: int, **options: Any) -> llr.Learner:
    features = llr.MODELS[model].features
    if model == "softmax":
        options.setdefault("classes", 4)
    learner = llr.Learner(model, dim if features else None, algorithm, **options)
    X = RNG.normal(1.0, 3.0, (t, dim))
    X[:, -1] = 2.0  # a feature that never varies
    y = labels(model, X[:, :3] @ [0.3, -1.0, 0.5])
    if t:
        assert (learner.learn(X, y) if features else learner.learn(y)).accepted
    return learner


def outputs(model: onnx.ModelProto, feed: dict[str, Any]) -> list[list[Any]]:
    """The outputs of onnxruntime, and of the reference evaluator."""
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return [session.run(None, feed), onnx.reference.ReferenceEvaluator(model).run(None, feed)]


def assert_same(learner: Any, X: Any, feed: Any, double: bool = False) -> None:
    kind: Any = np.float64 if double else np.float32
    expected = learner.predict() if X is None else learner.predict(X)
    with np.errstate(over="ignore"):
        rounded = np.atleast_1d(expected).astype(kind)
        found = outputs(to_onnx(learner, double=double), {} if X is None else {"X": feed})
    exact = 1e-11 if double else 3e-7  # onnxruntime fuses operators at some loss of precision
    for (prediction,), close in zip(found, (3e-7, exact), strict=True):
        assert prediction.dtype == kind
        np.testing.assert_allclose(prediction, rounded, rtol=close, atol=1e-37)


PAIRS = [
    (model, algorithm)
    for model, of_model in llr.MODELS.items()
    for algorithm, of_algorithm in llr.ALGORITHMS.items()
    if of_algorithm.suits(of_model)
]


@pytest.mark.parametrize(("model", "algorithm"), PAIRS)
def test_every_learner_predicts_the_same_as_onnx(model: str, algorithm: str) -> None:
    learner = learnt(model, algorithm, 4, 60)
    X = (RNG.normal(size=(40, 4)) * WIDE).astype(np.float32)
    assert_same(learner, X if llr.MODELS[model].features else None, X)


@pytest.mark.parametrize("t", [0, 1, 3, 20, 100, 129, 700])
@pytest.mark.parametrize("dim", [3, 70])
@pytest.mark.parametrize("model", [name for name, one in llr.MODELS.items() if one.features])
def test_auto_is_the_same_at_every_stage(model: str, dim: int, t: int) -> None:
    """From before the first sample, while scales are hardly known, to second order and without."""
    learner = learnt(model, "auto", dim, t)
    X = (RNG.normal(size=(40, dim)) * WIDE).astype(np.float32)
    assert_same(learner, X, X)
    assert_same(learner, X.astype(float), X.astype(float), double=True)


def test_bounds_of_auto_matter_in_these_tests() -> None:
    learner = learnt("linear", "auto", 3, 700)
    X = RNG.normal(size=(40, 3)) * WIDE
    linear = X @ learner.theta + np.asarray(learner.intercept, float)
    assert np.abs(linear - learner.predict(X)).max() > 1.0


@pytest.mark.parametrize("model", ["linear", "logistic", "softmax"])
@pytest.mark.parametrize("algorithm", ["auto", "kalman", "sg/ag"])
def test_named_features_are_columns_in_the_order_of_theta(model: str, algorithm: str) -> None:
    options: dict[str, Any] = {"classes": 4} if model == "softmax" else {}
    learner = llr.NamedLearner(model, algorithm, **options)
    for i in range(80):
        sample = {f"f{j}": RNG.normal() for j in range(5) if (i + j) % 3}
        value = labels(model, np.array([sum(sample.values())]))[0]
        assert learner.learn(sample | {"city": "Rome" if i % 2 else "Oslo"}, value)
    exported = to_onnx(learner)
    names = json.loads({one.key: one.value for one in exported.metadata_props}["features"])
    assert names == list(learner.theta)
    X = RNG.normal(size=(20, len(names))).astype(np.float32)
    expected = learner.predict([dict(zip(names, row, strict=True)) for row in X.tolist()])
    for (prediction,) in outputs(exported, {"X": X}):
        np.testing.assert_allclose(prediction, expected, rtol=3e-7, atol=1e-37)


@pytest.mark.parametrize(
    ("model", "classes"), [("logistic", ["no", "yes"]), ("softmax", ["a", "b", "c", "d"])]
)
def test_classes_with_names_are_an_output_too(model: str, classes: list[str]) -> None:
    learner = learnt(model, "auto", 3, 200, classes=classes)
    X = RNG.normal(size=(50, 3)).astype(np.float32)
    for prediction, label in outputs(to_onnx(learner), {"X": X}):
        np.testing.assert_allclose(prediction, learner.probabilities(X), rtol=3e-7, atol=1e-37)
        assert list(label) == learner.predict(X).tolist()


def test_nothing_is_exported_before_dim_is_known() -> None:
    with pytest.raises(llr.SampleError, match="dim"):
        to_onnx(llr.Learner("linear"))
