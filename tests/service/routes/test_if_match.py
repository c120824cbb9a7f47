"""`If-Match`: a change only where the session is expected to be."""

from typing import Any

import pytest
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient

DEMO = "/v1/sessions/demo"
SHADOW = f"{DEMO}/shadows/rival"
RIVAL = {"algorithm": "sg"}


@pytest.fixture
def session(client: TestClient) -> TestClient:
    """A session at t = 1 with two shadows, at version 2."""
    client.put(DEMO, json={"model": "gaussian"})
    client.post(f"{DEMO}/samples", json={"y": 1.0})
    for name in ("rival", "other"):
        assert client.put(f"{DEMO}/shadows/{name}", json=RIVAL).status_code == 201
    return client


def match(value: str) -> dict[str, str]:
    return {"If-Match": value}


def test_get_shows_the_version_of_the_ensemble(session: TestClient) -> None:
    assert session.get(DEMO).json()["version"] == 2
    session.post(f"{DEMO}/promote", json={"name": "rival"})
    session.post(f"{DEMO}/promote", json={"name": "rival"})  # changes nothing
    session.post(f"{DEMO}/samples", json={"y": 1.0})
    state = session.get(DEMO).json()
    assert (state["t"], state["version"]) == (2, 3)


def test_the_version_outlives_a_restart_and_the_last_shadow(settings: Settings) -> None:
    with TestClient(App(settings)) as client:
        client.put(DEMO, json={"model": "gaussian"})
        client.post(f"{DEMO}/samples", json={"y": 1.0})
        client.put(SHADOW, json=RIVAL)
        client.delete(SHADOW)
    with TestClient(App(settings)) as client:
        assert client.get(DEMO).json()["version"] == 2
        snapshot = client.get(f"{DEMO}/snapshot").json()
        restored = client.put("/v1/sessions/twin/snapshot", json=snapshot)
        assert restored.json()["version"] == 2


@pytest.mark.parametrize("value", ['"0"', '"2"', '"1.1"', '"1.3"'])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", DEMO, None),
        ("DELETE", SHADOW, None),
        ("PUT", f"{DEMO}/shadows/third", RIVAL),
        ("POST", f"{DEMO}/promote", {"name": "rival"}),
        ("POST", f"{DEMO}/samples", {"y": 1.0}),
    ],
)
def test_elsewhere_it_is_412_and_nothing_changes(
    session: TestClient, method: str, path: str, body: object, value: str
) -> None:
    before = session.get(DEMO).json()
    answer = session.request(method, path, json=body, headers=match(value))
    assert answer.status_code == 412
    assert (answer.json()["t"], answer.json()["version"]) == (1, 2)
    assert session.get(DEMO).json() == before


@pytest.mark.parametrize("value", ['"1"', '"1.2"', "*"])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", DEMO, None),
        ("DELETE", SHADOW, None),
        ("POST", f"{DEMO}/promote", {"name": "rival"}),
        ("POST", f"{DEMO}/samples", {"y": 1.0}),
    ],
)
def test_there_it_is_done(
    session: TestClient, method: str, path: str, body: object, value: str
) -> None:
    answer = session.request(method, path, json=body, headers=match(value))
    assert answer.status_code in (200, 204)


def test_a_second_promote_from_the_same_state_is_412(session: TestClient) -> None:
    for name, status in (("rival", 200), ("other", 412), ("rival", 200)):  # the last is a retry
        answer = session.post(f"{DEMO}/promote", json={"name": name}, headers=match('"1.2"'))
        assert answer.status_code == status


@pytest.mark.parametrize("value", ["1", '"x"', '"1."', '"1.2.3"', 'W/"1"'])
def test_anything_else_is_422(session: TestClient, value: str) -> None:
    for method, path in (("DELETE", DEMO), ("DELETE", SHADOW)):
        answer = session.request(method, path, headers=match(value))
        assert answer.status_code == 422, answer.text


@pytest.mark.parametrize("kind", ["application/json", "application/x-ndjson"])
def test_a_retry_of_a_producer_is_the_duplicate_it_is(session: TestClient, kind: str) -> None:
    sent: dict[str, Any] = {
        "params": {"producer": "p", "seq": "0"},
        "content": '{"y": 2.0}\n',
        "headers": match('"1"') | {"content-type": kind},
    }
    for duplicate in (False, True):
        answer = session.post(f"{DEMO}/samples", **sent)
        assert answer.status_code == 200, answer.text
        assert (answer.json()["t"], answer.json()["duplicate"]) == (2, duplicate)


def test_so_is_a_label_sent_again(session: TestClient) -> None:
    session.post(f"{DEMO}/predict", json={"id": "a"})
    for duplicate in (False, True):
        label = {"id": "a", "y": 2.0}
        answer = session.post(f"{DEMO}/labels", json=label, headers=match('"1"'))
        assert answer.status_code == 200, answer.text
        assert answer.json()["duplicate"] is duplicate
