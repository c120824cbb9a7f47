"""The reference checked against differentiation and by hand, with no help from the library."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from support.reference import (
    ALGORITHMS,
    Memory,
    Model,
    Number,
    Record,
    Sample,
    Vector,
    best_fixed_loss,
    dot,
    f,
    lemma1,
    make_model,
    ml_losses,
    mp,
    regret_best_fixed,
    regret_ml,
    run,
    vector,
)

DIFF = mp.mpf("1e-40")  # what is left of 50 digits after a numerical derivative
LLR = [name for name in ALGORITHMS if "/" in name]
MODELS: dict[str, dict[str, Any]] = {
    "gaussian": {},
    "bernoulli": {},
    "linear": {},
    "logistic": {},
    "poisson": {},
    "softmax": {"classes": 3},
    "quantile": {"parameter": 0.3},
    "huber": {"parameter": 0.8},
}


def near(a: Number, b: Number, tolerance: Number = DIFF) -> bool:
    """Whether a and b agree, relatively where they are large."""
    return bool(abs(a - b) <= tolerance * max(1, abs(a), abs(b)))


def all_near(a: Sequence[Number], b: Sequence[Number], tolerance: Number = DIFF) -> bool:
    """Whether two vectors agree in every entry."""
    return all(near(a_i, b_i, tolerance) for a_i, b_i in zip(a, b, strict=True))


def draw(model: str, count: int, seed: int = 1) -> tuple[list[Sample], Vector]:
    """Some samples of the model and a starting point away from zero."""
    rng = random.Random(seed)
    labels: dict[str, Callable[[], Any]] = {
        "gaussian": lambda: rng.gauss(5, 2**0.5),
        "bernoulli": lambda: int(rng.random() < 0.3),
        "logistic": lambda: rng.randrange(2),
        "poisson": lambda: rng.randrange(4),
        "softmax": lambda: rng.randrange(3),
    }
    label = labels.get(model, lambda: rng.gauss(0, 1.5))
    if model in ("gaussian", "bernoulli"):
        return [(None, label()) for _ in range(count)], vector([0.4])
    samples: list[Sample] = [([rng.gauss(0, 1), rng.gauss(0, 1)], label()) for _ in range(count)]
    size = 6 if model == "softmax" else 2
    return samples, vector([rng.gauss(0, 0.5) for _ in range(size)])


def along(theta: Vector, v: Vector, x: Number) -> Vector:
    """The point theta + x v."""
    return [theta[i] + x * v[i] for i in range(len(theta))]


@pytest.mark.parametrize("name", MODELS)
def test_the_gradient_is_the_derivative_of_the_log_likelihood(name: str) -> None:
    model = make_model(name, **MODELS[name])
    samples, theta = draw(name, 6)
    for sample in samples:
        for i in range(len(theta)):
            axis = [mp.mpf(i == j) for j in range(len(theta))]
            slope = mp.diff(lambda x, v=axis, s=sample: model.ell(along(theta, v, x), s), 0)
            assert near(model.gradient(theta, sample)[i], slope)


@pytest.mark.parametrize("name", MODELS)
def test_the_hessian_product_is_the_derivative_of_the_gradient(name: str) -> None:
    model = make_model(name, **MODELS[name])
    samples, theta = draw(name, 6)
    v = vector([0.7 - 0.4 * i for i in range(len(theta))])
    for sample in samples:
        product = model.hessian_times(theta, sample, v)
        for i in range(len(theta)):
            bend = mp.diff(lambda x, s=sample, i=i: model.gradient(along(theta, v, x), s)[i], 0)
            assert near(product[i], bend)


@pytest.mark.parametrize("name", ["quantile", "huber"])
def test_samples_fall_on_both_sides_of_the_kinks(name: str) -> None:
    model = make_model(name, **MODELS[name])
    samples, theta = draw(name, 6)
    slopes = {model.gradient(theta, s)[0] / mp.mpf((s[0] or [1])[0]) for s in samples}
    inside = {slope for slope in slopes if abs(slope) < mp.mpf("0.799")}
    assert min(slopes) < 0 < max(slopes)
    assert name == "quantile" or (inside and inside != slopes)


def test_the_quantile_loss_has_no_slope_at_its_kink() -> None:
    model = make_model("quantile", 0.3)
    assert model.gradient(vector([2]), ([1], 2)) == [0]
    assert model.ell(vector([2]), ([1], 2)) == 0


def test_the_huber_loss_is_continuous_at_its_joint() -> None:
    model = make_model("huber", 0.5)
    inside, outside = vector(["0.5"]), vector([mp.mpf("0.5") + mp.mpf("1e-45")])
    assert near(model.ell(inside, ([1], 0)), model.ell(outside, ([1], 0)))
    assert model.ell(inside, ([1], 0)) == mp.mpf("-0.125")


def test_a_softmax_of_two_classes_is_a_logistic_model() -> None:
    softmax, logistic = make_model("softmax", classes=2), make_model("logistic")
    x, w = [0.3, -1.2], vector([0.8, 0.1])
    for y in (0, 1):
        value = softmax.ell([mp.mpf(0), mp.mpf(0), *w], (x, y))
        assert near(value, logistic.ell(w, (x, y)))
        slope = softmax.gradient([mp.mpf(0), mp.mpf(0), *w], (x, y))[2:]
        assert all_near(slope, logistic.gradient(w, (x, y)))


def test_the_first_step_of_sg_ag_is_the_one_worked_out_by_hand() -> None:
    [record] = run("gaussian", "sg/ag", [(None, 3)], [1], "0.5")
    step = mp.mpf("0.5") / (mp.sqrt(2) * mp.log(3)) * 2
    assert near(record.theta[0], 1 + step)
    assert record.h is not None
    assert near(record.h[0], step)
    assert near(record.log_eta, mp.log(mp.mpf("0.5")))  # R4
    assert record.loss == 2


def test_the_second_step_of_sg_ag_is_the_one_worked_out_by_hand() -> None:
    first, second = run("gaussian", "sg/ag", [(None, 3), (None, 0)], [1], "0.5")
    assert first.h is not None
    assert second.h is not None
    mu0, mu1 = mp.sqrt(2) * mp.log(3), mp.sqrt(3) * mp.log(4)
    theta, h = first.theta[0], first.h[0]
    lam = -theta * h
    d = (1 - 1 / mu1) / mu0 + 1 / mu1
    n = mp.sqrt(lam**2 / mu1 / d)
    eta = mp.mpf("0.5") * mp.exp(lam / n / mu1)
    assert near(mp.exp(second.log_eta), eta)
    assert near(second.h[0], h + eta / mu1 * (0 - theta - h))
    assert near(second.theta[0], theta - eta / mu1 * theta)


@pytest.mark.parametrize("algorithm", ["sg/ag", "svrg/ag"])
def test_the_unbiased_reading_divides_the_raw_average_only_at_use(algorithm: str) -> None:
    samples, theta0 = draw("linear", 8)
    records = run("linear", algorithm, samples, theta0, 0.1, unbiased=True)
    model, raw, d = make_model("linear"), mp.mpf(0), mp.mpf(0)
    for t in range(1, len(samples)):
        before, keep = records[t - 1], 1 - 1 / f(t)
        assert before.h is not None
        lam = dot(model.gradient(before.theta, samples[t]), before.h)
        raw = keep * raw + lam**2 / f(t)
        d = keep * (d if t > 1 else 1 / f(0)) + 1 / f(t)
        move = lam / mp.sqrt(raw / d) / f(t)
        assert near(records[t].log_eta - before.log_eta, move)


def test_the_base_point_of_svrg_is_zero_and_its_step_undamped() -> None:
    samples: list[Sample] = [(None, 3), (None, 1)]
    first, second = run("gaussian", "svrg", samples, [2], "0.1")
    assert near(first.theta[0], 2 + mp.mpf("0.1") * (1 - 3 + 3))
    theta = first.theta[0]
    assert near(second.theta[0], theta + mp.mpf("0.1") * ((1 - theta) - 1 + mp.mpf(3 + 1) / 2))


def test_a_refreshed_base_point_restarts_the_sum_and_its_count() -> None:
    samples: list[Sample] = [(None, y) for y in (3, 1, 4)]
    plain = run("gaussian", "svrg", samples, [2], "0.1")
    fresh = run("gaussian", "svrg", samples, [2], "0.1", refresh=2)
    assert plain[:2] == fresh[:2]
    theta = fresh[1].theta[0]  # at its own base point the step is the plain gradient
    assert near(fresh[2].theta[0], theta + mp.mpf("0.1") * (4 - theta))


@pytest.mark.parametrize("algorithm", ["svrg", "svrg/sg", "svrg/ag"])
def test_refreshing_before_every_sample_leaves_only_the_new_gradient(algorithm: str) -> None:
    samples, theta0 = draw("logistic", 6)
    records = run("logistic", algorithm, samples, theta0, 0.1, refresh=1)
    model, theta = make_model("logistic"), records[0].theta
    for record, sample in zip(records[1:], samples[1:], strict=True):
        g = model.gradient(theta, sample)
        assert all_near(record.theta, along(theta, g, mp.exp(record.log_eta)))
        theta = record.theta


def path(
    model: Model, algorithm: str, samples: Sequence[Sample], theta0: Vector, log_etas: Vector
) -> Vector:
    """T_t: theta after the samples, for a given sequence of log eta."""
    theta, s_b = theta0, [mp.mpf(0)] * len(theta0)
    zero = [mp.mpf(0)] * len(theta0)
    for t, (sample, log_eta) in enumerate(zip(samples, log_etas, strict=True)):
        g, eta = model.gradient(theta, sample), mp.exp(log_eta)
        if algorithm.startswith("svrg"):
            g_b = model.gradient(zero, sample)
            s_b = along(s_b, g_b, mp.mpf(1))
            g = [g[i] - g_b[i] + s_b[i] / (t + 1) for i in range(len(g))]
            theta = along(theta, g, eta)
        else:
            theta = along(theta, g, eta / f(t))
    return theta


@pytest.mark.parametrize("name", ["logistic", "poisson", "softmax"])
def test_proposition_1_holds_when_all_past_log_etas_move_together(name: str) -> None:
    samples, theta0 = draw(name, 7)
    records = run(name, "sg/sg", samples, theta0, 0.2, hessian="exact", **MODELS[name])
    model = make_model(name, **MODELS[name])
    log_etas = [record.log_eta for record in records]
    for t in range(1, len(samples)):

        def ell(e: Number, t: int = t) -> Number:
            moved = [log_eta + e for log_eta in log_etas[:t]]
            return model.ell(path(model, "sg/sg", samples[:t], theta0, moved), samples[t])

        assert near(log_etas[t] - log_etas[t - 1], mp.diff(ell, 0) / f(t))


@pytest.mark.parametrize("algorithm", LLR)
def test_with_the_exact_hessian_h_is_the_derivative_of_the_path(algorithm: str) -> None:
    samples, theta0 = draw("logistic", 8)
    records = run("logistic", algorithm, samples, theta0, 0.2, hessian="exact")
    model = make_model("logistic")
    log_etas = [record.log_eta for record in records]
    for i in range(len(theta0)):

        def entry(e: Number, i: int = i) -> Number:
            moved = [log_eta + e for log_eta in log_etas]
            return path(model, algorithm, samples, theta0, moved)[i]

        h = records[-1].h
        assert h is not None
        assert near(h[i], mp.diff(entry, 0))


@pytest.mark.parametrize("algorithm", LLR)
def test_with_memory_h_is_the_derivative_along_the_fading_direction(algorithm: str) -> None:
    samples, theta0 = draw("logistic", 14)
    records = run("logistic", algorithm, samples, theta0, 0.2, memory=True)
    model, past = make_model("logistic"), Memory(len(theta0))
    thetas = [theta0, *(record.theta for record in records[:-1])]
    gammas = [past.gamma(model.gradient(thetas[t], samples[t])) for t in range(len(samples))]
    fade = [mp.fprod(gammas[j:]) for j in range(len(gammas))]  # e_t^j, the product from j to t
    log_etas = [record.log_eta for record in records]

    def entry(e: Number) -> Number:
        return path(model, algorithm, samples, theta0, along(log_etas, fade, e))[1]

    h = records[-1].h
    assert h is not None
    assert near(h[1], mp.diff(entry, 0))


@pytest.mark.parametrize("algorithm", LLR)
def test_the_two_hessians_agree_exactly_on_a_quadratic(algorithm: str) -> None:
    samples, theta0 = draw("linear", 15)
    for memory in (False, True):
        exact = run("linear", algorithm, samples, theta0, 0.1, hessian="exact", memory=memory)
        shifted = run(
            "linear", algorithm, samples, theta0, 0.1, hessian="difference", memory=memory
        )
        assert all_near(exact[-1].theta, shifted[-1].theta)
        assert near(exact[-1].log_eta, shifted[-1].log_eta)


@pytest.mark.parametrize("algorithm", LLR)
def test_every_option_changes_the_outcome_on_a_curved_model(algorithm: str) -> None:
    samples, theta0 = draw("poisson", 15)
    options: list[dict[str, Any]] = [
        {},
        {"hessian": "exact"},
        {"memory": True},
        {"memory": True, "hessian": "difference"},
        *([{"unbiased": True}] if algorithm.endswith("ag") else []),
        *([{"refresh": 4}] if algorithm.startswith("svrg") else []),
    ]
    ends = {
        mp.nstr(run("poisson", algorithm, samples, theta0, 0.05, **option)[-1].theta[0], 20)
        for option in options
    }
    assert len(ends) == len(options)


def test_memory_takes_plain_averages_over_its_first_ten_samples() -> None:
    memory = Memory(1)
    gradients = [mp.mpf(k * k) for k in range(1, 11)]
    gammas = [memory.gamma([g]) for g in gradients]
    assert memory.tau == 10
    assert all_near(gammas, [mp.exp(mp.mpf(-1) / k) for k in range(1, 11)])
    assert near(memory.g_bar[0], sum(gradients) / 10)
    assert near(memory.v_bar[0], sum(g * g for g in gradients) / 10)


def test_memory_moves_its_averages_with_the_old_tau_then_tau() -> None:
    memory = Memory(2)
    for _ in range(10):
        memory.gamma(vector([1, 2]))
    gamma = memory.gamma(vector([3, 0]))
    g_bar = vector(["1.2", "1.8"])
    v_bar = vector(["1.8", "3.6"])
    tau = (1 - dot(g_bar, g_bar) / sum(v_bar)) * 10 + 1
    assert all_near(memory.g_bar, g_bar)
    assert all_near(memory.v_bar, v_bar)
    assert near(memory.tau, tau)
    assert near(gamma, mp.exp(-1 / tau))


def test_memory_grows_by_one_per_sample_without_any_gradient() -> None:
    memory = Memory(1)
    for _ in range(15):
        memory.gamma([mp.mpf(0)])
    assert memory.tau == 15


@pytest.mark.parametrize("name", ["gaussian", "logistic", "softmax"])
def test_lemma_1_is_the_derivative_of_the_whole_trajectory(name: str) -> None:
    samples, theta0 = draw(name, 8)
    last = lemma1(name, samples, theta0, 0.3, **MODELS[name])[-1]

    def end(log_eta: Number) -> Record:
        return run(name, "sg", samples, theta0, mp.exp(log_eta), **MODELS[name])[-1]

    log_eta = mp.log(mp.mpf(0.3))
    assert all_near(last.theta, end(log_eta).theta)
    assert near(last.dloss, mp.diff(lambda e: end(e).loss, log_eta))
    for i in range(len(theta0)):
        assert near(last.a[i], mp.diff(lambda e, i=i: end(e).theta[i], log_eta))


@pytest.mark.parametrize(
    ("algorithm", "size"), [("sg/ag", mp.mpf("6e28")), ("svrg/ag", mp.mpf("9e49"))]
)
def test_the_quadratic_model_explodes_before_it_converges(algorithm: str, size: Number) -> None:
    samples: list[Sample] = [([10**4], 0)] * 400
    records = run("linear", algorithm, samples, [1], "1e-4")  # R16
    sizes = [abs(record.theta[0]) for record in records]
    assert 0.9 < max(sizes) / size < 1.1
    assert sizes[-1] < mp.mpf("1e-40")


def test_fifty_digits_are_enough_for_the_explosion() -> None:
    samples: list[Sample] = [([10**4], 0)] * 200
    plain = run("linear", "svrg/ag", samples, [1], 1e-4)
    with mp.workdps(100):
        finer = run("linear", "svrg/ag", samples, [1], 1e-4)
    assert all(
        abs(a.theta[0] / b.theta[0] - 1) < mp.mpf("1e-30")
        for a, b in zip(plain, finer, strict=True)
    )


def test_a_caller_may_replace_the_schedule() -> None:
    samples, theta0 = draw("gaussian", 3)
    records = run("gaussian", "sg", samples, theta0, 1, schedule=lambda t: t + 1)
    mean = sum(mp.mpf(y) for _, y in samples) / 3  # steps of 1 / (t + 1) give the mean
    assert near(records[-1].theta[0], mean)


@pytest.mark.parametrize("algorithm", ["sg", "svrg"])
def test_a_fixed_step_has_no_h_and_shows_the_first_eta(algorithm: str) -> None:
    samples, theta0 = draw("gaussian", 4)
    for record in run("gaussian", algorithm, samples, theta0, 0.1):
        assert record.h is None
        assert record.log_eta == mp.log(mp.mpf(0.1))


@pytest.mark.parametrize(
    ("algorithm", "options", "reason"),
    [
        ("sg", {"memory": True}, "fixed step"),
        ("svrg", {"hessian": "exact"}, "fixed step"),
        ("sg/sg", {"unbiased": True}, "/ag"),
        ("sg/ag", {"refresh": 3}, "svrg only"),
        ("sg/ag", {"hessian": "guess"}, "hessian is"),
        ("sg/none", {}, "no algorithm"),
    ],
)
def test_an_option_without_use_is_refused(
    algorithm: str, options: dict[str, Any], reason: str
) -> None:
    samples, theta0 = draw("gaussian", 2)
    with pytest.raises(ValueError, match=reason):
        run("gaussian", algorithm, samples, theta0, 0.1, **options)


def test_the_running_comparator_looks_only_at_the_past() -> None:
    gaussian = ml_losses("gaussian", [(None, 3), (None, 5), (None, 0)], [1])
    assert gaussian is not None
    assert all_near(gaussian, [2, 2, 8])
    bernoulli = ml_losses("bernoulli", [(None, 1), (None, 1), (None, 0)], [9])
    assert bernoulli is not None
    assert all_near(bernoulli, [mp.log(2), mp.log(mp.mpf(4) / 3), mp.log(6)])


def test_the_running_least_squares_is_pulled_to_the_start() -> None:
    losses = ml_losses("linear", [([2], 3), ([1], 4)], [7])
    assert losses is not None
    assert losses[0] == mp.mpf(11) ** 2 / 2
    theta = (6 + mp.mpf("7e-6")) / (4 + mp.mpf("1e-6"))
    assert near(losses[1], (4 - theta) ** 2 / 2)


def exact_least_squares(samples: Sequence[Sample], size: int) -> Fraction:
    """Half the least sum of squares, by orthogonal projections over the rationals."""
    rows = [[Fraction(v) for v in x or []] for x, _ in samples]
    ys = [Fraction(y) for _, y in samples]
    columns = [*([row[i] for row in rows] for i in range(size)), ys]
    for k in range(size):  # make every later column, and y at last, orthogonal to column k
        norm = sum((u * u for u in columns[k]), Fraction(0))
        if norm == 0:
            continue
        for i in range(k + 1, size + 1):
            inner = sum((u * v for u, v in zip(columns[k], columns[i], strict=True)), Fraction(0))
            columns[i] = [v - inner / norm * u for u, v in zip(columns[k], columns[i], strict=True)]
    return sum((v * v for v in columns[size]), Fraction(0)) / 2


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9])
def test_the_best_fixed_line_is_exact_whatever_the_rank(count: int) -> None:
    rng = random.Random(count)
    samples: list[Sample] = []
    for _ in range(count):
        u, v = rng.gauss(0, 1), rng.gauss(0, 1e6)
        samples.append(([u, v, 2 * u, 0.0], rng.gauss(0, 1)))  # rank two at most
    exact = exact_least_squares(samples, 4)
    best = best_fixed_loss("linear", samples)
    assert near(best, mp.mpf(exact.numerator) / exact.denominator)


def test_the_best_fixed_line_uses_a_feature_that_is_almost_another() -> None:
    rng = random.Random(3)
    samples: list[Sample] = []
    for _ in range(6):
        u, v = rng.gauss(0, 1), rng.gauss(0, 1)
        samples.append(([u, u + 2**-40 * v], v))
    exact = exact_least_squares(samples, 2)
    assert exact < Fraction(1, 10**6)  # the small difference tells y almost exactly
    best = best_fixed_loss("linear", samples)
    assert near(best, mp.mpf(exact.numerator) / exact.denominator)


def test_the_best_fixed_parameter_of_one_dimension_is_the_mean() -> None:
    assert best_fixed_loss("gaussian", [(None, 1), (None, 3)]) == 1
    assert best_fixed_loss("bernoulli", [(None, 1), (None, 1)]) == 0
    halves = best_fixed_loss("bernoulli", [(None, 1), (None, 0)])
    assert near(halves, 2 * mp.log(2))


@pytest.mark.parametrize("name", ["gaussian", "bernoulli", "linear"])
def test_no_learner_beats_the_best_parameter_in_hindsight_when_it_stands_still(name: str) -> None:
    samples, theta0 = draw(name, 12)
    still = run(name, "sg", samples, theta0, "1e-300")
    regret = regret_best_fixed(name, samples, still)
    assert regret is not None
    assert regret >= 0
    running = regret_ml(name, samples, theta0, still)
    losses = ml_losses(name, samples, theta0)
    assert running is not None
    assert losses is not None
    assert near(running[-1], still[-1].loss - sum(losses))


@pytest.mark.parametrize("name", ["logistic", "poisson", "softmax", "quantile", "huber"])
def test_models_without_an_exact_comparator_have_no_regret(name: str) -> None:
    samples, theta0 = draw(name, 3)
    records = run(name, "sg", samples, theta0, 0.1, **MODELS[name])
    assert regret_ml(name, samples, theta0, records) is None
    assert regret_best_fixed(name, samples, records) is None


def test_the_loss_is_summed_before_each_sample_is_learnt() -> None:
    samples, theta0 = draw("logistic", 5)
    records = run("logistic", "svrg/ag", samples, theta0, 0.3)
    thetas = [theta0, *(record.theta for record in records)]
    model = make_model("logistic")
    losses = [-model.ell(thetas[t], samples[t]) for t in range(5)]
    assert all_near([r.loss for r in records], [sum(losses[: t + 1]) for t in range(5)])
