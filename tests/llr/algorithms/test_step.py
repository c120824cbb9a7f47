"""Memory (R12) in float64, held to exact arithmetic where rounding could tell."""

from typing import Any

import numpy as np
import pytest
from support import reference
from support.like_reference import reference_samples

import llr
from llr.algorithms.step import MIN_TAU
from llr.kernels.layout import TAU
from llr.streams import STREAMS

pytestmark = pytest.mark.slow

ETAS = [1e-5, 1e-4, 1e-3, 1e-2]


@pytest.mark.parametrize("algorithm", ["sg/ag", "svrg/ag"])
@pytest.mark.parametrize("eta0", ETAS)
def test_on_the_papers_gaussian_stream_no_seed_diverges(algorithm: str, eta0: float) -> None:
    for seed in range(100):
        learner = llr.Learner("gaussian", 1, algorithm, eta0, memory=True)
        assert learner.learn(*STREAMS["gaussian"](seed).take(2500)), seed
        state = learner._state
        assert state is not None
        assert state.scalars[TAU] >= MIN_TAU


@pytest.mark.parametrize(
    ("model", "options"),
    [("linear", {}), ("huber", {"delta": 1.0}), ("poisson", {})],
)
@pytest.mark.parametrize("constant", [True, False])
def test_nor_where_x_is_1_or_has_a_1(model: str, options: dict[str, Any], constant: bool) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        ones = np.ones((2000, 1))
        X = ones if constant else np.hstack((ones, rng.normal(size=(2000, 1))))
        y = rng.poisson(5.0, 2000).astype(np.float64)
        learner = llr.Learner(model, X.shape[1], "sg/ag", 1e-3, memory=True, **options)
        assert learner.learn(X, y), seed


@pytest.mark.parametrize("dim", [1, 3, 50])
@pytest.mark.parametrize("eta0", ETAS)
@pytest.mark.parametrize(("algorithm", "seed"), [("sg/ag", 3), ("sg/ag", 4), ("svrg/ag", 3)])
def test_eta_is_that_of_exact_arithmetic(dim: int, eta0: float, algorithm: str, seed: int) -> None:
    stream = STREAMS["gaussian"](seed) if dim == 1 else llr.streams.regression(seed, dim)
    samples = stream.take(500)
    learner = llr.Learner(stream.model, dim, algorithm, eta0, memory=True)
    assert learner.learn(*samples)
    exact = reference.run(
        stream.model, algorithm, reference_samples(samples), [0.0] * dim, eta0, memory=True
    )
    assert learner.eta == pytest.approx(float(reference.mp.exp(exact[-1].log_eta)), rel=0.01)
