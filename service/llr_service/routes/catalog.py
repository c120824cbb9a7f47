"""`GET /v1/catalog`: what there is to choose from, read off the registries in the code."""

from typing import Any

from fastapi import APIRouter

import llr
from llr import catalog
from llr_service.http.auth import Access, Role, requires
from llr_service.sessions.config import EXACT_BY_DEFAULT, SHADOWS, SessionConfig

DETECTOR = "tells when the mean loss rises, by bets that chance wins once in 100,000 samples"
router = APIRouter(prefix="/v1", tags=["catalog"])


@router.get("/catalog", operation_id="getCatalog")
@requires(Access(Role.READ, shared=True))
async def contents() -> dict[str, Any]:
    """Models, algorithms and options, each with a line of explanation."""
    fields = SessionConfig.model_fields
    defaults = {name: fields[name].default for name in ("algorithm", "eta0", "retain", "drift")}
    usual = llr.NamedConfig
    defaults |= {"max_features": usual.max_features, "hash_bits": usual.hash_bits}
    defaults["regret"] = f"exact where dim is at most {EXACT_BY_DEFAULT}, else off"
    beside = {"shadows": {"most": SHADOWS}, "drift": {"name": "e-detector", "summary": DETECTOR}}
    return catalog.contents() | {"defaults": defaults} | beside
