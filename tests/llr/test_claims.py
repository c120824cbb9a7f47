"""What the paper says its figures show, as numbers on its own streams."""

import numpy as np
import pytest

import llr
from llr.streams import STREAMS

pytestmark = pytest.mark.slow

LENGTH = {"gaussian": 2500, "bernoulli": 2500, "regression": 7500}


def learnt(stream_name: str, algorithm: str, eta0: float, seed: int = 1) -> llr.Learner:
    stream = STREAMS[stream_name](seed)
    learner = llr.Learner(stream.model, stream.dim, algorithm, eta0, regret="exact")
    assert learner.learn(*stream.take(LENGTH[stream_name]))
    return learner


def regret(learner: llr.Learner) -> float:
    assert learner.regret.ml is not None
    return learner.regret.ml


# A poor η_0, far below the fixed step that does best in hindsight. On the coin sg/ag from still
# smaller ones needs more than the paper's 2,500 flips to arrive.
POOR = {
    ("gaussian", "sg"): 1e-4,
    ("gaussian", "svrg"): 1e-5,
    ("bernoulli", "sg"): 1e-2,
    ("bernoulli", "svrg"): 1e-4,
    ("regression", "sg"): 1e-5,
    ("regression", "svrg"): 1e-6,
}


@pytest.mark.parametrize(("stream", "base"), POOR)
def test_from_a_poor_small_eta0_llr_ends_with_far_less_regret_on_most_seeds(
    stream: str, base: str
) -> None:
    eta0, seeds = POOR[stream, base], range(1, 11)
    ratios = [
        regret(learnt(stream, f"{base}/ag", eta0, seed)) / regret(learnt(stream, base, eta0, seed))
        for seed in seeds
    ]
    assert np.median(ratios) < 0.4
    assert np.mean(np.array(ratios) < 0.6) >= 0.7


@pytest.mark.parametrize(
    ("stream", "base", "eta0"),
    [
        ("gaussian", "sg", 1e-3),
        ("gaussian", "svrg", 1e-4),
        ("bernoulli", "sg", 1e-1),
        ("bernoulli", "svrg", 1e-3),
        ("regression", "sg", 1e-4),
        ("regression", "svrg", 1e-6),
    ],
)
def test_the_plain_ascent_on_log_eta_also_ends_with_less_regret(
    stream: str, base: str, eta0: float
) -> None:
    seeds = range(1, 6)
    fixed = sum(regret(learnt(stream, base, eta0, seed)) for seed in seeds)
    learning = sum(regret(learnt(stream, f"{base}/sg", eta0, seed)) for seed in seeds)
    assert learning < fixed


@pytest.mark.parametrize(
    ("stream", "eta0", "share"),
    [
        ("gaussian", 1e-3, 1.0),
        ("gaussian", 1e-1, 1.0),
        ("bernoulli", 1e-2, 0.7),
        ("bernoulli", 1e-1, 0.9),
    ],
)
def test_llr_ends_close_to_the_truth_on_most_seeds(stream: str, eta0: float, share: float) -> None:
    truth = float(STREAMS[stream](1).truth[0])
    ends = [float(learnt(stream, "sg/ag", eta0, seed).theta[0]) for seed in range(1, 21)]
    assert np.mean(np.abs(np.array(ends) - truth) < 0.3) >= share


@pytest.mark.parametrize(
    ("stream", "eta0", "share"), [("gaussian", 1e-3, 1.0), ("bernoulli", 1e-1, 0.75)]
)
def test_llr_regret_stagnates_while_the_fixed_steps_goes_on_rising(
    stream: str, eta0: float, share: float
) -> None:
    def rise(algorithm: str, seed: int) -> float:
        past = learnt(stream, algorithm, eta0, seed).history.regret
        assert past is not None
        return float(past[-1] - past[len(past) // 2])

    stagnates = [rise("sg/ag", seed) < 0.1 * rise("sg", seed) for seed in range(1, 21)]
    assert np.mean(stagnates) >= share


def test_svrg_ag_damps_the_oscillation_of_svrg_on_nearly_every_seed() -> None:
    """Sample by sample: the mean |θ_{t+1} − θ_t| over the second half, from η₀ = 10."""

    def wobble(algorithm: str, seed: int) -> float:
        stream = STREAMS["bernoulli"](seed)
        learner = llr.Learner("bernoulli", 1, algorithm, 10.0)
        moves, last = [], 0.0
        for (y,), _ in zip(stream, range(2500), strict=False):
            assert learner.learn(y)
            moves.append(abs(float(learner.theta[0]) - last))
            last = float(learner.theta[0])
        return float(np.mean(moves[1250:]))

    ratios = [wobble("svrg/ag", seed) / wobble("svrg", seed) for seed in range(10)]
    assert np.median(ratios) < 0.01
    assert np.mean(np.array(ratios) < 0.1) >= 0.9


def test_the_history_shows_the_oscillation_between_its_points() -> None:
    past = learnt("bernoulli", "svrg", 10.0).history
    half = len(past.t) // 2
    swing = (past.theta_high - past.theta_low)[half:, 0]
    step = np.abs(np.diff(past.theta[half:, 0]))
    assert np.median(swing) > 1.0 > np.median(step)


def test_svrg_ag_stays_near_where_svrg_swings_out_on_the_regression() -> None:
    def furthest(algorithm: str) -> float:
        return float(np.abs(learnt("regression", algorithm, 1e-3).history.theta).max())

    assert furthest("svrg") > 1e6
    assert furthest("svrg/ag") < 100


@pytest.mark.parametrize("algorithm", ["sg/ag", "svrg/ag"])
def test_on_the_quadratic_of_1e8_eta_comes_down_to_the_edge_of_stability(algorithm: str) -> None:
    stream = llr.streams.quadratic()
    learner = llr.Learner("linear", 1, algorithm, 1e-4, stream.theta0)
    assert learner.learn(*stream.take(500))
    past = learner.history
    f = np.sqrt(past.t + 2.0) * np.log(past.t + 3.0)
    decades = np.log10(past.eta / (2.0 * f) * 1e8)  # of the ratio above 1/α; stable below 0
    assert decades[0] > 3.0
    assert np.abs(decades[:100]).min() < 0.1
    assert decades[100:].max() < 0.0
    assert abs(past.theta[-1, 0]) < 1e-6 < np.abs(past.theta[:, 0]).max()
