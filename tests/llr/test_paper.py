"""Every algorithm on every model against the literal 50-digit reference, from θ_0 ≠ 0."""

from typing import Any

import numpy as np
import pytest
from support import reference
from support.like_reference import MODELS, assert_like, reference_samples
from support.samples_of import options_of, samples_of, theta0_of

import llr

STEPS = 200
LEARNING = [name for name in reference.ALGORITHMS if "/" in name]


def assert_like_reference(model: str, algorithm: str, seed: int, **options: Any) -> None:
    eta0 = 0.002 if "svrg" in algorithm else 0.1
    assert_like(reference.run, model, algorithm, seed=seed, steps=STEPS, eta0=eta0, **options)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("algorithm", reference.ALGORITHMS)
def test_an_algorithm_is_the_papers_to_ten_digits(model: str, algorithm: str) -> None:
    assert_like_reference(model, algorithm, seed=1)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("algorithm", LEARNING)
def test_the_exact_hessian_is_proposition_1s(model: str, algorithm: str) -> None:
    assert_like_reference(model, algorithm, seed=2, hessian="exact")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("algorithm", LEARNING)
def test_memory_is_section_4_3s(model: str, algorithm: str) -> None:
    assert_like_reference(model, algorithm, seed=3, memory=True)


@pytest.mark.parametrize("algorithm", LEARNING)
def test_memory_can_use_the_difference_of_gradients(algorithm: str) -> None:
    assert_like_reference("logistic", algorithm, seed=3, memory=True, hessian="difference")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("algorithm", ["sg/ag", "svrg/ag"])
def test_the_unbiased_average_divides_only_where_it_is_used(model: str, algorithm: str) -> None:
    assert_like_reference(model, algorithm, seed=4, unbiased=True)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("algorithm", ["svrg", "svrg/sg", "svrg/ag"])
def test_a_refreshed_base_point_follows_theta(model: str, algorithm: str) -> None:
    assert_like_reference(model, algorithm, seed=5, refresh=30)


def test_a_callers_own_schedule_damps_theta_and_log_eta() -> None:
    assert_like_reference("linear", "sg/ag", seed=6, schedule=lambda t: 2.0 + t)


@pytest.mark.parametrize("algorithm", LEARNING)
def test_a_pair_of_schedules_damps_theta_by_f_and_log_eta_by_mu(algorithm: str) -> None:
    pair = (lambda t: 2.0 + t, lambda t: 1.5 + 0.1 * t)
    assert_like_reference("logistic", algorithm, seed=6, schedule=pair)


@pytest.mark.parametrize("pair", [(None, lambda t: 2.0 + t), (lambda t: 2.0 + t, None)])
def test_one_schedule_of_a_pair_may_stay_the_papers(pair: Any) -> None:
    samples = samples_of("linear", 6, 50)
    f, mu = (one or (lambda t: np.sqrt(t + 2.0) * np.log(t + 3.0)) for one in pair)
    half, both = (
        llr.Learner("linear", algorithm="sg/ag", eta0=0.1, schedule=schedule)
        for schedule in (pair, (f, mu))
    )
    alike = llr.Learner("linear", algorithm="sg/ag", eta0=0.1, schedule=lambda t: 2.0 + t)
    for learner in (half, both, alike):
        assert learner.learn(*samples)
    np.testing.assert_allclose(half.theta, both.theta, rtol=1e-12)
    assert half.log_eta == pytest.approx(both.log_eta, rel=1e-12)
    assert half.log_eta != alike.log_eta
    again = llr.Learner.unpack(half.pack(), pair)
    assert again.learn(*samples)
    assert half.learn(*samples)
    assert again.pack() == half.pack()


@pytest.mark.parametrize(("pair", "name"), [((None, lambda t: 0.5), "μ"), ((abs, None), "f")])
def test_each_schedule_of_a_pair_is_checked(pair: Any, name: str) -> None:
    learner = llr.Learner("gaussian", algorithm="sg/ag", schedule=pair)
    with pytest.raises(llr.ConfigError, match=f"{name}.t. must be finite"):
        learner.learn([1.0, 2.0])


@pytest.mark.parametrize("model", [m for m in MODELS if llr.MODELS[m].smooth])
@pytest.mark.parametrize("algorithm", LEARNING)
def test_the_numerical_hessian_gives_proposition_1_to_seven_digits(
    model: str, algorithm: str
) -> None:
    samples, theta0 = samples_of(model, 2, 60), theta0_of(model, 2)
    eta0 = 0.002 if "svrg" in algorithm else 0.1
    learner = llr.Learner(
        model,
        algorithm=algorithm,
        eta0=eta0,
        theta0=theta0,
        hessian="numerical",
        **options_of(model),
    )
    assert learner.learn(*samples)
    classes = {"classes": learner.theta.shape[0]} if model == "softmax" else {}
    exact = reference.run(
        model,
        algorithm,
        reference_samples(samples),
        theta0.tolist(),
        eta0,
        hessian="exact",
        **classes,
    )[-1]
    assert exact.h is not None
    h = np.array([float(v) for v in exact.h])
    np.testing.assert_allclose(learner.h.ravel(), h, atol=1e-7 * float(np.abs(h).max()))
    assert learner.log_eta == pytest.approx(float(exact.log_eta), rel=1e-7)


@pytest.mark.parametrize(
    ("algorithm", "eta0"),
    [
        *(("sg/ag", x) for x in (1e-2, 0.1, 1.0, 10.0)),
        *(("svrg/ag", x) for x in (1e-3, 1e-2, 0.1, 1.0)),
    ],
)
def test_on_the_quadratic_of_1e8_the_way_through_1e82_is_that_of_exact_arithmetic(
    algorithm: str, eta0: float
) -> None:
    stream = llr.streams.quadratic()
    samples = stream.take(500)
    learner = llr.Learner("linear", 1, algorithm, eta0, stream.theta0)
    assert learner.learn(*samples)
    exact = reference.run("linear", algorithm, reference_samples(samples), [1.0], eta0)
    assert learner.log_eta == pytest.approx(float(exact[-1].log_eta), rel=1e-12)
    assert learner.theta[0] == pytest.approx(float(exact[-1].theta[0]), rel=1e-8)
    assert max(abs(record.theta[0]) for record in exact) > 1e80


@pytest.mark.parametrize("y", [1e-100, 1e-200])
def test_slopes_whose_square_is_0_move_log_eta_as_well(y: float) -> None:
    learner, plain = (llr.Learner("gaussian", 1, "sg/ag", 0.5) for _ in range(2))
    assert learner.learn(np.full(50, y))
    assert plain.learn(np.ones(50))
    assert learner.log_eta == pytest.approx(plain.log_eta, rel=1e-9)


def test_a_loss_beyond_float64_is_held_and_the_regret_with_it() -> None:
    learner = llr.Learner("linear", 1, "sg/ag", 1.0, 1.0, "exact")
    samples = llr.streams.quadratic().take(500)
    assert learner.learn(*samples)
    largest = np.finfo(float).max
    assert learner.loss.total == learner.regret.ml == learner.regret.best_fixed == largest
    assert abs(learner.theta[0]) < 1e-6
    again = llr.Learner.unpack(learner.pack())
    assert np.isfinite(again.history.loss).all()
    assert again.pack() == learner.pack()


@pytest.mark.parametrize("unbiased", [False, True])
def test_a_state_in_the_middle_of_the_way_goes_on_to_the_last_bit(unbiased: bool) -> None:
    """Where n is beyond float64, and where it comes back."""
    X, y = llr.streams.quadratic().take(500)
    whole = llr.Learner("linear", 1, "svrg/ag", 1.0, 1.0, unbiased=unbiased)
    parts = whole.copy()
    assert whole.learn(X, y)
    for at in range(0, 500, 50):
        parts = llr.Learner.unpack(parts.pack())
        assert parts.learn(X[at : at + 50], y[at : at + 50])
    assert parts.pack() == whole.pack()


@pytest.mark.parametrize("model", ["gaussian", "bernoulli", "linear"])
def test_regret_is_the_references(model: str) -> None:
    samples, theta0 = samples_of(model, 7, 60), theta0_of(model, 7)
    literal = reference_samples(samples)
    records = reference.run(model, "sg/ag", literal, theta0.tolist(), 0.1)
    against_ml = reference.regret_ml(model, literal, theta0.tolist(), records)
    assert against_ml is not None
    learner = llr.Learner(
        model, algorithm="sg/ag", eta0=0.1, theta0=theta0, regret="exact", **options_of(model)
    )
    for t in range(60):
        assert learner.learn(*(column[t : t + 1] for column in samples))
        best = reference.regret_best_fixed(model, literal[: t + 1], records[: t + 1])
        assert best is not None
        assert learner.regret.ml == pytest.approx(float(against_ml[t]), rel=1e-8, abs=1e-8)
        assert learner.regret.best_fixed == pytest.approx(float(best), rel=1e-8, abs=1e-8)


def awkward(kind: str, n: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Features that make least squares hard."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n, 3))
    if kind == "a copy":
        X[:, 2] = X[:, 0]
    if kind == "nothing":
        X[:, 1] = 0.0
    if kind == "small":
        X[:, 1:] *= (1e-3, 1e-4)
    return X, X @ np.array([1.0, -2.0, 3.0]) + rng.normal(size=n)


@pytest.mark.parametrize("kind", ["plain", "a copy", "nothing", "small"])
def test_regret_is_exact_on_awkward_features_early_and_late(kind: str) -> None:
    X, y = awkward(kind, 120)
    theta0 = np.array([0.5, -0.5, 2.0])
    learner = llr.Learner("linear", 3, "sg", 0.01, theta0, "exact")
    literal = reference_samples((X, y))
    records = reference.run("linear", "sg", literal, theta0.tolist(), 0.01)
    against_ml = reference.regret_ml("linear", literal, theta0.tolist(), records)
    assert against_ml is not None
    for t in range(120):
        assert learner.learn(X[t], y[t])
        if t in (0, 1, 2, 3, 10, 119):
            best = reference.regret_best_fixed("linear", literal[: t + 1], records[: t + 1])
            assert best is not None
            assert learner.regret.ml == pytest.approx(float(against_ml[t]), rel=1e-9, abs=1e-9)
            assert learner.regret.best_fixed == pytest.approx(float(best), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("algorithm", ["sg/ag", "svrg/ag"])
def test_the_quadratic_of_1e8_passes_through_the_references_sizes(algorithm: str) -> None:
    samples = [([1e4], 0.0)] * 300
    expected = reference.run("linear", algorithm, samples, [1.0], 1e-4)
    learner = llr.Learner("linear", 1, algorithm, 1e-4, 1.0)
    sizes = []
    for _ in samples:
        assert learner.learn([1e4], 0.0)
        sizes.append(abs(float(learner.theta[0])))
    largest = max(abs(float(record.theta[0])) for record in expected)
    assert max(sizes) == pytest.approx(largest, rel=1e-9)
    assert learner.log_eta == pytest.approx(float(expected[-1].log_eta), rel=1e-9)
