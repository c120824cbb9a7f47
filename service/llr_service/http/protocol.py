"""uvicorn's httptools protocol with bounds: a byte budget and a deadline for every parser state.

What it changes:

- A request that offers an upgrade to anything but a WebSocket is an ordinary request, and its body
  is a body. httptools stops parsing at the end of such a head.
- Trailers are dropped, and heads, trailers and chunk extensions have a size limit.
- A malformed request is answered after the requests before it, in problem+json.
- `sweep`, called once a second, closes connections whose time is up. There are no timers.
- Answers that the client does not read are bounded in time and in total size.
- An answer of known length is one write: see `http.uvicorn_private`.

| state | byte budget | deadline | owner |
|---|---|---|---|
| no request yet | MAX_HEAD | `head_seconds` | sweep |
| idle between requests | MAX_HEAD | `timeout_keep_alive` | sweep |
| head | MAX_HEAD | `head_seconds` | sweep |
| body | of the app | of the app | app |
| chunk extensions, trailers | MAX_HEAD | of the app | app |
| rest of a body after its answer | MAX_REST | `head_seconds` | sweep |
| answer not read | `max_unread`, all together | UNREAD_SECONDS without progress | sweep |
| requests sent ahead | one read | reading stops | app |
"""

import asyncio
from typing import Any, ClassVar

import httptools

from llr_service.http.responses import closing_response
from llr_service.http.uvicorn_private import (
    ASGI3Application,
    Cycle,
    FlowControl,
    HttpToolsProtocol,
    RequestResponseCycle,
    UnreadAnswers,
)
from llr_service.problems import Problem

EVENTS = "llr.events"
"""Scope key of an answer that never ends by itself: an event stream."""

MAX_HEAD = 64 * 1024
"""Largest head in bytes, and largest trailer section."""
MAX_REST = 64 * 1024 * 1024
"""Bytes of a body that are read and dropped after an early answer."""
UNREAD_SECONDS = 60.0
"""Seconds after which a client that reads nothing of its answer is disconnected."""
SLICE = 4096
"""Bytes parsed at a time outside of bodies: bounds how many requests sent ahead are queued."""

_BODY_METHODS = ("POST", "PUT", "PATCH")
_NO_UPGRADE = (b"upgrade",)
_BODY_HEADERS = (b"content-length", b"transfer-encoding")


class _Trailers(list[tuple[bytes, bytes]]):
    """Replaces the header list once the head is complete, and drops what is appended."""

    def append(self, _: tuple[bytes, bytes], /) -> None:
        """Drop a trailer."""


_TRAILERS = _Trailers()


class _Flow(FlowControl):
    """Flow control that reads nothing while requests sent ahead are queued.

    uvicorn's resumes reading whenever the app asks for a body, even a complete one: a client that
    sends requests and reads no answers would fill the queue without bound.
    """

    def __init__(self, transport: asyncio.Transport, pipeline: Any) -> None:
        super().__init__(transport)
        self._pipeline = pipeline

    def resume_reading(self) -> None:
        """Read again, unless requests are queued."""
        if not self._pipeline:
            super().resume_reading()


class Connection(HttpToolsProtocol):
    """One HTTP connection."""

    head_seconds: ClassVar[float]
    unread: ClassVar[UnreadAnswers]

    _requests = 0
    _quiet = 0  # bytes since the parser last reported a head, a part of a body or an end
    _in_body = False
    _failure: bytes | None = None
    _backlog = b""
    _socket: Any = None
    _running: RequestResponseCycle | None = None
    _phase: tuple[str, int] = ("", 0)
    _phase_since = 0.0

    @classmethod
    def of(cls, head_seconds: float, max_unread: int) -> type["Connection"]:
        """The protocol of one server, with its limits."""
        limits = {"head_seconds": head_seconds, "unread": UnreadAnswers(max_unread)}
        return type(cls.__name__, (cls,), limits)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Open the connection."""
        super().connection_made(transport)
        self.flow = _Flow(transport, self.pipeline)

    def connection_lost(self, exc: Exception | None) -> None:
        """Disconnect the running request; uvicorn would disconnect the newest one."""
        self.unread.discard(self.transport)
        super().connection_lost(exc)
        if self._running is not None:
            self._leave(self._running)

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless requests before it are still queued."""
        if self._failure is not None:
            return
        if self.pipeline or self._backlog:
            self._backlog += data
            self.flow.pause_reading()
        elif len(data) <= SLICE:
            self._feed(data)
        else:
            self._feed_slices(data)

    def _feed_slices(self, data: bytes) -> None:
        at = 0
        while at < len(data) and self._failure is None and not self.transport.is_closing():
            if self.pipeline:
                self._backlog = data[at:]
                self.flow.pause_reading()
                return
            if self._socket is not None:
                self._socket.data_received(data[at:])
                return
            end = at + (16 * SLICE if self._in_body else SLICE)
            self._feed(data[at:end])
            at = end

    def _feed_backlog(self) -> None:
        if not self.pipeline and not self.transport.is_closing():
            data, self._backlog = self._backlog, b""
            self._feed_slices(data)

    def _feed(self, data: bytes) -> None:
        self._quiet += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            cause = error.__context__
            self._refuse(cause if isinstance(cause, Problem) else _malformed(str(error)))
        if self._quiet > MAX_HEAD:
            self._check_budget()

    def _check_budget(self) -> None:
        if self._failure is not None or self.transport.is_closing():
            return
        if not self._in_body:
            self._refuse(Problem("too-large", f"A request head has at most {MAX_HEAD} bytes."))
        elif not self.cycle.response_complete:
            detail = f"Trailers and chunk extensions have at most {MAX_HEAD} bytes."
            self._refuse(Problem("too-large", detail))
        elif self._quiet > MAX_REST:
            self.transport.close()

    def _upgrade(self, rest: bytes) -> None:
        """Go on behind a head that asks for another protocol. WebSockets are the only one."""
        method = self.parser.get_method()
        if method == b"CONNECT":
            self._refuse(_malformed("CONNECT is not supported: this server is not a proxy."))
            return
        has_body = any(name in _BODY_HEADERS for name, _ in self.headers)
        if method == b"GET" and not has_body and self._should_upgrade():
            if self._answering:
                self._refuse(_malformed("A WebSocket needs a connection of its own."))
                return
            self.handle_websocket_upgrade()
            self._socket = self.transport.get_protocol()
            if rest:
                self._socket.data_received(rest)
            return
        version = self.parser.get_http_version().encode()
        lines = [b"%b %b HTTP/%b\r\n" % (method, self.url, version)]
        lines += [b"%b: %b\r\n" % h for h in self.headers if h[0] not in _NO_UPGRADE]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._feed(b"".join([*lines, b"\r\n"]))
        if rest and self._failure is None:
            self._feed(rest)

    def on_headers_complete(self) -> None:
        """Start the request, unless its head asks for another protocol: `_upgrade` decides."""
        self._quiet = 0
        if self.parser.should_upgrade():
            self.scope["method"] = self.parser.get_method().decode()
            return
        if self.parser.get_http_version() not in ("1.1", "1.0"):
            raise _malformed("Use HTTP/1.1.")
        super().on_headers_complete()
        self._requests += 1
        self._in_body = True
        self.headers = _TRAILERS

    def on_body(self, body: bytes) -> None:
        """Take a part of the body, or drop it if the request is answered."""
        if not self.cycle.response_complete:
            self._quiet = 0
            super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request. A trailer that closes the connection closes it after the answer."""
        if self.parser.should_upgrade():
            return
        self._quiet = 0
        self._in_body = False
        super().on_message_complete()
        if self.cycle.keep_alive and not self.parser.should_keep_alive():
            self.cycle.keep_alive = False
            if self.cycle.response_complete:
                self.transport.close()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        cycle.__class__ = Cycle  # uvicorn makes its own kind, and has no setting for another
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Go on to the next request. Unlike uvicorn's, it sets no keep-alive timer."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        elif self._failure is not None:
            self._write_failure()
        if not self.pipeline:
            self.flow.resume_reading()
            if self._backlog:
                self.loop.call_soon(self._feed_backlog)

    @property
    def _answering(self) -> bool:
        return self._running is not None and not self._running.response_complete

    def _refuse(self, problem: Problem) -> None:
        """Answer what cannot be parsed, after the requests before it, and close.

        A request whose body breaks off is answered only if its method says that the app acts on
        the whole body. Otherwise the app may have acted: the connection closes without an answer.
        """
        self._failure = closing_response(problem, self.server_state.default_headers)
        self._backlog = b""
        if self._in_body and self._running is self.cycle:
            if self.cycle.response_started or self.scope["method"] not in _BODY_METHODS:
                self.transport.close()
                return
            self._leave(self.cycle)
            self._write_failure()
        else:
            if self._in_body:
                self.pipeline.popleft()
            if not self._answering:
                self._write_failure()

    def _write_failure(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(self._failure or b"")
            self.transport.close()

    @staticmethod
    def _leave(cycle: RequestResponseCycle) -> None:
        """Let the app see a disconnect, and drop what it still sends."""
        cycle.disconnected = not cycle.response_complete
        cycle.message_event.set()

    def pause_writing(self) -> None:
        """Note a client that does not keep up reading."""
        super().pause_writing()
        self.unread.add(self.transport)

    def resume_writing(self) -> None:
        """The client reads again."""
        self.unread.discard(self.transport)
        super().resume_writing()

    def sweep(self, now: float) -> None:
        """Close the connection if it has been in one state for too long."""
        phase = self._current_phase()
        if phase != self._phase:
            self._phase, self._phase_since = phase, now
            return
        waited = now - self._phase_since
        state, requests = phase
        if state == "head" and waited >= self.head_seconds:
            detail = f"Send the head of a request within {self.head_seconds:g} seconds."
            self._refuse(Problem("too-slow", detail))
        elif state == "idle":
            if waited >= (self.timeout_keep_alive if requests else self.head_seconds):
                self.transport.close()
        elif state == "rest" and waited >= self.head_seconds:
            self.transport.close()
        elif state == "unread" and waited >= UNREAD_SECONDS:
            self.transport.abort()

    def _current_phase(self) -> tuple[str, int]:
        """The state, with a number that changes whenever there is progress in it."""
        if self.flow.write_paused or self.transport.is_closing():
            return "unread", self.transport.get_write_buffer_size()
        if self._failure is not None or self.flow.read_paused:
            return "serving", self._requests
        if self.scope is not None and "method" not in self.scope:
            return "head", self._requests
        if self._answering:
            return "serving", self._requests
        return ("rest" if self._in_body else "idle"), self._requests

    def hang_up(self, events_only: bool) -> None:
        """At shutdown, disconnect event streams; and, unless `events_only`, unread answers."""
        cycle = self._running
        if cycle is None:
            return
        unread = cycle.response_complete or self.flow.write_paused
        if EVENTS in cycle.scope or (unread and not events_only):
            self.transport.abort()


def _malformed(detail: str) -> Problem:
    return Problem("malformed", detail)
