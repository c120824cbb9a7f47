"""What every registered model, base and rate has to obey. Registering one is having it tested."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from support.samples_of import DIM, PAIRS, config_of, options_of, samples_of, theta0_of, tried

import llr
from llr import models
from llr.algorithms import BASES, rates
from llr.algorithms.rates import RATES
from llr.models import MODELS

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
    chosen = llr.ALGORITHMS[algorithm]
    has_memory = any(p.name == "memory" for p in chosen.parameters)
    return tried(chosen.parameters) | ({"memory": True} if has_memory else {})


def scores_of(model: str, seed: int) -> tuple[np.ndarray[Any, Any], float, float, int]:
    """Scores, a label, the model's number and its index."""
    config = config_of(model)
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
@pytest.mark.parametrize("seed", range(5))
def test_the_prediction_is_the_label_that_would_teach_nothing(model: str, seed: int) -> None:
    s, _, p, which = scores_of(model, seed)
    predicted = np.empty((1, s.size))
    models.mean(which, s, p, predicted[0])
    if llr.MODELS[model].classes:
        assert predicted.sum() == pytest.approx(1.0)
        assert predicted.argmax() == s.argmax()
        return
    residual = np.empty_like(s)
    models.residual(which, s, float(predicted[0, 0]), p, residual)
    assert residual[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("rate", [r for r in RATES if RATES[r].learns])
def test_a_rate_follows_the_sign_of_the_slope_and_rests_without_one(rate: str) -> None:
    which, parameter = list(RATES).index(rate), RATES[rate].parameter
    for own in (0.0, 1.0) if parameter else (0.0,):
        for slope in (1e-3, -1e-3):
            log_eta, a, b = 0.0, 0.0, 0.0
            for t in range(1, 50):
                log_eta, a, b = rates.advance(which, log_eta, slope, 1.0, 1.0 / (t + 1), a, b, own)
            assert log_eta * slope > 0.0
        resting = rates.advance(which, 0.5, 0.0, 1.0, 0.5, 0.0, 0.0, own)
        assert resting[0] == 0.5


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("model", ["linear", "logistic", "softmax"])
def test_the_tangent_of_a_base_is_the_derivative_of_its_whole_run(base: str, model: str) -> None:
    samples, options = samples_of(model, 9, 25), options_of(model)

    def run(log_scale: float, scale: float) -> llr.Learner:
        learner = llr.Learner(
            model,
            algorithm=f"{base}/sg",
            eta0=0.05 * scale * math.exp(log_scale),
            theta0=theta0_of(model, 9),
            schedule=lambda _: 1e12,  # log η stands still; a damped base needs a scale against it
            hessian="exact",
            **options,
        )
        assert learner.learn(*samples)
        return learner

    moved = {scale: np.abs(run(0.0, scale).h).max() for scale in (1.0, 1e12)}
    scale = min(moved, key=lambda one: abs(math.log(moved[one])))
    assert 1e-3 < moved[scale] < 1e3
    slope = (run(1e-5, scale).theta - run(-1e-5, scale).theta) / 2e-5
    np.testing.assert_allclose(run(0.0, scale).h, slope, rtol=1e-5, atol=1e-7)


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


HELD = [
    *(("quantile", f"{base}/sg") for base in ("sg", "momentum", "saga", "sag")),
    *(("huber", f"{base}/sg") for base in ("sg", "momentum")),
]
"""Pairs whose step size vanishes before a step is too large: the slopes are bounded (R24)."""


@pytest.mark.parametrize(("model", "algorithm"), HELD)
def test_a_step_size_that_vanishes_keeps_every_number_finite(model: str, algorithm: str) -> None:
    learner = learner_of(model, algorithm)
    X, y = samples_of(model, 6, 50)
    X[31:] = 1e308
    assert learner.learn(X, y)
    assert np.isfinite(learner.theta).all()
    assert np.isfinite(learner.predict(X)).all()
    assert 0.0 < learner.eta < 1e-300


@pytest.mark.parametrize(
    ("model", "algorithm"),
    [p for p in PAIRS if llr.MODELS[p[0]].features and p not in HELD],
)
def test_a_step_out_of_the_finite_numbers_leaves_the_state_before_it(
    model: str, algorithm: str
) -> None:
    learner = learner_of(model, algorithm)
    X, y = samples_of(model, 6, 50)
    X[31:] = 1e308
    outcome = learner.learn(X, y)
    assert not outcome
    assert 31 <= outcome.accepted < 50
    expected = learner_of(model, algorithm)
    for t in range(outcome.accepted):
        assert expected.learn(X[t], y[t])
    assert learner.pack() == expected.pack()
    assert np.isfinite(learner.theta).all()
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
@pytest.mark.parametrize("n", [5, 1500])
def test_a_label_outside_the_domain_is_refused_by_its_index(model: str, n: int) -> None:
    """In short blocks, and in those that go past the room of the history and are cut there."""
    spec = llr.MODELS[model]
    number = config_of(model).model_number
    outside = [y for y in (-1.0, 0.5, 3.0, 1e9) if not spec.admits(y, number)]
    learner = learner_of(model, "sg")
    for label in outside:
        samples = samples_of(model, 8, n)
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
