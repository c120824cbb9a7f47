"""What there is to choose from, as plain values read off the registries.

>>> [model["name"] for model in contents()["models"]][:3]
['gaussian', 'bernoulli', 'linear']
"""

from collections.abc import Iterable
from typing import Any

from llr.algorithms import ALGORITHMS, Algorithm
from llr.models import MODELS, Model
from llr.parameter import Parameter


def contents() -> dict[str, list[dict[str, Any]]]:
    """Models and algorithms with their options, each with a line of explanation."""
    return {
        "models": [_model(model) for model in MODELS.values()],
        "algorithms": [_algorithm(*item) for item in ALGORITHMS.items()],
    }


def _model(model: Model) -> dict[str, Any]:
    return {
        "name": model.name,
        "summary": model.summary,
        "domain": model.domain,
        "features": model.features,
        "exact_regret": model.comparator is not None,
        "options": _options(model.parameters),
    }


def _algorithm(name: str, algorithm: Algorithm) -> dict[str, Any]:
    return {
        "name": name,
        "summary": algorithm.summary,
        "base": algorithm.base,
        "rate": algorithm.rate,
        "learns_step_size": algorithm.learns,
        "needs_eta0": algorithm.starts,
        "named_features": algorithm.sparse is not None,
        "models": [model.name for model in MODELS.values() if algorithm.suits(model)],
        "options": _options(algorithm.parameters),
    }


def _options(parameters: Iterable[Parameter]) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "summary": one.summary,
            "kind": one.kind,
            "values": one.domain,
            "default": one.default,
            "needed": one.default is None,
        }
        for one in parameters
    ]
