"""The load: connections that send requests made beforehand, in a process and on a core of its own.

A closed lane sends a connection's next request when its answer is there. A paced lane sends on
time, and counts from the time when a request was due: a server that stalls is charged for all who
would have come meanwhile.
"""

import asyncio
import itertools
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple, cast

import numpy as np
import uvloop

HEAD_END, LENGTH = b"\r\n\r\n", b"content-length: "
GOOD = b"HTTP/1.1 2"


class Lane(NamedTuple):
    """Connections that take the same requests in turn.

    Attributes:
        requests: the bytes of each.
        connections: how many.
        most: how many requests in all; None for as many as time allows.
        pace: seconds between the requests of one connection, 0 for a closed lane.
    """

    requests: Sequence[bytes]
    connections: int
    most: int | None = None
    pace: float = 0.0


class Tally(NamedTuple):
    """What a lane came to: answers, seconds from the first request to the last answer, latency."""

    answers: int
    seconds: float
    p50: float
    p99: float

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.answers / self.seconds


class Client(asyncio.Protocol):
    """One connection."""

    def __init__(self, todo: Iterator[bytes], stop: float, pace: float) -> None:
        self._todo, self._stop, self._pace = todo, stop, pace
        self._answer = b""
        self._due = 0.0
        self.latencies: list[float] = []
        self.last = 0.0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected; `start` sends."""
        self._transport = cast(asyncio.Transport, transport)

    def start(self, due: float) -> None:
        """Send the first request, for which it is time."""
        self._due = due
        self._send()

    def data_received(self, data: bytes) -> None:
        """A part of an answer, mostly all of it."""
        self._answer = self._answer + data if self._answer else data
        end = self._answer.find(HEAD_END) + len(HEAD_END)
        if end >= len(HEAD_END) and len(self._answer) >= end + self._length(end):
            self._answered()

    def connection_lost(self, exc: Exception | None) -> None:
        """The server hung up: an error, unless all is done."""
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError("the server closed the connection"))

    def _length(self, end: int) -> int:
        at = self._answer.find(LENGTH, 0, end) + len(LENGTH)
        if at < len(LENGTH) or not self._answer.startswith(GOOD):
            self._transport.close()
            raise RuntimeError(self._answer.decode("latin-1"))
        return int(self._answer[at : self._answer.index(b"\r", at)])

    def _answered(self) -> None:
        self.last = time.perf_counter()
        self.latencies.append(self.last - self._due)
        self._answer = b""
        self._due = max(self._due + self._pace, self.last) if not self._pace else self._next()
        wait = self._due - self.last
        if wait > 0.0:
            asyncio.get_running_loop().call_later(wait, self._send)
        else:
            self._send()

    def _next(self) -> float:
        return self._due + self._pace

    def _send(self) -> None:
        request = next(self._todo, None) if self._due < self._stop else None
        if request is not None:
            self._transport.write(request)
        elif not self.done.done():
            self.done.set_result(None)
