"""A connection: uvicorn's, which waits for the head of a request a while and no longer.

What is not HTTP, or takes too long to become it, never reaches the app. It is refused here, in the
shape of every other problem. And a request that came in one piece, as most do, is handed on in one
piece: it has nothing to wait for, and may be answered in one piece too. Some are served at once;
for each of the others the app has a task, as with uvicorn.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from llr_service.problems import Problem
from llr_service.replies import WHOLE, AtOnce, Header, refusal

EVENTS = "llr.events"
"""Where a scope says that its answer is a stream of events, which nobody has to read to its end."""

LARGEST_HEAD = 64 * 1024
"""Bytes of a head, not counting the first piece of it, which may hold other requests."""

CLOSE: Header = (b"connection", b"close")


class Connection(HttpToolsProtocol):
    """One connection. It is watched until the first head is complete, and in each later one.

    A head that comes in one piece, as most do, sets no clock.
    """

    head_seconds: ClassVar[float] = 10.0
    at_once: ClassVar[AtOnce | None] = None
    _head_begun = False
    _in_one_piece = False
    _head_size: int | None = None
    _clock: asyncio.TimerHandle | None = None
    _idle_since: float | None = None
    _held: Callable[[], None] | None = None

    @classmethod
    def of(cls, head_seconds: float, at_once: AtOnce) -> type["Connection"]:
        """Connections on which a head may take so many seconds, with this short way."""
        return type(cls.__name__, (cls,), {"head_seconds": head_seconds, "at_once": at_once})

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody is there; a request should follow."""
        super().connection_made(transport)
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
        self._in_one_piece = False
        if self._held is not None:
            self._let_go()
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
        self._head_begun, self._in_one_piece = False, True
        if self._clock is not None:
            self._rest()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The last byte of a request."""
        super().on_message_complete()
        cycle = self.cycle
        fresh = self._in_one_piece and cycle is not None and cycle.scope is self.scope
        if not fresh or self.scope["method"] != "POST":
            return
        scope: Any = self.scope
        whole, at_once = Whole(cycle, self._held), self.at_once
        if self._held is not None and at_once is not None and at_once(scope, whole):
            self._held = None
        else:
            scope[WHOLE] = whole
            self._let_go()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Serve a request; a POST when the rest of what came with its head was looked at."""
        if cycle.scope["method"] == "POST":
            self._held = partial(super()._start_asgi_task, cycle, app)
        else:
            super()._start_asgi_task(cycle, app)

    def _let_go(self) -> None:
        """Let the app serve the request that was held."""
        start, self._held = self._held, None
        if start is not None:
            start()

    def on_response_complete(self) -> None:
        """An answer is complete. Who sent requests ahead is listened to again after the last.

        As uvicorn's, but the clock of an idle connection goes on through its requests: to set one
        and to stop it every time is no small part of what a request costs.
        """
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        if self.pipeline:
            super()._start_asgi_task(*self.pipeline.pop())
        else:
            self._idle_since = self.loop.time()
            if self.timeout_keep_alive_task is None:
                self._let_idle(self.timeout_keep_alive)
        if not self.pipeline:
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


class Whole:
    """A request that came in one piece. Made before the app has seen anything of it."""

    __slots__ = ("_cycle", "_start", "body")

    def __init__(self, cycle: RequestResponseCycle, start: Callable[[], None] | None) -> None:
        self._cycle, self._start = cycle, start
        self.body = bytes(cycle.body)

    @property
    def ready(self) -> bool:
        """Whether an answer would be written at once."""
        return not self._cycle.flow.write_paused

    def leave(self) -> None:
        """Let the app serve it, of which it was kept so far."""
        if self._start is not None:
            self._cycle.scope[WHOLE] = self  # type: ignore[literal-required]
            self._start()

    def answer(self, status: int, headers: list[Header], body: bytes) -> bool:
        """Write all of an answer at once; False if it has to be sent as any other."""
        cycle = self._cycle
        if cycle.transport.is_closing():
            cycle.disconnected = True  # nobody will read it, and nobody may write it
        if cycle.flow.write_paused or cycle.disconnected or cycle.response_started:
            return False
        closing = () if cycle.keep_alive else (CLOSE,)
        lines = _written(status, [*cycle.default_headers, *headers, *closing], body)
        cycle.response_started = cycle.response_complete = True
        cycle.transport.write(lines)
        cycle.message_event.set()
        if closing:
            cycle.transport.close()
        cycle.on_response()
        cycle.on_response = _nothing  # it holds the connection, which holds the cycle
        return True


def _nothing() -> None:
    """What is done after an answer for which all was done."""


def _answer(problem: Problem, headers: list[Header]) -> bytes:
    status, own, body = refusal(problem)
    return _written(status, [*headers, *own, CLOSE], body)


def _written(status: int, headers: list[Header], body: bytes) -> bytes:
    lines = [b"%b: %b\r\n" % header for header in headers]
    length = b"content-length: %d\r\n\r\n" % len(body)
    return b"".join([STATUS_LINE[status], *lines, length, body])
