"""The outermost layer: a request's id, its key, its limits, its log line, its problem if it fails.

Plain ASGI around the FastAPI app, because it runs for every request. This is the one place that
turns an exception into a response. It reads the body of every route but the direct ones, which read
their own, within the same limits: no route can be held up by a slow client.
"""

import logging
import time
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from llr_service.app_state import SESSION, AppState
from llr_service.http import audit
from llr_service.http.access import Hosts, confine
from llr_service.http.auth import KEY, ApiKey, authenticate, require
from llr_service.http.bodies import ClientGone
from llr_service.http.request import Request
from llr_service.http.routing import Match, RouteIndex, check_query
from llr_service.problems import Problem

log = logging.getLogger("llr_service")

JSON = "application/json"
"""What the body of a route of FastAPI has to be."""


class RequestMiddleware:
    """Wraps the app: direct routes are called here, WebSockets go to `websockets`."""

    def __init__(self, app: FastAPI, websockets: ASGIApp, state: AppState) -> None:
        self._app, self._websockets, self._state = app, websockets, state
        self._routes, self._hosts = RouteIndex(app.routes), Hosts(state.settings)
        self._keys, self._limiter, self._metrics = state.keys, state.limiter, state.metrics
        self._guarded = state.settings.has_keys or state.limiter is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            other = self._websockets if scope["type"] == "websocket" else self._app
            await other(scope, receive, send)
            return
        started = time.perf_counter()
        request = Request(self._state, scope, receive, send)
        try:
            found = self._routes.find(scope["method"], scope["path"])
            self._hosts.check(scope["path"], scope["headers"])
            if self._guarded:
                self._authorize(request, found)
            if scope["query_string"]:
                check_query(scope["query_string"], found.parameters)
            if found.route is None:
                await self._serve(request)
            else:
                request.name, request.route = found.name, found.route.path
                response = await found.route.call(request)
                if response is not None and not request.write(response):
                    await request.respond(response)
        except Problem as problem:
            await request.refuse(problem)
        except ClientGone:
            request.status = 499
        except Exception:
            log.exception("request failed", extra={"path": scope["path"]})
            await request.refuse(Problem("internal", f"see the log for request {request.id}"))
        finally:
            request.budget.release()
        self._record(request, time.perf_counter() - started)

    def _authorize(self, request: Request, found: Match) -> None:
        """Refuse a request whose key will not do, before anything is looked up."""
        if found.access.role is None:
            return
        scope = request.scope
        scope[KEY] = request.caller = key = authenticate(scope["headers"], self._keys.by_digest)
        if self._limiter is not None:
            self._limiter.take(key)
        require(key.role, found.access.role)
        if key.prefix:
            confine(key, found.access, scope["method"], found.name)

    async def _serve(self, request: Request) -> None:
        """Serve a request by FastAPI; its body is read first."""
        scope, receive = request.scope, request.receive
        if scope["method"] in ("PUT", "POST", "PATCH"):
            body = await request.body()
            if body and request.content_type != JSON:
                raise Problem("unsupported-type", f"send {JSON}")
            receive = _replay(body, receive)
        await self._app(scope, receive, request.send)

    def _key_of(self, request: Request) -> ApiKey | None:
        """The key that a request came with, None if it was not accepted."""
        return request.scope.get(KEY) if self._guarded else request.caller

    def _record(self, request: Request, seconds: float) -> None:
        """Count a request that was answered, and write its line of the log."""
        scope, status = request.scope, request.status
        route = request.route or str(getattr(scope.get("route"), "path", "unmatched"))
        self._metrics.request(route, scope["method"], status, seconds)
        if status in audit.REFUSED or not request.route:  # the direct routes take samples, or read
            audit.record(scope, scope["method"], route, status, self._key_of(request))
        level = logging.WARNING if status >= 500 else logging.DEBUG
        if log.isEnabledFor(level):
            session: Any = request.session or scope.get(SESSION)
            about = {"session": session.name, "t": session.t} if session else {}
            told = {"method": scope["method"], "path": scope["path"], "route": route}
            told |= {"status": status, "ms": round(seconds * 1e3, 3), "request_id": request.id}
            log.log(level, "request", extra=told | about)


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
