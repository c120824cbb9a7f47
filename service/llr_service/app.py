"""The app: every part made and wired in one place, nothing global."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi_swagger import patch_fastapi
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Match
from starlette.types import ASGIApp, Scope

import llr
from llr_service import openapi
from llr_service.app_state import AppState
from llr_service.http.handshake import WebSocketHandshake
from llr_service.http.middleware import RequestMiddleware
from llr_service.metrics import Metrics
from llr_service.problems import MEDIA_TYPE, Problem, pointer
from llr_service.routes import ROUTERS
from llr_service.routes.samples import LearnEndpoint
from llr_service.sessions.committer import Committer
from llr_service.sessions.heads import Heads
from llr_service.sessions.hub import Hub
from llr_service.sessions.rounds import rounds
from llr_service.sessions.storage import Storage
from llr_service.settings import Settings
from llr_service.stores import open_store
from llr_service.stores.store import MultiWriter

MOST_ERRORS = 10


class App:
    """An ASGI app with its parts: `inner` is FastAPI's, `context` what the routes share.

    Args:
        settings: as given.
        clock: what tells the seconds since 1970.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self.context = AppState(settings, Metrics(), clock)
        self.inner = _fastapi(self.context)
        outer: ASGIApp = RequestMiddleware(
            self.inner, LearnEndpoint(self.context), WebSocketHandshake(self.context), self.context
        )
        if settings.cors_origins:
            outer = CORSMiddleware(
                outer,
                allow_origins=settings.cors_origins,
                allow_methods=["*"],
                allow_headers=["*"],
                expose_headers=["ETag", "X-Request-ID", "Retry-After"],
            )
        self._outer = outer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve."""
        await self._outer(scope, receive, send)


def _fastapi(context: AppState) -> FastAPI:
    app = FastAPI(
        title="LLR",
        version=llr.__version__,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json" if context.settings.docs else None,
        swagger_ui_oauth2_redirect_url=None,
        redirect_slashes=False,
    )
    app.state.context = context
    app.openapi = lambda: openapi.document(app)  # type: ignore[method-assign]
    for router in ROUTERS.values():
        app.include_router(router)
    if context.settings.docs:
        patch_fastapi(app, redirect_from_root_to_docs=False)
    app.add_exception_handler(Problem, _on_problem)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(Exception, _on_failure)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Make the kernels ready, open the store, serve, finish what is queued, close the store."""
    context: AppState = app.state.context
    await asyncio.to_thread(llr.prepare)
    async with AsyncExitStack() as stack:
        storage = await _open_storage(stack, context)
        hub = context.hub = Hub(storage, context.metrics, context.settings, context.clock)
        going = asyncio.create_task(rounds(hub))
        resuming = asyncio.create_task(hub.relearner.resume())
        try:
            yield
        finally:
            going.cancel()
            resuming.cancel()
            await asyncio.wait([going, resuming])
            await hub.relearner.close()


async def _open_storage(stack: AsyncExitStack, context: AppState) -> Storage:
    """Open the store; the stack closes it."""
    url = context.settings.store
    store = await asyncio.to_thread(open_store, url)
    committer, versions = Committer(store, context.metrics), None
    stack.push_async_callback(committer.close)
    if isinstance(store, MultiWriter):
        second = cast(MultiWriter, await asyncio.to_thread(open_store, url))
        versions = Heads(second, context.metrics)
        stack.push_async_callback(versions.close)
    return Storage(committer, versions)


def _answer(problem: Problem) -> Response:
    body = to_json(problem.body(), inf_nan_mode="null")
    return Response(body, problem.kind.status, problem.headers, MEDIA_TYPE)


async def _on_problem(_: Request, problem: Any) -> Response:
    return _answer(problem)


async def _on_http(request: Request, error: Any) -> Response:
    kinds = {404: "not-found", 405: "method-not-allowed", 400: "malformed"}
    kind = kinds.get(error.status_code, "internal")
    detail = {
        "not-found": "see /docs for the addresses there are",
        "method-not-allowed": f"not with {request.method}",
    }
    headers = _allowed(request.scope) if kind == "method-not-allowed" else {}
    told = {**(error.headers or {}), **headers}
    return _answer(Problem(kind, detail.get(kind, str(error.detail)), headers=told))


def _allowed(scope: Scope) -> dict[str, str]:
    """Every method of an address that several routes share; the router names those of one only."""
    routes = [route for router in ROUTERS.values() for route in router.routes]
    here = [route for route in routes if route.matches(scope)[0] is not Match.NONE]
    methods = {method for route in here for method in getattr(route, "methods", None) or ()}
    return {"Allow": ", ".join(sorted(methods))} if methods else {}


async def _on_invalid(_: Request, error: Any) -> Response:
    found = error.errors()
    if any(one["type"] == "json_invalid" for one in found):
        return _answer(Problem("malformed", "the body is not JSON"))
    errors = _deepest([_place(one, error.body) for one in found[:MOST_ERRORS]])
    detail = "; ".join(
        f"{one.get('pointer') or one.get('parameter')}: {one['detail']}" for one in errors
    )
    return _answer(Problem("invalid", detail[:500], errors))


def _place(error: dict[str, Any], body: Any) -> dict[str, Any]:
    """Where and why, without what was sent. Kinds of a union are no part of the way there."""
    where, *path = error["loc"]
    if where == "body":
        last = len(path) - 1
        steps = []
        for i, part in enumerate(path):
            there = isinstance(body, dict | list) and _holds(body, part)
            if there or (i == last and error["type"] in ("missing", "extra_forbidden")):
                steps.append(str(part)[:100])
                body = body[part] if there else None
        return {"pointer": pointer(*steps), "detail": error["msg"]}
    return {"parameter": ".".join(str(part)[:100] for part in path), "detail": error["msg"]}


def _deepest(errors: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without those that only say that something below them is wrong."""
    places = [one.get("pointer", "") for one in errors]
    return [
        one
        for one, at in zip(errors, places, strict=True)
        if not at or not any(other.startswith(f"{at}/") for other in places)
    ]


def _holds(body: Any, part: Any) -> bool:
    if isinstance(body, dict):
        return part in body
    return isinstance(part, int) and part < len(body)


async def _on_failure(_: Request, __: Exception) -> Response:
    return _answer(Problem("internal", "the failure was logged"))
