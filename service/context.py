"""What routes share: the hub, the settings, the metrics; made when the app starts, one per app."""

import asyncio
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Path, Request

from service.front import NAME
from service.metrics import Metrics
from service.sessions.actor import Session
from service.sessions.hub import Hub
from service.settings import Settings


@dataclass
class Context:
    """The parts of a running app.

    Attributes:
        settings: as given.
        metrics: what is counted.
        hub: the sessions; there once the app has started.
        streams: open event streams.
        readers: tasks that wait for more of a body.
        draining: whether the service was told to stop.
    """

    settings: Settings
    metrics: Metrics
    hub: Hub | None = None
    streams: int = 0
    readers: set["asyncio.Task[None]"] = field(default_factory=set)
    draining: bool = False

    @property
    def sessions(self) -> Hub:
        """The hub of a started app."""
        if self.hub is None:
            raise RuntimeError("the app has not started")
        return self.hub

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
