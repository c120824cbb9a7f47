"""llr.compat.keyed: a learner as a function of bytes."""

from typing import Any

import numpy as np
import pytest

import llr
from llr.compat.keyed import Step

ROWS, LABELS = llr.streams.regression(seed=3).take(60)
NAMED = [{f"f{i}": v for i, v in enumerate(row[:4])} for row in ROWS.tolist()]


@pytest.mark.parametrize("cuts", [[60], [1] * 60, [7, 20, 33]], ids=["whole", "single", "uneven"])
def test_calls_of_any_size_give_the_bytes_and_predictions_of_one_learner(cuts: list[int]) -> None:
    learner = llr.Learner("linear", ROWS.shape[1])
    expected = learner.learn(ROWS, LABELS, predictions=True).predictions
    assert expected is not None
    step, state, answers = Step(model="linear", dim=ROWS.shape[1]), None, []
    for part in np.split(np.arange(60), np.cumsum(cuts)[:-1]):
        state, some = step(state, [(ROWS[i], LABELS[i]) for i in part])
        answers += some
    assert state == learner.pack(history=False)
    assert [one.prediction for one in answers] == expected.tolist()
    assert [one.t for one in answers] == list(range(1, 61))


def test_named_features_and_models_without_features() -> None:
    named, learner = Step(named=True, model="linear"), llr.NamedLearner("linear")
    assert learner.learn(NAMED, LABELS)
    state, _ = named(None, zip(NAMED, LABELS, strict=True))
    assert state == learner.pack(history=False)
    assert named.predict(state, NAMED[0]) == learner.predict(NAMED[0])
    mean = Step(model="gaussian")
    state, answers = mean(None, [(None, 4.0), (None, 5.0)])
    assert mean.predict(state, None) == mean.learner(state).theta[0]
    assert answers[0].prediction == 0.0


def test_a_bad_sample_raises_and_the_state_stays_the_callers() -> None:
    step = Step(model="linear", dim=1)
    state, _ = step(None, [([1.0], 1.0)])
    bad: Any = [([1.0], 1.0), ([float("nan")], 1.0)]
    with pytest.raises(llr.SampleError):
        step(state, bad)
    assert step.learner(state).t == 1


def test_a_step_out_of_the_finite_numbers_is_an_answer() -> None:
    step = Step(model="linear", dim=1, algorithm="sg", eta0=1e300)
    state, answers = step(None, [([1e10], 1e10)])
    assert answers == [(0, None, False)]
    assert step.learner(state).t == 0


@pytest.mark.parametrize("cache", [1, 2, 10])
def test_a_cache_of_learners_changes_nothing(cache: int) -> None:
    settings: dict[str, Any] = {"model": "linear", "dim": ROWS.shape[1]}
    plain, cached = Step(**settings), Step(cache=cache, **settings)
    states: dict[int, bytes] = {}
    for i, (x, y) in enumerate(zip(ROWS, LABELS, strict=True)):
        key = i % 3
        after, found = cached(states.get(key), [(x, y)])
        assert (after, found) == plain(states.get(key), [(x, y)])
        states[key] = after
    again, _ = cached(states[0], [(ROWS[0], 1.0)])
    assert cached(states[0], [(ROWS[0], 1.0)])[0] == again  # an engine goes back to a checkpoint


def test_a_bad_sample_leaves_nothing_of_its_call_in_a_cache() -> None:
    step = Step(model="linear", dim=1, cache=5)
    state, _ = step(None, [([1.0], 1.0)])
    bad: Any = [([1.0], 1.0), ([float("nan")], 1.0)]
    with pytest.raises(llr.SampleError):
        step(state, bad)
    assert step(state, [([2.0], 2.0)]) == Step(model="linear", dim=1)(state, [([2.0], 2.0)])


def test_a_sample_without_a_label_is_predicted_only() -> None:
    step = Step(model="linear", dim=2)
    state, _ = step(None, [([1.0, 0.0], 1.0), ([0.0, 1.0], 2.0)])
    after, [answer] = step(state, [([1.0, 1.0], None)])
    assert after == state
    assert answer == (2, step.predict(state, [1.0, 1.0]), False)
    mean = Step(model="gaussian")
    state, answers = mean(None, [(None, 4.0), (None, None)])
    assert answers[1].prediction == mean.predict(state, None)
