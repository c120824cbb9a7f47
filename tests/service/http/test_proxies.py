"""The service behind nginx and Caddy, each with the shipped configuration: no smuggling."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from socket import create_connection, create_server, socket
from threading import Thread
from typing import Any

import pytest
from support.balancer import Balancer
from support.caddy import Caddy
from support.serving import Server, started
from websockets.sync.client import connect

Front = Balancer | Caddy
ADMIN = b"x-api-key: admin-key"
TENANT = b"x-api-key: tenant-key"
JSON = b"content-type: application/json"


def keys() -> str:
    """An administrator, and a tenant with sessions of its own."""
    admin, tenant = (hashlib.sha256(key).hexdigest() for key in (b"admin-key", b"tenant-key"))
    return f"admin:admin:{admin},tenant:write:tenant-:{tenant}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with started(tmp_path_factory.mktemp("proxied"), api_keys=keys(), host="127.0.0.1") as server:
        for name in (b"victim", b"tenant-own"):
            config = b'{"model": "gaussian"}'
            assert server.ask("PUT", b"/v1/sessions/" + name, JSON, ADMIN, body=config)[0] == 201
        yield server


@pytest.fixture(params=[Balancer, Caddy], ids=["nginx", "caddy"])
def front(request: pytest.FixtureRequest, server: Server) -> Iterator[Front]:
    with request.param([f"127.0.0.1:{server.port}"]) as proxy:
        yield proxy


OFFERS = [
    b"connection: upgrade\r\nupgrade: h2c",
    b"connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__",
    b"connection: upgrade\r\nupgrade: foo",
    b"connection: upgrade\r\nupgrade: websocket",
]


def request(method: bytes, path: bytes, *headers: bytes, body: bytes = b"") -> list[bytes]:
    """The head and the body of a request, to be sent one after the other."""
    lines = [method + b" " + path + b" HTTP/1.1", b"host: 127.0.0.1", *headers]
    return [b"\r\n".join([*lines, b"content-length: %d" % len(body), b"", b""]), body]


def answers(port: int, *parts: bytes) -> list[int]:
    """Statuses of all answers until the other side closes."""
    with create_connection(("127.0.0.1", port), timeout=20) as connection:
        for part in parts:
            connection.sendall(part)
        close = b"GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
        connection.sendall(close)
        heard = b""
        try:
            while part := connection.recv(65536):
                heard += part
        except ConnectionResetError:
            pass
    return [int(one[:3]) for one in heard.split(b"HTTP/1.1 ")[1:]]


def attack(port: int, server: Server, offer: bytes, *key: bytes) -> None:
    """A body that is a request, then the administrator on the proxy's pooled connections."""
    whole = b"DELETE /v1/sessions/victim HTTP/1.1\r\nhost: 127.0.0.1\r\n" + ADMIN + b"\r\n\r\n"
    open_ended = b"DELETE /v1/sessions/victim HTTP/1.1\r\nhost: 127.0.0.1\r\nx-rest: "
    for body in (whole, open_ended):
        for _ in range(3):
            sent = request(
                b"POST", b"/v1/sessions/tenant-own/samples", offer, JSON, *key, body=body
            )
            assert answers(port, *sent)[0] in (400, 401)
        for _ in range(3):
            ask = b"".join(request(b"GET", b"/v1/sessions/victim", ADMIN))
            assert answers(port, ask) == [200, 200]
    assert server.ask("GET", b"/v1/sessions/victim", ADMIN)[0] == 200


@pytest.mark.parametrize("key", [(), (TENANT,)], ids=["stranger", "tenant"])
@pytest.mark.parametrize("offer", OFFERS)
def test_a_body_is_never_served_as_a_request(
    server: Server, front: Front, offer: bytes, key: tuple[bytes, ...]
) -> None:
    attack(front.port, server, offer, *key)


@pytest.mark.parametrize("key", [(), (TENANT,)], ids=["stranger", "tenant"])
@pytest.mark.parametrize("offer", OFFERS)
def test_nor_without_a_proxy(server: Server, offer: bytes, key: tuple[bytes, ...]) -> None:
    attack(server.port, server, offer, *key)


@contextmanager
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A server that notes the heads it gets and answers 204."""
    heads: list[bytes] = []

    def serve(listening: socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                said = b""
                while b"\r\n\r\n" not in said and (part := connection.recv(65536)):
                    said += part
                heads.append(said.partition(b"\r\n\r\n")[0].lower())
                answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n"
                connection.sendall(answer if said else b"")

    with create_server(("127.0.0.1", 0)) as listening:
        Thread(target=serve, args=(listening,), daemon=True).start()
        yield listening.getsockname()[1], heads
        listening.shutdown(2)


@pytest.mark.parametrize("kind", [Balancer, Caddy], ids=["nginx", "caddy"])
def test_only_offers_of_websockets_are_forwarded(kind: Any) -> None:
    with listener() as (port, heads), kind([f"127.0.0.1:{port}"]) as proxy:
        for offer in (*OFFERS, b"connection: Upgrade\r\nupgrade: WebSocket"):
            answers(proxy.port, b"".join(request(b"GET", b"/offered", offer)))
        seen = [head for head in heads if b" /offered " in head]
    forwarded = [b"\nupgrade: " in head for head in seen]
    assert forwarded == [False, False, False, True, True]
    assert not any(b"http2-settings" in head for head in seen)


def test_websockets_pass(front: Front) -> None:
    url = f"ws://127.0.0.1:{front.port}/v1/sessions/tenant-own/stream"
    with connect(url, additional_headers={"x-api-key": "tenant-key"}) as stream:
        stream.send('{"y": 1.0}')
        assert json.loads(stream.recv())["accepted"] == 1
