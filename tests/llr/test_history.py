import numpy as np
import pytest

import llr
from llr.history import CAPACITY, COORDINATES


@pytest.mark.parametrize("n", [0, 1, 7, 511, 512, 513, 1023, 1024, 1025, 5000])
def test_the_past_is_bounded_evenly_spaced_and_ends_with_the_present(n: int) -> None:
    learner = llr.Learner("gaussian", eta0=0.1, regret="exact")
    learner.learn(np.ones(n))
    past = learner.history
    assert past.t[0] == 0
    assert past.t[-1] == n
    assert len(past.t) <= CAPACITY + 1
    gaps = np.diff(past.t)
    assert set(gaps[:-1].tolist()) <= {gaps[0]} if n else True
    assert past.theta[-1, 0] == learner.theta[0]
    assert past.eta[-1] == learner.eta
    assert past.log_eta[-1] == learner.log_eta
    assert past.loss[-1] == learner.loss.total
    assert past.regret is not None
    assert past.regret[-1] == learner.regret.ml
    assert {len(column) for column in past if column is not None} == {len(past.t)}


def test_every_point_is_the_state_the_learner_had() -> None:
    (y,) = llr.streams.gaussian(seed=2).take(3000)
    learner, witness = llr.Learner("gaussian"), llr.Learner("gaussian")
    learner.learn(y)
    theta = {0: 0.0}
    for t, sample in enumerate(y):
        witness.learn(sample)
        theta[t + 1] = float(witness.theta[0])
    for t, value in zip(learner.history.t, learner.history.theta[:, 0], strict=True):
        assert theta[int(t)] == value


def test_at_most_64_coordinates_are_kept() -> None:
    learner = llr.Learner("linear", dim=100)
    assert learner.learn(np.ones((3, 100)), np.ones(3))
    assert learner.history.theta.shape == (4, COORDINATES)


def test_before_dim_is_known_the_past_is_the_start() -> None:
    assert llr.Learner("linear").history.t.tolist() == [0]


@pytest.mark.parametrize("n", [511, 512, 1023, 2045, 4091, 8186])
def test_the_past_does_not_depend_on_how_the_last_samples_were_grouped(n: int) -> None:
    whole, apart = llr.Learner("gaussian", eta0=0.1), llr.Learner("gaussian", eta0=0.1)
    assert whole.learn(np.ones(n))
    assert apart.learn(np.ones(n - 31))
    for _ in range(31):
        assert apart.learn(1.0)
    assert whole.pack() == apart.pack()


@pytest.mark.parametrize("n", [3, 511, 512, 513, 1500, 5000])
@pytest.mark.parametrize("algorithm", ["svrg", "sg/ag"])
def test_a_point_has_the_range_of_every_sample_since_the_one_before(n: int, algorithm: str) -> None:
    samples = llr.streams.regression(seed=4, dim=10).take(n)
    whole, witness = (llr.Learner("linear", 10, algorithm, 1e-3) for _ in range(2))
    assert whole.learn(*samples)
    seen = [(witness.log_eta, witness.loss.total, *witness.theta)]
    for t in range(n):
        assert witness.learn(*(column[t] for column in samples))
        seen.append((witness.log_eta, witness.loss.total, *witness.theta))
    past, every = whole.history, np.array(seen)
    ends = [0, *past.t[:-1]]
    for i, (low, high) in enumerate(zip(ends, past.t, strict=True)):
        between = every[low : high + 1]
        least = (past.log_eta_low[i], past.loss_low[i], *past.theta_low[i, :8])
        largest = (past.log_eta_high[i], past.loss_high[i], *past.theta_high[i, :8])
        np.testing.assert_allclose(least, between.min(axis=0)[:10], rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(largest, between.max(axis=0)[:10], rtol=1e-14, atol=1e-15)
    assert np.isnan(past.theta_low[:, 8:]).all()


@pytest.mark.parametrize("algorithm", ["auto", "sg/ag", "vsgd"])
def test_a_range_holds_its_point_and_the_one_before(algorithm: str) -> None:
    (y,) = llr.streams.gaussian(seed=2).take(3000)
    learner = llr.Learner("gaussian", algorithm=algorithm)
    assert learner.learn(y)
    past = learner.history
    for name in ("log_eta", "loss", "theta"):
        values, low, high = (getattr(past, name + end) for end in ("", "_low", "_high"))
        assert (low <= values).all()
        assert (values <= high).all()
        assert (low[1:] <= values[:-1]).all()
        assert (values[:-1] <= high[1:]).all()


def test_a_refused_block_leaves_no_trace_in_the_range() -> None:
    learner = llr.Learner("gaussian", algorithm="svrg", eta0=0.1)
    assert learner.learn(np.ones(700))
    before = learner.pack()
    with pytest.raises(llr.SampleError):
        learner.learn([1e6, float("nan")])
    assert learner.pack() == before
    watching = learner.view()
    assert learner.learn([1e6])
    assert watching.pack() == before
