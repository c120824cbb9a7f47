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
from typing import NamedTuple

import numpy as np
import uvloop

from bench.client import GOOD, HOST, Client

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
