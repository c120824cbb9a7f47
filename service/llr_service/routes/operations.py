"""Health, readiness, metrics, version."""

from fastapi import APIRouter, Response

import llr
from llr_service.app_state import AppStateDep
from llr_service.http.auth import PUBLIC, Access, Role, requires
from llr_service.problems import Problem

router = APIRouter(tags=["operations"])
MEANING = {
    "sqlite": "applied exactly once, and fsynced before you read the answer",
    "postgresql": "applied exactly once, and flushed to the disk of the database (and of its"
    " synchronous standbys, if it has any) before you read the answer",
    "memory": "applied exactly once, kept in memory only: a restart forgets it",
}


@router.get("/livez", operation_id="isAlive")
@requires(PUBLIC)
async def livez() -> dict[str, str]:
    """Whether the process answers."""
    return {"status": "ok"}


@router.get("/readyz", operation_id="isReady")
@requires(PUBLIC)
async def readyz(here: AppStateDep) -> dict[str, str]:
    """Whether the store answers."""
    if here.draining:
        raise Problem("unavailable", "the service stops", headers={"Retry-After": "5"})
    await here.sessions.ready()
    return {"status": "ok"}


@router.get("/version", operation_id="getVersion")
@requires(Access(Role.READ, shared=True))
async def version(here: AppStateDep) -> dict[str, str]:
    """The version, and what an answer of 200 means here."""
    engine = here.settings.store.partition(":")[0]
    return {"version": llr.__version__, "store": engine, "ack": MEANING.get(engine, "")}


@router.get("/metrics", operation_id="getMetrics", response_class=Response)
@requires(Role.READ)
async def metrics(here: AppStateDep) -> Response:
    """Counters and histograms for Prometheus."""
    body, kind = here.metrics.render()
    return Response(body, headers={"content-type": kind})
