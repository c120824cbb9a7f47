"""WebSockets on a real socket: what opens none is a problem like any other."""

import json
from collections.abc import Iterator

import pytest
from support.serving import Server, started

KEY = b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="
OPEN = [b"connection: upgrade", b"upgrade: websocket", b"sec-websocket-version: 13", KEY]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with started(tmp_path_factory.mktemp("sockets")) as server:
        yield server


def opened(server: Server, *headers: bytes) -> tuple[int, dict[str, str], bytes]:
    lines = [b"GET /v1/sessions/demo/stream HTTP/1.1", b"host: here", *headers, b"", b""]
    return server.say(b"\r\n".join(lines))


@pytest.mark.parametrize(
    "headers",
    [
        OPEN[:3],
        [*OPEN[:3], b"sec-websocket-key: short"],
        [*OPEN[:2], b"sec-websocket-version: 8", KEY],
        [*OPEN[:2], KEY],
    ],
)
def test_a_failed_handshake_is_a_problem(server: Server, headers: list[bytes]) -> None:
    status, told, body = opened(server, *headers)
    assert (status, told["content-type"]) == (400, "application/problem+json")
    assert json.loads(body)["type"] == "urn:llr:problem:malformed"


def test_a_wrong_version_is_told_the_right_one(server: Server) -> None:
    _, told, _ = opened(server, *OPEN[:2], b"sec-websocket-version: 8", KEY)
    assert told["sec-websocket-version"] == "13"


def test_a_head_with_a_body_opens_none(server: Server) -> None:
    status, told, _ = opened(server, *OPEN, b"content-length: 0")
    assert (status, told["content-type"]) == (404, "application/problem+json")
