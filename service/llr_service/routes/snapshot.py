"""`/v1/sessions/{name}/snapshot`: a session as plain JSON, out and in again, to the last bit."""

import asyncio
from typing import Any

from fastapi import APIRouter, Response

from llr import StateError
from llr_service import serializers
from llr_service.app_state import AppStateDep, Name, Named
from llr_service.http.auth import Role, requires
from llr_service.problems import Problem
from llr_service.schemas import SessionState, Snapshot
from llr_service.sessions.packing import from_plain, to_plain
from llr_service.sessions.present import settled
from llr_service.sessions.producers import MOST_SAMPLES, PRODUCER
from llr_service.sessions.roster import belongs, config_now
from llr_service.sessions.team import Team

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])
FORMAT = 1
LONG = 2**17
"""Bytes of a state that is written in a thread: others are served meanwhile."""


@router.get("/{name}/snapshot", response_model=Snapshot, operation_id="getSnapshot")
@requires(Role.READ)
async def out(session: Named, here: AppStateDep) -> Any:
    """Everything needed to go on elsewhere."""
    session = await settled(here.sessions, session)
    session.turns.check_open()
    team, etag = session.published, {"ETag": f'"{session.t}"'}
    members: dict[str, Any] = {
        "format": FORMAT,
        "name": session.name,
        "t": session.t,
        "config": config_now(session.config, team),
        "producers": dict(session.producers),
    }
    long = team is not None and team.nbytes > LONG
    body = await asyncio.to_thread(_written, members, team) if long else _written(members, team)
    return Response(body, headers=etag, media_type="application/json")


def _written(members: dict[str, Any], team: Team | None) -> bytes:
    """A snapshot as JSON. What is published never changes, so a thread may read it."""
    state = to_plain(team) if team else {"state": None, "team": None}
    return Snapshot(**members, **state).model_dump_json().encode()


@router.put(
    "/{name}/snapshot", status_code=201, response_model=SessionState, operation_id="putSnapshot"
)
@requires(Role.ADMIN)
async def back(name: Name, snapshot: Snapshot, here: AppStateDep) -> Any:
    """Restore a snapshot under a new name; going on from it gives the same numbers."""
    if snapshot.format != FORMAT:
        raise _wrong("/format", f"this service reads format {FORMAT}")
    snapshot.config.check(here.settings.max_dim)
    for producer, seq in snapshot.producers.items():
        if not PRODUCER.fullmatch(producer) or not 0 <= seq < MOST_SAMPLES:
            raise _wrong("/producers", "names of visible ASCII characters, numbers from 0")
    if snapshot.state is None:
        session = await here.sessions.restore(name, snapshot.config, None, snapshot.producers)
        return serializers.session_state(session)
    try:
        team = from_plain(snapshot.state, snapshot.team, snapshot.config.drift)
    except StateError as damage:
        raise _wrong("/state", str(damage)) from None
    if not belongs(team, snapshot.config):
        raise _wrong("/state", "belongs to another config")
    if len(snapshot.producers) > here.settings.max_producers:
        raise _wrong("/producers", f"at most {here.settings.max_producers} of them here")
    session = await here.sessions.restore(name, snapshot.config, team, snapshot.producers)
    return serializers.session_state(session)


def _wrong(pointer: str, detail: str) -> Problem:
    return Problem("invalid", f"{pointer}: {detail}", [{"pointer": pointer, "detail": detail}])
