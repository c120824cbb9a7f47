"""What routes share: the hub, the settings, the metrics; made when the app starts, one per app."""

import asyncio
import contextlib
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Path, Request
from starlette.types import Message, Receive

from service.metrics import Metrics
from service.problems import Problem
from service.sessions.actor import Session
from service.sessions.hub import Hub
from service.settings import Settings

R = TypeVar("R")
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
"""What a session may be called."""


@dataclass
class Context:
    """The parts of a running app.

    Attributes:
        settings: as given.
        metrics: what is counted.
        hub: the sessions; there once the app has started.
        streams: open event streams.
        bodies: bytes of the bodies being worked on.
        readers: those who wait for more of a streamed body.
        draining: whether the service was told to stop.
    """

    settings: Settings
    metrics: Metrics
    hub: Hub | None = None
    streams: int = 0
    bodies: int = 0
    readers: set["asyncio.Future[Any]"] = field(default_factory=set)
    draining: bool = False

    @property
    def sessions(self) -> Hub:
        """The hub of a started app."""
        if self.hub is None:
            raise RuntimeError("the app has not started")
        return self.hub

    @contextlib.contextmanager
    def room_for(self, receive: Receive) -> Iterator[Receive]:
        """A channel that counts what it brings among all bodies being worked on; 503 if too much.

        Waiting for more than the first part ends when the service is to stop.
        """
        taken, first = 0, True

        async def counted() -> Message:
            nonlocal taken, first
            message = await (receive() if first else self.unless_draining(receive()))
            first = False
            size = len(message.get("body", b""))
            if self.bodies + size > self.settings.max_bodies:
                detail = "too many large bodies at once, send again"
                raise Problem("unavailable", detail, headers={"Retry-After": "1"})
            self.bodies += size
            taken += size
            return message

        try:
            yield counted
        finally:
            self.bodies -= taken

    async def unless_draining(self, waiting_for: Awaitable[R]) -> R:
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
        self.sessions.drain()
        for reader in list(self.readers):
            reader.cancel()


def of_request(request: Request) -> Context:
    """The context of the app that got this request."""
    context: Context = request.app.state.context
    return context


Here = Annotated[Context, Depends(of_request)]
Name = Annotated[str, Path(pattern=f"^{NAME}$", description="The session's name.")]


async def session_named(name: Name, here: Here, request: Request) -> Session:
    """The session of the path, or a 404."""
    session = await here.sessions.get(name)
    request.scope["llr.session"] = session
    return session


Named = Annotated[Session, Depends(session_named)]
