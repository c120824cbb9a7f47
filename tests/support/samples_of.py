"""Random samples for every registered model, for the suites that run over the registries."""

from collections.abc import Iterable
from typing import Any

import numpy as np

import llr
from llr.parameter import Parameter
from llr.types import Vector

DIM = 4

PAIRS = [
    (model.name, algorithm.name)
    for model in llr.MODELS.values()
    for algorithm in llr.ALGORITHMS.values()
    if algorithm.suits(model)
]
"""Every model with every algorithm that can climb it."""


def tried(parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Options with the examples their parameters give."""
    return {p.name: p.example for p in parameters if p.example is not None}


def options_of(model: str) -> dict[str, Any]:
    """A learner's arguments for this model: its options, and a dim if it has features."""
    spec = llr.MODELS[model]
    return tried(spec.parameters) | ({"dim": DIM} if spec.features else {})


def config_of(model: str, **others: Any) -> llr.Config:
    """The same as a config."""
    options = options_of(model)
    return llr.Config(model, options.pop("dim", None), options=options, **others)


def labels_of(model: str, rng: np.random.Generator, n: int) -> Vector:
    """Labels from the model's own domain; a registered model needs nothing but its `admits`."""
    spec, number = llr.MODELS[model], config_of(model).model_number
    whole = rng.integers(-1, 4, 8 * n + 64)
    candidates = np.concatenate([rng.normal(size=8 * n + 64), whole, rng.random(8 * n + 64)])
    rng.shuffle(candidates)
    admitted = np.array([y for y in candidates if spec.admits(float(y), number)][:n])
    assert admitted.size == n
    return admitted


def samples_of(model: str, seed: int, n: int) -> tuple[Vector, ...]:
    """`(y,)` or `(X, y)`, as `Learner.learn` takes them."""
    rng = np.random.default_rng(seed)
    y = labels_of(model, rng, n)
    if not llr.MODELS[model].features:
        return (y,)
    return rng.normal(size=(n, DIM)), y


def theta0_of(model: str, seed: int) -> Vector:
    """A start away from zero."""
    size = config_of(model).start(DIM if llr.MODELS[model].features else 1).size
    return np.random.default_rng(seed).normal(size=size) * 0.3
