"""A connection: uvicorn's, which waits for the head of a request a while and no longer.

What is not HTTP, or takes too long to become it, never reaches the app. It is refused here, in the
shape of every other problem.
"""

import asyncio
from collections import deque
from typing import Any, ClassVar

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from llr_service.http.responses import Header, error_response
from llr_service.problems import Problem

EVENTS = "llr.events"
"""Where a scope says that its answer is a stream of events, which nobody has to read to its end."""

LARGEST_HEAD = 64 * 1024
"""Bytes of a head, not counting the first piece of it, which may hold other requests."""

CLOSE: Header = (b"connection", b"close")


class PipelineFlow(FlowControl):
    """Flow control that reads nothing more while pipelined requests wait for their turn.

    uvicorn's resumes reading whenever the app asks for a body, even one that is complete: a client
    that sends requests and reads no answers would fill the queue without bound.
    """

    def __init__(self, transport: asyncio.Transport, pipeline: deque[Any]) -> None:
        super().__init__(transport)
        self._pipeline = pipeline

    def resume_reading(self) -> None:
        """Read again, unless requests are queued."""
        if not self._pipeline:
            super().resume_reading()


class Connection(HttpToolsProtocol):
    """One connection. It is watched until the first head is complete, and in each later one.

    A head that comes in one piece, as most do, sets no clock.
    """

    head_seconds: ClassVar[float] = 10.0
    _head_begun = False
    _head_size: int | None = None
    _clock: asyncio.TimerHandle | None = None
    _idle_since: float | None = None

    @classmethod
    def of(cls, head_seconds: float) -> type["Connection"]:
        """Connections on which a head may take so many seconds."""
        return type(cls.__name__, (cls,), {"head_seconds": head_seconds})

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody is there; a request should follow."""
        super().connection_made(transport)
        self.flow = PipelineFlow(transport, self.pipeline)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is there any more."""
        self._rest()
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came; what is left open by it is watched."""
        super().data_received(data)
        if self._head_begun and not self.transport.is_closing():
            self._head_size = 0 if self._head_size is None else self._head_size + len(data)
            if self._head_size > LARGEST_HEAD:
                self._refuse(Problem("too-large", f"A head has at most {LARGEST_HEAD} bytes."))
            elif self._clock is None:
                self._watch()

    def on_message_begin(self) -> None:
        """The first byte of a head."""
        self._head_begun, self._head_size = True, None
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The last byte of a head."""
        self._head_begun = False
        if self._clock is not None:
            self._rest()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """An answer is complete. Who sent requests ahead is listened to again after the last.

        As uvicorn's, but the clock of an idle connection goes on through its requests: to set one
        and to stop it every time is no small part of what a request costs.
        """
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        else:
            self._idle_since = self.loop.time()
            if self.timeout_keep_alive_task is None:
                self._let_idle(self.timeout_keep_alive)
        self.flow.resume_reading()

    def timeout_keep_alive_handler(self) -> None:
        """Close if nothing came for so long; else look again when that may be so."""
        self.timeout_keep_alive_task = None
        if self._idle_since is None:
            return  # the answer to what came sets the clock again
        left = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left > 0.0:
            self._let_idle(left)
        else:
            super().timeout_keep_alive_handler()

    def _let_idle(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(
            seconds, self.timeout_keep_alive_handler
        )

    def _unset_keepalive_if_required(self) -> None:
        """Something came."""
        self._idle_since = None

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse(Problem("malformed", msg))

    def hang_up(self, events_only: bool) -> None:
        """Leave those who do not read: the end of their events, or of any answer."""
        cycle = self.cycle
        if cycle is None:
            return
        unread = cycle.response_complete or self.flow.write_paused
        if EVENTS in cycle.scope or (unread and not events_only):
            self.transport.abort()

    def _watch(self) -> None:
        self._clock = self.loop.call_later(self.head_seconds, self._too_late)

    def _rest(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _too_late(self) -> None:
        detail = f"Send the head of a request within {self.head_seconds:g} seconds."
        if not self._head_begun:
            self.transport.close()
        elif self._answering:
            self._watch()
        else:
            self._refuse(Problem("too-slow", detail))

    @property
    def _answering(self) -> bool:
        """Whether the answer to an earlier request is not complete."""
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, problem: Problem) -> None:
        """Close, with an answer if it cannot be taken for another request's."""
        self._rest()
        if not self._answering or not (self._head_begun or self.cycle.response_started):
            self.transport.write(_answer(problem, self.server_state.default_headers))
        self.transport.close()


def _answer(problem: Problem, headers: list[Header]) -> bytes:
    status, own, body = error_response(problem)
    lines = [b"%b: %b\r\n" % header for header in (*headers, *own, CLOSE)]
    length = b"content-length: %d\r\n\r\n" % len(body)
    return b"".join([STATUS_LINE[status], *lines, length, body])
