"""Row 24: byte streams on connections without a socket, and a share of them over sockets.

No request is served that h11 does not see in the stream, no served body differs, and every answer
tells the request that it is for.
"""

import asyncio
import os
import random
import resource
from collections import Counter
from pathlib import Path

from llr_service.http.protocol import Connection
from support.http_talk import Talk
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .byte_streams import Echo, answered, answers_of, cut, expected, judged, stream
from .http_ways import through
from .verdict import Tick, Verdict, broken

SHARE = 20
"""One stream in so many goes over sockets too: directly, through nginx and through Caddy."""
LEAST = 64
"""Streams that go over sockets at least."""
ROOM = 128 * 2**20


async def without_socket(
    lot: random.Random,
    whole: bytes,
    kind: type[HttpToolsProtocol] | None = None,
    app: Echo | None = None,
) -> str:
    """Feed a stream to a connection; returns what is wrong."""
    talk = Talk(app or Echo(), kind or Connection.of(5.0, 2**20))
    await talk.say(*cut(lot, whole))
    served = talk.app.served
    fault = judged(served, expected(whole)) or answered(served, answers_of(talk.transport.written))
    talk.connection.connection_lost(None)
    await talk.settle()
    return fault and f"{whole!r}: {fault}"


def run(folder: Path, seed: int, count: int, tick: Tick) -> Verdict:
    """So many streams on connections without a socket, a share of them over sockets too."""
    lot = random.Random(seed)
    faults, descriptors = list[str](), len(os.listdir("/proc/self/fd"))

    async def all_of_them() -> Counter[str]:
        for _ in range(count):
            if fault := await without_socket(lot, stream(lot).whole):
                faults.append(fault[:600])
            tick()
        came, strange = await through(lot, max(count // SHARE, LEAST), tick)
        faults.extend(strange)
        return came

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    came = asyncio.run(all_of_them())
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    left = len(os.listdir("/proc/self/fd")) - descriptors
    faults += broken(memory_is_bounded=grown < ROOM, descriptors_are_closed=left <= 2)
    counts = {"streams": count, **came, "memory on top MiB": grown >> 20}
    return Verdict(counts, "no byte of a body is served; answers belong to requests", faults[:20])
