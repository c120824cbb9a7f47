"""Classes by name: labels and predictions are words, and the learner is the same."""

from typing import Any

import numpy as np
import pytest
from support.samples_of import samples_of

import llr
from llr.classes import Classes

NAMES = ["spam", "ham", "eggs"]


def test_names_change_nothing_but_the_words() -> None:
    X, y = samples_of("softmax", 1, 60)
    named = llr.Learner("softmax", dim=X.shape[1], classes=NAMES)
    plain = llr.Learner("softmax", dim=X.shape[1], classes=3)
    words = [NAMES[int(k)] for k in y]
    found = named.learn(X, words, predictions=True)
    expected = plain.learn(X, y, predictions=True)
    assert named.theta.tolist() == plain.theta.tolist()
    assert named.loss == plain.loss
    assert found.predictions is not None
    assert expected.predictions is not None
    assert found.predictions.tolist() == [NAMES[k] for k in expected.predictions.argmax(axis=1)]
    assert named.predict(X[:5]).tolist() == [NAMES[k] for k in plain.predict(X[:5]).argmax(axis=1)]
    np.testing.assert_array_equal(named.probabilities(X[:5]), plain.predict(X[:5]))
    again = llr.Learner.unpack(named.pack())
    assert again.classes == NAMES
    assert again.pack() == named.pack()


def test_indexes_are_taken_too() -> None:
    by_name, by_index = (llr.Learner("softmax", dim=1, classes=NAMES) for _ in range(2))
    by_name.learn([[1.0], [2.0]], ["ham", "eggs"])
    by_index.learn([[1.0], [2.0]], [1, 2])
    assert by_name.pack() == by_index.pack()


@pytest.mark.parametrize("model", ["logistic", "bernoulli"])
def test_two_classes_are_those_of_0_and_1(model: str) -> None:
    features = llr.MODELS[model].features
    learner = llr.Learner(model, classes=["no", "yes"])
    words = ["yes"] * 8 + ["no"]
    assert learner.learn([[1.0]] * 9, words) if features else learner.learn(words)
    x = ([1.0],) if features else ()
    assert learner.probabilities(*x) > 0.5
    assert str(learner.predict(*x)) == "yes"
    if features:
        assert learner.learn([1.0], "no")
    else:
        assert learner.learn("no")


def test_named_features_have_named_classes() -> None:
    learner = llr.NamedLearner("logistic", classes=["ham", "spam"])
    rows = [{"word": "offer"}, {"word": "hello"}] * 20
    assert learner.learn(rows, ["spam", "ham"] * 20)
    assert learner.predict(rows[:2]).tolist() == ["spam", "ham"]
    assert str(learner.predict({"word": "offer"})) == "spam"
    assert learner.probabilities(rows[:1]).shape == (1,)
    assert llr.NamedLearner.unpack(learner.pack()).classes == ["ham", "spam"]


@pytest.mark.parametrize(
    ("model", "classes", "why"),
    [
        ("linear", ["a", "b"], "predicts a number"),
        ("logistic", ["a", "b", "c"], "has two"),
        ("softmax", ["a"], "2 to"),
        ("softmax", ["a", "a"], "different"),
        ("softmax", ["a", ""], "characters"),
        ("softmax", ["a", 1], "list of names"),
    ],
)
def test_classes_that_cannot_be_are_refused(model: str, classes: Any, why: str) -> None:
    with pytest.raises(llr.ConfigError, match=why):
        llr.Learner(model, classes=classes)


def test_another_number_of_classes_than_names_is_refused() -> None:
    with pytest.raises(llr.ConfigError, match="3 names"):
        llr.Config("softmax", options={"classes": 4}, classes=NAMES)


def test_an_unknown_label_is_refused_with_the_classes_there_are() -> None:
    learner = llr.Learner("softmax", dim=1, classes=NAMES)
    with pytest.raises(llr.DomainError, match=r"sample 1: y: 'tea' .* spam, ham, eggs"):
        learner.learn([[1.0], [2.0]], ["ham", "tea"])
    with pytest.raises(llr.DtypeError, match="the name of a class"):
        learner.learn([[1.0], [2.0]], ["ham", None])
    assert learner.t == 0


def test_many_classes_are_not_all_told() -> None:
    assert Classes([f"c{k}" for k in range(99)]).refusal("x").endswith("c18, c19, …")
