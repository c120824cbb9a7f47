"""The outermost layer: a request's id, its guard, its clock, its log line, its problem if it fails.

Plain ASGI around the FastAPI app, because it runs for every request. It reads the body of every
route but the one that streams, within limits: no route can be held up by a slow client.
"""

import logging
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from llr_service import logs
from llr_service.app_state import AppState
from llr_service.dashboard import ASSETS
from llr_service.http.auth import KEY, Role, authenticate, require
from llr_service.http.bodies import ClientGone
from llr_service.http.hosts import Hosts
from llr_service.http.responses import ROUTE, SESSION, ResponseWriter
from llr_service.http.tenants import confine
from llr_service.problems import Problem
from llr_service.sessions.config import NAME

log = logging.getLogger("llr_service")

PUBLIC = {"/", "/livez", "/readyz", "/docs", "/openapi.json"} | {
    f"/dashboard/{name}" for name in ASSETS
}
SAMPLES = re.compile(rf"/v1/sessions/({NAME})/samples")
SAMPLES_ROUTE = "/v1/sessions/{name}/samples"
WS = "WS"
"""The method of a WebSocket, in tables of routes."""
ROLES: dict[tuple[str, str], Role] = {
    ("PUT", rf"/v1/sessions/{NAME}"): Role.WRITE,
    ("POST", rf"/v1/sessions/{NAME}/samples"): Role.WRITE,
    ("POST", rf"/v1/sessions/{NAME}/labels"): Role.WRITE,
    ("POST", rf"/v1/sessions/{NAME}/predict"): Role.READ,  # with an id the route asks for more
    ("POST", rf"/v1/sessions/{NAME}/fork"): Role.WRITE,
    ("PUT", rf"/v1/sessions/{NAME}/shadows/{NAME}"): Role.WRITE,
    ("DELETE", rf"/v1/sessions/{NAME}/shadows/{NAME}"): Role.WRITE,
    ("POST", rf"/v1/sessions/{NAME}/promote"): Role.WRITE,
    (WS, rf"/v1/sessions/{NAME}/stream"): Role.WRITE,
}
_COMPILED = [(method, re.compile(path), role) for (method, path), role in ROLES.items()]

LearnEndpoint = Callable[[str, Scope, Receive, ResponseWriter], Awaitable[None]]


def required_role(method: str, path: str) -> Role:
    """The role a request needs: reading for GET, what the table says, admin for all the rest."""
    if method in ("GET", "HEAD"):
        return Role.READ
    for its_method, pattern, role in _COMPILED:
        if method == its_method and pattern.fullmatch(path):
            return role
    return Role.ADMIN


KINDS = ("application/json",)
LABEL_KINDS = ("application/json", "application/x-ndjson")
"""What a body may be, and what one of labels may be."""


class RequestMiddleware:
    """Wraps the app; samples go straight to `ingest`, past routers, WebSockets to `sockets`."""

    def __init__(
        self, app: ASGIApp, ingest: LearnEndpoint, sockets: ASGIApp, context: AppState
    ) -> None:
        self._app, self._ingest, self._sockets = app, ingest, sockets
        self._context, self._hosts = context, Hosts(context.settings)
        self._settings, self._metrics = context.settings, context.metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            other = self._sockets if scope["type"] == "websocket" else self._app
            await other(scope, receive, send)
            return
        started = time.perf_counter()
        request_id = logs.begin_request(scope["headers"])
        answer = ResponseWriter(send, request_id)
        try:
            await self._serve(scope, receive, answer)
        except Problem as problem:
            await answer.problem(problem)
        except ClientGone:
            answer.status = 499
        except Exception:
            log.exception("request failed", extra={"path": scope["path"]})
            await answer.problem(Problem("internal", f"see the log for request {request_id}"))
        self.record(scope, request_id, answer.status, time.perf_counter() - started)

    async def _serve(self, scope: Scope, receive: Receive, send: ResponseWriter) -> None:
        method, path = scope["method"], scope["path"]
        samples = SAMPLES.fullmatch(path)
        self.authorize(scope)
        if samples:
            scope[ROUTE] = SAMPLES_ROUTE
            if method != "POST":
                detail = f"not with {method}"
                raise Problem("method-not-allowed", detail, headers={"Allow": "POST"})
            await self._ingest(samples[1], scope, receive, send)
        elif method in ("PUT", "POST", "PATCH"):
            await self._serve_body(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def authorize(self, scope: Scope) -> None:
        """Refuse a request that was sent to another host, or whose key will not do."""
        method, path = scope["method"], scope["path"]
        self._hosts.check(path, scope["headers"])
        if self._settings.api_keys and path not in PUBLIC and not path.startswith("/swagger/"):
            scope[KEY] = key = authenticate(scope["headers"], self._settings.api_keys)
            require(key.role, required_role(method, path))
            confine(key, method, path)

    async def _serve_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._context.room() as room:
            body = await room.body(scope, receive)
            kinds = LABEL_KINDS if scope["path"].endswith("/labels") else KINDS
            if body and _kind(scope["headers"]) not in kinds:
                raise Problem("unsupported-type", f"send {' or '.join(kinds)}")
            await self._app(scope, _replay(body, receive), send)

    def record(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        """Count a request that was answered, and write its line of the log."""
        matched: Any = scope.get("route")
        route = str(scope.get(ROUTE) or getattr(matched, "path", "unmatched"))
        self._metrics.request(route, scope["method"], status, seconds)
        level = logging.WARNING if status >= 500 else logging.DEBUG
        if log.isEnabledFor(level):
            session: Any = scope.get(SESSION)
            about = {"session": session.name, "t": session.t} if session else {}
            told = {"method": scope["method"], "path": scope["path"], "route": route}
            told |= {"status": status, "ms": round(seconds * 1e3, 3), "request_id": request_id}
            log.log(level, "request", extra=told | about)


def _kind(headers: list[tuple[bytes, bytes]]) -> str:
    """What a body says it is."""
    kind = dict(headers).get(b"content-type", b"")
    return kind.partition(b";")[0].strip().lower().decode("latin-1")


def _replay(body: bytes, receive: Receive) -> Receive:
    """A channel that gives the body that was read, then what comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
