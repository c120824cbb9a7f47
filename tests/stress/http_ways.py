"""The streams of row 24 over sockets: directly, through nginx and through Caddy, as shipped.

Every path of a stream ends with the stream's token, and a stream has another token on each way. So
each request that is served is known to be of one stream on one way, however late it comes, and each
stream is judged by itself.
"""

import asyncio
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from socket import socket
from typing import NamedTuple

import uvicorn
from llr_service.http.protocol import Connection
from support.balancer import Balancer
from support.caddy import Caddy
from support.http_talk import Served
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .byte_streams import (
    Answer,
    Echo,
    Expected,
    Stream,
    answers_of,
    cut,
    expected,
    judged,
    stream,
    told,
)
from .verdict import Tick

AT_ONCE = 64
QUIET, PATIENCE = 0.3, 10.0
"""Seconds without a byte after which a connection is left: of any stream, and of one whose answers
are known to come."""
TOKEN = re.compile("[0-9a-f]{12}$")


class Exchange(NamedTuple):
    """A stream on one way, what came back, and whether the connection was reset meanwhile.

    A server that closes a connection while bytes come resets it, and answers on their way are lost.
    """

    way: str
    stream: Stream
    about: Expected
    answers: list[Answer]
    reset: bool = False


class _Upstream(uvicorn.Server):
    """A server of this process that leaves signals alone."""

    def install_signal_handlers(self) -> None:
        """Do nothing."""


async def talk(lot: random.Random, port: int, way: str, sent: Stream) -> Exchange:
    """Send a stream to a port and read until all answers came, or nothing more comes."""
    about, said, reset = expected(sent.whole), b"", False
    wanted = len(about.seen) if about.clean else None
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in cut(lot, sent.whole):
            writer.write(part)
            await asyncio.sleep(0)
        while wanted is None or len(answers_of(said)) < wanted:
            patience = QUIET if wanted is None else PATIENCE
            data = await asyncio.wait_for(reader.read(65536), patience)
            if not data:
                break
            said += data
    except TimeoutError:
        pass
    except OSError:
        reset = True
    finally:
        writer.close()
    return Exchange(way, sent, about, answers_of(said), reset)


def fault_of(exchange: Exchange, served: Sequence[Served]) -> str:
    """What is wrong with one stream on one way; empty if nothing.

    A proxy may refuse a request, or write one that h11 objects to in another way. What it hands on
    of a stream without an objection has to be there, in this order, and is answered in this order.
    """
    way, sent, about, answers, _ = exchange
    for answer in answers:
        words = answer.request
        if words and _token(words) not in ("", sent.token) and words not in map(told, about.seen):
            return f"an answer for another stream: {words}"
    if not about.clean:
        return ""
    fault = judged(served, about) if way == "direct" else ""
    return fault or _passed_on(served, about.seen) or _answered(exchange, served)


def _passed_on(served: Sequence[Served], seen: Sequence[Served]) -> str:
    rest = iter(seen)
    for one in served:
        if one not in rest:
            return f"{'served out of order' if one in seen else 'h11 does not see'}: {one}"
    return ""


def _answered(exchange: Exchange, served: Sequence[Served]) -> str:
    _, sent, about, answers, reset = exchange
    given = [answer.request for answer in answers if answer.status == 200]
    if given != [told(one) for one in served][: len(given) if reset else None]:
        return f"served {[*map(told, served)]}, answers: {answers}"
    refused = len(given) < len(answers)
    whole = len(answers) >= len(about.seen)
    if not (whole or refused or reset or b"connection: close" in sent.whole):
        return f"{len(about.seen)} requests, answers: {answers}"
    return ""


def _token(request: str) -> str:
    """The token in what an answer says, "" if it has none."""
    found = TOKEN.search(request.split()[1])
    return found[0] if found else ""


def faults_of(exchanges: Sequence[Exchange], served: Sequence[Served]) -> list[str]:
    """What is wrong with any of them. A request without a token goes by its whole path."""
    of = {exchange.stream.token: list[Served]() for exchange in exchanges}
    paths = {one[1]: e.stream.token for e in exchanges for one in e.about.seen}
    for one in served:
        found = TOKEN.search(one[1])
        token = found[0] if found and found[0] in of else paths.get(one[1])
        if token is not None:
            of[token].append(one)
    faults = ((e, fault_of(e, of[e.stream.token])) for e in exchanges)
    return [f"{e.way}: {fault}; {e.stream.whole!r}"[:600] for e, fault in faults if fault]


@asynccontextmanager
async def upstream(app: Echo, kind: type[HttpToolsProtocol]) -> AsyncIterator[int]:
    """The app on a port of loopback."""
    config = uvicorn.Config(app, http=kind, ws="none", access_log=False, log_config=None)
    listening = socket()
    listening.bind(("127.0.0.1", 0))
    port, server = listening.getsockname()[1], _Upstream(config)
    serving = asyncio.create_task(server.serve([listening]))
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield port
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def ways_to(port: int) -> AsyncIterator[Mapping[str, int]]:
    """The ports that lead to a port, each by its way."""
    place = [f"127.0.0.1:{port}"]
    with ExitStack() as stack:
        nginx = await asyncio.to_thread(lambda: stack.enter_context(Balancer(place)))
        caddy = await asyncio.to_thread(lambda: stack.enter_context(Caddy(place)))
        yield {"direct": port, "nginx": nginx.port, "caddy": caddy.port}


async def through(
    lot: random.Random,
    count: int,
    tick: Tick,
    kind: type[HttpToolsProtocol] | None = None,
    app: Echo | None = None,
) -> tuple[Counter[str], list[str]]:
    """So many streams on every way; how many were judged, and what was wrong."""
    app, came, faults = app or Echo(), Counter[str](), list[str]()
    async with upstream(app, kind or Connection.of(5.0, 2**20)) as port, ways_to(port) as ways:
        for begun in range(0, count, AT_ONCE):
            n, exchanges = min(AT_ONCE, count - begun), list[Exchange]()
            for way, to in ways.items():
                streams = [stream(lot) for _ in range(n)]
                exchanges += await asyncio.gather(*(talk(lot, to, way, one) for one in streams))
            faults += faults_of(exchanges, app.served)
            for exchange in exchanges:
                came[exchange.way] += 1
                came[f"{exchange.way} judged"] += exchange.about.clean
            app.served.clear()  # what is late has the token of a stream that was judged
            for _ in range(n):
                tick()
    faults += [f"{way}: few were judged" for way in ways if 2 * came[f"{way} judged"] < came[way]]
    return came, faults
