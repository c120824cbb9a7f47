"""What every registered model, base and rate has to obey. Registering one is having it tested."""

import itertools
from typing import Any

import numpy as np
import pytest
from samples_of import DIM, OPTIONS, config_of, options_of, samples_of, theta0_of

import llr
from llr import models
from llr.models import MODELS

PAIRS = [(model, algorithm) for model in llr.MODELS for algorithm in llr.ALGORITHMS]
every_pair = pytest.mark.parametrize(("model", "algorithm"), PAIRS)
every_model = pytest.mark.parametrize("model", llr.MODELS)


def learner_of(model: str, algorithm: str, **options: Any) -> llr.Learner:
    return llr.Learner(
        model,
        algorithm=algorithm,
        eta0=0.01,
        theta0=theta0_of(model, 11),
        regret="exact",
        **options_of(model),
        **options,
    )


def options_of_algorithm(algorithm: str) -> dict[str, Any]:
    """Everything switched on, so that the laws hold for all of the state."""
    base, rate = llr.ALGORITHMS[algorithm]
    options: dict[str, Any] = {"memory": True} if rate.learns else {}
    return options | ({"refresh": 7} if base.name == "svrg" else {})


def scores_of(model: str, seed: int) -> tuple[np.ndarray[Any, Any], float, float, int]:
    """Scores, a label, the model's number and its index."""
    config = llr.Config(model, **config_of(model))
    s = np.random.default_rng(seed).normal(size=config.scores)
    y = float(samples_of(model, seed, 1)[-1][0])
    return s, y, config.model_number, list(MODELS).index(model)


@every_model
@pytest.mark.parametrize("seed", range(5))
def test_the_residual_is_the_slope_of_minus_the_loss(model: str, seed: int) -> None:
    s, y, p, which = scores_of(model, seed)
    residual = np.empty_like(s)
    models.residual(which, s, y, p, residual)
    for k, move in enumerate(np.eye(s.size) * 1e-6):
        up, down = models.loss(which, s + move, y, p), models.loss(which, s - move, y, p)
        assert residual[k] == pytest.approx((down - up) / 2e-6, rel=1e-6, abs=1e-6)


@every_model
@pytest.mark.parametrize("seed", range(5))
def test_the_curvature_is_the_slope_of_minus_the_residual(model: str, seed: int) -> None:
    s, y, p, which = scores_of(model, seed)
    along = np.random.default_rng(seed + 100).normal(size=s.size)
    curvature, up, down = np.empty_like(s), np.empty_like(s), np.empty_like(s)
    models.curvature(which, s, y, p, along, curvature)
    models.residual(which, s + 1e-6 * along, y, p, up)
    models.residual(which, s - 1e-6 * along, y, p, down)
    np.testing.assert_allclose(curvature, (down - up) / 2e-6, rtol=1e-6, atol=1e-6)


@every_model
def test_predictions_are_finite_and_of_the_labels_scale(model: str) -> None:
    learner = learner_of(model, "sg")
    samples = samples_of(model, 1, 20)
    outcome = learner.learn(*samples, predictions=True)
    assert outcome.predictions is not None
    assert np.isfinite(outcome.predictions).all()
    assert len(outcome.predictions) == 20


@every_model
def test_what_learning_predicted_is_what_predict_would_have_said(model: str) -> None:
    learner = learner_of(model, "sg/ag")
    *features, _ = samples = samples_of(model, 2, 30)
    learner.learn(*samples)
    expected = learner.predict(*(x[:1] for x in features))
    outcome = learner.learn(*(column[:1] for column in samples), predictions=True)
    assert outcome.predictions is not None
    np.testing.assert_array_equal(np.ravel(outcome.predictions), np.ravel(expected))


@every_pair
def test_one_by_one_is_the_same_as_in_blocks_to_the_last_bit(model: str, algorithm: str) -> None:
    samples = samples_of(model, 3, 700)
    options = options_of_algorithm(algorithm)
    whole, single, ragged = (learner_of(model, algorithm, **options) for _ in range(3))
    assert whole.learn(*samples)
    for t in range(700):
        assert single.learn(*(column[t] for column in samples))
    cuts = [0, 1, 3, 100, 511, 512, 513, 700]
    for low, high in itertools.pairwise(cuts):
        assert ragged.learn(*(column[low:high] for column in samples))
    assert whole.pack() == single.pack() == ragged.pack()


@every_pair
def test_resuming_in_the_middle_equals_an_uninterrupted_run(model: str, algorithm: str) -> None:
    samples = samples_of(model, 4, 300)
    options = options_of_algorithm(algorithm)
    straight, first = (learner_of(model, algorithm, **options) for _ in range(2))
    assert straight.learn(*samples)
    assert first.learn(*(column[:137] for column in samples))
    resumed = llr.Learner.unpack(first.pack())
    assert resumed.pack() == first.pack()
    assert resumed.learn(*(column[137:] for column in samples))
    assert resumed.pack() == straight.pack()
    assert resumed.regret == straight.regret


@every_pair
def test_read_only_inputs_are_learnt_from_and_left_alone(model: str, algorithm: str) -> None:
    samples = samples_of(model, 5, 10)
    before = [column.copy() for column in samples]
    for column in samples:
        column.flags.writeable = False
    assert learner_of(model, algorithm).learn(*samples)
    for column, old in zip(samples, before, strict=True):
        np.testing.assert_array_equal(column, old)


@pytest.mark.parametrize(("model", "algorithm"), [p for p in PAIRS if llr.MODELS[p[0]].features])
def test_a_step_out_of_the_finite_numbers_leaves_the_state_before_it(
    model: str, algorithm: str
) -> None:
    learner = learner_of(model, algorithm)
    X, y = samples_of(model, 6, 50)
    X[31] = 1e200 * np.sign(X[31])
    X[32] = 1e300
    outcome = learner.learn(X, y)
    expected = learner_of(model, algorithm)
    for t in range(outcome.accepted):
        assert expected.learn(X[t], y[t])
    assert learner.pack() == expected.pack()
    assert np.isfinite(learner.theta).all()
    if not outcome:
        assert outcome.status is llr.Status.DIVERGED
        again = learner.learn(X[outcome.accepted], y[outcome.accepted])
        assert again.accepted == 0
        assert learner.pack() == expected.pack()


@every_model
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_number_is_refused_by_its_index_and_nothing_is_learnt(model: str, bad: float) -> None:
    learner = learner_of(model, "sg/ag")
    samples = samples_of(model, 7, 40)
    for field, column in zip("xy" if len(samples) == 2 else "y", samples, strict=True):
        before, kept = learner.pack(), column[23].copy()
        column[23] = bad
        with pytest.raises(llr.NotFiniteError) as caught:
            learner.learn(*samples)
        column[23] = kept
        assert (caught.value.index, caught.value.field) == (23, field)
        assert learner.pack() == before
    assert learner.learn(*samples)


@every_model
def test_a_label_outside_the_domain_is_refused_by_its_index(model: str) -> None:
    spec = llr.MODELS[model]
    number = llr.Config(model, **config_of(model)).model_number
    outside = [y for y in (-1.0, 0.5, 3.0, 1e9) if not spec.admits(y, number)]
    learner = learner_of(model, "sg")
    for label in outside:
        samples = samples_of(model, 8, 5)
        samples[-1][3] = label
        with pytest.raises(llr.DomainError, match="sample 3: y") as caught:
            learner.learn(*samples)
        assert caught.value.index == 3
        assert learner.t == 0


@every_model
def test_a_wrong_number_of_features_is_refused(model: str) -> None:
    if not llr.MODELS[model].features:
        with pytest.raises(llr.ShapeError, match="no features"):
            learner_of(model, "sg").learn(np.ones((2, 1)), np.ones(2))
        return
    with pytest.raises(llr.DimensionError, match=f"{DIM + 1} features, the learner has {DIM}"):
        learner_of(model, "sg").learn(np.ones((2, DIM + 1)), np.ones(2))


@every_model
def test_every_model_is_documented(model: str) -> None:
    spec = llr.MODELS[model]
    assert spec.name == model
    assert spec.summary
    assert spec.domain


def test_softmax_and_quantile_are_tried_with_their_own_options() -> None:
    assert set(OPTIONS) <= set(llr.MODELS)
