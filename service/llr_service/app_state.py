"""What routes share: sessions, settings, metrics; made when the app starts, one per app."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Path, Request

from llr_service.http.auth import ANYBODY, KEY, ApiKey
from llr_service.http.keys import KeyRing
from llr_service.http.rate_limit import RateLimiter
from llr_service.metrics import Metrics
from llr_service.problems import Problem
from llr_service.sessions.config import NAME
from llr_service.sessions.consistency import get_latest
from llr_service.sessions.registry import SessionRegistry
from llr_service.sessions.session import Session
from llr_service.settings import Settings

R = TypeVar("R")
SESSION = "llr.session"
"""Where a scope holds the session that a route of FastAPI found, for the log."""


@dataclass
class AppState:
    """The parts of a running app.

    Attributes:
        settings: as given.
        metrics: what is counted.
        clock: what tells the seconds since 1970.
        registry: the sessions; there once the app has started.
        streams: open event streams and WebSockets.
        backing_up: whether a backup is being made or sent.
        bodies: bytes of the bodies being worked on.
        readers: tasks that wait for more of a streamed body.
        draining: whether the service is shutting down.
        keys: the keys that are accepted.
        creating: held while a tenant's sessions are counted and one is created.
        limiter: what each key may do a second; None without a limit.
    """

    settings: Settings
    metrics: Metrics
    clock: Callable[[], float] = time.time
    registry: SessionRegistry | None = None
    streams: int = 0
    backing_up: bool = False
    bodies: int = 0
    readers: set["asyncio.Future[Any]"] = field(default_factory=set)
    draining: bool = False
    creating: asyncio.Lock = field(default_factory=asyncio.Lock)
    keys: KeyRing = field(init=False)
    limiter: RateLimiter | None = field(init=False)

    def __post_init__(self) -> None:
        settings = self.settings
        self.keys = KeyRing(settings.api_keys, settings.api_keys_file)
        rate, burst = settings.rate_limit, settings.rate_burst
        self.limiter = RateLimiter(rate, burst) if rate else None

    @property
    def sessions(self) -> SessionRegistry:
        """The registry of a started app."""
        if self.registry is None:
            raise RuntimeError("the app has not started")
        return self.registry

    def record_accepted(self, session: Session, sent: int, accepted: int) -> None:
        """So many samples were sent to a session, and so many of them were new."""
        self.sessions.update_size(session)
        if accepted < sent:
            self.metrics.duplicate(sent - accepted)

    @asynccontextmanager
    async def quota(self, caller: ApiKey, name: str) -> AsyncIterator[None]:
        """Let a key create a session of this name. Raises `quota-exceeded` if it has its most.

        A session that exists already may be created again, which changes nothing.
        """
        most, prefix = self.settings.max_tenant_sessions, caller.prefix
        if not most or not prefix:
            yield
            return
        async with self.creating:
            rows = await self.sessions.list("", most, prefix)
            if len(rows) >= most and not await self._exists(name):
                detail = f"this key may have {most} sessions, and they are there: delete one"
                raise Problem("quota-exceeded", detail, limit=most)
            yield

    async def _exists(self, name: str) -> bool:
        try:
            await self.sessions.get_current(name)
        except Problem as problem:
            if problem.kind.name != "session-not-found":
                raise
            return False
        return True

    async def cancel_on_shutdown(self, waiting_for: Awaitable[R]) -> R:
        """Wait for something; a 503 ends it when the service is to stop."""
        stops = Problem(
            "unavailable", "the service stops: send again", headers={"Retry-After": "1"}
        )
        waiting = asyncio.ensure_future(waiting_for)
        self.readers.add(waiting)
        try:
            if self.draining:
                raise stops
            return await waiting
        except asyncio.CancelledError:
            if self.draining and waiting.cancelled():
                raise stops from None
            raise
        finally:
            self.readers.discard(waiting)
            waiting.cancel()

    def drain(self) -> None:
        """The service is about to stop: open streams end, in both directions."""
        self.draining = True
        self.sessions.begin_shutdown()
        for reader in list(self.readers):
            reader.cancel()


def of_request(request: Request) -> AppState:
    """The context of the app that got this request."""
    context: AppState = request.app.state.context
    return context


def of_caller(request: Request) -> ApiKey:
    """The key this request came with."""
    key: ApiKey = request.scope.get(KEY, ANYBODY)
    return key


Caller = Annotated[ApiKey, Depends(of_caller)]
AppStateDep = Annotated[AppState, Depends(of_request)]
Name = Annotated[str, Path(pattern=f"^{NAME}$", description="The session's name.")]


async def session_named(name: Name, here: AppStateDep, request: Request) -> Session:
    """The session of the path, not older than anything acknowledged before; or a 404."""
    session = await get_latest(here.sessions, name)
    request.scope[SESSION] = session
    return session


Named = Annotated[Session, Depends(session_named)]
