"""WebSockets at the door: their id, their guard, their line in the log.

A stranger is refused before anything is opened, with the problem a request would get. Pages are
strangers too unless they are the service's own or of a known origin: a browser lets any page open
a WebSocket to anywhere, without asking as it does for requests.
"""

import logging
import re
import time

from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from llr_service import logs
from llr_service.app_state import AppState
from llr_service.http.auth import authenticate, require
from llr_service.http.hosts import Hosts, check_origin
from llr_service.http.middleware import WS, required_role
from llr_service.http.responses import Header
from llr_service.http.tenants import confine
from llr_service.problems import MEDIA_TYPE, Problem
from llr_service.routes.stream import WebSocketEndpoint
from llr_service.sessions.config import NAME

log = logging.getLogger("llr_service")

STREAM = re.compile(rf"/v1/sessions/({NAME})/stream")
STREAM_ROUTE = "/v1/sessions/{name}/stream"
PROTOCOL, KEY = "llr", "llr.key."
"""What a page offers as protocols: the first is spoken, the second has the page's key after it."""


class WebSocketHandshake:
    """Lets in whoever may, to the one route that there is."""

    def __init__(self, context: AppState) -> None:
        self._settings, self._metrics = context.settings, context.metrics
        self._stream, self._hosts = WebSocketEndpoint(context), Hosts(context.settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one WebSocket."""
        started = time.perf_counter()
        request_id = logs.begin_request(scope["headers"])
        own: Header = (b"x-request-id", request_id.encode())
        await receive()
        try:
            name = self._admitted(scope)
        except Problem as problem:
            await _refuse(problem, own, scope, send)
            self._account(scope, started, problem.kind.status)
            return
        spoken = PROTOCOL if PROTOCOL in scope.get("subprotocols", ()) else None
        await send({"type": "websocket.accept", "subprotocol": spoken, "headers": [own]})
        code = await self._stream(name, scope, receive, send)
        self._account(scope, started, 101, code=code)

    def _admitted(self, scope: Scope) -> str:
        """The session that may be streamed to. Raises the problem if not."""
        found, settings = STREAM.fullmatch(scope["path"]), self._settings
        self._hosts.check(scope["path"], scope["headers"])
        check_origin(dict(scope["headers"]), settings)
        if settings.api_keys:
            keys = [p.removeprefix(KEY) for p in scope.get("subprotocols", ()) if p.startswith(KEY)]
            offered = [(b"x-api-key", key.encode("latin-1", "replace")) for key in keys]
            key = authenticate([*scope["headers"], *offered], settings.api_keys)
            require(key.role, required_role(WS, scope["path"]))
            confine(key, WS, scope["path"])
        if found is None:
            raise Problem("not-found", f"WebSockets are at {STREAM_ROUTE} only")
        return found[1]

    def _account(self, scope: Scope, started: float, status: int, **told: int | None) -> None:
        seconds = time.perf_counter() - started
        self._metrics.request(
            STREAM_ROUTE if STREAM.fullmatch(scope["path"]) else "unmatched",
            "WEBSOCKET",
            status,
            seconds,
        )
        about = {"method": WS, "path": scope["path"], "status": status, "ms": seconds * 1e3}
        log.debug("websocket", extra=about | told)


async def _refuse(problem: Problem, own: Header, scope: Scope, send: Send) -> None:
    """Answer with the problem; where the server cannot, there is a 403 without a body."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": problem.kind.title})
        return
    kind = {"content-type": MEDIA_TYPE} | problem.headers
    headers = [*((name.lower().encode(), value.encode()) for name, value in kind.items()), own]
    status = problem.kind.status
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": to_json(problem.body())})
