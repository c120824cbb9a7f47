"""Named features: the same algorithms as for dense ones, on whatever names come up."""

import itertools
import json
from typing import Any

import numpy as np
import pytest
from samples_of import labels_of, options_of

import llr

Array = np.ndarray[Any, Any]
ABLE = [name for name, algorithm in llr.ALGORITHMS.items() if algorithm.sparse]
FEATURES = [name for name, model in llr.MODELS.items() if model.features]
PAIRS = [(m, a) for m in FEATURES for a in ABLE if llr.ALGORITHMS[a].suits(llr.MODELS[m])]
NAMES = ["age", "city=Rome", "height", "member", "visits", "weight"]

every_pair = pytest.mark.parametrize(("model", "algorithm"), PAIRS)


def options(model: str) -> dict[str, Any]:
    """The model's own option, without a dim."""
    return {name: value for name, value in options_of(model).items() if name != "dim"}


def named(model: str, algorithm: str = "sg/ag", **others: Any) -> llr.NamedLearner:
    return llr.NamedLearner(model, algorithm, **({"eta0": 0.01} | options(model) | others))


def sparse_samples(model: str, seed: int, n: int) -> tuple[list[dict[str, float]], Array]:
    """Samples of which each has a few of the names, in any order."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        present = rng.permutation(NAMES)[: rng.integers(0, len(NAMES) + 1)]
        rows.append({str(name): float(rng.normal()) for name in present})
    return rows, labels_of(model, rng, n)


@every_pair
def test_named_features_are_learnt_as_the_same_columns_would_be(model: str, algorithm: str) -> None:
    rng, n = np.random.default_rng(1), 60
    X, y = rng.normal(size=(n, len(NAMES))), labels_of(model, rng, n)
    off: dict[str, Any] = {"centring": False} if algorithm == "auto" else {}
    dense = llr.Learner(model, len(NAMES), algorithm, eta0=0.01, **options(model), **off)
    by_name = named(model, algorithm)
    rows = [dict(zip(NAMES, x.tolist(), strict=True)) for x in X]
    expected, found = dense.learn(X, y, predictions=True), by_name.learn(rows, y, predictions=True)
    assert expected.predictions is not None
    assert found.predictions is not None
    np.testing.assert_allclose(found.predictions, expected.predictions, rtol=1e-9, atol=1e-12)
    theta = np.array(list(by_name.theta.values()))
    np.testing.assert_allclose(theta.T, dense.theta, rtol=1e-9, atol=1e-12)
    assert by_name.eta == pytest.approx(dense.eta, rel=1e-12)
    assert by_name.loss.total == pytest.approx(dense.loss.total, rel=1e-12)
    assert (by_name.intercept is None) == (dense.intercept is None) == (algorithm != "auto")
    if dense.intercept is not None:
        assert by_name.intercept == pytest.approx(dense.intercept, rel=1e-9)


@every_pair
def test_one_by_one_is_the_same_as_in_blocks_to_the_last_bit(model: str, algorithm: str) -> None:
    rows, y = sparse_samples(model, 2, 600)
    whole, single, ragged = (named(model, algorithm) for _ in range(3))
    assert whole.learn(rows, y)
    for row, label in zip(rows, y, strict=True):
        assert single.learn(row, label)
    for low, high in itertools.pairwise([0, 1, 3, 100, 511, 512, 513, 600]):
        assert ragged.learn(rows[low:high], y[low:high])
    assert whole.pack() == single.pack() == ragged.pack()


@every_pair
def test_resuming_in_the_middle_equals_an_uninterrupted_run(model: str, algorithm: str) -> None:
    rows, y = sparse_samples(model, 3, 120)
    straight, first = named(model, algorithm), named(model, algorithm)
    assert straight.learn(rows, y)
    assert first.learn(rows[:50], y[:50])
    again = llr.NamedLearner.unpack(first.pack())
    plain = llr.NamedLearner.from_plain(json.loads(json.dumps(first.to_plain())))
    for learner in (again, plain):
        assert learner.learn(rows[50:], y[50:])
        assert learner.pack() == straight.pack()


def test_a_feature_is_a_number_a_boolean_or_one_of_several_words() -> None:
    rows = llr.NamedRows.of(
        [{"a": 2, "b": True, "c": "x", "d": False}, {"c": "y", "a": np.float32(1)}]
    )
    assert rows.names == ["a", "b", "c=x", "d", "c=y"]
    assert rows.values.tolist() == [2.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    assert rows.columns.tolist() == [0, 1, 2, 3, 4, 0]
    assert rows.starts.tolist() == [0, 4, 6]
