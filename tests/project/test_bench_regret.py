"""The scoring of bench/regret.py and the streams it scores on; not the figures."""

import math

import numpy as np
import pytest

from bench import bank, forgetting, million
from bench.league import drifting, hostile, jobs, likelihood, ours, parts, quality, score
from bench.league.ours import CONSTANT, FIXED
from bench.league.peers.peer import Peer
from bench.league.score import Results, Sweep
from bench.league.stream import Stream, losses, nothing, summed, surprises
from bench.markdown import number, table


def test_a_ratio_of_regrets_is_eased_by_two_and_gains_nothing_from_a_regret_below_zero() -> None:
    assert score.ratio(6.0, 2.0) == 2.0
    assert score.ratio(-1.0, 0.0) == score.ratio(0.0, 0.0) == 1.0
    assert score.ratio(-50.0, 8.0) == 0.2
    assert score.ratio(0.0, -50.0) == 2000.0


def test_a_regret_below_zero_counts_as_it_is_down_to_minus_one_in_the_other_form() -> None:
    assert score.ratio_as_it_is(-0.5, 1.0) == 0.5
    assert score.ratio_as_it_is(-50.0, 8.0) == score.ratio_as_it_is(-1.0, 8.0) == 0.1
    assert score.ratio_as_it_is(6.0, 2.0) == score.ratio(6.0, 2.0)
    forms = (score.ratio, score.ratio_as_it_is)
    both = [score.compare({"a": -1.0}, {"a": 0.0}, of) for of in forms]
    assert both == pytest.approx([1.0, 0.5])


def test_the_geometric_mean_of_a_number_and_its_inverse_is_one() -> None:
    assert score.geometric_mean([8.0, 0.125]) == pytest.approx(1.0)
    assert score.compare({"a": 6.0, "b": 0.0}, {"a": 2.0, "b": 2.0}) == pytest.approx(1.0)


def test_the_worst_loss_is_told_with_its_stream() -> None:
    assert score.worst({"a": 3.0, "b": 10.0}, {"a": 2.0, "b": 10.0}) == (1.5, "a")


def test_a_grid_has_its_ends_and_the_default_steps_between() -> None:
    rates = score.grid(4)
    assert len(rates) == 81
    assert (rates[0], rates[-1]) == (1e-10, 1e10)
    assert rates[41] == pytest.approx(10.0**0.25)


def test_a_sweep_by_decades_is_refined_by_quarters_around_its_best() -> None:
    swept = score.refined(lambda rate: abs(math.log10(rate) - 2.3), per_decade=1)
    assert score.best(swept).rate == pytest.approx(10.0**2.25)
    assert len(swept) == 21 + 6
    assert list(swept) == sorted(swept)


def test_a_step_size_that_diverges_is_never_the_best() -> None:
    assert score.best({0.1: math.inf, 1.0: 5.0}).rate == 1.0
    assert score.best({0.1: math.nan, 1.0: 5.0}).rate == 1.0


def test_a_peer_for_numbers_has_no_loss_on_classes() -> None:
    numeric = Peer("constant", lambda stream, _: 0.0 * stream.y, numeric=True)
    coin = Stream("logistic", np.ones((2, 1)), np.array([1.0, 0.0]))
    assert math.isnan(jobs.total_loss(numeric, coin, None))
    assert jobs.total_loss(numeric, coin._replace(model="linear"), None) == 0.0
    assert number(math.nan) == "–"


def test_regret_is_counted_from_the_least_loss_of_the_same_seeds() -> None:
    results = Results((3, 4))
    results.least = {("gaussian", 3): 10.0, ("gaussian", 4): 20.0}
    results.losses = {("auto", "gaussian", 3): 11.0, ("auto", "gaussian", 4): 23.0}
    results.sweeps[FIXED, "gaussian"] = Sweep((3, 4), {0.1: 19.0, 1.0: 16.0})
    results.sweeps[CONSTANT, "gaussian"] = Sweep((4,), {0.1: 20.5, 1.0: math.inf})
    assert results.regret("auto", "gaussian") == 2.0
    assert results.regret("auto", "gaussian", (4,)) == 3.0
    assert results.tuned(FIXED, "gaussian") == (1.0, 1.0)
    assert results.better("gaussian") == 0.5


def test_the_running_mean_knows_only_what_came_before() -> None:
    assert likelihood.mean(np.array([4.0, 2.0, 9.0])).tolist() == [0.0, 4.0, 3.0]


def test_the_running_coin_starts_even() -> None:
    before = 1.0 / (1.0 + np.exp(-likelihood.coin(np.array([1.0, 0.0, 1.0]))))
    assert before.tolist() == pytest.approx([0.5, 0.75, 0.5])


def test_running_least_squares_is_exact_once_it_has_seen_as_many_samples_as_features() -> None:
    X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    s = likelihood.least_squares(X, X @ np.array([2.0, -1.0]))
    assert s[:2].tolist() == [0.0, 0.0]
    assert s[2] == pytest.approx(5.0, rel=1e-5)


def test_the_running_logistic_fit_is_where_its_slope_is_zero() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 2)), np.tile([1.0, 0.0], 20)
    asked = [np.vstack([X, axis]) for axis in np.eye(2)]  # whose last score is θ along the axis
    theta = np.array([likelihood.logistic(one, np.append(y, 0.0))[-1] for one in asked])
    slope = X.T @ (y - 1.0 / (1.0 + np.exp(-X @ theta))) - likelihood.PRIOR * theta
    assert np.abs(slope).max() < 1e-2


def test_losses_are_the_models() -> None:
    assert losses(Stream("linear", np.ones((1, 1)), np.array([3.0])), np.array([1.0]))[0] == 2.0
    coin = Stream("logistic", np.ones((2, 1)), np.array([1.0, 0.0]))
    assert losses(coin, np.zeros(2)).tolist() == pytest.approx([math.log(2.0)] * 2)
    assert nothing(coin) == pytest.approx(2.0 * math.log(2.0))
    three = Stream("softmax", np.ones((2, 1)), np.array([0.0, 2.0]), classes=3)
    assert nothing(three) == pytest.approx(2.0 * math.log(3.0))


def test_who_was_certain_and_wrong_pays_a_finite_price() -> None:
    assert surprises(np.array([0.0, 1.0])).tolist() == pytest.approx([15.0 * math.log(10.0), 0.0])


def test_a_learner_that_left_the_numbers_has_infinite_loss() -> None:
    assert summed(np.array([1.0, math.nan])) == math.inf
    assert summed(np.array([1.0, 2.0])) == 3.0


@pytest.mark.parametrize("name", drifting.NAMES)
def test_a_stream_is_the_same_every_time_and_another_for_another_seed(name: str) -> None:
    first = drifting.stream(name, 0)
    drifting.drawn.cache_clear()
    again, other = drifting.stream(name, 0), drifting.stream(name, 1)
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y, again.y)
    assert not np.array_equal(first.y, other.y)


def test_a_truth_that_jumps_does_so_halfway() -> None:
    truth = drifting.drawn("gaussian-jump", 0).truth
    assert set(truth[:1250]) == {5.0}
    assert set(truth[1250:]) == {-5.0}


def test_the_scales_are_four_decades_apart_in_some_order() -> None:
    spread = np.log10(drifting.stream("scales", 0).X.std(0))
    assert np.sort(spread).tolist() == pytest.approx(np.linspace(-2.0, 2.0, 20), abs=0.05)


def test_a_constant_step_is_not_damped() -> None:
    stream = Stream("linear", np.ones((2, 1)), np.array([2.0, 2.0]))
    assert ours.plain(stream, 0.5, constant=True) == 2.0 + 0.5
    assert ours.plain(stream, 0.5, constant=False) > 2.0 + 0.5


def test_a_step_size_far_too_large_has_infinite_loss() -> None:
    assert ours.plain(drifting.stream("linear", 0), 1e10, constant=True) == math.inf


def test_rivers_table_has_its_published_figures_and_auto_beside_them() -> None:
    place, name = 0, "Phishing"
    published = quality.TRACKS[place].published[name]["Logistic regression"]
    river = quality.measure(place, name, "Logistic regression")
    assert river == pytest.approx(published, abs=0.002)
    assert quality.measure(place, name, "auto")[0] > river[0]


def test_every_line_of_rivers_table_is_measured_or_published() -> None:
    for place, track in enumerate(quality.TRACKS):
        for name in track.sets:
            assert quality.models_of(place, name)[0] == quality.AUTO
            assert {(place, name, model) for model in track.models} < set(quality.JOBS)
            assert all(len(of) == len(track.metrics) for of in track.published[name].values())


def test_what_is_taken_from_the_bank_is_a_line_of_its_layout() -> None:
    layout = (bank.ROOT / bank.LAYOUT).read_text()
    lines = [change for change in bank.ABLATIONS.values() if change != ("", "")]
    assert len(lines) >= 6
    assert all(layout.count(before) == 1 for before, _ in lines)


@pytest.mark.slow
def test_a_long_stream_is_compared_with_the_banks_own_filter() -> None:
    found = million.beyond(300)
    assert list(found) == [128, 300]
    assert abs(found[300] - found[128]) < 10.0


@pytest.mark.slow
def test_a_filter_that_forgets_nothing_is_ridge_regression() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    s = forgetting.scores(X, y, 1e12, 0.0)
    A = X[:59].T @ X[:59] + np.eye(3) / forgetting.PRIOR
    assert s[59] == pytest.approx(X[59] @ np.linalg.solve(A, X[:59].T @ y[:59]), rel=1e-6)


@pytest.mark.slow
def test_llr_on_the_forgetting_factor_shortens_the_memory_on_a_walk() -> None:
    fixed, learnt = (forgetting.regret("gaussian-walk", 1000.0, gain) for gain in (0.0, 5.0))
    assert learnt < 0.8 * fixed


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian-jump", "bernoulli", "scales", "logistic-walk"])
def test_auto_with_every_part_on_is_the_librarys(name: str) -> None:
    stream = drifting.stream(name, 0)
    few = stream._replace(X=stream.X[:1500], y=stream.y[:1500])
    whole = ours.total(few, "auto", second_order=False)
    assert parts.total(few, parts.Parts()) == pytest.approx(whole, rel=1e-9)
    bare = parts.Parts(centred=False)
    with_option = ours.total(few, "auto", second_order=False, centring=False)
    assert parts.total(few, bare) == pytest.approx(with_option, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("what", list(parts.ABLATIONS)[1:])
def test_an_ablation_changes_what_auto_does(what: str) -> None:
    streams = [drifting.stream("scales", 0), hostile.streams(0)["pure noise"]]
    streams += [hostile.streams(0)["half of the features suddenly ×100"]]
    whole = [parts.total(stream, parts.Parts()) for stream in streams]
    for variant in parts.ABLATIONS[what]:
        assert [parts.total(stream, variant) for stream in streams] != whole


def test_tables_are_markdown_and_what_is_not_finite_is_said() -> None:
    assert table(("a", "b"), [("x", number(math.inf))]).splitlines() == [
        "| a | b |",
        "| --- | ---: |",
        "| x | diverges |",
    ]
