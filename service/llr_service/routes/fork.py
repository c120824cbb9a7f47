"""`POST /v1/sessions/{name}/fork`: a copy of a session that goes its own way."""

import logging
from typing import Any

from fastapi import APIRouter, Response

from llr_service import serializers
from llr_service.app_state import AppStateDep, Caller, Named
from llr_service.http.auth import Role, requires
from llr_service.http.tenants import claim
from llr_service.schemas import Fork, SessionState
from llr_service.sessions.fork import fork_of, secured
from llr_service.sessions.present import settled, upon

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

    With `relearn` it starts from nothing and learns all the samples of the session anew.
    """
    claim(caller, wanted.name, pointer="/name")
    # what is copied is on disk, and nothing is learnt until it is taken
    session = await settled(here.sessions, session)
    session.turns.check_open()
    config, team, origin = fork_of(session, wanted.changes, wanted.relearn)
    producers = dict(session.producers)
    if origin is not None:
        await upon(here.sessions, session, secured, bool)
    copy = await here.sessions.restore(wanted.name, config, team, producers, origin)
    log.info("session forked", extra={"session": session.name, "into": copy.name, "t": copy.t})
    response.headers["ETag"] = f'"{copy.t}"'
    return serializers.session_state(copy)
