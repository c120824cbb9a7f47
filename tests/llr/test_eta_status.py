import math

import numpy as np
import pytest

import llr
from llr import eta_status
from llr.algorithms.algorithm import FLOOR
from llr.config import Config
from llr.history import used
from llr.kernels.layout import ETA, LOG_ETA, T
from llr.state import initial
from llr.types import Vector


def walked(log_etas: list[float], eta0: float = 1e-3, algorithm: str = "sg/ag") -> str:
    """The status of a learner whose log η went this way, a sample each."""
    return judged(log_etas, eta0, algorithm).state


def judged(log_etas: list[float], eta0: float, algorithm: str = "sg/ag") -> llr.EtaStatus:
    config = Config("gaussian", algorithm=algorithm, eta0=eta0)
    fresh = initial(config, 1)
    past = np.zeros((len(log_etas), fresh.history.shape[1]))
    past[:, 0], past[:, 1] = range(len(log_etas)), log_etas
    scalars, counts = fresh.scalars.copy(), fresh.counts.copy()
    scalars[LOG_ETA], scalars[ETA] = log_etas[-1], math.exp(log_etas[-1])
    counts[T], counts[1] = len(log_etas) - 1, len(log_etas)
    return eta_status.of(config, fresh._replace(scalars=scalars, counts=counts, history=past))


def plainly(past: Vector, t: int, log_eta: float) -> tuple[float, float]:
    """Σδ and Σδ² as one would write them down."""
    cuts = np.linspace(t / 2.0, t, eta_status.STRETCHES + 1)
    times, values = np.append(past[:, 0], t), np.append(past[:, 1], log_eta)
    changes = np.diff(np.interp(cuts, times, values))
    return float(changes.sum()), float(changes @ changes)


@pytest.mark.parametrize("n", [64, 65, 100, 511, 512, 513, 700, 1024, 1025, 5000, 30_000])
def test_the_changes_are_those_of_the_plain_form(n: int) -> None:
    (y,) = llr.streams.gaussian(seed=n).take(n)
    learner = llr.Learner("gaussian", algorithm="sg/ag", eta0=1e-4)
    assert learner.learn(y)
    state = learner._state
    assert state is not None
    found = eta_status._changes(state.history, state.counts, learner.log_eta)
    expected = plainly(used(state), learner.t, learner.log_eta)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_a_fixed_step_says_so() -> None:
    for base in ("sg", "svrg", "isg"):
        assert llr.Learner("gaussian", algorithm=base).eta_status.state == "fixed"
    assert llr.Learner("linear").eta_status.state == "starting"


def test_a_few_samples_are_too_few_to_say() -> None:
    assert walked([0.1 * i for i in range(50)]) == "starting"
    assert walked([0.1 * i for i in range(70)]) == "travelling"


@pytest.mark.parametrize("seed", range(20))
def test_a_tremble_is_settled_and_a_drift_on_top_of_it_is_travelling(seed: int) -> None:
    noise = 0.1 * np.random.default_rng(seed).normal(size=400)
    start = math.log(1e-3)
    assert walked((start + noise).tolist()) == "settled"
    assert walked((start + noise + 0.02 * np.arange(400)).tolist()) == "travelling"
    assert walked((start + noise - 0.02 * np.arange(400)).tolist()) == "travelling"


def test_a_walk_without_a_direction_is_rarely_taken_for_a_journey() -> None:
    walks = np.random.default_rng(5).normal(size=(300, 300)).cumsum(axis=1)
    assert sum(walked(walk.tolist()) == "travelling" for walk in walks) <= 12


def test_a_journey_of_the_past_does_not_count() -> None:
    arrived = [-10.0 + min(i, 100) * 0.1 for i in range(400)]
    assert walked(arrived) == "settled"
    assert walked(arrived[:120]) == "travelling"


def test_the_advice_names_a_better_start() -> None:
    far = judged([math.log(1e-6) + min(i, 100) * 0.1 for i in range(400)], 1e-6)
    assert far.state == "settled"
    assert "2.2e+04 times up" in far.advice
    assert far.advice.endswith("0.022")
    up = judged([math.log(1e-6) + 0.05 * i for i in range(200)], 1e-6)
    assert "eta0 was too small" in up.advice
    down = judged([math.log(1e6) - 0.05 * i for i in range(200)], 1e6)
    assert "eta0 was too large" in down.advice
    near = judged([math.log(0.1)] * 200, 0.1)
    assert near.advice == "eta has found its place"


def test_an_algorithm_that_does_not_start_at_eta0_is_not_told_about_it() -> None:
    assert "eta0" not in judged([0.05 * i for i in range(200)], 1e-6, "vsgd").advice


def test_a_bound_of_the_algorithm_pins(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = llr.ALGORITHMS["sg/ag"]
    held = type(chosen)(**{**chosen.__dict__, "bounds": lambda scalars, t: (-2.0, 3.0)})
    monkeypatch.setitem(llr.ALGORITHMS, "sg/ag", held)
    assert "largest" in judged([3.0] * 100, 1.0).advice
    assert "smallest" in judged([-2.0] * 100, 1.0).advice
    assert walked([0.0] * 100) == "settled"


@pytest.mark.parametrize("seed", range(5))
def test_on_the_papers_stream_a_start_far_off_travels_and_then_arrives(seed: int) -> None:
    (y,) = llr.streams.gaussian(seed=seed).take(20_000)
    learner = llr.Learner("gaussian", algorithm="sg/ag", eta0=1e-7)
    assert learner.learn(y[:300])
    assert learner.eta_status.state == "travelling"
    assert "grows" in learner.eta_status.advice
    assert learner.learn(y[300:])
    assert learner.eta_status.state == "settled"
    assert "start the next session" in learner.eta_status.advice


@pytest.mark.parametrize(
    ("stream", "algorithm", "eta0"),
    [
        ("regression", "sg/sg", 0.1),
        ("regression", "svrg/sg", 0.01),
        ("quadratic", "sg/sg", 1e-4),
        ("quadratic", "svrg/sg", 1e-4),
        ("gaussian", "svrg/sg", 10.0),
    ],
)
def test_a_step_size_that_fell_to_nothing_says_so(stream: str, algorithm: str, eta0: float) -> None:
    source = llr.streams.STREAMS[stream](1)
    learner = llr.Learner(source.model, source.dim, algorithm, eta0, source.theta0)
    assert learner.learn(*source.take(300))
    assert learner.eta > 0.0
    assert learner.log_eta >= FLOOR
    assert learner.eta_status.state == "vanished"
    assert "smaller eta0" in learner.eta_status.advice
    theta = learner.theta
    assert learner.learn(*source.take(300))
    np.testing.assert_allclose(learner.theta, theta, rtol=1e-12)


def test_far_below_eta0_is_as_good_as_nothing() -> None:
    fallen = [math.log(1e-3)] * 10 + [math.log(1e-40)] * 100
    assert walked(fallen) == "vanished"
    assert walked([math.log(1e-3)] * 10 + [math.log(1e-20)] * 100) != "vanished"
