"""Filters of features that have names: a coordinate for each, as names come up."""

from typing import Any

import numpy as np
import pytest

import llr
from llr.auto.bank_layout import LARGEST

Array = np.ndarray[Any, Any]
Row = dict[str, float]


def correlated(n: int, d: int, seed: int) -> tuple[Array, Array]:
    """A regression on features that go together, with means of their own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3.0 * rng.normal(size=d)
    return X, 5.0 + X @ rng.normal(size=d) + rng.normal(size=n)


def sparse(n: int, names: int, seed: int) -> tuple[list[Row], Array]:
    """Samples that have five of so many names each."""
    rng = np.random.default_rng(seed)
    rows = [
        {f"n{j}": float(rng.normal()) for j in rng.permutation(names)[:5].tolist()}
        for _ in range(n)
    ]
    theta = rng.normal(size=names)
    y = [sum(x * theta[int(name[1:])] for name, x in row.items()) for row in rows]
    return rows, np.array(y) + 0.1 * rng.normal(size=n)


def by_name(X: Array) -> list[Row]:
    return [{f"f{i}": x for i, x in enumerate(row)} for row in X.tolist()]


def at_first_order() -> llr.NamedLearner:
    return llr.NamedLearner("linear", second_order=False)


def mean_loss(learner: llr.Learner | llr.NamedLearner) -> float:
    assert learner.loss.mean is not None
    return learner.loss.mean


def one_by_one(rows: list[Row], y: Array) -> llr.NamedLearner:
    learner = llr.NamedLearner("linear")
    for row, label in zip(rows, y, strict=True):
        assert learner.learn(row, label)
    return learner


def test_correlated_features_with_names_are_learnt_as_well_as_columns() -> None:
    X, y = correlated(1500, 12, seed=3)
    named, first_order = llr.NamedLearner("linear"), at_first_order()
    columns = llr.Learner("linear", 12)
    named.learn(by_name(X), y)
    first_order.learn(by_name(X), y)
    columns.learn(X, y)
    assert mean_loss(named) < 1.1 * mean_loss(columns)
    assert mean_loss(named) < 0.6 * mean_loss(first_order)


def test_the_order_in_which_names_come_up_decides_next_to_nothing() -> None:
    rows, y = sparse(600, 20, seed=4)
    every = {f"n{j}": 0.0 for j in range(20)}
    learner, knowing = llr.NamedLearner("linear"), llr.NamedLearner("linear")
    knowing.learn([every | row for row in rows], y)
    learner.learn(rows, y)
    filters = [one.predict(rows[:50]) for one in (learner, knowing)]
    np.testing.assert_allclose(filters[0], filters[1], atol=0.05)


@pytest.mark.parametrize("names", [20, LARGEST, LARGEST + 6])
def test_names_that_come_up_late_are_learnt_the_same_one_by_one_and_after_a_pause(
    names: int,
) -> None:
    rows, y = sparse(400, names, seed=5)
    whole = llr.NamedLearner("linear")
    assert whole.learn(rows, y)
    assert one_by_one(rows, y).pack() == whole.pack()
    resumed = llr.NamedLearner("linear")
    for begin in range(0, 400, 37):
        assert resumed.learn(rows[begin : begin + 37], y[begin : begin + 37])
        resumed = llr.NamedLearner.unpack(resumed.pack())
        resumed = llr.NamedLearner.from_plain(resumed.to_plain())
    assert resumed.pack() == whole.pack()


def test_a_name_too_many_leaves_the_first_order_alone_and_drops_the_filters() -> None:
    rows, y = sparse(400, LARGEST, seed=6)
    learner, first_order = llr.NamedLearner("linear"), at_first_order()
    learner.learn(rows, y)
    first_order.learn(rows, y)
    large = len(learner.pack(history=False))
    assert learner.predict(rows[0]) != first_order.predict(rows[0])
    late = {**rows[0], "one too many": 1.0}
    found = [one.learn(late, 1.0, predictions=True).predictions for one in (learner, first_order)]
    assert found[0] == found[1]
    assert learner.theta == first_order.theta
    assert learner.intercept == first_order.intercept
    assert len(learner.pack(history=False)) < large / 2
    assert llr.NamedLearner.unpack(learner.pack()).pack() == learner.pack()


def test_a_state_of_before_there_were_filters_goes_on_at_first_order() -> None:
    rows, y = sparse(60, 10, seed=7)
    first_order, without = at_first_order(), llr.NamedLearner("linear")
    first_order.learn(rows[:30], y[:30])
    state, new = first_order.to_plain(), without.to_plain()
    old = llr.NamedLearner.from_plain(state | {"config": new["config"]})
    old.learn(rows[30:], y[30:])
    first_order.learn(rows[30:], y[30:])
    assert old.theta == first_order.theta
    assert old.nbytes == first_order.nbytes


def test_a_bank_that_does_not_fit_the_names_is_refused() -> None:
    rows, y = sparse(60, 10, seed=8)
    learner = llr.NamedLearner("linear")
    learner.learn(rows, y)
    plain = learner.to_plain()
    scalars = plain["arrays"]["scalars"]["data"]
    plain["arrays"]["scalars"] = {"shape": [len(scalars) - 1], "data": scalars[1:]}
    with pytest.raises(llr.StateError, match="scalars"):
        llr.NamedLearner.from_plain(plain)


def test_theta_and_intercept_give_the_score_of_a_regression() -> None:
    X, y = correlated(700, 6, seed=9)
    learner = llr.NamedLearner("linear")
    learner.learn(by_name(X), y)
    assert learner.intercept is not None
    for row in by_name(X[-20:]):
        score = learner.intercept + sum(learner.theta[name] * x for name, x in row.items())
        assert score == pytest.approx(learner.predict(row), rel=0.02)


def test_names_start_at_theta0_in_every_filter() -> None:
    X = np.random.default_rng(10).normal(size=(300, 2))
    rows, y = [{"a": a, "b": b} for a, b in X.tolist()], X @ [2.0, -1.0]
    start = {"a": 2.0, "b": -1.0, "never": 4.0}
    knowing, learner = llr.NamedLearner("linear", theta0=start), llr.NamedLearner("linear")
    assert knowing.predict(rows[0]) == pytest.approx(y[0], rel=1e-12)
    knowing.learn(rows[:20], y[:20])
    learner.learn(rows[:20], y[:20])
    assert mean_loss(knowing) < 0.5 * mean_loss(learner)
    knowing.learn(rows[20:], y[20:])
    assert knowing.theta == pytest.approx(start, rel=0.01)


def test_intervals_of_named_features_know_where_little_is_known() -> None:
    X, y = correlated(500, 4, seed=11)
    learner = llr.NamedLearner("linear")
    learner.learn(by_name(X), y)
    near, far = by_name(X[:1])[0], {name: 300.0 * x for name, x in by_name(X[:1])[0].items()}
    found = [learner.interval(row) for row in (near, far)]
    assert found[1].upper - found[1].lower > found[0].upper - found[0].lower
