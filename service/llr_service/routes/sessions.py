"""Sessions and their shadows: create, list, read, delete; add, remove and promote shadows."""

import logging
from asyncio import gather
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from orjson import OPT_APPEND_NEWLINE, Fragment, dumps, loads

from llr_service import serializers
from llr_service.app_state import AppState, AppStateDep, Caller, Name, Named
from llr_service.http.auth import Access, Role, requires
from llr_service.http.request import Request
from llr_service.http.responses import Response as Replied
from llr_service.http.routing import direct_route
from llr_service.routes.learning import IfMatch, expected_header, producer_of
from llr_service.routes.request_schemas import NEXT_SEQ
from llr_service.schemas import ProducerState, Promote, SessionPage, SessionState
from llr_service.sessions.config import SHADOW, SessionConfig, ShadowConfig, created_of
from llr_service.sessions.consistency import get_flushed, get_latest, get_listed, run_with_retry
from llr_service.sessions.ensemble import Ensemble, ensure_champion, ensure_shadow, remove_shadow
from llr_service.sessions.session import EnsembleChange, Session
from llr_service.sessions.times import Activity, rfc3339
from llr_service.stores.store import SessionSummary

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])
JSON = "application/json"
UNKNOWN = dict.fromkeys(
    ("eta", "loss", "regret", "last_sample_at", "status", "activity", "metrics")
)
"""What the list does not tell of a session that is not in memory."""
MAX_SCANNED = 1000
"""How many sessions one page with a filter looks at."""
ROWS_AT_ONCE = 25
"""Rows of the list that are written before other requests are served."""


@router.put("/{name}", status_code=201, response_model=SessionState, operation_id="createSession")
@requires(Role.WRITE)
async def create(
    name: Name, config: SessionConfig, here: AppStateDep, caller: Caller, response: Response
) -> Any:
    """Create a session. 201 if it is new, 200 if it exists with the same config."""
    async with here.quota(caller, name):
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
    activity: Annotated[
        Activity | None, Query(description="Only these; `idle` with those not in memory.")
    ] = None,
) -> Any:
    """List sessions by name, a page at a time; with a filter it may be short."""
    scanned = limit if activity is None else MAX_SCANNED
    rows = await here.sessions.list(cursor, scanned + 1, caller.prefix)
    after = rows[scanned - 1].name if len(rows) > scanned else None
    sessions, last = list[Fragment](), None
    async for row, loaded in _with_copies(here, rows[:scanned]):
        if activity not in (None, loaded.activity if loaded else "idle"):
            continue
        if len(sessions) == limit:
            after = last
            break
        sessions.append(Fragment(dumps(_listed(row, loaded))))
        last = row.name
    page: dict[str, Any] = {"sessions": sessions, "next": after}
    if total and not caller.prefix:
        page["total"] = await here.sessions.count()
    return Response(dumps(page, option=OPT_APPEND_NEWLINE), media_type=JSON)


async def _with_copies(
    here: AppState, rows: Sequence[SessionSummary]
) -> AsyncIterator[tuple[SessionSummary, Session | None]]:
    """The rows with their copies in memory; other requests are served every few rows."""
    at = 0
    while at < len(rows):
        end, cost = at, 0
        while end < len(rows) and cost < ROWS_AT_ONCE:
            cost += _row_cost(here.sessions.peek(rows[end].name))
            end += 1
        copies = await gather(*(get_listed(here.sessions, row) for row in rows[at:end]))
        for row, loaded in zip(rows[at:end], copies, strict=True):
            yield row, loaded
        at = end


def _row_cost(session: Session | None) -> int:
    """How long a row takes: the regret against the best parameter takes O(d²)."""
    ensemble = session.published if session else None
    dim = (ensemble.dim or 0) if ensemble else 0
    return 1 + dim * dim // 20_000


def _listed(row: SessionSummary, loaded: Session | None) -> dict[str, Any]:
    """A session as the list shows it."""
    if loaded is not None:
        return serializers.list_row(loaded)
    config = loads(row.config)
    named = {key: config[key] for key in ("model", "algorithm", "dim")}
    created = rfc3339(created_of(row.config))
    return {"name": row.name, "t": row.t} | named | UNKNOWN | {"created_at": created}


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
    """Read the whole state: θ, η, loss, regret; and where a producer is to go on."""
    session = await request.current_session()
    producer = producer_of(request.scope["query_string"])
    if producer is None:
        return await serializers.state_reply(session)
    # learning runs ahead of the store, and might be undone
    session = await get_flushed(request.state.sessions, session)
    return await serializers.state_reply(session, session.producers.get(producer, 0))


@router.delete("/{name}", status_code=204, operation_id="deleteSession")
@requires(Role.ADMIN)
async def delete(name: Name, here: AppStateDep, if_match: IfMatch = None) -> None:
    """Delete a session and all that is kept of it."""
    where = expected_header(if_match)
    if where is not None:
        # learning runs ahead of the store, and might be undone
        await get_flushed(here.sessions, await get_latest(here.sessions, name))
    await here.sessions.delete(name, where)


log = logging.getLogger("llr_service")
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
    max_dim = here.settings.max_dim

    def change(ensemble: Ensemble) -> Ensemble | None:
        return ensure_shadow(ensemble, shadow, session.config, config, max_dim)

    done = await _change(here, session, change, if_match, shadow)
    response.status_code = 201 if done.changed else 200
    return serializers.session_state(done.session, ensemble=done.ensemble)


@router.delete("/{name}/shadows/{shadow}", status_code=204, operation_id="removeShadow")
@requires(Role.WRITE)
async def remove(
    session: Named, shadow: Shadow, here: AppStateDep, if_match: IfMatch = None
) -> None:
    """Remove a shadow and what it has learnt."""
    await _change(here, session, lambda one: remove_shadow(one, shadow), if_match, shadow)


@router.post("/{name}/promote", response_model=SessionState, operation_id="promoteShadow")
@requires(Role.WRITE)
async def promote(
    session: Named, wanted: Promote, here: AppStateDep, if_match: IfMatch = None
) -> Any:
    """Make a shadow the champion, and the champion a shadow; twice is the same as once."""
    name = wanted.name
    done = await _change(here, session, lambda one: ensure_champion(one, name), if_match, name)
    return serializers.session_state(done.session, ensemble=done.ensemble)


async def _change(
    here: AppStateDep,
    session: Session,
    change: Callable[[Ensemble], Ensemble | None],
    if_match: str | None,
    shadow: str,
) -> EnsembleChange:
    """Change the ensemble durably, and log what changed."""
    expected = expected_header(if_match)

    async def work(copy: Session) -> EnsembleChange:
        return await copy.change_ensemble(change, expected)

    done = await run_with_retry(here.sessions, session, work, lambda result: result.changed)
    here.sessions.update_size(done.session)
    if done.changed:
        details = {"session": session.name, "about": shadow, "t": done.ensemble.t}
        log.info("ensemble changed", extra=details | {"shadows": [*done.ensemble.shadows]})
    return done
