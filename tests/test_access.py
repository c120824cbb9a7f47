"""Row 17: every route × no key, a wrong key, each role; and tricks that should not help anybody."""

import json
import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from fastapi.routing import iter_route_contexts
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.types import Message
from starlette.websockets import WebSocketDisconnect

from service import logs
from service.__main__ import main
from service.admission import STREAM_ROUTE
from service.app import App
from service.front import SAMPLES_ROUTE
from service.keys import hash_key, parse_keys
from service.sessions.hub import Hub
from service.settings import Settings

SECRETS = {"read": "llr_reader", "write": "llr_writer", "admin": "llr_boss"}
KEYS = parse_keys(",".join(f"{role}:{role}:{hash_key(key)}" for role, key in SECRETS.items()))
ROLES = ["read", "write", "admin"]
LEAST = {
    "GET /": "nobody",
    "HEAD /": "nobody",
    "GET /dashboard/{asset}": "nobody",
    "HEAD /dashboard/{asset}": "nobody",
    "GET /livez": "nobody",
    "GET /readyz": "nobody",
    "GET /docs": "nobody",
    "GET /openapi.json": "nobody",
    "HEAD /openapi.json": "nobody",
    "GET /swagger/swagger-ui-bundle.js": "nobody",
    "GET /swagger/swagger-ui.css": "nobody",
    "GET /swagger/favicon-32x32.png": "nobody",
    "POST /v1/backup": "admin",
    "GET /version": "read",
    "GET /metrics": "read",
    "GET /v1/catalog": "read",
    "GET /v1/sessions": "read",
    "GET /v1/sessions/{name}": "read",
    "GET /v1/sessions/{name}/history": "read",
    "GET /v1/sessions/{name}/events": "read",
    "GET /v1/sessions/{name}/snapshot": "read",
    "POST /v1/sessions/{name}/predict": "read",
    "PUT /v1/sessions/{name}": "write",
    "POST /v1/sessions/{name}/samples": "write",
    "POST /v1/sessions/{name}/fork": "write",
    "PUT /v1/sessions/{name}/shadows/{shadow}": "write",
    "DELETE /v1/sessions/{name}/shadows/{shadow}": "write",
    "POST /v1/sessions/{name}/promote": "write",
    "WS /v1/sessions/{name}/stream": "write",
    "POST /v1/sessions/{name}/labels": "write",
    "PUT /v1/sessions/{name}/snapshot": "admin",
    "DELETE /v1/sessions/{name}": "admin",
}
"""Who may use a route at least. A new route gets its line here, after some thought."""

TRICKS = [
    "{path}/",
    "/{path}",
    "{path}//",
    "{path}/.",
    "{path}/..",
    "{path};x",
    "{path}%00",
    "{path}%0d%0a",
    "{path}%20",
    "{path}%3f",
    "{path}.json",
    "/.{path}",
    "/livez/..{path}",
    "/swagger/..{path}",
    "/swagger/%2e%2e{path}",
    "/dashboard/..{path}",
    "/dashboard/main.js/..{path}",
    "/dashboard/main.js%2f..{path}",
    "/docs%2f..{path}",
    "/swagger{path}",
    "\\{path}",
]
METHODS = [
    "GET",
    "HEAD",
    "OPTIONS",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "TRACE",
    "get",
    "Delete",
    "X",
]


@pytest.fixture
def app() -> App:
    return App(Settings(store="memory:", api_keys=KEYS))


@pytest.fixture
def client(app: App) -> Iterator[TestClient]:
    """A client without a key, of an app with keys and a session that has learnt something."""
    with TestClient(app, raise_server_exceptions=False) as started:
        boss = key_of("admin")
        started.put("/v1/sessions/demo", json={"model": "gaussian"}, headers=boss)
        started.post("/v1/sessions/demo/samples", json={"y": 1}, headers=boss)
        yield started


def key_of(role: str) -> dict[str, str]:
    return {"authorization": f"Bearer {SECRETS[role]}"}


def routes(app: App) -> set[str]:
    found = {f"POST {SAMPLES_ROUTE}", f"WS {STREAM_ROUTE}"}
    for route in iter_route_contexts(app.inner.routes):
        found |= {f"{method} {route.path}" for method in route.methods or ["WS"]}
    return found


def raw(client: TestClient, method: str, target: str, headers: dict[str, str]) -> tuple[int, bytes]:
    """The answer to a target that goes to the app as it is, decoded once as servers do."""
    answer: list[Message] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": unquote(target),
        "raw_path": target.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", b"here"), (b"content-type", b"application/json")]
        + [(name.encode(), value.encode()) for name, value in headers.items()],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": b'{"model": "linear"}', "more_body": False}

    async def send(message: Message) -> None:
        answer.append(message)

    async def ask() -> None:
        await client.app(scope, receive, send)

    assert client.portal is not None
    client.portal.call(ask)
    return answer[0]["status"], b"".join(part.get("body", b"") for part in answer[1:])


def handshake(client: TestClient, path: str, headers: dict[str, str]) -> int:
    """101 if a WebSocket is opened, else the status of the refusal."""
    try:
        with client.websocket_connect(path, headers=headers):
            return 101
    except WebSocketDenialResponse as refused:
        return int(refused.status_code)


def kept(client: TestClient) -> Any:
    """All that there is to protect."""
    boss = key_of("admin")
    sessions = client.get("/v1/sessions", headers=boss).json()["sessions"]
    return sessions, client.get("/v1/sessions/demo/snapshot", headers=boss).json()


def test_every_route_is_in_the_table(app: App) -> None:
    assert routes(app) == set(LEAST)


@pytest.mark.filterwarnings("ignore:open_binary is deprecated")
@pytest.mark.parametrize("route", LEAST)
def test_a_route_lets_in_whom_the_table_says(client: TestClient, route: str) -> None:
    method, path = route.split()
    path, least = path.replace("{name}", "missing"), LEAST[route]
    path = path.replace("{asset}", "main.js").replace("{shadow}", "rival")

    def status(headers: dict[str, str]) -> int:
        if method == "WS":
            return handshake(client, path, headers)
        answer = client.request(method, path, headers=headers, follow_redirects=False)
        return int(answer.status_code)

    strangers = [{}, {"authorization": "Bearer llr_wrong"}, {"x-api-key": ""}]
    if least == "nobody":
        assert {status(headers) for headers in strangers} <= {200, 307}
        return
    assert {status(headers) for headers in strangers} == {401}
    for role in ROLES:
        allowed = ROLES.index(role) >= ROLES.index(least)
        for headers in (key_of(role), {"x-api-key": SECRETS[role]}):
            assert (status(headers) not in (401, 403)) == allowed, role
            assert allowed or status(headers) == 403, role


def test_who_may_only_look_predicts_but_keeps_nothing(client: TestClient) -> None:
    path, reader = "/v1/sessions/demo/predict", key_of("read")
    assert client.post(path, json={}, headers=reader).status_code == 200
    for body in ({"id": "a"}, {"ids": ["a", "b"]}):
        refused = client.post(path, json=body, headers=reader)
        assert refused.status_code == 403
        assert "write" in refused.json()["detail"]
    assert client.get("/v1/sessions/demo", headers=reader).json()["kept"] == 0
    assert client.post(path, json={"id": "a"}, headers=key_of("write")).status_code == 200
    assert client.get("/v1/sessions/demo", headers=reader).json()["kept"] == 1


def test_a_refusal_says_how_to_do_better(client: TestClient) -> None:
    stranger = client.get("/v1/sessions")
    assert stranger.headers["www-authenticate"] == "Bearer"
    assert stranger.json()["type"] == "urn:llr:problem:unauthenticated"
    reader = client.delete("/v1/sessions/demo", headers=key_of("read"))
    assert reader.json()["type"] == "urn:llr:problem:forbidden"
    assert "admin" in reader.json()["detail"]


@pytest.mark.parametrize("trick", TRICKS)
def test_tricks_with_the_path_get_nobody_past_the_guard(client: TestClient, trick: str) -> None:
    before = kept(client)
    for path in ("/v1/sessions", "/v1/sessions/demo", "/v1/sessions/demo/samples", "/metrics"):
        for method in METHODS:
            for written in (path, path.upper(), path.replace("/", "%2f"), path[1:]):
                target = trick.replace("{path}", written)
                status, body = raw(client, method, target, {})
                assert status in (401, 404, 405), (method, target)
                assert b'"demo"' not in body
                assert raw(client, method, target, key_of("read"))[0] != 201, (method, target)
    assert kept(client) == before


def test_an_encoded_slash_is_a_slash_for_guard_and_route_alike(client: TestClient) -> None:
    status, _ = raw(client, "POST", "/v1/sessions/demo%2fsamples", key_of("read"))
    assert status == 403
    status, _ = raw(client, "DELETE", "/v1%2fsessions%2fdemo", key_of("write"))
    assert status == 403


@pytest.mark.parametrize("method", METHODS)
def test_tricks_with_the_method_get_nobody_past_the_guard(client: TestClient, method: str) -> None:
    before = kept(client)
    override = {"x-http-method-override": "DELETE", "x-method-override": "DELETE"}
    for path in ("/v1/sessions/demo", "/v1/sessions/demo/snapshot", "/v1/catalog"):
        assert raw(client, method, path, override)[0] == 401
        for role in ("read", "write"):
            status, _ = raw(client, method, path, override | key_of(role))
            expected = {"GET": (200,), "HEAD": (405,), "PUT": (403, 409)}.get(method, (403,))
            assert status in expected, (path, role)
    assert kept(client) == before


def test_a_websocket_without_a_key_is_refused(client: TestClient) -> None:
    for path in ("/v1/sessions/demo/stream", "/v1/sessions/demo", "/livez", "/"):
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(path):
            pass


def test_a_page_of_another_origin_needs_a_key_like_everybody() -> None:
    settings = Settings(store="memory:", api_keys=KEYS, cors_origins=("https://a.example",))
    with TestClient(App(settings)) as client:
        origin = {"origin": "https://a.example"}
        asks = {"access-control-request-method": "DELETE"}
        assert client.options("/v1/sessions/demo", headers=origin | asks).text == "OK"
        assert client.get("/v1/sessions", headers=origin).status_code == 401
        assert client.options("/v1/sessions", headers=origin).status_code == 401


def test_keys_are_in_no_answer_and_in_no_log(
    client: TestClient,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.handler.setFormatter(logs.JsonFormatter())

    async def fail(*_: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Hub, "list", fail)
    answers = []
    for key in [*SECRETS.values(), "llr_wrong"]:
        for headers in ({"authorization": f"Bearer {key}"}, {"x-api-key": key}):
            paths = ("/v1/sessions", "/v1/sessions/demo", "/metrics", "/nowhere")
            answers += [client.get(path, headers=headers) for path in paths]
            answers.append(client.post("/v1/sessions/demo/samples", content=b"{", headers=headers))
            answers.append(client.delete("/v1/sessions/missing", headers=headers))
    assert {401, 403, 404, 500} <= {answer.status_code for answer in answers}
    shown = "".join(f"{answer.text}{answer.headers}" for answer in answers)
    logged = caplog.text
    assert '"a bug' in logged or "RuntimeError: a bug" in logged
    for key in [*SECRETS.values(), "llr_wrong"]:
        for written in (key, hash_key(key)):
            assert written not in shown
            assert written not in logged
    for line in logged.splitlines():
        json.loads(line)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])  # noqa: S104
def test_the_service_does_not_start_beyond_loopback_without_keys(
    host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--host", host, "--port", "0", "--store", "memory:"])
    assert stopped.value.code == 2
    assert "LLR_API_KEYS" in capsys.readouterr().err
    assert Settings(host=host, store="memory:", api_keys=KEYS).host == host
