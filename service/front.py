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

from service import logs
from service.context import NAME, Context
from service.keys import Role, authenticate, require
from service.limits import ClientGone, read_body
from service.problems import Problem
from service.replies import send_problem

log = logging.getLogger("service")

PUBLIC = {"/", "/livez", "/readyz", "/docs", "/openapi.json"}
SAMPLES = re.compile(rf"/v1/sessions/({NAME})/samples")
SAMPLES_ROUTE = "/v1/sessions/{name}/samples"
ROLES: dict[tuple[str, str], Role] = {
    ("PUT", rf"/v1/sessions/{NAME}"): Role.WRITE,
    ("POST", rf"/v1/sessions/{NAME}/samples"): Role.WRITE,
    ("POST", rf"/v1/sessions/{NAME}/predict"): Role.READ,
}
_COMPILED = [(method, re.compile(path), role) for (method, path), role in ROLES.items()]

Ingest = Callable[[str, Scope, Receive, Send], Awaitable[None]]


def needed(method: str, path: str) -> Role:
    """The role a request needs: reading for GET, what the table says, admin for all the rest."""
    if method in ("GET", "HEAD"):
        return Role.READ
    for its_method, pattern, role in _COMPILED:
        if method == its_method and pattern.fullmatch(path):
            return role
    return Role.ADMIN


class Front:
    """Wraps the app; samples go straight to `ingest`, past routers and middlewares."""

    def __init__(self, app: ASGIApp, ingest: Ingest, context: Context) -> None:
        self._app, self._ingest, self._context = app, ingest, context
        self._settings, self._metrics = context.settings, context.metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        request_id = logs.begin_request(scope["headers"])
        answer = _Answer(send, request_id)
        try:
            await self._serve(scope, receive, answer)
        except Problem as problem:
            await answer.problem(problem)
        except ClientGone:
            answer.status = 499
        except Exception:
            log.exception("request failed", extra={"path": scope["path"]})
            await answer.problem(Problem("internal", f"see the log for request {request_id}"))
        self._account(scope, answer, time.perf_counter() - started)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        method, path, settings = scope["method"], scope["path"], self._settings
        if path not in PUBLIC and not path.startswith("/swagger/"):
            role = authenticate(scope["headers"], settings.api_keys)
            require(role, needed(method, path))
        if match := SAMPLES.fullmatch(path):
            scope["llr.route"] = SAMPLES_ROUTE
            if method != "POST":
                detail = f"not with {method}"
                raise Problem("method-not-allowed", detail, headers={"Allow": "POST"})
            await self._ingest(match[1], scope, receive, send)
            return
        if method not in ("PUT", "POST", "PATCH"):
            await self._app(scope, receive, send)
            return
        with self._context.room_for(receive) as counted:
            limits = (settings.max_body, settings.body_timeout, settings.min_rate)
            body = await read_body(counted, scope["headers"], *limits)
            if body and not _is_json(scope["headers"]):
                raise Problem("unsupported-type", "send application/json")
            await self._app(scope, _replay(body, receive), send)

    def _account(self, scope: Scope, answer: "_Answer", seconds: float) -> None:
        matched: Any = scope.get("route")
        route = str(scope.get("llr.route") or getattr(matched, "path", "unmatched"))
        self._metrics.request(route, scope["method"], answer.status, seconds)
        level = logging.WARNING if answer.status >= 500 else logging.DEBUG
        if log.isEnabledFor(level):
            session: Any = scope.get("llr.session")
            about = {"session": session.name, "t": session.t} if session else {}
            told = {"method": scope["method"], "path": scope["path"], "route": route}
            told |= {"status": answer.status, "ms": round(seconds * 1e3, 3)}
            log.log(level, "request", extra=told | about)


class _Answer:
    """The way back: notes the status, adds the request's id, and can still send a problem."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send, self._id = send, request_id.encode()
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), (b"x-request-id", self._id)]
        await self._send(message)

    async def problem(self, problem: Problem) -> None:
        if not self.status:
            await send_problem(problem, self)


def _is_json(headers: list[tuple[bytes, bytes]]) -> bool:
    kind = dict(headers).get(b"content-type", b"")
    return kind.partition(b";")[0].strip().lower() == b"application/json"


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
