"""Who reads a stream of samples ends with the request, whatever ends it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from llr_service.app import App
from llr_service.settings import Settings
from starlette.types import Message
from support.app import DEMO, SAMPLES, Stub, away, running

pytestmark = pytest.mark.anyio
LINE = b'{"y": 1}\n'


@pytest.fixture
async def app(store: Stub) -> AsyncIterator[App]:
    """An app with a session, whose streams come in blocks of a few lines."""
    app = App(Settings(store="memory:", block_bytes=1024, max_line=1024))
    async with running(app) as http:
        await http.put(DEMO, json={"model": "gaussian"})
        yield app


class Sender:
    """One who sends NDJSON without an end and wants a line for each block."""

    def __init__(self, body: bytes, leaves: bool = False) -> None:
        self._parts = [{"type": "http.request", "body": body, "more_body": True}]
        self._leaves = leaves
        self.status = 0

    async def receive(self) -> Message:
        if self._parts:
            return self._parts.pop()
        await asyncio.Event().wait()
        raise AssertionError

    async def send(self, message: Message) -> None:
        self.status = message.get("status", self.status)
        if self._leaves and message["type"] == "http.response.body":
            raise OSError("nobody there")

    async def go(self, app: App) -> None:
        kind = b"application/x-ndjson"
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "POST",
            "path": SAMPLES,
            "raw_path": SAMPLES.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(b"host", b"here"), (b"content-type", kind), (b"accept", kind)],
        }
        await app(scope, self.receive, self.send)


async def test_who_reads_has_ended_when_the_answer_is_given(app: App, store: Stub) -> None:
    others = asyncio.all_tasks()
    store.fails = away
    sender = Sender(LINE * 500)
    await sender.go(app)
    assert sender.status == 503
    assert asyncio.all_tasks() == others


async def test_who_reads_has_ended_when_there_is_nobody_to_tell(app: App) -> None:
    others = asyncio.all_tasks()
    await Sender(LINE * 500, leaves=True).go(app)
    assert asyncio.all_tasks() == others
