"""A connection: uvicorn's, which waits for the head of a request a while and no longer.

What is not HTTP, or takes too long to become it, never reaches the app. It is refused here, in the
shape of every other problem.
"""

import asyncio
from typing import Any, ClassVar

from pydantic_core import to_json
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from service.problems import MEDIA_TYPE, Problem

EVENTS = "llr.events"
"""Where a scope says that its answer is a stream of events, which nobody has to read to its end."""

LARGEST_HEAD = 64 * 1024
"""Bytes of a head, not counting those that come with the rest of the request."""


class Connection(HttpToolsProtocol):
    """One connection. It is watched until the first head is complete, and in each later one.

    A head that comes in one piece, as most do, sets no clock.
    """

    head_seconds: ClassVar[float] = 10.0
    _head_begun = False
    _head_size = 0
    _clock: asyncio.TimerHandle | None = None

    @classmethod
    def within(cls, seconds: float) -> type["Connection"]:
        """Connections on which a head may take so many seconds."""
        return type(cls.__name__, (cls,), {"head_seconds": seconds})

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody is there; a request should follow."""
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is there any more."""
        self._rest()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came; what is left open by it is watched."""
        super().data_received(data)
        if self._head_begun and not self.transport.is_closing():
            self._head_size += len(data)
            if self._head_size > LARGEST_HEAD:
                self._refuse(Problem("too-large", f"A head has at most {LARGEST_HEAD} bytes."))
            elif self._clock is None:
                self._watch()

    def on_message_begin(self) -> None:
        """The first byte of a head."""
        self._head_begun, self._head_size = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The last byte of a head."""
        self._head_begun = False
        if self._clock is not None:
            self._rest()
        super().on_headers_complete()

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


def _answer(problem: Problem, headers: list[tuple[bytes, bytes]]) -> bytes:
    body = to_json(problem.body())
    own: list[tuple[Any, Any]] = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    lines = [b"%s: %s\r\n" % header for header in [*headers, *own]]
    return b"".join([STATUS_LINE[problem.kind.status], *lines, b"\r\n", body])
