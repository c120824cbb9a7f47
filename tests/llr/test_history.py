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
