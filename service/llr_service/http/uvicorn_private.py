"""The undocumented parts of uvicorn that this package uses: the one module that imports them.

`PRIVATE_NAMES` are the attributes that are used of them. A test checks each one, and the version of
uvicorn has an upper bound. `Cycle` writes head and body of an answer of known length at once, where
uvicorn makes two system calls and two packets; `UnreadAnswers` bounds what clients do not read.
"""

from asyncio import Transport
from collections.abc import Iterable
from functools import lru_cache
from http import HTTPStatus
from itertools import islice
from typing import Any, ClassVar, cast

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import (
    HEADER_RE,
    HEADER_VALUE_RE,
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from llr_service.http.responses import Header, Response, content_length

__all__ = [
    "HEADER_RE",
    "HEADER_VALUE_RE",
    "PRIVATE_NAMES",
    "STATUS_LINE",
    "ASGI3Application",
    "FlowControl",
    "HttpToolsProtocol",
    "RequestResponseCycle",
    "WebSocketsSansIOProtocol",
]

PRIVATE_NAMES = {
    "protocol": (
        *("cycle", "flow", "headers", "loop", "parser", "pipeline", "scope", "server_state"),
        *("timeout_keep_alive", "transport", "url", "handle_websocket_upgrade"),
        *("_should_upgrade", "_start_asgi_task"),
    ),
    "cycle": (
        *("access_log", "default_headers", "disconnected", "flow", "keep_alive", "message_event"),
        *("on_response", "response_complete", "response_started", "scope", "transport"),
        "waiting_for_100_continue",
    ),
    "flow": ("drain", "pause_reading", "read_paused", "resume_reading", "write_paused"),
    "server state": ("connections", "default_headers", "total_requests"),
    "socket": (
        *("close_sent", "conn", "frames", "handle_connect", "handle_cont", "handshake_complete"),
        *("handshake_initiated", "initial_response", "logger", "pending_ping_payload"),
        *("pong_timer", "read_paused", "schedule_ping", "send_500_response"),
        *("send_receive_event_to_app", "shutdown", "transport"),
    ),
    "socket's parser": ("accept", "debug", "handshake_exc", "logger"),
}


JOINED = 64 * 1024
"""Bytes of a body up to which it is copied behind its head."""


class Cycle(RequestResponseCycle):
    """A request and its answer."""

    _head: dict[str, Any] | None = None
    _defaults: ClassVar[list[Header] | None] = None
    _lines: ClassVar[bytes] = b""

    async def send(self, message: Any) -> None:
        """Send an ASGI message."""
        if not self.response_started and message["type"] == "http.response.start":
            self._head = message if self._is_plain(message.get("headers", ())) else None
            if self._head is not None:
                return
        head, self._head = self._head, None
        if head is None:
            await super().send(message)
        elif message["type"] == "http.response.body" and self._is_whole(head, message):
            if self.flow.write_paused and not self.disconnected:
                await self.flow.drain()
            if not self.disconnected:
                self._write(head, message["body"])
        else:
            await super().send(cast(Any, head))
            await super().send(message)

    def _is_plain(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether an answer tells its length, and says nothing of the connection."""
        plain = False
        for name, _ in headers:
            if name == b"content-length":
                plain = True
            elif name in (b"connection", b"transfer-encoding") or not name.islower():
                return False
        return plain and self.keep_alive and not self.access_log

    def _is_whole(self, head: dict[str, Any], message: Any) -> bool:
        """Whether a message is the whole body that the head announced."""
        size = len(message.get("body", b""))
        return (
            0 < size <= JOINED
            and not message.get("more_body", False)
            and content_length(size) in head["headers"]
            and self.scope["method"] != "HEAD"
        )

    def respond(self, response: Response, request_id: bytes) -> bool:
        """Write a response of this package at once; False if it has to go through `send`.

        Its headers are well-formed and say nothing of the connection: they are not checked.
        """
        status, headers, body = response
        if (
            status != HTTPStatus.OK
            or not self.keep_alive
            or self.response_started
            or self.disconnected
            or self.flow.write_paused
            or self.access_log
            or not 0 < len(body) <= JOINED
            or self.scope["method"] == "HEAD"
        ):
            return False
        lines = [b"%b: %b\r\n" % header for header in headers]
        last = b"content-length: %d\r\nx-request-id: %b\r\n\r\n" % (len(body), request_id)
        self._finish(b"".join((STATUS_LINE[status], self._default_lines(), *lines, last, body)))
        return True

    def _write(self, head: dict[str, Any], body: bytes) -> None:
        lines = [_line(*header) for header in head["headers"]]
        start = STATUS_LINE[head["status"]]
        self._finish(b"".join((start, self._default_lines(), *lines, b"\r\n", body)))

    def _finish(self, response: bytes) -> None:
        self.response_started = self.response_complete = True
        self.waiting_for_100_continue = False
        self.transport.write(response)
        self.message_event.set()
        self.on_response()

    def _default_lines(self) -> bytes:
        """uvicorn's own headers as lines. It makes a new list of them once a second."""
        if Cycle._defaults is not self.default_headers:
            Cycle._defaults = self.default_headers
            Cycle._lines = b"".join([_line(*header) for header in self.default_headers])
        return Cycle._lines


@lru_cache(maxsize=1024)
def _line(name: bytes, value: bytes) -> bytes:
    """A header as a line. Raises RuntimeError if it would not be one."""
    if HEADER_RE.search(name) or HEADER_VALUE_RE.search(value):
        raise RuntimeError("Invalid HTTP header.")
    return b"%b: %b\r\n" % (name, value)


class UnreadAnswers:
    """The connections whose client does not keep up reading, the longest stalled first.

    Args:
        limit: bytes that may wait on all of them together. One alone may exceed it.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._stalled: dict[Transport, None] = {}

    def add(self, transport: Transport) -> None:
        """Note a stalled connection; beyond the limit the longest stalled ones are aborted."""
        self._stalled[transport] = None
        unread = sum(one.get_write_buffer_size() for one in self._stalled)
        for one in [*islice(self._stalled, len(self._stalled) - 1)]:
            if unread <= self._limit:
                break
            unread -= one.get_write_buffer_size()
            self._stalled.pop(one)
            one.abort()

    def discard(self, transport: Transport) -> None:
        """Forget a connection: it reads again, or is closed."""
        self._stalled.pop(transport, None)
