"""A reader of an event stream, with the app driven as a server drives it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from llr_service.app import App
from llr_service.settings import Settings
from starlette.types import Message

from support.app import DEMO, running, until

EVENTS = f"{DEMO}/events"


class Reader:
    """A client of one event stream. It reads what comes, unless it is frozen."""

    def __init__(self, app: App, *headers: tuple[bytes, bytes], path: str = EVENTS) -> None:
        self.status, self.id = 0, ""
        self.headers: dict[bytes, bytes] = {}
        self.times: list[float] = []
        self.thawed, self._leaving = asyncio.Event(), asyncio.Event()
        self.thawed.set()
        self._parts: asyncio.Queue[bytes | None] = asyncio.Queue()
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(b"host", b"here"), *headers],
        }
        self._request = {"type": "http.request", "body": b"", "more_body": False}
        self._task = asyncio.create_task(app(scope, self._receive, self._send))

    async def _receive(self) -> Message:
        if self._request:
            message, self._request = self._request, {}
            return message
        await self._leaving.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        await self.thawed.wait()
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
            return
        if message["body"]:
            self.times.append(asyncio.get_running_loop().time())
            self._parts.put_nowait(message["body"])
        if not message.get("more_body", False):
            self._parts.put_nowait(None)

    async def part(self) -> bytes | None:
        """The next that comes, None at the end."""
        async with asyncio.timeout(20):
            return await self._parts.get()

    async def state(self) -> dict[str, Any]:
        """The next state, which carries its t as id."""
        part = await self.part()
        while part in (b"retry: 1000\n\n", b": still here\n\n"):
            part = await self.part()
        assert part is not None
        number, kind, data, *end = part.decode().split("\n")
        state: dict[str, Any] = json.loads(data.removeprefix("data: "))
        self.id = number.removeprefix("id: ")
        assert (number, kind, end) == (f"id: {state['t']}", "event: state", ["", ""])
        return state

    async def opened(self) -> int:
        """The status, once there is one."""
        await until(lambda: self.status)
        return self.status

    async def rest(self) -> list[bytes]:
        """All that comes until the stream ends."""
        parts = []
        while (part := await self.part()) is not None:
            parts.append(part)
        return parts

    async def leave(self) -> None:
        self._leaving.set()
        await self._task


@asynccontextmanager
async def served(**settings: Any) -> AsyncIterator[tuple[App, httpx.AsyncClient]]:
    app = App(Settings(store="memory:", **settings))
    async with running(app) as http:
        await http.put(DEMO, json={"model": "gaussian"})
        yield app, http
