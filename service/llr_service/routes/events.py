"""`GET /v1/sessions/{name}/events`: the state as it moves, as Server-Sent Events.

At most 20 a second: what moved faster is skipped, so a slow reader costs no memory. An event's id
is t; who comes back with `Last-Event-ID` gets the present state at once unless it is known by that.
"""

import asyncio
from collections.abc import AsyncIterator
from time import perf_counter
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from llr_service import serializers
from llr_service.app_state import AppState, AppStateDep, Caller, Named
from llr_service.http.auth import ApiKey, Role, requires
from llr_service.http.protocol import EVENTS
from llr_service.problems import Problem
from llr_service.sessions.session import CachedEvent, Session, SessionPin, StateVersion
from llr_service.theta import WHOLE, largest

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])
APART, LEISURE = 0.05, 10
"""Seconds between two events, at least, and how many times the seconds it took to write one."""
HEARTBEAT = 15.0
STILL_HERE = b": still here\n\n"
AGAIN = 0.25
"""Seconds between retries while the store is unavailable."""
Seen = StateVersion | None
"""What a reader saw last."""


@router.get("/{name}/events", operation_id="watchSession", response_class=StreamingResponse)
@requires(Role.READ)
async def events(
    session: Named,
    here: AppStateDep,
    caller: Caller,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """Watch a session: the state now and whenever it moves; `id:` is t."""
    if here.streams >= here.settings.max_streams:
        raise Problem("too-many", "too many open streams", headers={"Retry-After": "5"})
    known = last_event_id == str(session.t) and _told_by_t(session)
    return _Events(session, here, caller, session.state_version if known else None)


class _Events(StreamingResponse):
    """A stream that counts from when it is let in until it has ended, however it ends."""

    def __init__(self, session: Session, here: AppState, caller: ApiKey, seen: Seen) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        pin = SessionPin(session)
        flow = _flow(pin, here, caller, seen)
        super().__init__(flow, media_type="text/event-stream", headers=headers)
        self._pin, self._here = pin, here
        here.streams += 1
        pin.__enter__()
        here.metrics.stream_opened()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        scope[EVENTS] = True
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._here.streams -= 1
            self._pin.__exit__()
            self._here.metrics.stream_closed()


async def _flow(
    pin: SessionPin, here: AppState, caller: ApiKey, seen: Seen
) -> AsyncIterator[bytes]:
    yield b"retry: 1000\n\n"
    session = pin.session
    while not here.draining and (there := await _there(pin, here)) is not False:
        if not here.keys.accepts(caller):
            return
        if there is None:
            yield STILL_HERE
            continue
        if pin.session is not session:  # another replica changed it
            session, seen = pin.session, None
        changed = session.changed
        if (present := session.state_version) != seen:
            if session.event.of == present or perf_counter() >= session.event.due:
                seen = present
                yield _event(session)
            await asyncio.sleep(APART)
            continue
        try:
            async with asyncio.timeout(HEARTBEAT):
                await changed.wait()
        except TimeoutError:
            yield STILL_HERE
    if not here.draining:  # the next session of that name is another one
        yield b"id:\n\n"


async def _there(pin: SessionPin, here: AppState) -> bool | None:
    """Whether the session is there; one moves on to the copy that has become it.

    A store that is away is waited for: a browser that is refused would not come back by itself.
    None when that takes so long that a sign of life is due.
    """
    due = perf_counter() + HEARTBEAT
    while pin.session.discarded and not here.draining:
        try:
            present = await here.sessions.get(pin.session.name)
        except Problem as problem:
            if problem.kind.name != "unavailable":
                return False
            await asyncio.sleep(AGAIN)
            if perf_counter() >= due:
                return None
            continue
        if present.id != pin.session.id:
            return False
        pin.move(present)
    return not here.draining


def _event(session: Session) -> bytes:
    """The present state as an event, encoded once for all watchers."""
    present = session.state_version
    if session.event.of != present:
        began = perf_counter()
        state = _bounded(session)
        data = orjson.dumps(state)
        text = b"id: %d\nevent: state\ndata: %s\n\n" % (state["t"], data)
        session.event = CachedEvent(present, text, began + LEISURE * (perf_counter() - began))
    return session.event.text


def _told_by_t(session: Session) -> bool:
    """Whether t alone says how a session is: it is well, and its team is and was a champion.

    Of a copy that has learnt nothing since it was loaded it is not known how the session was.
    """
    ensemble = session.published
    alone = ensemble is None or not (ensemble.shadows or ensemble.name)
    known = (session.t > session.loaded_t or session.t == 0) and not session.ensemble_changes
    return known and alone and session.status == "ok"


def _bounded(session: Session) -> dict[str, Any]:
    """The state, without what is as long as there are names."""
    state = serializers.session_state(session, largest)
    start = state["config"]["theta0"]
    if isinstance(start, dict) and len(start) > WHOLE:
        del state["config"]["theta0"]
    return state
