"""Connections on a real socket: heads that never end, answers that nobody reads, stops."""

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from socket import SO_RCVBUF, SOL_SOCKET, create_connection, socket

import pytest
from serving import Server, started

JSON = b"content-type: application/json"
WIDE = 20_000
"""Features of a session whose events soon fill all there is between the service and a reader."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with started(tmp_path_factory.mktemp("impatient"), head_timeout="0.3") as server:
        yield server


def heard(connection: socket) -> bytes:
    """All that comes until the other side hangs up."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def connected(server: Server) -> socket:
    return create_connection(("127.0.0.1", server.port), timeout=20)


@pytest.mark.parametrize("said", [b"G", b"GET /livez HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nhost: a"])
def test_a_head_that_never_ends_gets_408_and_is_hung_up_on(server: Server, said: bytes) -> None:
    with connected(server) as connection:
        connection.sendall(said)
        status, _, body = heard(connection).partition(b"\r\n")
    assert status == b"HTTP/1.1 408 Request Timeout"
    assert b"content-type: application/problem+json" in body
    assert json.loads(body.partition(b"\r\n\r\n")[2])["type"] == "urn:llr:problem:too-slow"


def test_who_says_nothing_at_all_is_hung_up_on(server: Server) -> None:
    with connected(server) as connection:
        assert heard(connection) == b""


def test_the_second_head_of_a_connection_has_a_deadline_too(server: Server) -> None:
    with connected(server) as connection:
        connection.sendall(b"GET /livez HTTP/1.1\r\nhost: here\r\n\r\nGET /liv")
        answers = heard(connection)
    assert answers.startswith(b"HTTP/1.1 200")
    assert answers.count(b"HTTP/1.1 408") == 1


def test_an_idle_connection_may_be_used_again_after_the_deadline_of_a_head(server: Server) -> None:
    idle = HTTPConnection("127.0.0.1", server.port, timeout=20)
    idle.connect()
    used = idle.sock
    for _ in range(2):
        idle.request("GET", "/livez")
        assert idle.getresponse().read() == b'{"status":"ok"}'
        with connected(server) as other:
            assert heard(other) == b""  # a deadline has passed
    assert idle.sock is used
    idle.close()


def test_a_head_of_any_length_is_413(server: Server) -> None:
    line = b"x-filler: " + b"a" * 1000 + b"\r\n"
    with connected(server) as connection:
        connection.sendall(b"GET /livez HTTP/1.1\r\n" + 65 * line)
        assert connection.recv(65536).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("said", [b"\x16\x03\x01", b"GET /livez HTTP/1.1\r\nbad header\r\n\r\n"])
def test_what_is_not_http_is_a_problem_like_any_other(server: Server, said: bytes) -> None:
    with connected(server) as connection:
        connection.sendall(said)
        head, _, body = heard(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body)["type"] == "urn:llr:problem:malformed"


def watching(server: Server, name: bytes) -> socket:
    """An event stream that was opened and is never read again."""
    connection = socket()
    connection.setsockopt(SOL_SOCKET, SO_RCVBUF, 4096)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(b"GET /v1/sessions/" + name + b"/events HTTP/1.1\r\nhost: here\r\n\r\n")
    assert connection.recv(12) == b"HTTP/1.1 200"
    return connection


def test_a_stop_does_not_wait_for_streams_that_nobody_reads(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """With ten minutes to wait, had it to: the end of the process shows that it had not."""
    folder = tmp_path_factory.mktemp("stop")
    with started(folder, drain_seconds="600") as server, ExitStack() as stack:
        for name, dim in ((b"narrow", 1), (b"wide", WIDE)):
            config = json.dumps({"model": "linear", "dim": dim, "eta0": 1e-6}).encode()
            assert server.ask("PUT", b"/v1/sessions/" + name, JSON, body=config)[0] == 201
            for _ in range(3):
                stack.enter_context(watching(server, name))
        sample = json.dumps({"x": [1.5] * WIDE, "y": 1.0}).encode()
        for _ in range(10):
            assert server.ask("POST", b"/v1/sessions/wide/samples", JSON, body=sample)[0] == 200
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=30) == 0
    log = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    assert [line for line in log if line["level"] in ("error", "critical")] == []
