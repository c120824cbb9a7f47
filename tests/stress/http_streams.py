"""Row 24: cut, merged and mutated byte streams, beside another HTTP parser.

A stream is one to four requests on one connection. Bodies hold whole requests for a forbidden path.
h11, which shares no code with httptools, says which requests a stream has. No request is served
that h11 does not see there, no served body differs, and every answer belongs to a request.
"""

import asyncio
import os
import random
import resource
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from socket import socket

import h11
import uvicorn
from llr_service.http.protocol import Connection
from support.balancer import Balancer
from support.caddy import Caddy
from support.http_talk import Recorder, Served, Talk
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .verdict import Tick, Verdict, broken

SHARE = 20
"""One stream in so many goes over sockets too: directly, through nginx and through Caddy."""
AT_ONCE = 64
QUIET = 0.3
"""Seconds after which a connection that says nothing more is taken to be done."""
FORBIDDEN = "/forbidden"
ROOM = 128 * 2**20
OFFERS = (
    b"",
    b"",
    b"connection: upgrade\r\nupgrade: h2c\r\n",
    b"connection: close\r\n",
    b"connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMA\r\n",
    b"connection: upgrade\r\nupgrade: websocket\r\n",
    b"expect: 100-continue\r\n",
    b"upgrade: h2c\r\n",
    b"trailer: x\r\n",
)
MUTATIONS = (
    *(b"\r\n", b"\n", b"\r", b" ", b"\0", b":", b"0\r\n\r\n", b"x", b"5", b"\xff", b""),
    b"transfer-encoding: chunked\r\n",
    b"content-length: 3\r\n",
    b"connection: upgrade\r\nupgrade: foo\r\n",
    b"CONNECT here:80 HTTP/1.1\r\n\r\n",
    b"GET http://here/absolute HTTP/1.1\r\n\r\n",
)


def request(lot: random.Random, place: int) -> bytes:
    """A request for `/p<place>`, whose body holds requests for the forbidden path."""
    method = lot.choice((b"GET", b"POST", b"POST", b"PUT", b"DELETE"))
    inner = b"DELETE %b HTTP/1.1\r\nhost: here\r\n\r\n" % FORBIDDEN.encode()
    body = b"" if method == b"GET" else lot.choice((b"", b"{}", inner, inner * 3, inner[:-9]))
    lines = b"%b /p%d HTTP/1.1\r\nhost: here\r\n%b" % (method, place, lot.choice(OFFERS))
    if not body and lot.random() < 0.5:
        return lines + b"\r\n"
    if lot.random() < 0.5:
        return lines + b"content-length: %d\r\n\r\n" % len(body) + body
    cut = lot.randint(0, len(body))
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(c), c) for c in (body[:cut], body[cut:]) if c)
    trailer = lot.choice((b"", b"", b"x: y\r\n", b"connection: close\r\n"))
    return lines + b"transfer-encoding: chunked\r\n\r\n" + chunks + b"0\r\n" + trailer + b"\r\n"


def stream(lot: random.Random) -> bytes:
    """Requests, half of the time with something changed in them."""
    whole = b"".join(request(lot, place) for place in range(lot.randint(1, 4)))
    for _ in range(lot.choice((0, 0, 1, 2))):
        at = lot.randint(0, len(whole))
        gone = lot.choice((0, 0, 1, 1, 5, len(whole)))
        whole = whole[:at] + lot.choice(MUTATIONS) + whole[at + gone :]
    return whole


def cut(lot: random.Random, whole: bytes) -> Iterator[bytes]:
    """A stream in pieces."""
    places = sorted(lot.sample(range(len(whole) + 1), min(len(whole), lot.randint(0, 6))))
    for start, end in zip([0, *places], [*places, len(whole)], strict=True):
        if start < end:
            yield whole[start:end]


def expected(whole: bytes) -> tuple[list[Served], bool]:
    """The requests h11 sees; and whether it read all of the stream without an objection."""
    parser, seen, clean = h11.Connection(h11.SERVER), list[Served](), True
    parser.receive_data(whole)
    body, head = b"", None
    try:
        while (event := parser.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            if isinstance(event, h11.Request):
                head, body = event, b""
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                path = head.target.decode("latin-1").removeprefix("http://here")
                seen.append((head.method.decode(), path, body))
                parser.send(h11.Response(status_code=204, headers=[]))
                parser.send(h11.EndOfMessage())
                if parser.our_state is not h11.DONE:
                    break
                parser.start_next_cycle()
    except h11.RemoteProtocolError:
        clean = False
    return seen, clean


def judged(served: list[Served], seen: list[Served], clean: bool) -> str:
    """What is wrong with the requests that were served; empty if nothing."""
    paths = [path for _, path, _ in seen]
    for place, one in enumerate(served):
        if one[1] == FORBIDDEN and FORBIDDEN not in paths and clean:
            return f"a body was served as a request: {one}"
        if place < len(seen) and one != seen[place]:
            return f"served {one}, but h11 sees {seen[place]}"
    if clean and len(served) > len(seen):
        return f"served {served[len(seen) :]} more than h11 sees"
    return ""


async def without_socket(
    lot: random.Random, whole: bytes, kind: type[HttpToolsProtocol] | None = None
) -> str:
    """Feed a stream to a connection; returns what is wrong."""
    talk = Talk(Recorder(), kind or Connection.of(5.0, 2**20))
    await talk.say(*cut(lot, whole))
    seen, clean = expected(whole)
    statuses = [status for status in talk.statuses if status != 100]
    fault = judged(talk.app.served, seen, clean)
    answered = statuses.count(204)
    if answered != len(talk.app.served) or any(s == 204 for s in statuses[answered:]):
        fault = fault or f"{len(talk.app.served)} requests were served, answers: {statuses}"
    if len(statuses) > answered + 1:
        fault = fault or f"more than one refusal: {statuses}"
    talk.connection.connection_lost(None)
    await talk.settle()
    return fault and f"{whole!r}: {fault}"


async def over_socket(lot: random.Random, port: int, whole: bytes) -> None:
    """Send a stream to a port and read until nothing more comes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in cut(lot, whole):
            writer.write(part)
            await asyncio.sleep(0)
        while await asyncio.wait_for(reader.read(65536), QUIET):
            pass
    except (TimeoutError, OSError):
        pass
    finally:
        writer.close()


class _Upstream(uvicorn.Server):
    """A server of this process that leaves signals alone."""

    def install_signal_handlers(self) -> None:
        """Do nothing."""


async def _through(lot: random.Random, count: int, tick: Tick) -> tuple[Counter[str], list[str]]:
    """Streams over sockets. Mutated ones may be refused by a proxy, or written in another way."""
    app, came, faults = Recorder(), Counter[str](), list[str]()
    kind = Connection.of(5.0, 2**20)
    config = uvicorn.Config(app, http=kind, ws="none", access_log=False, log_config=None)
    listening = socket()
    listening.bind(("127.0.0.1", 0))
    server = _Upstream(config)
    serving = asyncio.create_task(server.serve([listening]))
    while not server.started:
        await asyncio.sleep(0.01)
    place = [f"127.0.0.1:{listening.getsockname()[1]}"]
    with ExitStack() as stack:
        nginx = await asyncio.to_thread(lambda: stack.enter_context(Balancer(place)))
        caddy = await asyncio.to_thread(lambda: stack.enter_context(Caddy(place)))
        ports = {"direct": listening.getsockname()[1], "nginx": nginx.port, "caddy": caddy.port}
        for begun in range(0, count, AT_ONCE):
            streams = [stream(lot) for _ in range(min(AT_ONCE, count - begun))]
            allowed = {one for whole in streams for one in expected(whole)[0]}
            sure = all(expected(whole)[1] for whole in streams)
            for way, port in ports.items():
                app.served.clear()
                await asyncio.gather(*(over_socket(lot, port, whole) for whole in streams))
                came[way] += len(streams)
                strange = [one for one in app.served if one[1] == FORBIDDEN and one not in allowed]
                if strange and sure:
                    faults.append(f"{way}: {strange[0]}")
            for _ in streams:
                tick()
    server.should_exit = True
    await serving
    return came, faults


def run(folder: Path, seed: int, count: int, tick: Tick) -> Verdict:
    """So many streams on connections without a socket, a share of them over sockets too."""
    lot = random.Random(seed)
    faults, descriptors = list[str](), len(os.listdir("/proc/self/fd"))

    async def all_of_them() -> Counter[str]:
        for _ in range(count):
            if fault := await without_socket(lot, stream(lot)):
                faults.append(fault[:600])
            tick()
        came, strange = await _through(lot, max(count // SHARE, AT_ONCE), tick)
        faults.extend(strange)
        return came

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    came = asyncio.run(all_of_them())
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    left = len(os.listdir("/proc/self/fd")) - descriptors
    faults += broken(memory_is_bounded=grown < ROOM, descriptors_are_closed=left <= 2)
    counts = {"streams": count, **came, "memory on top MiB": grown >> 20}
    return Verdict(counts, "no byte of a body is served; answers belong to requests", faults[:20])
