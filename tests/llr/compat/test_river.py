"""llr.compat.river, held to river's own checks and tried in its tools."""

from collections.abc import Callable
from typing import Any

import pytest
from river import checks, compose, datasets, evaluate, metrics, preprocessing

import llr
from llr.compat.river import LLRClassifier, LLRRegressor

ESTIMATORS = [
    LLRRegressor(),
    LLRRegressor("huber"),
    LLRRegressor(model="quantile", algorithm="sg/ag"),
    LLRClassifier(),
    LLRClassifier(max_classes=12),
    LLRClassifier(model="softmax", algorithm="sg/ag"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "check"),
    [(one, check) for one in ESTIMATORS for check in checks.yield_checks(one)],
)
def test_it_passes_every_check_of_river(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator.clone())


def test_the_learner_behind_it_is_the_librarys() -> None:
    learner, model = llr.NamedLearner("linear"), LLRRegressor()
    for x, y in datasets.TrumpApproval().take(300):
        model.learn_one(x, y)
        assert learner.learn(x, y)
    assert model.learner.pack() == learner.pack()
    assert model.predict_one(x) == learner.predict(x)


def test_a_pipeline_is_evaluated_progressively() -> None:
    model = preprocessing.StandardScaler() | LLRRegressor()
    error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    assert error.get() < 0.5


def test_several_classes_are_learnt_by_name() -> None:
    scaled = preprocessing.StandardScaler()
    numbers = compose.SelectType(int, float)
    model = numbers | scaled | LLRClassifier(max_classes=7)
    stream = datasets.ImageSegments().take(800)
    assert evaluate.progressive_val_score(stream, model, metrics.Accuracy()).get() > 0.75


def test_a_label_too_many_is_refused_and_nothing_is_learnt() -> None:
    model = LLRClassifier()
    model.learn_one({"a": 1.0}, "x")
    model.learn_one({"a": 1.0}, "y")
    with pytest.raises(ValueError, match="'z' is one too many: there are 'x', 'y'"):
        model.learn_one({"a": 1.0}, "z")
    assert model.learner.t == 2


def test_names_that_are_no_strings_and_values_that_are_strings_are_features() -> None:
    model = LLRClassifier()
    for i in range(100):
        model.learn_one({0: "even" if i % 2 == 0 else "odd"}, i % 2 == 0)
    assert model.predict_one({0: "even"}) is True
    assert model.predict_one({0: "odd"}) is False


def test_the_model_of_a_classifier_is_given_or_follows_from_the_number_of_classes() -> None:
    models = [
        LLRClassifier(),
        LLRClassifier(max_classes=3),
        LLRClassifier(model="logistic"),
        LLRClassifier(model="softmax"),
    ]
    found = [one.learner.config.model for one in models]
    assert found == ["logistic", "softmax", "logistic", "softmax"]
    for label in range(16):
        models[-1].learn_one({"a": 1.0}, label)
    with pytest.raises(ValueError, match="16 is one too many"):
        models[-1].learn_one({"a": 1.0}, 16)


@pytest.mark.parametrize("wrong", [{"model": "linear"}, {"model": "logistic", "max_classes": 3}])
def test_a_model_that_is_no_classifier_for_these_labels_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="logistic"):
        LLRClassifier(**wrong)
