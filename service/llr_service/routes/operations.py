"""Health, readiness, version, metrics, the catalog, and `POST /v1/backup`."""

import os
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

import llr
from llr.config import catalog as library_catalog
from llr_service import guide
from llr_service.app_state import AppState, AppStateDep, Caller
from llr_service.http.access import check_origin
from llr_service.http.auth import PUBLIC, Access, ApiKey, Role, requires
from llr_service.operations_schemas import Catalog, Health
from llr_service.problems import RETRY_AFTER, Problem
from llr_service.schemas import Version
from llr_service.sessions.config import EXACT_BY_DEFAULT, SHADOWS, SessionConfig
from llr_service.stores.store import StoreError, StoreFull

router = APIRouter(tags=["operations"])
catalog_router = APIRouter(prefix="/v1", tags=["catalog"])
MEANING = {
    "sqlite": "applied exactly once, and fsynced before you read the answer",
    "postgresql": "applied exactly once, and flushed to the disk of the database (and of its"
    " synchronous standbys, if it has any) before you read the answer",
    "memory": "applied exactly once, kept in memory only: a restart forgets it",
}


@router.get("/livez", operation_id="isAlive", response_model=Health)
@requires(PUBLIC)
async def livez() -> dict[str, str]:
    """Check whether the process answers."""
    return {"status": "ok"}


@router.get("/readyz", operation_id="isReady", response_model=Health)
@requires(PUBLIC)
async def readyz(here: AppStateDep) -> dict[str, str]:
    """Check whether the store answers."""
    if here.draining:
        raise Problem("unavailable", "the service stops", headers={"Retry-After": "5"})
    await here.sessions.ready()
    return {"status": "ok"}


@router.get("/version", operation_id="getVersion", response_model=Version)
@requires(Access(Role.READ, shared=True))
async def version(here: AppStateDep, caller: Caller) -> dict[str, Any]:
    """Read the version, what an answer of 200 means here, and the names and roles of keys.

    `docs` is where people read on: the guide if it is built, or else the API's page.
    """
    engine = here.settings.store.partition(":")[0]
    return {
        "version": llr.__version__,
        "store": engine,
        "ack": MEANING.get(engine, ""),
        "docs": "/docs" if guide.find("") is None else "/guide/",
        "key": _shown(caller) if here.settings.has_keys else None,
        "keys": [_shown(key) for key in _seen_by(caller, here)],
    }


def _seen_by(caller: ApiKey, here: AppState) -> Iterable[ApiKey]:
    """The keys that a caller may know of: an admin's all, others their own."""
    if not here.settings.has_keys:
        return ()
    everything = caller.role >= Role.ADMIN and not caller.prefix
    return here.keys.by_digest.values() if everything else (caller,)


def _shown(key: ApiKey) -> dict[str, str]:
    """A key by what it may do; its secret is not known here, and its digest not shown."""
    return {"name": key.name, "role": str(key.role), "prefix": key.prefix}


@router.get("/metrics", operation_id="getMetrics", response_class=Response)
@requires(Role.READ)
async def metrics(here: AppStateDep) -> Response:
    """Read counters and histograms, as Prometheus does."""
    body, kind = here.metrics.render()
    return Response(body, headers={"content-type": kind})


DETECTOR = "tells when the mean loss rises, by bets that chance wins once in 100,000 samples"


@catalog_router.get("/catalog", operation_id="getCatalog", response_model=Catalog)
@requires(Access(Role.READ, shared=True))
async def contents() -> dict[str, Any]:
    """List models, algorithms and options, each with a line of explanation."""
    fields = SessionConfig.model_fields
    defaults = {name: fields[name].default for name in ("algorithm", "eta0", "retain", "drift")}
    usual = llr.NamedConfig
    defaults |= {"max_features": usual.max_features, "hash_bits": usual.hash_bits}
    defaults["regret"] = f"exact where dim is at most {EXACT_BY_DEFAULT}, else off"
    beside = {"shadows": {"most": SHADOWS}, "drift": {"name": "e-detector", "summary": DETECTOR}}
    return library_catalog() | {"defaults": defaults} | beside


SQLITE = "application/vnd.sqlite3"
PART = 2**20


@router.post(
    "/v1/backup",
    responses={200: {"content": {SQLITE: {}}, "description": "The store, an SQLite file."}},
    response_class=Response,
    operation_id="takeBackup",
)
@requires(Role.ADMIN)
async def backup(request: Request, here: AppStateDep) -> Response:
    """Copy the store into an SQLite file; commits wait while it is made, not while it is sent.

    One at a time: a copy takes the disk's room until it is sent.
    """
    check_origin(dict(request.scope["headers"]), here.settings)
    if here.backing_up:
        detail = "another backup is being made or sent: try again when it is done"
        raise Problem("too-many", detail, headers={"Retry-After": "10"})
    here.backing_up = True
    try:
        return _Copy(await _copy(here), here)
    except BaseException:
        here.backing_up = False
        raise


async def _copy(here: AppState) -> BinaryIO:
    try:
        copy = await here.sessions.storage.backup()
    except StoreFull as full:
        raise Problem("disk-full", "there is no room for a copy beside the store") from full
    except StoreError as failure:
        raise Problem(
            "unavailable", f"no copy was made: {failure}", headers=RETRY_AFTER
        ) from failure
    if copy is None:
        detail = "this store is copied by its own means: pg_dump for Postgres"
        raise Problem("not-found", detail)
    return copy


class _Copy(StreamingResponse):
    """A copy on its way. It is closed when it was sent or the client has left."""

    def __init__(self, copy: BinaryIO, here: AppState) -> None:
        length = {"Content-Length": f"{os.fstat(copy.fileno()).st_size}"}
        super().__init__(_parts(copy), media_type=SQLITE, headers=length)
        self._copy, self._here = copy, here

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._here.backing_up = False
            self._copy.close()


def _parts(copy: BinaryIO) -> Iterator[bytes]:
    while part := copy.read(PART):
        yield part
