"""One connection of the load: sends requests made beforehand, takes the time of each answer."""

import asyncio
import time
from collections.abc import Iterator
from typing import cast

HEAD_END, LENGTH, GOOD = b"\r\n\r\n", b"content-length: ", b"HTTP/1.1 2"


class Client(asyncio.Protocol):
    """A connection. `done` is settled when its last answer is there.

    Args:
        requests: what to send; connections may share them.
        pace: seconds between two requests; 0 to send the next as soon as there is an answer.
        stop: the time from which on no request is due.
    """

    def __init__(self, requests: Iterator[bytes], pace: float, stop: float) -> None:
        self._requests, self._pace, self._stop = requests, pace, stop
        self._answer = b""
        self._due = 0.0
        self.latencies: list[float] = []
        self.last = 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected; nothing is sent before `start`."""
        self._transport = cast(asyncio.Transport, transport)

    def start(self, due: float) -> None:
        """Send the first request when it is due."""
        self._due = due
        asyncio.get_running_loop().call_later(due - time.perf_counter(), self._send)

    def data_received(self, data: bytes) -> None:
        """A part of an answer, mostly all of it."""
        self._answer = self._answer + data if self._answer else data
        end = self._answer.find(HEAD_END)
        if end >= 0 and len(self._answer) >= end + len(HEAD_END) + self._length(end):
            self._take_time()
            self._answer = b""
            self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end; too early if an answer is missing."""
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError("the server closed the connection"))

    def close(self) -> None:
        """Hang up."""
        self._transport.close()

    def _length(self, end: int) -> int:
        """The length of the body, 0 for an answer that ends the run because it is not good."""
        if not self._answer.startswith(GOOD):
            self._fail()
            return 0
        at = self._answer.find(LENGTH, 0, end) + len(LENGTH)
        return int(self._answer[at : self._answer.index(b"\r", at)]) if at >= len(LENGTH) else 0

    def _fail(self) -> None:
        self._stop = 0.0
        if not self.done.done():
            self.done.set_exception(RuntimeError(self._answer.decode("latin-1")))

    def _take_time(self) -> None:
        self.last = time.perf_counter()
        self.latencies.append(self.last - self._due)

    def _go_on(self) -> None:
        """The next request is due now, or at its time, which may be over."""
        self._due = self._due + self._pace if self._pace else self.last
        wait = self._due - self.last
        if wait > 0.0:
            asyncio.get_running_loop().call_later(wait, self._send)
        else:
            self._send()

    def _send(self) -> None:
        request = next(self._requests, None) if self._due < self._stop else None
        if request is not None:
            self._transport.write(request)
        elif not self.done.done():
            self.done.set_result(None)
