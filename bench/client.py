"""One connection of the load: sends requests made beforehand, takes the time of each answer."""

import asyncio
import time
from collections.abc import Iterator
from typing import cast

HOST = "127.0.0.1"
HEAD_END, LENGTH, GOOD = b"\r\n\r\n", b"content-length: ", (b"HTTP/1.1 2", b"HTTP/1.0 2")
CLOSE = b"\r\nconnection: close\r\n"


class Client(asyncio.Protocol):
    """A connection. `done` is settled when its last answer is there.

    A server that closes after an answer is connected to anew, which counts for the next answer.

    Args:
        port: where the server listens.
        requests: what to send; connections may share them.
        pace: seconds between two requests; 0 to send the next as soon as there is an answer.
        stop: the time from which on no request is due.
    """

    def __init__(self, port: int, requests: Iterator[bytes], pace: float, stop: float) -> None:
        self._port = port
        self._requests, self._pace, self._stop = requests, pace, stop
        self._answer = b""
        self._closed = False
        self._due = 0.0
        self.latencies: list[float] = []
        self.last = 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected; nothing is sent before `start`, unless this is not the first time."""
        self._transport = cast(asyncio.Transport, transport)
        if self._closed:
            self._closed = False
            self._go_on()

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
            if not self._closed:
                self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end; too early if an answer is missing."""
        if self._closed and not self.done.done():
            loop = asyncio.get_running_loop()
            self._again = loop.create_task(self._connect())
        elif not self.done.done():
            self.done.set_exception(exc or ConnectionError("the server closed the connection"))

    def close(self) -> None:
        """Hang up."""
        self._transport.close()

    def _length(self, end: int) -> int:
        """The length of the body, 0 for an answer that ends the run because it is not good."""
        if not self._answer.startswith(GOOD):
            self._fail()
            return 0
        head = self._answer[: end + 2].lower()
        self._closed = CLOSE in head
        at = head.find(LENGTH) + len(LENGTH)
        return int(head[at : head.index(b"\r", at)]) if at >= len(LENGTH) else 0

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self, HOST, self._port)

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
