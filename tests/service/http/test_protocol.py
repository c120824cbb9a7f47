"""The HTTP protocol: every parser state has a byte budget, a deadline and an owner."""

import inspect
import json
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from socket import SO_RCVBUF, SOL_SOCKET, create_connection, socket
from typing import Any

import pytest
from llr_service.http.protocol import (
    MAX_HEAD,
    MAX_REST,
    UNREAD_SECONDS,
    Connection,
)
from llr_service.http.uvicorn_private import (
    PRIVATE_NAMES,
    HttpToolsProtocol,
    WebSocketsSansIOProtocol,
)
from llr_service.http.websocket import Socket
from support.http_talk import HEAD_SECONDS, KEEP_ALIVE, Talk
from support.serving import Server, started

JSON = b"content-type: application/json"
WIDE = 20_000
"""Features of a session whose events soon fill all there is between the service and a reader."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def talk() -> Talk:
    return Talk()


@pytest.mark.anyio
async def test_every_private_name_exists(talk: Talk) -> None:
    """An upgrade of uvicorn that renames one of them fails here, not in production."""
    await talk.say(b"GET /livez HTTP/1.1\r\n\r\n")
    connection = talk.connection
    socket = Socket(connection.config, connection.server_state, connection.app_state)
    holders = {
        "protocol": talk.connection,
        "cycle": talk.connection.cycle,
        "flow": talk.connection.flow,
        "server state": talk.connection.server_state,
        "socket": socket,
        "socket's parser": socket.conn,
    }
    assert holders.keys() == PRIVATE_NAMES.keys()
    for kind, names in PRIVATE_NAMES.items():
        assert [name for name in names if not hasattr(holders[kind], name)] == []


def test_every_method_that_is_overridden_exists() -> None:
    own = {name for name, value in vars(Connection).items() if inspect.isfunction(value)}
    added = {"hang_up", "sweep"} | {name for name in own if name.startswith("_")}
    called = {"_start_asgi_task"}
    assert own - (added - called) <= {*dir(HttpToolsProtocol)}
    own = {name for name, value in vars(Socket).items() if inspect.isfunction(value)}
    assert own - {"hang_up", "_heard", "_refuse"} <= {*dir(WebSocketsSansIOProtocol)}


SMUGGLED = b"DELETE /v1/sessions/victim HTTP/1.1\r\nhost: here\r\n\r\n"
OFFERS = [
    b"connection: upgrade\r\nupgrade: h2c\r\n",
    b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
    b"connection: keep-alive\r\nconnection: upgrade\r\nupgrade: websocket, h2c\r\n",
    b"connection: upgrade\r\nupgrade: foo\r\nupgrade: websocket\r\n",
    b"connection: upgrade\r\nupgrade: websocket\r\n",
]


@pytest.mark.anyio
@pytest.mark.parametrize("offer", OFFERS)
@pytest.mark.parametrize("framing", ["length", "chunked"])
async def test_the_body_behind_an_upgrade_is_the_body(
    talk: Talk, offer: bytes, framing: str
) -> None:
    size = len(SMUGGLED)
    head = b"POST /samples HTTP/1.1\r\nhost: here\r\n" + offer
    if framing == "length":
        whole = head + b"content-length: %d\r\n\r\n" % size + SMUGGLED
    else:
        whole = head + b"transfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (size, SMUGGLED)
    after = b"GET /after HTTP/1.1\r\nhost: here\r\n\r\n"
    expected = [("POST", "/samples", SMUGGLED), ("GET", "/after", b"")]
    end = whole.index(b"\r\n\r\n") + 4
    for cut in (0, end, end + 5, len(whole)):
        one = Talk()
        await one.say(*filter(None, ((whole + after)[:cut], (whole + after)[cut:])))
        assert one.app.served == expected, cut
        assert one.statuses == [204, 204]
        assert b"upgrade" not in one.app.headers[0]


@pytest.mark.anyio
async def test_connect_is_refused(talk: Talk) -> None:
    await talk.say(b"CONNECT here:80 HTTP/1.1\r\nhost: here\r\n\r\n" + SMUGGLED, SMUGGLED)
    assert (talk.statuses, talk.app.served, talk.transport.closed) == ([400], [], True)
    assert b"application/problem+json" in talk.transport.written


GARBAGE = [
    b"\x16\x03\x01\x00",
    b"CONNECT here:80 HTTP/1.1\r\n\r\n",
    b"GET http://here HTTP/1.1\r\n\r\n",
    b"GET /x HTTP/2.0\r\n\r\n",
    b"POST /x HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    b"POST /x HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
    b"POST /x HTTP/1.1\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n",
]


@pytest.mark.anyio
@pytest.mark.parametrize("garbage", GARBAGE)
async def test_an_answer_belongs_to_its_request_whatever_follows(
    talk: Talk, garbage: bytes
) -> None:
    talk.app.go.clear()
    post = b"POST /samples HTTP/1.1\r\nhost: here\r\ncontent-length: 2\r\n\r\n{}"
    await talk.say(post + post + garbage, SMUGGLED)
    assert talk.statuses == []
    talk.app.go.set()
    await talk.settle()
    assert talk.statuses == [204, 204, 400]
    assert talk.transport.closed
    assert talk.app.served == [("POST", "/samples", b"{}")] * 2


@pytest.mark.anyio
async def test_an_absolute_target_is_served_in_its_turn(talk: Talk) -> None:
    await talk.say(b"GET /1 HTTP/1.1\r\n\r\nGET http://here/2 HTTP/1.1\r\n\r\n")
    assert [path for _, path, _ in talk.app.served] == ["/1", "/2"]


@pytest.mark.anyio
async def test_a_body_that_breaks_off_is_400_and_the_app_sees_a_disconnect(talk: Talk) -> None:
    await talk.say(b"POST /x HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n", b"zz\r\n")
    assert (talk.statuses, talk.app.disconnects, talk.app.served) == ([400], 1, [])


@pytest.mark.anyio
async def test_a_request_that_was_acted_on_gets_no_400_for_its_body(talk: Talk) -> None:
    await talk.say(b"DELETE /early HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", b"zz\r\n")
    assert talk.statuses == [204]
    assert talk.transport.closed


CHUNKED = b"POST /x HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.anyio
async def test_trailers_are_no_headers(talk: Talk) -> None:
    await talk.say(CHUNKED + b"1\r\na\r\n0\r\nx-api-key: secret\r\nexpect: 100-continue\r\n\r\n")
    await talk.say(b"GET /after HTTP/1.1\r\n\r\n")
    assert talk.statuses == [204, 204]
    assert talk.app.headers == [{b"transfer-encoding": b"chunked"}, {}]


@pytest.mark.anyio
async def test_a_trailer_that_closes_leaves_no_deaf_connection(talk: Talk) -> None:
    await talk.say(CHUNKED + b"0\r\nconnection: close\r\n\r\n")
    assert talk.statuses == [204]
    assert talk.transport.closed


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("start", "filler"),
    [
        (b"GET /livez HTTP/1.1\r\n", b"x-filler: " + b"a" * 1000 + b"\r\n"),
        (b"GET /livez HTTP/1.1\r\nx: ", b"a" * 1000),
        (b"GET /", b"a" * 1000),
        (b"\r\n", b"\r\n" * 500),
        (CHUNKED + b"1\r\na\r\n0\r\n", b"x-filler: " + b"a" * 1000 + b"\r\n"),
        (CHUNKED + b"1\r\na\r\n0\r\nx: ", b"a" * 1000),
        (CHUNKED + b"1;x=", b"a" * 1000),
    ],
)
async def test_what_is_no_body_has_a_size_limit(talk: Talk, start: bytes, filler: bytes) -> None:
    await talk.say(start)
    for _ in range(MAX_HEAD // len(filler)):
        assert talk.transport.written == b""
        await talk.say(filler)
    await talk.say(filler)
    assert talk.statuses == [413]
    assert talk.transport.closed
    assert talk.app.served == []


@pytest.mark.anyio
async def test_a_head_in_one_read_has_the_same_limit(talk: Talk) -> None:
    await talk.say(b"GET / HTTP/1.1\r\n" + 100 * (b"x: " + b"a" * 1000 + b"\r\n") + b"\r\n")
    assert talk.statuses == [413]


@pytest.mark.anyio
async def test_long_bodies_in_small_chunks_pass(talk: Talk) -> None:
    await talk.say(CHUNKED + b"1\r\na\r\n" * 50_000 + b"0\r\n\r\n")
    assert talk.app.served == [("POST", "/x", b"a" * 50_000)]


@pytest.mark.slow
@pytest.mark.anyio
async def test_requests_sent_ahead_are_queued_a_few_at_a_time(talk: Talk) -> None:
    talk.app.go.clear()
    talk.connection.data_received(b"GET /x HTTP/1.1\r\n\r\n" * 10_000)
    assert len(talk.connection.pipeline) < 300
    assert not talk.transport.reading
    talk.app.go.set()
    for _ in range(20_000):
        if len(talk.app.served) == 10_000:
            break
        await talk.settle()
    await talk.settle()
    assert talk.statuses == [204] * 10_000
    assert talk.transport.reading


EARLY = b"POST /early HTTP/1.1\r\ncontent-length: 100000000\r\n\r\n"


@pytest.mark.anyio
async def test_the_rest_of_a_body_after_its_answer_has_a_size_limit(talk: Talk) -> None:
    await talk.say(EARLY)
    assert talk.statuses == [204]
    part = b"a" * 2**20
    for _ in range(MAX_REST // len(part)):
        talk.connection.data_received(part)
        assert not talk.transport.closed
    talk.connection.data_received(part)
    assert talk.transport.closed


async def _nothing(_: Talk) -> None: ...


async def _idle(talk: Talk) -> None:
    await talk.say(b"GET /livez HTTP/1.1\r\n\r\n")


async def _crlf(talk: Talk) -> None:
    await talk.say(b"GET /livez HTTP/1.1\r\n\r\n", b"\r\n")


async def _head(talk: Talk) -> None:
    await talk.say(b"GET /livez HTTP/1.1\r\n\r\n", b"GET /liv")


async def _rest(talk: Talk) -> None:
    await talk.say(EARLY, b"a")


async def _rest_of_chunks(talk: Talk) -> None:
    await talk.say(
        b"POST /early HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\na\r\n0\r\n"
    )


async def _unread(talk: Talk) -> None:
    talk.transport.unread = 100
    talk.connection.pause_writing()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("state", "seconds"),
    [
        (_nothing, HEAD_SECONDS),
        (_idle, KEEP_ALIVE),
        (_crlf, KEEP_ALIVE),
        (_head, HEAD_SECONDS),
        (_rest, HEAD_SECONDS),
        (_rest_of_chunks, HEAD_SECONDS),
        (_unread, UNREAD_SECONDS),
    ],
)
async def test_every_state_has_a_deadline(
    talk: Talk, state: Callable[[Talk], Awaitable[None]], seconds: float
) -> None:
    await state(talk)
    assert not talk.swept(seconds - 1)
    assert talk.swept(seconds)
    assert talk.statuses[1:] == ([408] if state is _head else [])


@pytest.mark.anyio
async def test_a_byte_a_second_does_not_extend_a_head(talk: Talk) -> None:
    for second in range(int(HEAD_SECONDS) + 1):
        assert talk.statuses == []
        await talk.say(b"GET /live"[second : second + 1])
        talk.connection.sweep(1000.0 + second)
    assert talk.statuses == [408]


@pytest.mark.anyio
async def test_an_app_at_work_has_no_deadline_here(talk: Talk) -> None:
    talk.app.go.clear()
    await talk.say(b"GET /slow HTTP/1.1\r\n\r\n")
    assert not talk.swept(1e6)


@pytest.mark.anyio
async def test_a_client_that_reads_slowly_is_left_alone(talk: Talk) -> None:
    await _unread(talk)
    for second in range(200):
        talk.transport.unread -= 1
        talk.connection.sweep(1000.0 + second)
    assert not talk.transport.closed


@pytest.mark.anyio
async def test_unread_answers_are_bounded_together() -> None:
    kind = Connection.of(HEAD_SECONDS, 1000)
    talks = [Talk(of=kind) for _ in range(5)]
    for one in talks:
        one.transport.unread = 400
        one.connection.pause_writing()
    assert [one.transport.closed for one in talks] == [True, True, True, False, False]
    talks[3].connection.resume_writing()
    large = Talk(of=kind)
    large.transport.unread = 5000  # one alone may be as large as it is
    large.connection.pause_writing()
    assert [one.transport.closed for one in (talks[3], talks[4], large)] == [False, True, False]


@pytest.mark.anyio
async def test_a_client_that_leaves_is_left_by_the_app_that_runs(talk: Talk) -> None:
    """Not only by the request that was sent last, which waits for its turn."""
    await talk.say(b"POST /1 HTTP/1.1\r\ncontent-length: 1\r\n\r\n")
    await talk.say(b"aGET /2 HTTP/1.1\r\n\r\n")
    two = Talk(_Listener())
    await two.say(b"GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n")
    two.connection.connection_lost(None)
    await two.settle()
    assert two.app.left == ["/1"]


class _Listener:
    """An app that answers nothing and waits until its client leaves."""

    def __init__(self) -> None:
        self.left: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.left.append(scope["path"])


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


def test_a_client_that_says_nothing_is_hung_up_on(server: Server) -> None:
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
        assert idle.getresponse().read() == b'{"status":"ok"}\n'
        with connected(server) as other:
            assert heard(other) == b""  # a deadline has passed
    assert idle.sock is used
    idle.close()


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


def test_a_client_that_reads_nothing_is_not_served_on_and_on(server: Server) -> None:
    """What waits for a reader is bounded: at some point nothing more is taken from it."""
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
