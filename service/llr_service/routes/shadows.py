"""`/v1/sessions/{name}/shadows/{shadow}` and `/v1/sessions/{name}/promote`: the team."""

import logging
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from llr_service import serializers
from llr_service.app_state import AppStateDep, Named
from llr_service.http.auth import Role, requires
from llr_service.routes.params import IfMatch, expected_header
from llr_service.schemas import Promote, SessionState
from llr_service.sessions import reshaping
from llr_service.sessions.actor import Session
from llr_service.sessions.config import SHADOW, ShadowConfig
from llr_service.sessions.present import Work, upon
from llr_service.sessions.reshaping import Reshaped, stored

log = logging.getLogger("llr_service")
router = APIRouter(prefix="/v1/sessions", tags=["sessions"])
Shadow = Annotated[str, Path(pattern=f"^{SHADOW}$", description="The shadow's name.")]


@router.put(
    "/{name}/shadows/{shadow}",
    status_code=201,
    response_model=SessionState,
    responses={200: {"model": SessionState, "description": "The shadow is there already."}},
    operation_id="addShadow",
)
@requires(Role.WRITE)
async def add(
    session: Named,
    shadow: Shadow,
    config: ShadowConfig,
    here: AppStateDep,
    response: Response,
    if_match: IfMatch = None,
) -> Any:
    """Add a shadow, from the next sample on. 201 if it is new, 200 if it is there already."""
    work = partial(reshaping.add, shadow, config, expected_header(if_match))
    done = await _reshaped(here, session, work, shadow)
    response.status_code = 201 if done.changed else 200
    return serializers.session_state(done.session)


@router.delete("/{name}/shadows/{shadow}", status_code=204, operation_id="removeShadow")
@requires(Role.WRITE)
async def remove(
    session: Named, shadow: Shadow, here: AppStateDep, if_match: IfMatch = None
) -> None:
    """Remove a shadow and what it has learnt."""
    work = partial(reshaping.remove, shadow, expected_header(if_match))
    await _reshaped(here, session, work, shadow)


@router.post("/{name}/promote", response_model=SessionState, operation_id="promoteShadow")
@requires(Role.WRITE)
async def promote(
    session: Named, wanted: Promote, here: AppStateDep, if_match: IfMatch = None
) -> Any:
    """Make a shadow the champion, and the champion a shadow; twice is the same as once."""
    work = partial(reshaping.promote, wanted.name, expected_header(if_match))
    done = await _reshaped(here, session, work, wanted.name)
    return serializers.session_state(done.session)


async def _reshaped(
    here: AppStateDep, session: Session, work: Work[Reshaped], shadow: str
) -> Reshaped:
    """The session as it is wanted; what was changed is logged."""
    done = await upon(here.sessions, session, work, stored)
    here.sessions.touched(done.session)
    if done.changed:
        roster = [*done.session.published.shadows] if done.session.published else []
        told = {"session": session.name, "about": shadow, "t": done.session.t, "shadows": roster}
        log.info("team changed", extra=told)
    return done
