"""A connection of the HTTP protocol without a socket: bytes in, requests and answers out."""

import asyncio
import re
from typing import Any

import uvicorn
from llr_service.http.protocol import Connection
from uvicorn.server import ServerState

HEAD_SECONDS = 5.0
KEEP_ALIVE = 75


class Transport(asyncio.Transport):
    """The near end of a connection whose far end is the test."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.closed, self.unread, self.reading = b"", False, 0, True
        self.protocol: Any = None

    def write(self, data: Any) -> None:
        if self.closed:
            raise RuntimeError("the transport is closed")  # as that of uvloop does
        self.written += data

    def close(self) -> None:
        self.closed = True

    abort = close

    def is_closing(self) -> bool:
        return self.closed

    def get_write_buffer_size(self) -> int:
        return self.unread

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def get_protocol(self) -> Any:
        return self.protocol

    def set_protocol(self, protocol: Any) -> None:
        self.protocol = protocol


Served = tuple[str, str, bytes]
"""Method, path and body of a request that an app served."""


class Recorder:
    """An app that notes what it serves; `wait` holds up its answers."""

    def __init__(self) -> None:
        self.served: list[Served] = []
        self.headers: list[dict[bytes, bytes]] = []
        self.disconnects = 0
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", scope["path"] != "/early"
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.disconnects += 1
                return
            body, more = body + message["body"], message["more_body"]
        self.served.append((scope["method"], scope["path"], body))
        self.headers.append(dict(scope["headers"]))
        await self.go.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})


class Talk:
    """A connection to a recorder, without a socket."""

    def __init__(self, app: Any = None, of: Any = None) -> None:
        self.app: Any = app or Recorder()
        quiet: dict[str, Any] = {"access_log": False, "log_config": None}
        config = uvicorn.Config(self.app, timeout_keep_alive=KEEP_ALIVE, ws="none", **quiet)
        kind = of or Connection.of(HEAD_SECONDS, 1000)
        self.connection: Any = kind(config, ServerState(), {})
        self.transport = Transport()
        self.transport.protocol = self.connection
        self.connection.connection_made(self.transport)

    async def say(self, *parts: bytes) -> None:
        """Send parts one by one, and let the app go as far as it can."""
        for part in parts:
            self.connection.data_received(part)
            await self.settle()

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    @property
    def statuses(self) -> list[int]:
        return [int(found) for found in re.findall(rb"HTTP/1.1 (\d+)", self.transport.written)]

    def swept(self, seconds: float) -> bool:
        """Whether the connection is closed after so many seconds without a byte."""
        self.connection.sweep(1000.0)
        self.connection.sweep(1000.0 + seconds)
        return self.transport.closed
