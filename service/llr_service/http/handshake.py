"""WebSockets at the door: their id, their guard, their line in the log.

A stranger is refused before anything is opened, with the problem a request would get. Pages are
strangers too unless they are the service's own or of a known origin: a browser lets any page open
a WebSocket to anywhere, without asking as it does for requests.
"""

import logging
import time

from starlette.routing import compile_path
from starlette.types import Receive, Scope, Send

from llr_service import logs
from llr_service.app_state import AppState
from llr_service.http.auth import Access, Role, authenticate, by_digest, require
from llr_service.http.hosts import Hosts, check_origin
from llr_service.http.responses import Header, error_response
from llr_service.http.routing import session_in
from llr_service.http.tenants import confine
from llr_service.problems import Problem
from llr_service.routes.stream import WebSocketEndpoint
from llr_service.sessions.config import NAME_PATTERN

log = logging.getLogger("llr_service")

WS = "WS"
"""The method of a WebSocket, in logs."""
STREAM = compile_path(WebSocketEndpoint.path)[0]
PROTOCOL, KEY = "llr", "llr.key."
"""What a page offers as protocols: the first is spoken, the second has the page's key after it."""


class WebSocketHandshake:
    """Lets in whoever may, to the one route that there is."""

    def __init__(self, context: AppState) -> None:
        self._settings, self._metrics = context.settings, context.metrics
        self._stream, self._hosts = WebSocketEndpoint(context), Hosts(context.settings)
        self._keys = by_digest(context.settings.api_keys)

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
        found, path = STREAM.fullmatch(scope["path"]), scope["path"]
        self._hosts.check(path, scope["headers"])
        check_origin(dict(scope["headers"]), self._settings)
        if self._keys:
            keys = [p.removeprefix(KEY) for p in scope.get("subprotocols", ()) if p.startswith(KEY)]
            offered = [(b"x-api-key", key.encode("latin-1", "replace")) for key in keys]
            key = authenticate([*scope["headers"], *offered], self._keys)
            access = self._stream.access if found else Access(Role.ADMIN)
            require(key.role, access.role)
            confine(key, access, WS, session_in(path))
        if found is None or not NAME_PATTERN.fullmatch(found["name"]):
            raise Problem("not-found", f"WebSockets are at {self._stream.path} only")
        return str(found["name"])

    def _account(self, scope: Scope, started: float, status: int, **told: int | None) -> None:
        seconds = time.perf_counter() - started
        self._metrics.request(
            self._stream.path if STREAM.fullmatch(scope["path"]) else "unmatched",
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
    status, headers, body = error_response(problem)
    start = {"type": "websocket.http.response.start", "status": status, "headers": [*headers, own]}
    await send(start)
    await send({"type": "websocket.http.response.body", "body": body})
