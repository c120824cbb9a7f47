"""`GET /v1/catalog`: what there is to choose from, read off the registries in the code."""

from typing import Any

from fastapi import APIRouter

import llr
from llr.config import HESSIAN, MEMORY
from llr.parameter import Parameter

router = APIRouter(prefix="/v1", tags=["catalog"])


@router.get("/catalog", operation_id="getCatalog")
async def catalog() -> dict[str, Any]:
    """Models, algorithms and options, each with a line of explanation."""
    return {
        "models": [_model(model) for model in llr.MODELS.values()],
        "algorithms": [_algorithm(*item) for item in llr.ALGORITHMS.items()],
        "defaults": {"algorithm": "sg/ag", "eta0": 1e-3, "regret": "exact where dim is at most 64"},
    }


def _model(model: llr.Model) -> dict[str, Any]:
    return {
        "name": model.name,
        "summary": model.summary,
        "y": model.domain,
        "features": model.features,
        "exact_regret": model.comparator is not None,
        "options": [_option(p) for p in (model.parameter,) if p is not None],
    }


def _algorithm(name: str, algorithm: llr.Algorithm) -> dict[str, Any]:
    tangent = (HESSIAN, MEMORY) if algorithm.rate.learns else ()
    own = (algorithm.base.parameter, algorithm.rate.parameter, *tangent)
    return {
        "name": name,
        "summary": algorithm.summary,
        "learns_step_size": algorithm.rate.learns,
        "options": [_option(p) for p in own if p is not None],
    }


def _option(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "summary": parameter.summary,
        "kind": parameter.kind,
        "default": parameter.default,
        "choices": list(parameter.choices),
    }
