"""Rows 12, 13 and 18 over a real socket: bodies without end, lengths that lie, hostile names."""

import re
from collections.abc import Iterable, Iterator
from socket import create_connection

import numpy as np
import pytest
from serving import Server, started
from test_hostile import JSON, NDJSON, NPY, npy, strictly

from service.options import MIB


@pytest.fixture(scope="module", params=["debug", "info"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """The service with small limits, logging all there is to log, or with the short way open."""
    limits = {"max_body": "1MiB", "max_line": "64KiB", "block_bytes": "64KiB", "body_timeout": "5"}
    level: str = request.param
    with started(tmp_path_factory.mktemp("wire"), log_level=level, **limits) as server:
        config = b'{"model": "linear", "dim": 2}'
        kind = b"content-type: application/json"
        assert server.ask("PUT", b"/v1/sessions/demo", kind, body=config)[0] == 201
        yield server


def chunked(parts: Iterable[bytes]) -> Iterator[bytes]:
    for part in parts:
        yield b"%x\r\n%s\r\n" % (len(part), part)
    yield b"0\r\n\r\n"


def head(kind: str, *headers: bytes) -> bytes:
    lines = [b"POST /v1/sessions/demo/samples HTTP/1.1", b"host: here", b"connection: close"]
    return b"\r\n".join([*lines, b"content-type: " + kind.encode(), *headers, b"", b""])


@pytest.mark.parametrize("kind", [JSON, NDJSON, NPY])
def test_a_body_without_end_is_413_and_memory_stays_bounded(server: Server, kind: str) -> None:
    before = server.peak()
    parts = [b"[" + b"1" * 65_535] * 500
    said = [head(kind, b"transfer-encoding: chunked"), *chunked(parts)]
    status, _, body = server.say(*said)
    assert status == 413
    assert strictly(body)["type"] == "urn:llr:problem:too-large"
    assert server.peak() - before < 16 * MIB


@pytest.mark.parametrize("kind", [JSON, NPY])
def test_a_body_that_says_it_is_too_large_is_not_even_read(server: Server, kind: str) -> None:
    for length in (b"1048577", b"9" * 15, b"9" * 18):
        status, _, _ = server.say(head(kind, b"content-length: " + length))
        assert status == 413


def test_the_largest_body_of_the_worst_kind_costs_a_bounded_amount(server: Server) -> None:
    before = server.peak()
    most = 1024 * 1024
    for body in (b"[" * most, b"[]," * 300_000, b"1," * 500_000, b'{"a":' * 200_000):
        status, _, _ = server.say(head(JSON, b"content-length: %d" % len(body)), body)
        assert 400 <= status < 500
    blank = [head(NDJSON, b"transfer-encoding: chunked"), *chunked([b"\n" * 65_536] * 40)]
    assert server.say(*blank)[0] == 200
    assert server.peak() - before < 128 * MIB


@pytest.mark.parametrize(
    "headers",
    [
        [b"content-length: -1"],
        [b"content-length: x"],
        [b"content-length: 1e3"],
        [b"content-length: 18446744073709551617"],
        [b"content-length: 2", b"content-length: 3"],
        [b"content-length: 17", b"transfer-encoding: chunked"],
        [b"transfer-encoding: gzip, chunked"],
    ],
)
def test_a_length_that_is_none_is_4xx_and_nothing_is_learnt(
    server: Server, headers: list[bytes]
) -> None:
    status, _, _ = server.say(head(JSON, *headers), b'{"x":[1,2],"y":1}')
    assert 400 <= status < 500
    assert strictly(server.ask("GET", b"/v1/sessions/demo")[2])["t"] == 0


def test_a_body_shorter_than_it_says_is_not_learnt_from(server: Server) -> None:
    for kind, body in ((JSON, b'{"x":[1,2],"y":1}'), (NPY, npy(np.ones((2, 3))))):
        with create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(head(kind, b"content-length: 1000") + body)
    assert strictly(server.ask("GET", b"/v1/sessions/demo")[2])["t"] == 0


HOSTILE = [b"..", b"../x", b"%2e%2e%2fx", b"a%2fb", b"a%00", b"a%0d%0aset-cookie:%20x=1", b"%0a"]
HOSTILE += [b"x" * 10_000, b"x" * 129, "\N{PILE OF POO}".encode(), b"%f0%9f%92%a9", b"%1b[31mred"]
HOSTILE += [b"%ff", b"-a", b".a", b"%20", b"a%20b", b"a;b", b"%ED%A0%80", b"%C3%A9", b"{name}"]
RAW = [b"\x1b[31mred", b"\xff\xfe", b"x" * 10_000, b"\xc3\xa9", b"a\tb", b"<script>", b"%s%n${x}"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_refused_or_harmless(server: Server, name: bytes) -> None:
    kind = b"content-type: application/json"
    for method, what, body in (
        ("PUT", b"", b'{"model":"gaussian"}'),
        ("GET", b"", b""),
        ("POST", b"/samples", b'{"y":1}'),
        ("DELETE", b"", b""),
    ):
        status, headers, text = server.ask(method, b"/v1/sessions/" + name + what, kind, body=body)
        assert 400 <= status < 500, (method, text)
        assert "set-cookie" not in headers
        assert b"\x1b" not in text
    query = b"/v1/sessions/demo/samples?seq=0&producer=" + name
    status, _, text = server.ask("POST", query, kind, body=b'{"x":[1],"y":1}')
    assert status in (400, 422), text
    assert b"\x1b" not in text


@pytest.mark.parametrize("value", RAW)
@pytest.mark.parametrize(
    "header", ["x-request-id", "if-match", "accept", "content-type", "authorization", "x-new"]
)
def test_a_hostile_header_is_refused_or_harmless(server: Server, header: str, value: bytes) -> None:
    line = header.encode() + b": " + value
    status, headers, text = server.ask("POST", b"/v1/sessions/demo/samples", line, body=b"{}")
    assert 400 <= status < 500
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", headers.get("x-request-id", "none"))
    assert b"\x1b" not in text
    assert server.ask("GET", b"/v1/sessions/demo/history", line)[0] in (200, 400)


def test_what_is_not_http_is_refused(server: Server) -> None:
    status, _, _ = server.say(b"GET /livez HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n")
    assert status == 400


def test_a_refused_stream_leaves_no_error_in_the_log(server: Server) -> None:
    said = head(NDJSON, b"transfer-encoding: chunked") + b'8\r\n{"y":x}\n\r\n'
    with create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(said)
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")
    server.ask("GET", b"/livez")
    errors = [line for line in server.log.read_text().splitlines() if "never retrieved" in line]
    assert errors == []


def test_every_line_of_the_log_is_one_json_object(server: Server) -> None:
    server.ask("GET", b"/%0a%7b%22level%22:%22forged%22%7d%1b[2J", b"x-request-id: \x1b")
    lines = server.log.read_text().splitlines()
    assert len(lines) > 10
    for line in lines:
        record = strictly(line)
        assert {"ts", "level", "logger", "message"} <= set(record)
        assert record["level"] != "forged"
        assert line.isprintable()
