"""The app: every part made and wired in one place, nothing global."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

from fastapi import FastAPI
from fastapi_swagger import patch_fastapi
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

import llr
from llr_service import openapi
from llr_service.app_state import AppState
from llr_service.http import responses
from llr_service.http.auth import PUBLIC
from llr_service.http.middleware import RequestMiddleware
from llr_service.http.websocket import WebSocketHandshake
from llr_service.metrics import Metrics
from llr_service.routes import DIRECT, ROUTERS
from llr_service.sessions.committer import Committer
from llr_service.sessions.expiry import Expiry
from llr_service.sessions.housekeeping import Housekeeping
from llr_service.sessions.outbox import Outbox
from llr_service.sessions.registry import SessionRegistry
from llr_service.sessions.storage import Storage, VersionReader
from llr_service.settings import Settings
from llr_service.stores import open_store
from llr_service.stores.store import MultiWriter
from llr_service.webhooks import WebhookSender


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
            self.inner, WebSocketHandshake(self.context), self.context
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
        default_response_class=responses.JSONLine,
    )
    app.state.context = context
    app.openapi = lambda: openapi.document(app)  # type: ignore[method-assign]
    app.router.routes.extend(DIRECT)
    for router in ROUTERS.values():
        app.include_router(router)
    if context.settings.docs:
        _serve_docs(app)
    responses.install(app)
    return app


def _serve_docs(app: FastAPI) -> None:
    """Serve the offline docs; their routes need no key."""
    ours = [one for one in app.routes if getattr(one, "path", "") != app.openapi_url]
    patch_fastapi(app, redirect_from_root_to_docs=False)
    for route in app.routes:
        if route not in ours:
            route.access = PUBLIC  # type: ignore[attr-defined]


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Make the kernels ready, open the store, serve, finish what is queued, close the store."""
    context: AppState = app.state.context
    await asyncio.to_thread(llr.prepare)
    async with AsyncExitStack() as stack:
        storage = await _open_storage(stack, context)
        registry = context.registry = SessionRegistry(
            storage, context.metrics, context.settings, context.clock
        )
        going = asyncio.create_task(registry.run_periodic())
        sending = _send_webhooks(storage, context)
        expiry = Expiry(registry, context.clock)
        housekeeping = Housekeeping(storage, context.metrics, expiry)
        keeping = asyncio.create_task(housekeeping.run())
        resuming = asyncio.create_task(registry.replay_worker.resume())
        try:
            yield
        finally:
            background = [going, keeping, resuming, *sending]
            for task in background:
                task.cancel()
            await asyncio.wait(background)
            await registry.replay_worker.close()
            await registry.fold_tails()


def _send_webhooks(storage: Storage, context: AppState) -> list[asyncio.Task[None]]:
    """Begin to report drift and divergence, if the operator says where to."""
    settings = context.settings
    if not settings.webhook_url:
        return []
    outbox = context.sessions.outbox = Outbox(storage)
    sender = WebhookSender(outbox, settings.webhook_url, settings.webhook_secret, context.clock)
    return [asyncio.create_task(sender.run())]


async def _open_storage(stack: AsyncExitStack, context: AppState) -> Storage:
    """Open the store; the stack closes it."""
    url = context.settings.store
    store = await asyncio.to_thread(open_store, url)
    committer, versions = Committer(store, context.metrics), None
    stack.push_async_callback(committer.close)
    if isinstance(store, MultiWriter):
        second = cast(MultiWriter, await asyncio.to_thread(open_store, url))
        versions = VersionReader(second, context.metrics)
        stack.push_async_callback(versions.close)
    return Storage(committer, versions)
