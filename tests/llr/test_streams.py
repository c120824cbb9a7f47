import itertools

import numpy as np
import pytest

import llr
from llr.streams import STREAMS


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_the_same_however_it_is_read(name: str) -> None:
    whole = STREAMS[name](7).take(600)
    source = STREAMS[name](7)
    pieces = [source.take(n) for n in (1, 255, 0, 2, 342)]
    for column, *parts in zip(whole, *pieces, strict=True):
        np.testing.assert_array_equal(column, np.concatenate(parts))
    singles = itertools.islice(STREAMS[name](7), 300)
    for t, sample in enumerate(singles):
        for column, value in zip(whole, sample, strict=True):
            np.testing.assert_array_equal(column[t], value)


@pytest.mark.parametrize("name", ["gaussian", "bernoulli", "regression"])
def test_another_seed_is_another_stream(name: str) -> None:
    assert not np.array_equal(STREAMS[name](1).take(50)[-1], STREAMS[name](2).take(50)[-1])


def test_the_gaussian_has_mean_5_and_variance_2() -> None:
    (y,) = llr.streams.gaussian(seed=0).take(100_000)
    assert y.mean() == pytest.approx(5.0, abs=0.02)
    assert y.var() == pytest.approx(2.0, abs=0.05)


def test_the_coin_shows_a_one_with_probability_0_3() -> None:
    stream = llr.streams.bernoulli(seed=0)
    (y,) = stream.take(100_000)
    assert set(y.tolist()) == {0.0, 1.0}
    assert y.mean() == pytest.approx(0.3, abs=0.01)
    assert stream.truth[0] == pytest.approx(np.log(0.3 / 0.7))


def test_the_regression_is_noiseless_and_its_truth_is_the_first_row_of_the_inverse() -> None:
    stream = llr.streams.regression(seed=0)
    X, y = stream.take(500)
    assert stream.mixing is not None
    np.testing.assert_allclose(X @ stream.truth, y, atol=1e-8)
    np.testing.assert_allclose(stream.truth @ stream.mixing, np.eye(50)[0], atol=1e-8)


def test_the_quadratic_is_minus_half_alpha_theta_squared() -> None:
    stream = llr.streams.quadratic()
    learner = llr.Learner(stream.model, stream.dim, "sg", 1e-20, stream.theta0)
    assert learner.learn(*stream.take(1))
    assert learner.loss.total == pytest.approx(0.5e8)
