"""Weights and classes by name, through the SDK."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from llr_client import Client
from llr_client.errors import Invalid

import llr

RNG = np.random.default_rng(6)
X = RNG.normal(size=(30, 2))
Y = X @ [1.0, -1.0]
W = np.exp(RNG.normal(size=30))


def learnt() -> Any:
    learner = llr.Learner("linear", 2, regret="exact")
    assert learner.learn(X, Y, w=W)
    return learner.theta.tolist()


def test_weights_go_with_samples_of_every_kind(client: Client) -> None:
    single = client.session("single", "linear", dim=2)
    for x, y, w in zip(X, Y, W, strict=True):
        single.learn(x, y, w=w)
    many = client.session("many", "linear", dim=2)
    many.learn_many(X, Y, w=W, chunk_bytes=100)
    streamed = client.session("streamed", "linear", dim=2)
    records = [(x.tolist(), y, w) for x, y, w in zip(X, Y, W, strict=True)]
    assert len(list(streamed.stream(records, block=7))) == 5
    labelled = client.session("labelled", "linear", dim=2)
    ids = [f"i-{i}" for i in range(30)]
    labelled.predict(X, id=ids)
    labelled.label(ids[0], Y[0], w=W[0])
    labelled.label(ids[1:], Y[1:].tolist(), w=W[1:].tolist())
    for session in (single, many, streamed, labelled):
        assert session.state().theta == learnt()


def test_one_weight_may_stand_for_all(client: Client) -> None:
    session = client.session("mean", "gaussian")
    session.learn_many(Y, w=2.0)
    twice = llr.Learner("gaussian", regret="exact")
    assert twice.learn(Y, w=2.0)
    assert session.state().loss.total == twice.loss.total
    with pytest.raises(ValueError, match="for each sample"):
        session.learn_many(Y, w=[1.0, 2.0])


def test_classes_are_names(client: Client) -> None:
    words = ["yes" if y > 0 else "no" for y in Y]
    session = client.session("words", "logistic", dim=2, classes=["no", "yes"])
    assert session.learn(X[0], words[0]).accepted == 1
    answer = session.learn_many(X[1:], words[1:], w=W[1:], predictions=True, chunk_bytes=200)
    assert answer.accepted == 29
    assert answer.predictions is not None
    assert answer.probabilities is not None
    assert set(answer.predictions) <= {"no", "yes"}
    assert len(answer.probabilities) == 29
    assert session.predict(X[0]) in ("no", "yes")
    assert session.predict(X[:2]) == [session.predict(x) for x in X[:2]]


def test_predictions_have_intervals(client: Client) -> None:
    session = client.session("bounds", "linear", dim=2)
    session.learn_many(X, Y)
    learner = llr.Learner("linear", 2)
    assert learner.learn(X, Y)
    found = session.predict(X[:2], interval=0.9)
    assert found.lower == learner.interval(X[:2]).lower.tolist()
    assert session.predict(X[0], interval=0.9).upper == found.upper[0]
    assert found.predictions == session.predict(X[:2])
    coin = client.session("coin", "bernoulli")
    coin.learn_many(1.0 * (Y > 0))
    assert coin.predict(interval=0.99).set == [0, 1]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_are_learnt_by_column_name(client: Client, make: Callable[[Any], Any]) -> None:
    data = {"a": X[:, 0].tolist(), "city": ["Rome", None, "Oslo"] * 10, "y": Y.tolist()}
    rows = [
        {"a": a} | ({} if city is None else {"city": city})
        for a, city in zip(data["a"], data["city"], strict=True)
    ]
    expected = llr.NamedLearner("linear")
    assert expected.learn(rows, Y, w=W)
    frame = make(data | {"w": W.tolist()})
    by_column = client.session("by-column", "linear")
    by_column.learn_many(frame, "y", w="w", chunk_bytes=400)
    beside = client.session("beside", "linear")
    beside.learn_many(make({name: data[name] for name in ("city", "a")}), frame["y"], w=W)
    assert by_column.state().theta == expected.theta
    assert beside.state().theta == pytest.approx(expected.theta)
    assert by_column.predict(make({"a": data["a"]})) == [
        expected.predict({"a": a}) for a in data["a"]
    ]
    with pytest.raises(ValueError, match="the frame has no column 'price'"):
        by_column.learn_many(frame, "price")


def test_a_session_without_names_says_how_to_send_a_frame(client: Client) -> None:
    session = client.session("by-position", "linear")
    session.learn([1.0, 2.0], 3.0)
    frame = pd.DataFrame({"a": [1.0], "b": [2.0], "y": [3.0]})
    for refused in (
        lambda: session.predict(frame[["a", "b"]]),
        lambda: session.learn_many(frame, "y"),
    ):
        with pytest.raises(Invalid, match=r"by-position has learnt .* by position.*to_numpy\(\)"):
            refused()
    assert session.predict(frame[["a", "b"]].to_numpy())
    session.learn_many(frame[["a", "b"]].to_numpy(), frame["y"])
    fresh = client.session("fresh", "linear", named=True)
    with pytest.raises(Invalid) as told:
        fresh.learn_many(pd.DataFrame({"a": [float("inf")], "y": [1.0]}), "y")
    assert "by position" not in str(told.value)
