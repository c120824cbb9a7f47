"""Answers on the wire: one write where their length is known, and the same bytes as uvicorn's."""

from typing import Any

import pytest
from llr_service.http.responses import JSON, Response
from llr_service.http.uvicorn_private import JOINED, Cycle
from support.http_talk import Talk, Transport

REQUEST = b"GET /x HTTP/1.1\r\nhost: here\r\n\r\n"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Writes(Transport):
    """A transport that keeps each write apart."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []

    def write(self, data: Any) -> None:
        super().write(data)
        self.writes.append(bytes(data))


class Sender:
    """An app that sends these messages, and raises what is among them."""

    def __init__(self, *messages: dict[str, Any] | Exception) -> None:
        self.messages = messages

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        for message in self.messages:
            if isinstance(message, Exception):
                raise message
            await send(message)


def start(*headers: tuple[bytes, bytes], status: int = 200) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": list(headers)}


def body(part: bytes, more: bool = False) -> dict[str, Any]:
    return {"type": "http.response.body", "body": part, "more_body": more}


LENGTH = (b"content-length", b"2")


async def said(request: bytes, *messages: dict[str, Any] | Exception) -> Writes:
    talk = Talk(Sender(*messages))
    transport = Writes()
    talk.connection.transport = talk.transport = transport
    await talk.say(request)
    return transport


@pytest.mark.anyio
async def test_an_answer_of_known_length_is_one_write() -> None:
    transport = await said(REQUEST, start(LENGTH, (b"x-a", b"b")), body(b"ok"))
    assert transport.writes == [
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-a: b\r\n\r\nok",
    ]
    assert not transport.closed


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("request_", "messages"),
    [
        (REQUEST, [start(), body(b"ok")]),
        (REQUEST, [start(LENGTH), body(b"o", more=True), body(b"k")]),
        (REQUEST, [start((b"content-length", b"0")), body(b"")]),
        (REQUEST, [start(LENGTH, (b"connection", b"close")), body(b"ok")]),
        (REQUEST, [start((b"Content-Length", b"2"), (b"Connection", b"close")), body(b"ok")]),
        (REQUEST, [start((b"content-length", b"%d" % (JOINED + 1))), body(b"a" * (JOINED + 1))]),
        (REQUEST.replace(b"GET", b"HEAD"), [start(LENGTH), body(b"ok")]),
        (
            REQUEST.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"),
            [start(LENGTH), body(b"ok")],
        ),
        (REQUEST.replace(b"1.1", b"1.0"), [start(LENGTH), body(b"ok")]),
    ],
)
async def test_every_other_answer_is_as_uvicorn_writes_it(
    request_: bytes, messages: list[dict[str, Any]]
) -> None:
    transport = await said(request_, *messages)
    head, _, rest = transport.written.partition(b"\r\n\r\n")
    closes = b"connection: close" in request_ or b"1.0" in request_ or b"close" in head.lower()
    assert head.startswith(b"HTTP/1.1 200 OK")
    assert transport.closed == closes
    assert head.lower().count(b"connection: close") == closes
    if request_.startswith(b"HEAD"):
        assert rest == b""
    elif b"chunked" in head:
        assert rest == b"2\r\nok\r\n0\r\n\r\n"
    else:
        assert rest == b"".join(message["body"] for message in messages[1:])


@pytest.mark.anyio
async def test_the_head_of_a_stream_does_not_wait_for_its_body() -> None:
    transport = await said(REQUEST, start((b"content-type", b"text/event-stream")))
    assert transport.writes[0].startswith(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "messages",
    [
        [start(LENGTH), ValueError()],
        [start(LENGTH)],
        [start((b"content-length", b"2"), (b"x-a", b"b\r\nx-b: c")), body(b"ok")],
    ],
)
async def test_an_app_that_fails_before_its_body_is_a_500(messages: list[Any]) -> None:
    transport = await said(REQUEST, *messages)
    assert transport.written.startswith(b"HTTP/1.1 500")
    assert transport.written.count(b"HTTP/1.1") == 1
    assert transport.closed


@pytest.mark.anyio
@pytest.mark.parametrize("part", [b"o", b"oks"])
async def test_a_body_of_another_length_closes_the_connection(part: bytes) -> None:
    assert (await said(REQUEST, start(LENGTH), body(part))).closed


class Replier:
    """An app that gives its response to the cycle, and sends it by ASGI's messages if refused."""

    def __init__(self, response: Response) -> None:
        self.response = response
        self.accepted: bool | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        cycle = send.__self__
        assert type(cycle) is Cycle
        self.accepted = cycle.respond(self.response, b"id-1")
        if not self.accepted:
            status, headers, content = self.response
            length = (b"content-length", b"%d" % len(content))
            await send(start(*headers, length, (b"x-request-id", b"id-1"), status=status))
            await send(body(content))


async def replied(request: bytes, response: Response) -> tuple[bool | None, Writes]:
    app = Replier(response)
    talk = Talk(app)
    transport = Writes()
    talk.connection.transport = talk.transport = transport
    await talk.say(request)
    return app.accepted, transport


@pytest.mark.anyio
async def test_a_whole_response_is_one_write() -> None:
    accepted, transport = await replied(REQUEST, Response(200, [JSON, (b"etag", b'"3"')], b"{}"))
    assert accepted
    assert transport.writes == [
        b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\netag: "3"\r\n'
        b"content-length: 2\r\nx-request-id: id-1\r\n\r\n{}"
    ]
    assert not transport.closed


@pytest.mark.anyio
async def test_the_next_request_of_a_connection_follows_a_whole_response() -> None:
    _, transport = await replied(2 * REQUEST, Response(200, [JSON], b"{}"))
    assert transport.written.count(b"HTTP/1.1 200 OK") == 2


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("request_", "response"),
    [
        (REQUEST, Response(404, [JSON], b"{}")),
        (REQUEST, Response(200, [JSON], b"")),
        (REQUEST, Response(200, [JSON], b"a" * (JOINED + 1))),
        (REQUEST.replace(b"GET", b"HEAD"), Response(200, [JSON], b"{}")),
        (REQUEST.replace(b"1.1", b"1.0"), Response(200, [JSON], b"{}")),
    ],
)
async def test_every_other_response_goes_through_uvicorn(
    request_: bytes, response: Response
) -> None:
    accepted, transport = await replied(request_, response)
    assert not accepted
    assert transport.written.startswith(b"HTTP/1.1 %d" % response.status)
    assert transport.closed == (b"1.0" in request_)
