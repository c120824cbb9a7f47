"""Sessions: create, list, look at, delete."""

from asyncio import gather
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic_core import from_json

from llr_service import serializers
from llr_service.app_state import AppStateDep, Caller, Name
from llr_service.http.auth import Access, Role, requires
from llr_service.http.request import Request
from llr_service.http.responses import Response as Replied
from llr_service.http.routing import direct_route
from llr_service.routes.params import IfMatch, expected_header, producer_of
from llr_service.routes.request_schemas import NEXT_SEQ
from llr_service.schemas import ProducerState, SessionPage, SessionState
from llr_service.sessions.config import SessionConfig
from llr_service.sessions.present import as_listed, fresh, settled

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])
UNKNOWN = dict.fromkeys(("eta", "loss", "regret"))
"""What the list does not tell of a session that is not in memory."""


@router.put("/{name}", status_code=201, response_model=SessionState, operation_id="createSession")
@requires(Role.WRITE)
async def create(name: Name, config: SessionConfig, here: AppStateDep, response: Response) -> Any:
    """Create a session. 201 if it is new, 200 if it exists with the same config."""
    session, new = await here.sessions.create(name, config)
    response.status_code = 201 if new else 200
    response.headers["ETag"] = f'"{session.t}"'
    return serializers.session_state(session)


@router.get(
    "",
    response_model=SessionPage,
    response_model_exclude_unset=True,
    operation_id="listSessions",
)
@requires(Access(Role.READ, shared=True))
async def listed(
    here: AppStateDep,
    caller: Caller,
    limit: Annotated[int, Query(ge=1, le=1000, description="Most sessions of a page.")] = 100,
    cursor: Annotated[str, Query(max_length=128, description="`next` of the page before.")] = "",
    total: Annotated[bool, Query(description="Adds the number of all sessions.")] = False,
) -> Any:
    """Sessions in the order of their names, a page at a time."""
    rows = await here.sessions.list(cursor, limit + 1, caller.prefix)
    copies = await gather(*(as_listed(here.sessions, row) for row in rows[:limit]))
    sessions = []
    for row, loaded in zip(rows, copies, strict=False):
        if loaded is not None:
            sessions.append(serializers.session_state(loaded, theta=None))
        else:
            config = from_json(row.config)
            named = {key: config[key] for key in ("model", "algorithm", "dim")}
            sessions.append({"name": row.name, "t": row.t} | named | UNKNOWN)
    counted = {"total": await here.sessions.count()} if total and not caller.prefix else {}
    after = rows[limit - 1].name if len(rows) > limit else None
    return {"sessions": sessions, "next": after} | counted


@direct_route(
    "GET",
    "/v1/sessions/{name}",
    Role.READ,
    operation_id="getSession",
    tag="sessions",
    parameters=[NEXT_SEQ],
    response=ProducerState,
)
async def state(request: Request) -> Replied:
    """The whole state: θ, η, loss, regret; and where a producer is to go on."""
    session = await request.current_session()
    producer, asked = producer_of(request.scope["query_string"]), {}
    if producer is not None:
        # learning runs ahead of the store, and might be undone
        session = await settled(request.state.sessions, session)
        asked["next_seq"] = session.producers.get(producer, 0)
    return await serializers.state_reply(session, **asked)


@router.delete("/{name}", status_code=204, operation_id="deleteSession")
@requires(Role.ADMIN)
async def delete(name: Name, here: AppStateDep, if_match: IfMatch = None) -> None:
    """Delete a session and all that is kept of it."""
    where = expected_header(if_match)
    if where is not None:
        # learning runs ahead of the store, and might be undone
        await settled(here.sessions, await fresh(here.sessions, name))
    await here.sessions.delete(name, where)
