"""Named features: the same algorithms as for dense ones, on whatever names come up."""

import itertools
import json
import threading
from typing import Any

import numpy as np
import pytest
from support.auto_reference import LINEAR, LOGISTIC, NamedAuto, Says
from support.samples_of import labels_of, options_of

import llr
from llr.algorithms import BASES

Array = np.ndarray[Any, Any]
ABLE = [name for name, algorithm in llr.ALGORITHMS.items() if algorithm.sparse]
FEATURES = [name for name, model in llr.MODELS.items() if model.features]
PAIRS = [(m, a) for m in FEATURES for a in ABLE if llr.ALGORITHMS[a].suits(llr.MODELS[m])]
NAMES = ["age", "city=Rome", "height", "member", "visits", "weight"]

every_pair = pytest.mark.parametrize(("model", "algorithm"), PAIRS)


def options(model: str) -> dict[str, Any]:
    """The model's own option, without a dim."""
    return {name: value for name, value in options_of(model).items() if name != "dim"}


def named(model: str, algorithm: str = "sg/ag", **others: Any) -> llr.NamedLearner:
    return llr.NamedLearner(model, algorithm, **({"eta0": 0.01} | options(model) | others))


def sparse_samples(model: str, seed: int, n: int) -> tuple[list[dict[str, float]], Array]:
    """Samples of which each has a few of the names, in any order."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        present = rng.permutation(NAMES)[: rng.integers(0, len(NAMES) + 1)]
        rows.append({str(name): float(rng.normal()) for name in present})
    return rows, labels_of(model, rng, n)


@every_pair
def test_named_features_are_learnt_as_the_same_columns_would_be(model: str, algorithm: str) -> None:
    rng, n = np.random.default_rng(1), 60
    X, y = rng.normal(size=(n, len(NAMES))), labels_of(model, rng, n)
    off: dict[str, Any] = {}
    if algorithm == "auto":
        off = {"centring": False, "second_order": False}
    dense = llr.Learner(model, len(NAMES), algorithm, eta0=0.01, **options(model), **off)
    by_name = named(model, algorithm, **off)
    rows = [dict(zip(NAMES, x.tolist(), strict=True)) for x in X]
    expected, found = dense.learn(X, y, predictions=True), by_name.learn(rows, y, predictions=True)
    assert expected.predictions is not None
    assert found.predictions is not None
    np.testing.assert_allclose(found.predictions, expected.predictions, rtol=1e-9, atol=1e-12)
    theta = np.array(list(by_name.theta.values()))
    np.testing.assert_allclose(theta.T, dense.theta, rtol=1e-9, atol=1e-12)
    assert by_name.eta == pytest.approx(dense.eta, rel=1e-12)
    assert by_name.loss.total == pytest.approx(dense.loss.total, rel=1e-12)
    has_intercept = algorithm in {"auto", "kalman"}
    assert (by_name.intercept is None) == (dense.intercept is None) == (not has_intercept)
    if dense.intercept is not None:
        assert by_name.intercept == pytest.approx(dense.intercept, rel=1e-9)


@every_pair
def test_one_by_one_is_the_same_as_in_blocks_to_the_last_bit(model: str, algorithm: str) -> None:
    long = model == "linear"  # enough for the past to be thinned
    rows, y = sparse_samples(model, 2, 600 if long else 120)
    whole, single, ragged = (named(model, algorithm) for _ in range(3))
    assert whole.learn(rows, y)
    for row, label in zip(rows, y, strict=True):
        assert single.learn(row, label)
    for low, high in itertools.pairwise([0, 1, 3, 100, 120, 511, 512, 513, 600]):
        assert ragged.learn(rows[low:high], y[low:high])
    assert whole.pack() == single.pack() == ragged.pack()


@every_pair
def test_resuming_in_the_middle_equals_an_uninterrupted_run(model: str, algorithm: str) -> None:
    rows, y = sparse_samples(model, 3, 120)
    straight, first = named(model, algorithm), named(model, algorithm)
    assert straight.learn(rows, y)
    assert first.learn(rows[:50], y[:50])
    again = llr.NamedLearner.unpack(first.pack())
    plain = llr.NamedLearner.from_plain(json.loads(json.dumps(first.to_plain())))
    for learner in (again, plain):
        assert learner.learn(rows[50:], y[50:])
        assert learner.pack() == straight.pack()


def test_a_feature_is_a_number_a_boolean_or_one_of_several_words() -> None:
    rows = llr.NamedRows.of(
        [{"a": 2, "b": True, "c": "x", "d": False}, {"c": "y", "a": np.float32(1)}]
    )
    assert rows.names == ["a", "b", "c=x", "d", "c=y"]
    assert rows.values.tolist() == [2.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    assert rows.columns.tolist() == [0, 1, 2, 3, 4, 0]
    assert rows.starts.tolist() == [0, 4, 6]


@pytest.mark.parametrize(
    ("sample", "error", "feature"),
    [
        ({"a": None}, llr.DtypeError, "a"),
        ({"a": [1.0]}, llr.DtypeError, "a"),
        ({"a": float("nan")}, llr.NotFiniteError, "a"),
        ({"a": 10**400}, llr.NotFiniteError, "a"),
        ({7: 1.0}, llr.DtypeError, None),
        ([1.0], llr.DtypeError, None),
        ({"": 1.0}, llr.FeatureError, ""),
        ({"#1": 1.0}, llr.FeatureError, "#1"),
        ({"x" * 257: 1.0}, llr.FeatureError, "x" * 257),
        ({"a": "x" * 255}, llr.FeatureError, "a=" + "x" * 255),
        ({"\ud800": 1.0}, llr.FeatureError, "\ud800"),
        ({"a": "b", "a=b": 2.0}, llr.FeatureError, "a=b"),
        ({f"f{i}": 1.0 for i in range(10_001)}, llr.FeatureError, None),
    ],
)
def test_what_cannot_be_a_feature_is_refused_by_sample_and_name(
    sample: Any, error: type[llr.SampleError], feature: str | None
) -> None:
    learner = named("linear")
    with pytest.raises(error) as caught:
        learner.learn([{"good": 1.0}, sample], [1.0, 2.0])
    assert (caught.value.index, caught.value.feature) == (1, feature)
    assert (learner.t, learner.known) == (0, 0)


def test_numbers_that_are_not_finite_are_refused_in_ready_rows_too() -> None:
    rows = llr.NamedRows(["a", "b"], np.arange(3), np.arange(2), np.array([1.0, np.inf]))
    learner = named("linear")
    for call in (lambda: learner.learn(rows, [1.0, 2.0]), lambda: learner.predict(rows)):
        with pytest.raises(llr.NotFiniteError) as caught:
            call()
        assert (caught.value.index, caught.value.feature) == (1, "b")
    assert learner.t == learner.known == 0


@pytest.mark.parametrize(
    ("starts", "columns"),
    [
        ([0, 1], [0, 1]),
        ([0, 2], [0, 0]),
        ([0, 2], [1, 0]),
        ([0, 2], [0, 7]),
        ([0, 2], [-1, 0]),
        ([0, 3, 2], [0, 1]),
        ([0, 1], [0]),
        ([], []),
    ],
)
def test_ready_rows_that_point_anywhere_else_are_refused(
    starts: list[int], columns: list[int]
) -> None:
    with pytest.raises(llr.ShapeError):
        llr.NamedRows(["a", "b"], np.array(starts), np.array(columns), np.ones(len(columns)))


def test_labels_have_to_fit() -> None:
    learner = named("logistic")
    for rows, y in (({"a": 1}, [1.0]), ([{"a": 1}], 1.0), ([{"a": 1}], [1, 0]), ({"a": 1}, "1")):
        with pytest.raises(llr.SampleError):
            learner.learn(rows, y)
    with pytest.raises(llr.DomainError, match="sample 1"):
        learner.learn([{"a": 1}, {"b": 1}], [1, 3])
    assert learner.known == 0


@pytest.mark.parametrize("n", [5, 1500])
def test_a_label_outside_the_domain_is_refused_by_its_index(n: int) -> None:
    learner = llr.NamedLearner("logistic")
    labels = np.zeros(n)
    labels[3] = 7.0
    with pytest.raises(llr.DomainError, match="sample 3: y"):
        learner.learn([{"a": 1.0}] * n, labels)
    assert learner.t == 0


def test_samples_can_be_dropped_from_the_front() -> None:
    rows = llr.NamedRows.of([{"a": 1, "b": 2}, {"c": 3, "b": 4}, {}, {"a": 5, "c": 6}])
    left = rows.after(1)
    assert (left.names, left.n) == (["c", "b", "a"], 3)
    assert left.columns.tolist() == [0, 1, 2, 0]
    assert left.values.tolist() == [3.0, 4.0, 5.0, 6.0]
    assert rows.after(4).n == 0
    assert 0 < rows.after(4).nbytes < left.nbytes < rows.nbytes


@pytest.mark.parametrize("algorithm", [a for a in ABLE if llr.ALGORITHMS[a].base])
@pytest.mark.parametrize("model", ["linear", "softmax"])
def test_a_base_that_says_so_leaves_alone_what_a_sample_does_not_have(
    algorithm: str, model: str
) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 3)), labels_of(model, rng, 40)
    X[20:, 1] = 0.0
    dense = llr.Learner(model, 3, algorithm, eta0=0.05, **options(model))
    dense.learn(X[:20], y[:20])
    assert dense._state is not None
    before = dense._state.vectors[:, :, 1].tobytes()
    dense.learn(X[20:], y[20:])
    assert dense._state.vectors[:, :, 1].tobytes() == before


def test_all_bases_that_could_say_so_do() -> None:
    assert [name for name, base in BASES.items() if base.sparse] == ["sg", "isg", "adagrad"]
    assert {"auto", "sg/ag", "isg/sg"} < set(ABLE)
    assert "vsgd" not in ABLE


@pytest.mark.parametrize(
    ("field", "settings"),
    [
        ("algorithm", {"algorithm": "svrg/ag"}),
        ("algorithm", {"algorithm": "vsgd"}),
        ("options.memory", {"algorithm": "sg/ag", "memory": True}),
        ("options.centring", {"algorithm": "auto", "centring": True}),
        ("theta0", {"theta0": [1.0]}),
        ("theta0", {"theta0": {"a": "x"}}),
        ("theta0", {"theta0": {"#1": 1.0}}),
        ("max_features", {"max_features": 0}),
        ("hash_bits", {"hash_bits": 40}),
    ],
)
def test_what_named_features_cannot_have_is_refused(field: str, settings: dict[str, Any]) -> None:
    with pytest.raises(llr.ConfigError) as caught:
        llr.NamedLearner("linear", **settings)
    assert caught.value.field == field
    for wrong in ({"model": "gaussian"}, {"model": "linear", "dim": 3}):
        with pytest.raises(llr.ConfigError):
            llr.NamedConfig(**wrong)


def test_flags_may_be_turned_off_in_words() -> None:
    assert llr.NamedLearner("linear", centring=False).learn({"a": 1.0}, 1.0)
    assert llr.NamedLearner("linear", "sg/ag", memory=False).learn({"a": 1.0}, 1.0)


@pytest.mark.parametrize(("model", "says"), [("linear", LINEAR), ("logistic", LOGISTIC)])
def test_auto_agrees_with_its_plain_restatement_where_features_are_missing(
    model: str, says: Says
) -> None:
    rng, n, names = np.random.default_rng(5), 400, NAMES[:4]
    X = rng.normal(size=(n, 4)) * [0.01, 1.0, 5.0, 100.0]
    X[rng.random((n, 4)) < 0.4] = np.nan
    X[:100, 3] = np.nan  # comes up late
    s = np.nan_to_num(X) @ [100.0, -1.0, 0.3, 0.01]
    s[250:] *= -1.0  # a jump, for the mean to start over
    y = (
        s + rng.normal(size=n)
        if model == "linear"
        else 1.0 * (rng.random(n) < 1 / (1 + np.exp(-s)))
    )
    learner, plain = llr.NamedLearner(model, second_order=False), NamedAuto(says, 4)
    rows = [{name: float(x[i]) for i, name in enumerate(names) if np.isfinite(x[i])} for x in X]
    found = learner.learn(rows, y, predictions=True).predictions
    scores = np.array([plain.learn(x, label) for x, label in zip(X, y, strict=True)])
    assert found is not None
    expected = scores if model == "linear" else 1 / (1 + np.exp(-scores))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    theta = learner.theta_of(names)
    np.testing.assert_allclose([*theta.values(), learner.intercept], plain.theta, rtol=1e-7)
    assert learner.eta == pytest.approx(plain.eta, rel=1e-8)
    assert plain.starts > 0


def test_unknown_names_are_zero_for_a_prediction_and_stay_unknown() -> None:
    learner = named("linear")
    learner.learn([{"a": 1.0}, {"b": 2.0}], [1.0, 2.0])
    assert learner.predict({"a": 1.0, "zzz": 1e9}) == learner.predict({"a": 1.0})
    assert learner.predict({"zzz": 1.0}) == 0.0
    assert learner.predict([{"zzz": 1.0}, {}]).tolist() == [0.0, 0.0]
    assert list(learner.theta) == ["a", "b"]


@pytest.mark.parametrize("algorithm", ["sg/ag", "auto"])
def test_what_learning_predicted_is_what_predict_would_have_said(algorithm: str) -> None:
    rows, y = sparse_samples("linear", 6, 60)
    learner = named("linear", algorithm, max_features=4, hash_bits=1)
    for row, label in zip(rows, y, strict=True):
        before = learner.predict(row)
        after = learner.learn(row, label, predictions=True).predictions
        assert after is not None
        assert after[0] == pytest.approx(before, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("algorithm", ["sg/ag", "adagrad", "auto"])
def test_beyond_the_most_names_are_hashed_however_samples_are_grouped(algorithm: str) -> None:
    rng = np.random.default_rng(7)
    rows = [
        {f"n{i}": float(rng.normal()) for i in rng.permutation(40)[: rng.integers(0, 12)]}
        for _ in range(300)
    ]
    y = rng.normal(size=300)
    whole, single = (named("linear", algorithm, max_features=5, hash_bits=3) for _ in range(2))
    assert whole.learn(rows, y)
    for row, label in zip(rows, y, strict=True):
        assert single.learn(row, label)
    assert whole.pack() == single.pack()
    assert (whole.known, whole.hashing, whole.dim) == (5, True, 13)
    shared = list(whole.theta)[5:]
    assert sorted(shared) == [f"#{slot}" for slot in range(8)]
    assert llr.NamedLearner.unpack(whole.pack()).pack() == whole.pack()
    assert whole.view().copy().pack() == whole.pack()


def test_names_that_share_a_column_add_up() -> None:
    apart, together = (named("linear", max_features=1, hash_bits=1) for _ in range(2))
    slots: dict[str, list[str]] = {}
    for name in "bcdefgh":
        learner = named("linear", max_features=1, hash_bits=1)
        learner.learn({"a": 1.0, name: 1.0}, 1.0)
        slots.setdefault(list(learner.theta)[1], []).append(name)
    one, other = next(names for names in slots.values() if len(names) > 1)[:2]
    apart.learn([{"a": 1.0}, {one: 1.0, "a": 3.0, other: 2.5}], [1.0, 2.0])
    together.learn([{"a": 1.0}, {one: 3.5, "a": 3.0}], [1.0, 2.0])
    assert apart.pack() == together.pack()


def test_names_come_in_the_order_of_first_appearance_and_many_are_fine() -> None:
    learner = named("linear", "auto")
    for block in range(5):
        rows = [{f"{i % 700}": 1.0, f"new {i}": 0.5} for i in range(block * 300, block * 300 + 300)]
        assert learner.learn(rows, np.ones(300))
    expected = llr.NamedRows.of([{f"{i % 700}": 1.0, f"new {i}": 0.5} for i in range(1500)]).names
    assert list(learner.theta) == expected
    assert learner.known == 2200
    assert not learner.hashing
    assert learner.nbytes > 2200 * 64
    assert llr.NamedLearner.unpack(learner.pack()).theta == learner.theta


@every_pair
def test_a_step_out_of_the_finite_numbers_leaves_the_state_before_it(
    model: str, algorithm: str
) -> None:
    rows, y = sparse_samples(model, 8, 40)
    for i in range(25, 40):
        rows[i] = {"age": 1e308, "weight": 1e308, f"late {i}": 1e308}
    start = [3.0, -3.0, 0.0] if model == "softmax" else 3.0
    settings = {"theta0": {"age": start, "weight": start}}
    learner, expected = (named(model, algorithm, **settings) for _ in range(2))
    outcome = learner.learn(rows, y)
    assert outcome.status is llr.Status.DIVERGED
    assert 0 < outcome.accepted < 40
    for row, label in zip(rows[: outcome.accepted], y, strict=False):
        assert expected.learn(row, label)
    assert learner.pack() == expected.pack()
    assert learner.learn(rows[outcome.accepted], y[outcome.accepted]).accepted == 0
    assert learner.pack() == expected.pack()
    assert learner.learn({"age": 1.0}, y[0])


def test_theta0_is_where_named_features_start() -> None:
    learner = named("linear", "auto", theta0={"a": 2.0, "b": -1.0})
    assert learner.theta == {"a": 2.0, "b": -1.0}
    assert learner.predict({"a": 1.0, "b": 1.0}) == 1.0
    assert learner.history.theta.tolist() == [[2.0, -1.0]]
    many = llr.NamedLearner("softmax", "sg", theta0={"a": [1.0, 2.0]}, classes=2)
    assert many.theta == {"a": [1.0, 2.0]}
    again = llr.NamedLearner("linear", theta0=learner.theta)
    assert again.theta == learner.theta


def test_the_past_shows_names_and_zeros_before_they_came_up() -> None:
    learner = named("linear", eta0=0.5)
    learner.learn([{"a": 1.0}, {"b": 1.0}], [1.0, 1.0])
    past = learner.history
    assert past.names == ["a", "b"]
    assert past.t.tolist() == [0, 1, 2]
    assert (past.theta == 0.0).tolist() == [[True, True], [False, True], [False, False]]
    assert past.theta[-1].tolist() == list(learner.theta.values())
    several = named("softmax")
    several.learn({"a": 1.0, "b": 2.0}, 1)
    assert several.history.names == ["a[0]", "a[1]", "a[2]", "b[0]", "b[1]", "b[2]"]
    assert several.history.theta[-1].tolist() == np.ravel(list(several.theta.values())).tolist()


def test_the_past_is_bounded() -> None:
    learner = named("linear", "auto")
    learner.learn([{f"n{i}": 1.0} for i in range(3000)], np.ones(3000))
    assert learner.history.theta.shape[1] == 64
    assert len(learner.history.t) <= 513


def test_a_view_stays_and_both_may_go_on() -> None:
    rows, y = sparse_samples("linear", 9, 90)
    learner = named("linear", "auto")
    learner.learn(rows[:30], y[:30])
    view, before, past = learner.view(), learner.pack(), learner.history.theta
    learner.learn(rows[30:60], y[30:60])
    assert view.pack() == before
    assert view.predict(rows[3]) == llr.NamedLearner.unpack(before).predict(rows[3])
    np.testing.assert_array_equal(view.history.theta, past)
    view.learn([{"other": 1.0}, *rows[60:]], [1.0, *y[60:]])
    fresh = named("linear", "auto")
    fresh.learn(rows[:60], y[:60])
    assert learner.pack() == fresh.pack()
    other = llr.NamedLearner.unpack(before)
    other.learn([{"other": 1.0}, *rows[60:]], [1.0, *y[60:]])
    assert view.pack() == other.pack()


def test_a_view_can_be_read_while_a_thread_learns() -> None:
    rows, y = sparse_samples("linear", 10, 200)
    learner = named("linear", "auto")
    learner.learn(rows, y)
    view, theta = learner.view(), learner.theta

    def learn() -> None:
        for _ in range(40):
            learner.learn([*rows, {f"more {learner.t}": 1.0}], [*y, 1.0])

    thread = threading.Thread(target=learn)
    thread.start()
    seen = [view.theta]
    while thread.is_alive():
        seen.append(view.theta)
    thread.join()
    assert all(one == theta for one in seen)
    assert learner.known == len(theta) + 40


def test_a_schedule_belongs_to_the_learner() -> None:
    learner = named("linear", schedule=lambda t: t + 1.0)
    learner.learn({"a": 1.0}, 1.0)
    with pytest.raises(llr.StateError, match="schedule"):
        llr.NamedLearner.unpack(learner.pack())
    assert llr.NamedLearner.unpack(learner.pack(), schedule=lambda t: t + 1.0).t == 1


def test_it_shows_what_every_learner_shows() -> None:
    rows, y = sparse_samples("linear", 11, 100)
    learner = llr.NamedLearner.from_config(llr.NamedConfig("linear", algorithm="sg/ag"))
    assert learner.eta_status.state == "starting"
    excess = learner.learn(rows, y, excess=True).excess
    assert excess is not None
    assert float(excess.sum()) == pytest.approx(learner.loss.total)
    assert learner.regret == (None, None)
    assert learner.history.regret is None
    assert learner.eta_status.state != "starting"
    assert repr(learner) == "<NamedLearner linear sg/ag known=6 t=100>"
