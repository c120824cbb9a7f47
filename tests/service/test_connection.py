"""Connections on a real socket: heads that never end, answers that nobody reads, stops."""

import asyncio
import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from socket import SO_RCVBUF, SOL_SOCKET, create_connection, socket
from typing import Any

import pytest
import uvicorn
from llr_service.connection import Connection
from support.serving import Server, started
from uvicorn.server import ServerState

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


class Transport(asyncio.Transport):
    """The near end of a connection whose far end is the test."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.closed = b"", False

    def write(self, data: Any) -> None:
        if self.closed:
            raise RuntimeError("the transport is closed")  # as that of uvloop does
        self.written += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


@pytest.mark.anyio
async def test_a_head_without_end_is_413() -> None:
    async def nothing(scope: Any, receive: Any, send: Any) -> None: ...

    connection = Connection(uvicorn.Config(nothing), ServerState(), {})
    transport = Transport()
    connection.connection_made(transport)
    line = b"x-filler: " + b"a" * 1000 + b"\r\n"
    connection.data_received(b"GET /livez HTTP/1.1\r\n")
    for _ in range(64):
        assert transport.written == b""
        connection.data_received(line)
    connection.data_received(line)
    assert transport.closed
    assert transport.written.startswith(b"HTTP/1.1 413")
    connection.connection_lost(None)


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


def post(y: float, *headers: bytes) -> bytes:
    body = json.dumps({"y": y}).encode()
    lines = [b"POST /v1/sessions/demo/samples HTTP/1.1", b"host: here", JSON, *headers]
    return b"\r\n".join([*lines, b"content-length: %d" % len(body), b"", body])


def test_requests_sent_ahead_are_answered_in_order_whole_or_in_pieces(server: Server) -> None:
    server.ask("PUT", b"/v1/sessions/demo", JSON, body=b'{"model": "gaussian"}')
    said = b"".join(post(y) for y in range(3)) + post(3, b"connection: close")
    with connected(server) as connection:
        for part in (said[:-7], said[-7:]):  # the last one comes in two pieces
            connection.sendall(part)
        *answers, last = heard(connection).split(b"HTTP/1.1 ")[1:]
    assert b"\r\nconnection: close\r\n" in last
    for t, answer in enumerate([*answers, last], 1):
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"200")
        assert b'\r\netag: "%d"\r\n' % t in head
        assert b"\r\ncontent-length: %d" % len(body) in head
        assert head.count(b"\r\nx-request-id: ") == 1
        assert json.loads(body)["t"] == t


def test_who_asks_on_and_on_without_reading_is_not_served_on_and_on(server: Server) -> None:
    """What waits for a reader is bounded: at some point nothing more is taken from him."""
    server.ask("PUT", b"/v1/sessions/unread", JSON, body=b'{"model": "linear", "dim": 1000}')
    body = json.dumps({"x": [0.1234567] * 1000, "y": 0.0}).encode()
    lines = [b"POST /v1/sessions/unread/samples HTTP/1.1", b"host: here", JSON]
    said = b"\r\n".join([*lines, b"content-length: %d" % len(body), b"", body])
    with socket() as connection:
        connection.setsockopt(SOL_SOCKET, SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", server.port))
        connection.settimeout(2)
        with pytest.raises(TimeoutError):
            connection.sendall(5000 * said)


@pytest.mark.anyio
async def test_a_connection_is_idle_from_its_last_answer_on_however_many_there_were() -> None:
    async def ready(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    config = uvicorn.Config(ready, timeout_keep_alive=60)
    connection, transport = Connection(config, ServerState(), {}), Transport()
    connection.connection_made(transport)
    for asked in range(1, 4):
        connection.data_received(b"GET /livez HTTP/1.1\r\nhost: here\r\n\r\n")
        clock = connection.timeout_keep_alive_task
        connection.timeout_keep_alive_handler()  # while it is busy it only goes on
        await asyncio.gather(*connection.tasks)
        assert transport.written.count(b"HTTP/1.1 204") == asked
        assert connection.timeout_keep_alive_task not in (None, clock)
        connection.timeout_keep_alive_handler()  # before its time
        assert not transport.closed
    connection.timeout_keep_alive = 0
    connection.timeout_keep_alive_handler()
    assert transport.closed
    connection.connection_lost(None)
