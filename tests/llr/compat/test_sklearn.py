"""llr.compat.sklearn, held to scikit-learn's own checks and tried in its tools."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import llr
from llr.compat.sklearn import LLRClassifier, LLRRegressor

ESTIMATORS = [
    *(LLRRegressor(model) for model in ("linear", "huber", "quantile", "poisson")),
    LLRRegressor(algorithm="sg/ag"),
    LLRClassifier(),
    LLRClassifier("softmax"),
    LLRClassifier(algorithm="sg/ag"),
]


EXPECTED_FAILURES = {
    # scikit-learn expects it of SGDRegressor and SGDClassifier too: the check shuffles the rows and
    # compares one step on k times the loss with k steps
    "check_sample_weight_equivalence_on_dense_data": "a weight of k is one step, not k steps",
}

CHECKS = [
    pytest.param(
        estimator,
        check,
        marks=pytest.mark.xfail(strict=True, reason=EXPECTED_FAILURES[name])
        if (name := check.func.__name__) in EXPECTED_FAILURES
        else (),
    )
    for one in ESTIMATORS
    for estimator, check in estimator_checks_generator(one)
    if check.func.__name__ != "check_array_api_input"  # arrays of other libraries, which it skips
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_it_passes_every_check_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_learner_behind_it_is_the_librarys() -> None:
    X, y = load_diabetes(return_X_y=True)
    learner = llr.Learner("linear", X.shape[1])
    assert learner.learn(X, y)
    fitted = LLRRegressor().fit(X, y)
    assert fitted.learner_.pack() == learner.pack()
    assert np.array_equal(fitted.predict(X), learner.predict(X))
    assert np.array_equal(fitted.coef_, learner.theta)
    assert fitted.intercept_ == learner.intercept


def test_partial_fits_are_one_pass_of_fit() -> None:
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    parts = LLRClassifier()
    for at in range(0, len(y), 40):
        parts.partial_fit(X[at : at + 40], y[at : at + 40], classes=[0, 1, 2])
    assert parts.learner_.pack() == LLRClassifier().fit(X, y).learner_.pack()


@pytest.mark.parametrize("model", [LLRRegressor(), LLRClassifier(), LLRClassifier("softmax")])
def test_weights_are_those_of_the_learner(model: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    weights = np.random.default_rng(1).uniform(0.0, 3.0, len(y)).round()  # some are 0
    options: dict[str, Any] = {"classes": 2} if model.model == "softmax" else {}
    learner = llr.Learner(model.model, X.shape[1], **options)
    assert learner.learn(X, y, w=weights)
    whole = model.fit(X, y, sample_weight=weights).learner_.pack()
    assert whole == learner.pack()
    parts = clone(model)
    classes = {} if is_regressor(model) else {"classes": [0, 1]}
    for at in range(0, len(y), 100):
        some = slice(at, at + 100)
        parts.partial_fit(X[some], y[some], sample_weight=weights[some], **classes)
    assert parts.learner_.pack() == whole


def test_weights_go_through_a_pipeline_and_a_search() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    weights = np.where(y == 0, 20.0, 1.0)
    model = make_pipeline(StandardScaler(), LLRClassifier())
    plain = model.fit(X, y).predict(X)
    weighted = model.fit(X, y, llrclassifier__sample_weight=weights).predict(X)
    assert (weighted == 0).sum() > (plain == 0).sum()
    search = GridSearchCV(LLRRegressor(), {"epochs": [1, 2]}, cv=3)
    search.fit(X, y, sample_weight=weights)
    expected = LLRRegressor(**search.best_params_).fit(X, y, weights)
    assert search.best_estimator_.learner_.pack() == expected.learner_.pack()


def test_weights_that_cannot_be_weights_are_refused() -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="sample 3: w: -1 is not a weight"):
        LLRRegressor().fit(X, y, sample_weight=np.where(np.arange(len(y)) == 3, -1.0, 1.0))
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        LLRClassifier().fit(X[:2], [0, 1], sample_weight=[0, 0])


def test_further_epochs_go_over_the_rows_again() -> None:
    X, y = load_diabetes(return_X_y=True)
    twice = LLRRegressor(epochs=2).fit(X, y)
    assert twice.learner_.t == 2 * len(y)
    assert twice.n_iter_ == 2


def test_it_predicts_in_a_pipeline_on_a_time_series() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["benign", "malignant"])[1 - y]
    model = make_pipeline(StandardScaler(), LLRClassifier())
    assert cross_val_score(model, X, names, cv=TimeSeriesSplit(3)).mean() > 0.93


def test_a_grid_search_chooses_among_models() -> None:
    X, y = load_diabetes(return_X_y=True)
    search = GridSearchCV(LLRRegressor(), {"model": ["quantile", "linear"], "epochs": [1, 3]}, cv=3)
    search.fit(StandardScaler().fit_transform(X), y)
    assert search.best_params_["model"] == "linear"
    assert search.best_score_ > 0.4


def test_a_step_size_that_is_too_large_is_an_error_that_says_where() -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match=r"diverged at sample \d+ of 442: choose a smaller eta0"):
        LLRRegressor(algorithm="sg", eta0=1e200).fit(X, y)


def test_partial_fit_refuses_labels_it_cannot_place() -> None:
    model = LLRClassifier()
    with pytest.raises(ValueError, match="needs classes"):
        model.partial_fit([[1.0]], ["a"])
    model.partial_fit([[1.0]], ["a"], classes=["a", "b"])
    with pytest.raises(ValueError, match=r"c is none of the classes \['a', 'b'\]"):
        model.partial_fit([[1.0]], ["c"])
    with pytest.raises(ValueError, match="the first call said"):
        model.partial_fit([[1.0]], ["a"], classes=["a", "b", "c"])


def pickled(one: Any) -> Any:
    return pickle.loads(pickle.dumps(one))  # noqa: S301


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
@pytest.mark.parametrize(
    "learner",
    [llr.Learner("linear"), llr.Learner("linear", 1), llr.NamedLearner("linear")],
    ids=["without dim", "dense", "named"],
)
def test_a_learner_pickles_and_goes_on_to_the_last_bit(copied: Any, learner: Any) -> None:
    named = isinstance(learner, llr.NamedLearner)
    sample = {"a": 2.0} if named else [2.0]
    twin = copied(learner)
    for one in (learner, twin):
        assert one.learn(sample, 3.0)
    assert copied(twin).pack() == learner.pack()
