"""What routes share: the hub, the settings, the metrics; made when the app starts, one per app."""

import asyncio
import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Path, Request

from service.metrics import Metrics
from service.problems import Problem
from service.sessions.actor import Session
from service.sessions.hub import Hub
from service.settings import Settings

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
    def room_for(self, headers: Iterable[tuple[bytes, bytes]]) -> Iterator[None]:
        """Room for the body of a request, as large as its headers say; 503 if there is none."""
        length = dict(headers).get(b"content-length", b"")
        size = int(length) if length.isdigit() and len(length) < 16 else self.settings.max_body
        size = min(size, self.settings.max_body)
        if self.bodies + size > self.settings.max_bodies:
            wait = {"Retry-After": "1"}
            raise Problem("unavailable", "too many large bodies at once, send again", headers=wait)
        self.bodies += size
        try:
            yield
        finally:
            self.bodies -= size

    def drain(self) -> None:
        """The service is about to stop: open streams end, in both directions."""
        self.draining = True
        self.sessions.drain()
        for reader in self.readers:
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
