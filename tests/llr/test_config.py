from typing import Any

import numpy as np
import pytest

import llr
from llr.algorithms import hessian_of
from llr.kernels.layout import DIFFERENCE, EXACT, NUMERICAL


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("model", {"model": "nonsense"}),
        ("model", {"model": 3}),
        ("algorithm", {"algorithm": "sg/fixed"}),
        ("algorithm", {"algorithm": "adam"}),
        ("eta0", {"eta0": 0.0}),
        ("eta0", {"eta0": -1.0}),
        ("eta0", {"eta0": float("nan")}),
        ("eta0", {"eta0": float("inf")}),
        ("eta0", {"eta0": "0.1"}),
        ("eta0", {"eta0": True}),
        ("eta0", {"eta0": 10**400}),
        ("theta0", {"model": "softmax", "dim": 2, "classes": 3, "theta0": [[1, 2, 3], [4, 5, 6]]}),
        ("regret", {"regret": "maybe"}),
        ("dim", {"dim": 0}),
        ("dim", {"dim": 2.0}),
        ("dim", {"dim": True}),
        ("dim", {"dim": 10**12}),
        ("dim", {"model": "gaussian", "dim": 2}),
        ("theta0", {"dim": 2, "theta0": [1.0]}),
        ("theta0", {"dim": 2, "theta0": [1.0, float("nan")]}),
        ("theta0", {"dim": 2, "theta0": ["a", "b"]}),
        ("theta0", {"dim": 2, "theta0": [[1.0], [1.0, 2.0]]}),
        ("options.nonsense", {"nonsense": 1}),
        ("options.hessian", {"hessian": "sometimes"}),
        ("options.memory", {"memory": 1}),
        ("options.unbiased", {"algorithm": "sg/sg", "unbiased": True}),
        ("options.memory", {"algorithm": "sg", "memory": True}),
        ("options.refresh", {"algorithm": "sg/ag", "refresh": 5}),
        ("options.refresh", {"algorithm": "svrg", "refresh": -1}),
        ("options.refresh", {"algorithm": "svrg", "refresh": 1.5}),
        ("options.classes", {"model": "softmax"}),
        ("options.classes", {"model": "softmax", "classes": 1}),
        ("options.level", {"model": "quantile", "level": 1.0}),
        ("options.level", {"model": "huber", "level": 0.5}),
        ("options.delta", {"model": "huber", "delta": 0.0}),
    ],
)
def test_a_learner_that_does_not_exist_is_refused_by_field(
    field: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(llr.ConfigError) as caught:
        llr.Learner(**({"model": "linear"} | arguments))
    assert caught.value.field == field
    assert caught.value.reason


def test_theta0_may_be_one_number_for_all() -> None:
    assert llr.Learner("linear", dim=3, theta0=2).theta.tolist() == [2.0, 2.0, 2.0]


def test_theta0_is_checked_against_the_dim_the_first_sample_tells() -> None:
    learner = llr.Learner("linear", theta0=[1.0, 2.0])
    with pytest.raises(llr.ConfigError, match="theta0"):
        learner.learn([1.0, 2.0, 3.0], 1.0)
    assert learner.learn([1.0, 2.0], 1.0)


def test_memory_uses_the_exact_hessian_unless_told_otherwise() -> None:
    assert hessian_of({"memory": True}) == EXACT
    assert hessian_of({}) == DIFFERENCE
    assert hessian_of({"memory": True, "hessian": "difference"}) == DIFFERENCE
    assert hessian_of({"memory": True, "hessian": "numerical"}) == NUMERICAL
    assert hessian_of({"hessian": "exact"}) == EXACT


def test_a_learner_from_a_config_is_the_same_learner() -> None:
    config = llr.Config("quantile", 2, "svrg/sg", 0.1, [1.0, 2.0], options={"level": 0.3})
    made = llr.Learner.from_config(config)
    named = llr.Learner("quantile", 2, "svrg/sg", 0.1, np.array([1.0, 2.0]), level=0.3)
    assert made.pack() == named.pack()


def test_numbers_of_numpy_are_as_good_as_pythons() -> None:
    theirs: dict[str, Any] = {"dim": np.int64(2), "eta0": np.float32(0.5)}
    learner = llr.Learner("linear", theta0=[np.float32(1), np.float32(2)], **theirs)
    assert llr.Learner.unpack(learner.pack()).theta.tolist() == [1.0, 2.0]
