"""`POST /v1/sessions/{name}/fork` and `/v1/sessions/{name}/snapshot`: copies of a session.

A fork goes on under another name; a snapshot is plain JSON, exported and restored to the last bit.
"""

import asyncio
import json
import logging
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from llr import StateError
from llr_service import serializers
from llr_service.app_state import AppStateDep, Caller, Name, Named
from llr_service.http.access import claim
from llr_service.http.auth import Role, requires
from llr_service.problems import Problem
from llr_service.schemas import Fork, SessionState, Snapshot
from llr_service.sessions.batch import MAX_SEQUENCE, PRODUCER
from llr_service.sessions.consistency import get_flushed, run_with_retry
from llr_service.sessions.ensemble import Ensemble, current_config, matches_config
from llr_service.sessions.fork import fork_of
from llr_service.sessions.packing import from_plain, to_plain
from llr_service.sessions.session import Session
from llr_service.settings import Settings

log = logging.getLogger("llr_service")
router = APIRouter(prefix="/v1/sessions", tags=["sessions"])


@router.post(
    "/{name}/fork", status_code=201, response_model=SessionState, operation_id="forkSession"
)
@requires(Role.WRITE)
async def fork(
    session: Named, wanted: Fork, here: AppStateDep, caller: Caller, response: Response
) -> Any:
    """Copy a session under a new name, bit for bit; with changes it restarts from its theta.

    With `relearn` it starts at t = 0 and learns all samples of the session again.
    """
    claim(caller, wanted.name, pointer="/name")
    # what is copied is on disk, and nothing is learnt until it is taken
    session = await get_flushed(here.sessions, session)
    session.queue.check_writable()
    config, ensemble, origin = fork_of(session, wanted.changes, wanted.relearn)
    producers = dict(session.producers)
    if origin is not None:
        await run_with_retry(here.sessions, session, Session.checkpoint, bool)
    async with here.quota(caller, wanted.name):
        copy = await here.sessions.restore(wanted.name, config, ensemble, producers, origin)
    log.info("session forked", extra={"session": session.name, "into": copy.name, "t": copy.t})
    response.headers["ETag"] = f'"{copy.t}"'
    return serializers.session_state(copy)


FORMAT = 1
LONG = 2**17
"""Bytes of a state that is written or read in a thread: others are served meanwhile."""
BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Snapshot"}}},
    }
}
"""What FastAPI would tell of a body that it reads itself, in the event loop."""


@router.get("/{name}/snapshot", response_model=Snapshot, operation_id="getSnapshot")
@requires(Role.READ)
async def out(session: Named, here: AppStateDep) -> Any:
    """Export a snapshot: everything needed to go on elsewhere."""
    session = await get_flushed(here.sessions, session)
    session.queue.check_writable()
    ensemble, etag = session.published, {"ETag": f'"{session.t}"'}
    members: dict[str, Any] = {
        "format": FORMAT,
        "name": session.name,
        "t": session.t,
        "config": current_config(session.config, ensemble),
        "producers": dict(session.producers),
    }
    long = ensemble is not None and ensemble.nbytes > LONG
    body = (
        await asyncio.to_thread(_written, members, ensemble)
        if long
        else _written(members, ensemble)
    )
    return Response(body, headers=etag, media_type="application/json")


def _written(members: dict[str, Any], ensemble: Ensemble | None) -> bytes:
    """A snapshot as JSON. What is published never changes, so a thread may read it."""
    state = to_plain(ensemble) if ensemble else {"state": None, "team": None, "times": []}
    return Snapshot(**members, **state).model_dump_json().encode() + b"\n"


@router.put(
    "/{name}/snapshot",
    status_code=201,
    response_model=SessionState,
    operation_id="putSnapshot",
    openapi_extra=BODY,
)
@requires(Role.ADMIN)
async def back(name: Name, request: Request, here: AppStateDep, caller: Caller) -> Any:
    """Restore a snapshot under a new name; going on from it gives the same numbers."""
    body = await request.body()
    if len(body) < LONG:
        snapshot, ensemble = _read(body, here.settings)
    else:
        snapshot, ensemble = await asyncio.to_thread(_read, body, here.settings)
    async with here.quota(caller, name):
        session = await here.sessions.restore(name, snapshot.config, ensemble, snapshot.producers)
    return serializers.session_state(session)


def _parse(body: bytes) -> Any:
    """The JSON of a body. What `orjson` refuses may still be JSON: half a surrogate pair is."""
    try:
        return orjson.loads(body)
    except ValueError:
        pass
    try:
        return json.loads(body)
    except ValueError:
        raise Problem("malformed", "the body is not JSON") from None


def _read(body: bytes, settings: Settings) -> tuple[Snapshot, Ensemble | None]:
    """A snapshot in JSON, and its ensemble: None before the first sample of a session."""
    plain = _parse(body)
    try:
        snapshot = Snapshot.model_validate(plain)
    except ValidationError as error:
        places = [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        raise RequestValidationError(places, body=plain) from None
    if snapshot.format != FORMAT:
        raise _wrong("/format", f"this service reads format {FORMAT}")
    snapshot.config.check(settings.max_dim)
    for producer, seq in snapshot.producers.items():
        if not PRODUCER.fullmatch(producer) or not 0 <= seq < MAX_SEQUENCE:
            raise _wrong("/producers", "names of visible ASCII characters, numbers from 0")
    if snapshot.state is None:
        return snapshot, None
    try:
        ensemble = from_plain(snapshot.state, snapshot.team, snapshot.times, snapshot.config.drift)
    except StateError as damage:
        raise _wrong("/state", str(damage)) from None
    if not matches_config(ensemble, snapshot.config):
        raise _wrong("/state", "belongs to another config")
    if len(snapshot.producers) > settings.max_producers:
        raise _wrong("/producers", f"at most {settings.max_producers} of them here")
    return snapshot, ensemble


def _wrong(pointer: str, detail: str) -> Problem:
    return Problem("invalid", f"{pointer}: {detail}", [{"pointer": pointer, "detail": detail}])
