"""Random samples for every registered model, for the suites that run over the registries."""

from typing import Any

import numpy as np

import llr
from llr.types import Vector

OPTIONS: dict[str, dict[str, Any]] = {"softmax": {"classes": 3}, "quantile": {"level": 0.8}}
DIM = 4


def options_of(model: str) -> dict[str, Any]:
    """What a learner of this model has to be given, with a dim if the model has features."""
    needed = OPTIONS.get(model, {})
    return needed | {"dim": DIM} if llr.MODELS[model].features else needed


def labels_of(model: str, rng: np.random.Generator, n: int) -> Vector:
    """Labels from the model's own domain; a registered model needs nothing but its `admits`."""
    spec = llr.MODELS[model]
    classes = OPTIONS.get(model, {}).get("classes", 0)
    number = (
        float(classes)
        if classes
        else llr.Config(model, options=OPTIONS.get(model, {})).model_number
    )
    candidates = np.concatenate([rng.normal(size=8 * n + 64), rng.integers(0, 4, 8 * n + 64)])
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
    rng = np.random.default_rng(seed)
    size = (
        llr.Config(model, **config_of(model)).start(DIM if llr.MODELS[model].features else 1).size
    )
    return rng.normal(size=size) * 0.3


def config_of(model: str) -> dict[str, Any]:
    """`options_of` in the form of `llr.Config`."""
    options = dict(options_of(model))
    dim = options.pop("dim", None)
    return {"dim": dim, "options": options}
