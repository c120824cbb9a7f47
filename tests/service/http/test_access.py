"""Row 17: every route × no key, a wrong key, each role; and tricks that should not help anybody."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from llr_service import logs
from llr_service.__main__ import main
from llr_service.app import App
from llr_service.http.auth import hash_key
from llr_service.sessions.registry import SessionRegistry
from llr_service.settings import Settings
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from stress.access import check_method, check_route, check_trick
from stress.doors import (
    KEYS,
    LEAST,
    METHODS,
    SECRETS,
    TRICKS,
    guarded,
    key_of,
    raw,
    routes,
    served,
)


@pytest.fixture
def app() -> App:
    return guarded()


@pytest.fixture
def client(app: App) -> Iterator[TestClient]:
    with served(app) as started:
        yield started


def test_every_route_is_in_the_table(app: App) -> None:
    assert routes(app) == set(LEAST)


@pytest.mark.filterwarnings("ignore:open_binary is deprecated")
@pytest.mark.parametrize("route", LEAST)
def test_a_route_lets_in_whom_the_table_says(client: TestClient, route: str) -> None:
    check_route(client, route)


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
    assert check_trick(client, trick) > 100


def test_an_encoded_slash_is_a_slash_for_guard_and_route_alike(client: TestClient) -> None:
    status, _ = raw(client, "POST", "/v1/sessions/demo%2fsamples", key_of("read"))
    assert status == 403
    status, _ = raw(client, "DELETE", "/v1%2fsessions%2fdemo", key_of("write"))
    assert status == 403


@pytest.mark.parametrize("method", METHODS)
def test_tricks_with_the_method_get_nobody_past_the_guard(client: TestClient, method: str) -> None:
    check_method(client, method)


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

    monkeypatch.setattr(SessionRegistry, "list", fail)
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
