"""Row 18: hostile names and headers over raw sockets. Refused, and a log line stays one object."""

import random
import re
from collections import Counter
from pathlib import Path

from support.serving import Server

from .hostile import strictly
from .raw import IS_JSON, SESSION, listening
from .verdict import Tick, Verdict, broken

NAMES = [b"..", b"../x", b"%2e%2e%2fx", b"a%2fb", b"a%00", b"a%0d%0aset-cookie:%20x=1", b"%0a"]
NAMES += [b"x" * 10_000, b"x" * 129, "\N{PILE OF POO}".encode(), b"%f0%9f%92%a9", b"%1b[31mred"]
NAMES += [b"%ff", b"-a", b".a", b"%20", b"a%20b", b"a;b", b"%ED%A0%80", b"%C3%A9", b"{name}"]
VALUES = [b"\x1b[31mred", b"\xff\xfe", b"x" * 10_000, b"\xc3\xa9", b"a\tb", b"<script>"]
VALUES += [b"%s%n${x}"]
HEADERS = ["x-request-id", "if-match", "accept", "content-type", "authorization", "x-new"]
MEMBERS = {"ts", "level", "logger", "message"}


def check_name(server: Server, name: bytes) -> None:
    """A hostile name, of a session or a producer, is refused and comes back harmless."""
    for method, what, body in (
        ("PUT", b"", b'{"model":"gaussian"}'),
        ("GET", b"", b""),
        ("POST", b"/samples", b'{"y":1}'),
        ("DELETE", b"", b""),
    ):
        target = b"/v1/sessions/" + name + what
        status, headers, text = server.ask(method, target, IS_JSON, body=body)
        assert 400 <= status < 500, (method, name, text)
        assert "set-cookie" not in headers, name
        assert b"\x1b" not in text, name
    query = SESSION + b"/samples?seq=0&producer=" + name
    status, _, text = server.ask("POST", query, IS_JSON, body=b'{"x":[1],"y":1}')
    assert status in (400, 422), (name, text)
    assert b"\x1b" not in text, name


def check_header(server: Server, header: str, value: bytes) -> None:
    """A hostile header is refused or harmless, and is not said again."""
    line = header.encode() + b": " + value
    status, headers, text = server.ask("POST", SESSION + b"/samples", line, body=b"{}")
    assert 400 <= status < 500, line
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", headers.get("x-request-id", "none")), line
    assert b"\x1b" not in text, line
    assert server.ask("GET", SESSION + b"/history", line)[0] in (200, 400), line


def check_log(server: Server) -> int:
    """Every line of the log is one JSON object that can be shown; returns how many there are."""
    server.ask("GET", b"/%0a%7b%22level%22:%22forged%22%7d%1b[2J", b"x-request-id: \x1b")
    lines = server.log.read_text().splitlines()
    assert len(lines) > 10
    for line in lines:
        record = strictly(line)
        assert set(record) >= MEMBERS, line
        assert record["level"] != "forged", line
        assert line.isprintable(), line
    return len(lines)


def any_name(lot: random.Random) -> bytes:
    """A name with something in it that no name has, between parts that some have."""
    parts = [lot.choice(NAMES), b"%%%02x" % lot.choice([*range(0x2D), *range(0x7B, 0x100)])]
    parts += lot.choices([b"a", b"A-1", b"%41", b"..", b"x" * 200, b"%2f"], k=lot.randrange(4))
    lot.shuffle(parts)
    return b"".join(parts)


def any_value(lot: random.Random) -> bytes:
    """Bytes of all kinds but the end of a line, some of them many times."""
    parts = [lot.choice(VALUES), bytes(lot.choices(range(0x20, 0x100), k=lot.randrange(1, 40)))]
    parts += [bytes([lot.choice([9, 0, 1, 8, 0x1B, 0x7F])]) * lot.randrange(3)]
    lot.shuffle(parts)
    return b"".join(parts)


def run(folder: Path, seed: int, count: int, tick: Tick) -> Verdict:
    """So many names and headers, in turns, after those that are known."""
    lot, counts = random.Random(seed), Counter[str]()
    with listening(folder) as server:
        names = NAMES + [any_name(lot) for _ in range(count - count // 2)]
        for name in names:
            check_name(server, name)
            tick()
        values = VALUES + [any_value(lot) for _ in range(count // 2)]
        for value in values:
            check_header(server, lot.choice(HEADERS), value)
            tick()
        counts |= {"names": len(names), "headers": len(values), "log lines": check_log(server)}
        alive = server.ask("GET", b"/readyz")[0] == 200
    target = "refused; a log line stays one object"
    return Verdict(dict(counts), target, broken(it_still_serves=alive))
