"""Row 13: bodies that are none, over raw sockets. 4xx, memory bounded, and nothing is executed."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from socket import create_connection

import numpy as np
from llr_service.options import MIB
from support.serving import Server

from .hostile import ARROW, JSON, KINDS, NDJSON, NPY, Canary, arrow, bodies, npy, strictly
from .raw import chunked, head, learnt, listening
from .verdict import Tick, Verdict, broken

LENGTHS = [
    [b"content-length: -1"],
    [b"content-length: x"],
    [b"content-length: 1e3"],
    [b"content-length: 18446744073709551617"],
    [b"content-length: 2", b"content-length: 3"],
    [b"content-length: 17", b"transfer-encoding: chunked"],
    [b"transfer-encoding: gzip, chunked"],
]
"""What is said of a length and is none."""
GOOD = {
    JSON: b'[{"x":[1,2],"y":1},{"x":[0.5,-2],"y":0}]',
    NDJSON: b'{"x":[1,2],"y":1}\n{"x":[0.5,-2],"y":0}\n',
    NPY: npy(np.ones((2, 3))),
    ARROW: arrow({"a": [1.0, 0.5], "b": [2, -2], "y": [1.0, 0.0]}),
}
LIKELY = b'0123456789.,-+eE[]{}:" \n'
ROOM = 128 * MIB
"""Bytes that all of it may take on top, at most: a body has one MiB."""


def check_endless(server: Server, kind: str) -> None:
    """A body without end is 413, and memory stays bounded."""
    before = server.peak()
    parts = [b"[" + b"1" * 65_535] * 500
    status, _, body = server.say(head(kind, b"transfer-encoding: chunked"), *chunked(parts))
    assert status == 413
    assert strictly(body)["type"] == "urn:llr:problem:too-large"
    assert server.peak() - before < 16 * MIB


def check_too_large(server: Server, kind: str) -> None:
    """A body that says it is too large is not even read."""
    for length in (b"1048577", b"9" * 15, b"9" * 18):
        assert server.say(head(kind, b"content-length: " + length))[0] == 413


def check_largest(server: Server) -> None:
    """The largest body of the worst kind costs a bounded amount."""
    before, most = server.peak(), 1024 * 1024
    for body in (b"[" * most, b"[]," * 300_000, b"1," * 500_000, b'{"a":' * 200_000):
        status, _, _ = server.say(head(JSON, b"content-length: %d" % len(body)), body)
        assert 400 <= status < 500
    blank = [head(NDJSON, b"transfer-encoding: chunked"), *chunked([b"\n" * 65_536] * 40)]
    assert server.say(*blank)[0] == 200
    assert server.peak() - before < ROOM


def check_length(server: Server, headers: list[bytes]) -> None:
    """A length that is none is 4xx, and nothing is learnt."""
    before = learnt(server)
    status, _, _ = server.say(head(JSON, *headers), b'{"x":[1,2],"y":1}')
    assert 400 <= status < 500
    assert learnt(server) == before


def check_cut(server: Server) -> None:
    """A body shorter than it says is not learnt from."""
    before = learnt(server)
    for kind in (JSON, NPY, ARROW):
        with create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(head(kind, b"content-length: 1000") + GOOD[kind])
    assert learnt(server) == before


def said(server: Server, kind: str, body: bytes, lot: random.Random) -> tuple[int, bytes]:
    """The answer to a body, sent with its length or in pieces of any size."""
    if lot.random() < 0.5:
        status, _, text = server.say(head(kind, b"content-length: %d" % len(body)), body)
    else:
        first = head(kind, b"transfer-encoding: chunked")
        status, _, text = server.say(first, *chunked(_pieces(body, lot)))
    return status, text


def _pieces(body: bytes, lot: random.Random) -> Iterator[bytes]:
    while body:
        size = lot.choice((1 + len(body) // 50, 1 + len(body) // 3, len(body)))
        yield body[:size]
        body = body[size:]


def spoilt(body: bytes, lot: random.Random) -> bytes:
    """A body of which some bytes are others, missing, or there twice."""
    made = bytearray(body)
    for _ in range(lot.choice((1, 1, 4))):
        at, n = lot.randrange(len(made) + 1), lot.choice((0, 1, 1, 4))
        drawn = lot.randbytes(n) if lot.random() < 0.5 else bytes(lot.choices(LIKELY, k=n))
        made[at : at + lot.choice((0, n, n, 8))] = drawn
    at, n = lot.randrange(len(made) + 1), lot.choice((0, 0, 5, 60))
    return bytes(made[:at] + made[max(0, at - n) :])


def check_hostile(server: Server, canary: Canary, lot: random.Random) -> str:
    """Some body that holds no samples, whatever it says it is; returns what came of it."""
    (what, body), kind = lot.choice([*bodies(canary).items()]), lot.choice(KINDS)
    before = learnt(server)
    status, text = said(server, kind, body, lot)
    allowed = range(200, 201) if (kind, what) == (NDJSON, "nothing") else range(400, 500)
    assert status in allowed, (what, kind, status, text)
    strictly(text.decode())
    assert learnt(server) == before, (what, kind)
    return f"hostile: {status}"


def check_spoilt(server: Server, canary: Canary, lot: random.Random) -> str:
    """Samples or a pickle with bytes spoilt: learnt as told, or 4xx; returns what came of it."""
    kind = lot.choice([*GOOD])
    body = GOOD[kind] if lot.random() < 0.8 else bodies(canary)["npy of objects"]
    body, before = spoilt(body, lot), learnt(server)
    status, text = said(server, kind, body, lot)
    assert status == 200 or 400 <= status < 500, (kind, body, status, text)
    assert learnt(server) == before + strictly(text.decode()).get("accepted", 0), (kind, body)
    return f"spoilt: {status}"


def _fixed(server: Server) -> None:
    for kind in (JSON, NDJSON, NPY, ARROW):
        check_endless(server, kind)
    for kind in (JSON, NPY, ARROW):
        check_too_large(server, kind)
    for headers in LENGTHS:
        check_length(server, headers)
    check_cut(server)
    check_largest(server)


def run(folder: Path, seed: int, count: int, tick: Tick) -> Verdict:
    """So many bodies, half of them hostile and half of them spoilt, after those without end."""
    lot, canary, came = random.Random(seed), Canary(folder / "sings"), Counter[str]()
    with listening(folder) as server:
        before = server.peak()
        _fixed(server)
        for _ in range(count):
            check = lot.choice((check_hostile, check_spoilt))
            came[check(server, canary, lot)] += 1
            tick()
        grown = server.peak() - before
    counts = {"bodies": count, "memory on top MiB, at most": grown >> 20}
    faults = broken(
        memory_is_bounded=grown < ROOM,
        nothing_is_executed=not canary.file.exists(),
    )
    return Verdict(counts | dict(sorted(came.items())), "4xx, memory bounded, no canary", faults)
