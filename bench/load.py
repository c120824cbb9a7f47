"""The load: connections that send requests made beforehand, from a process and a core of its own.

A closed lane sends a connection's next request when its answer is there. A paced lane sends on
time, and counts from the time at which a request was due: a server that stalls is charged for all
who would have come meanwhile.
"""

import asyncio
import itertools
import os
import socket
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from typing import NamedTuple, cast

import numpy as np
import uvloop

HOST = "127.0.0.1"
HEAD_END, LENGTH, GOOD = b"\r\n\r\n", b"content-length: ", (b"HTTP/1.1 2", b"HTTP/1.0 2")
CLOSE = b"\r\nconnection: close\r\n"


class Client(asyncio.Protocol):
    """A connection. `done` is settled when its last answer is there.

    A server that closes after an answer is reconnected to, which counts for the next answer.

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


FOREVER = 1e9


class Lane(NamedTuple):
    """Connections that share requests and take them in turn.

    Attributes:
        requests: the bytes of each.
        connections: how many connections.
        most: how many requests to send in all, over and over; None for as many as there is time.
        pace: seconds between the requests of one connection, 0 for a closed lane.
    """

    requests: Sequence[bytes]
    connections: int = 1
    most: int | None = None
    pace: float = 0.0


class Tally(NamedTuple):
    """What a lane came to: answers, the seconds they took, and seconds of one as quantiles."""

    answers: int
    seconds: float
    p50: float
    p99: float
    p999: float

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.answers / self.seconds


class Load:
    """The process that sends."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def run(self, port: int, lanes: Sequence[Lane], seconds: float = FOREVER) -> list[Tally]:
        """Send through all lanes at once; a tally for each when the last answer is there."""
        return self._pool.submit(_run, port, list(lanes), seconds).result()

    def upload(self, port: int, head: bytes, block: bytes, times: int) -> float:
        """Send one request whose body is a block over and over; seconds until it is answered."""
        return self._pool.submit(_upload, port, head, block, times).result()


@contextmanager
def loading(core: int) -> Iterator[Load]:
    """The process, pinned to a core."""
    context = get_context("spawn")
    with ProcessPoolExecutor(1, context, _pin, (core,)) as pool:
        yield Load(pool)


def _pin(core: int) -> None:
    os.sched_setaffinity(0, {core})


def _run(port: int, lanes: list[Lane], seconds: float) -> list[Tally]:
    return uvloop.run(_send(port, lanes, seconds))


def _upload(port: int, head: bytes, block: bytes, times: int) -> float:
    with socket.create_connection((HOST, port)) as connection:
        begin = time.perf_counter()
        connection.sendall(head)
        for _ in range(times):
            connection.sendall(block)
        answer = connection.recv(65536)
        if not answer.startswith(GOOD):
            raise RuntimeError(answer.decode("latin-1"))
        return time.perf_counter() - begin


async def _send(port: int, lanes: list[Lane], seconds: float) -> list[Tally]:
    begin = time.perf_counter() + 0.02 + 0.001 * sum(lane.connections for lane in lanes)
    clients = [await _connect(port, lane, begin + seconds) for lane in lanes]
    for lane, connected in zip(lanes, clients, strict=True):
        for i, client in enumerate(connected):
            client.start(begin + i * lane.pace / lane.connections)
    await asyncio.gather(*(client.done for connected in clients for client in connected))
    for client in itertools.chain(*clients):
        client.close()
    return [_tally(connected, begin) for connected in clients]


async def _connect(port: int, lane: Lane, stop: float) -> list[Client]:
    todo = itertools.islice(itertools.cycle(lane.requests), lane.most)
    loop = asyncio.get_running_loop()
    made = []
    for _ in range(lane.connections):
        client = Client(port, todo, lane.pace, stop)
        await loop.create_connection(partial(_itself, client), HOST, port)
        made.append(client)
    return made


def _itself(client: Client) -> Client:
    return client


def _tally(clients: list[Client], begin: float) -> Tally:
    latencies = np.concatenate([client.latencies for client in clients])
    quantiles = map(float, np.quantile(latencies, [0.5, 0.99, 0.999]))
    seconds = max(client.last for client in clients) - begin
    return Tally(latencies.size, seconds, *quantiles)
