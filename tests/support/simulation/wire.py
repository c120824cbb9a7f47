"""A request on a simulated connection: what it sends in pieces, and what comes back."""

import asyncio
from collections.abc import Callable
from itertools import pairwise
from typing import Any

Asgi = Callable[[Any, Any, Any], Any]


class Request:
    """A request that is served, driven from outside: by the piece, until it is cut or answered.

    Attributes:
        status: of the answer, None if none came.
        body: of the answer, as far as it came.
        whole: whether all of the answer came.
        over: whether the app is done with it.
    """

    def __init__(self, method: str, target: str, body: bytes, kind: str, headers: Any = ()) -> None:
        path, _, query = target.partition("?")
        sent = [(b"host", b"127.0.0.1"), (b"content-type", kind.encode()), *headers]
        self.scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": sent,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        self.pieces = [body]
        self.status: int | None = None
        self.body = b""
        self.whole = self.over = self.cut = False
        self._asked: asyncio.Future[Any] | None = None
        self._task: asyncio.Task[None] | None = None
        self.app: Any = None

    def split(self, places: list[int]) -> None:
        """Send the body in several pieces."""
        body, ends = self.pieces[0], [0, *sorted(places), len(self.pieces[0])]
        self.pieces = [body[a:b] for a, b in pairwise(ends)]

    def start(self, app: Asgi, loop: asyncio.AbstractEventLoop) -> None:
        """Let the app serve it."""
        self.app = app
        self._task = loop.create_task(self._serve(app))

    @property
    def waits(self) -> bool:
        """Whether the app wants a piece and there is one."""
        return self._asked is not None and bool(self.pieces or self.cut)

    def arrive(self) -> None:
        """Let the next piece arrive, or the news that the client has gone."""
        asked, self._asked = self._asked, None
        if asked is not None and not asked.done():
            asked.set_result(self._message())

    def disconnect(self) -> None:
        """Let the client go away: nothing that is sent from now on is read."""
        self.cut = True
        self.pieces.clear()

    def cancel(self) -> None:
        """Let the server give the request up, as it does when it is to stop at once."""
        self.cut = True
        if self._task is not None:
            self._task.cancel()

    def _message(self) -> dict[str, Any]:
        if self.cut:
            return {"type": "http.disconnect"}
        piece = self.pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(self.pieces)}

    async def _receive(self) -> Any:
        self._asked = asyncio.get_running_loop().create_future()
        return await self._asked

    async def _send(self, message: Any) -> None:
        if self.cut:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.body += message.get("body", b"")
            self.whole = not message.get("more_body", False)

    async def _serve(self, app: Asgi) -> None:
        try:
            await app(self.scope, self._receive, self._send)
        finally:
            self.over = True
