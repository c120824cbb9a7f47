import threading

import numpy as np
import pytest

import llr


def test_dim_is_fixed_by_the_first_sample() -> None:
    learner = llr.Learner("linear")
    assert learner.dim is None
    assert learner.theta.size == 0
    assert learner.learn([1.0, 2.0, 3.0], 1.0)
    assert learner.dim == 3
    with pytest.raises(llr.DimensionError):
        learner.learn([1.0, 2.0], 1.0)


def test_a_fixed_step_shows_eta0_and_carries_no_tangent() -> None:
    learner = llr.Learner("gaussian", algorithm="sg", eta0=0.3)
    assert learner.learn([1.0, 2.0, 3.0])
    assert learner.eta == 0.3
    assert not learner.h.any()


def test_eta_is_eta0_to_the_bit_until_log_eta_moves() -> None:
    learner = llr.Learner("gaussian", algorithm="sg/ag", eta0=0.001)
    assert learner.learn([1.0])
    assert learner.eta == 0.001
    assert learner.learn([1.0])
    assert learner.eta == np.exp(learner.log_eta) != 0.001


def test_loss_is_judged_before_learning() -> None:
    learner = llr.Learner("gaussian", algorithm="sg", eta0=1.0, theta0=2.0)
    assert learner.loss.mean is None
    assert learner.learn([4.0])
    assert learner.loss == (2.0, 2.0, 2.0)


def test_regret_is_none_when_off_and_where_no_exact_comparator_exists() -> None:
    off = llr.Learner("gaussian")
    none = llr.Learner("logistic", dim=2, regret="exact")
    assert off.learn([1.0])
    assert none.learn([1.0, 0.0], 1.0)
    assert off.regret == none.regret == (None, None)
    assert off.history.regret is None


def test_a_loss_less_model_of_one_side_has_best_fixed_equal_to_its_loss() -> None:
    learner = llr.Learner("bernoulli", regret="exact")
    assert learner.learn([1.0] * 5)
    assert learner.regret.best_fixed == pytest.approx(learner.loss.total)


def test_theta_is_a_copy() -> None:
    learner = llr.Learner("linear", dim=2)
    learner.theta[:] = 7.0
    assert not learner.theta.any()


def test_softmax_theta_is_classes_by_features() -> None:
    learner = llr.Learner("softmax", dim=2, classes=3, theta0=np.arange(6.0).reshape(3, 2))
    assert learner.theta.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert learner.learn([1.0, 1.0], 2)
    assert learner.predict([1.0, 1.0]).sum() == pytest.approx(1.0)


def test_a_copy_goes_its_own_way() -> None:
    learner = llr.Learner("gaussian", eta0=0.5)
    assert learner.learn([1.0, 2.0])
    twin, before = learner.copy(), learner.pack()
    assert twin.pack() == before
    assert twin.learn([9.0, 9.0, 9.0])
    assert learner.pack() == before
    assert learner.learn([5.0])
    assert twin.history.theta[3, 0] != learner.history.theta[3, 0]


def test_a_view_stays_where_it_was_taken() -> None:
    learner = llr.Learner("gaussian", eta0=0.5)
    for n in (2, 509, 512):  # 511 is the last point before the past is thinned
        assert learner.learn([1.0] * n)
        view, before = learner.view(), learner.pack()
        past = view.history.theta.copy()
        assert learner.copy().learn([3.0] * 2000)
        assert learner.learn([3.0] * 2)
        assert view.pack() == before
        np.testing.assert_array_equal(view.history.theta, past)
    assert view.nbytes > 0


def test_nothing_to_learn_is_learnt() -> None:
    learner = llr.Learner("linear", dim=3)
    assert learner.learn(np.empty((0, 3)), np.empty(0)).accepted == 0
    assert learner.t == 0


def test_divergence_is_an_outcome_with_advice() -> None:
    learner = llr.Learner("linear", dim=1, algorithm="sg", eta0=1e3)
    outcome = learner.learn(np.full((500, 1), 10.0), np.ones(500))
    assert not outcome
    assert outcome.status is llr.Status.DIVERGED
    assert "smaller eta0" in outcome.status.value
    assert 0 < outcome.accepted == learner.t < 500
    assert np.isfinite(learner.theta).all()


def test_a_schedule_must_be_finite_and_positive() -> None:
    learner = llr.Learner("gaussian", schedule=lambda t: 0.5)
    with pytest.raises(llr.ConfigError, match="1 or more"):
        learner.learn([1.0])
    assert learner.t == 0


def test_predicting_needs_features_where_the_model_has_them() -> None:
    with pytest.raises(llr.SampleError):
        llr.Learner("linear", dim=2).predict()
    with pytest.raises(llr.SampleError):
        llr.Learner("gaussian").predict([1.0])
    with pytest.raises(llr.NotFiniteError):
        llr.Learner("linear", dim=1).predict([np.nan])


def test_learners_in_threads_do_not_disturb_each_other() -> None:
    X, y = llr.streams.regression(seed=1).take(2000)
    alone = llr.Learner("linear", dim=50)
    assert alone.learn(X, y)
    learners = [llr.Learner("linear", dim=50) for _ in range(4)]
    threads = [threading.Thread(target=learner.learn, args=(X, y)) for learner in learners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {learner.pack() for learner in learners} == {alone.pack()}


def test_repr_says_what_it_is() -> None:
    assert repr(llr.Learner("gaussian")) == "<Learner gaussian auto dim=1 t=0>"
