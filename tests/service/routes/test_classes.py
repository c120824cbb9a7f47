"""Classes by name over HTTP: strings in every format, indexes in npy, the same state."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient
from support import arrow
from support.serving import started
from websockets.sync.client import connect

import llr

DEMO = "/v1/sessions/demo"
SAMPLES = f"{DEMO}/samples"
NDJSON, NPY = {"content-type": "application/x-ndjson"}, {"content-type": "application/x-npy"}
NAMES = ["spam", "ham", "eggs"]
CONFIG: dict[str, Any] = {"model": "softmax", "dim": 2, "classes": NAMES}
RNG = np.random.default_rng(4)
X = RNG.normal(size=(40, 2))
K = np.argmax(X @ RNG.normal(size=(2, 3)), axis=1)
Y = [NAMES[k] for k in K]
ROWS: list[dict[str, Any]] = [{"x": x, "y": y} for x, y in zip(X.tolist(), Y, strict=True)]


def at(path: Path) -> TestClient:
    url = f"sqlite:///{path / 'llr.db'}"
    return TestClient(App(Settings(store=url)), raise_server_exceptions=False)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with at(tmp_path) as started:
        assert started.put(DEMO, json=CONFIG).status_code == 201
        yield started


def state(client: TestClient, name: str = "demo") -> Any:
    snapshot = client.get(f"/v1/sessions/{name}/snapshot").json()
    return {"t": snapshot["t"], "state": snapshot["state"]}


def learnt() -> Any:
    learner = llr.Learner("softmax", 2, classes=3, regret="exact")
    assert learner.learn(X, K)
    return {"t": 40, "state": learner.to_plain()}


def npy(*columns: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.column_stack(columns).astype(np.float64))
    return stream.getvalue()


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def problem(answer: Any, status: int = 422) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def test_every_format_leaves_the_same_state(client: TestClient) -> None:
    ways: dict[str, Any] = {
        "singly": [{"json": row} for row in ROWS],
        "list": [{"json": ROWS}],
        "columns": [{"json": {"x": X.tolist(), "y": Y}}],
        "lines": [{"content": lines(ROWS), "headers": NDJSON}],
        "npy": [{"content": npy(X, K), "headers": NPY}],
        "arrow": [{"content": arrow.of_samples(X, y=Y), "headers": arrow.HEADERS}],
    }
    for name, requests in ways.items():
        assert client.put(f"/v1/sessions/{name}", json=CONFIG).status_code == 201
        for request in requests:
            answer = client.post(f"/v1/sessions/{name}/samples", **request)
            assert answer.status_code == 200, answer.text
        assert state(client, name) == learnt(), name


def test_predictions_are_names_with_their_probabilities(client: TestClient) -> None:
    learner = llr.Learner("softmax", 2, classes=3)
    expected = learner.learn(X[:30], K[:30], predictions=True).predictions
    assert expected is not None
    found = client.post(f"{SAMPLES}?predictions=true", json=ROWS[:30]).json()
    assert found["predictions"] == [NAMES[k] for k in expected.argmax(axis=1)]
    assert found["probabilities"][5] == dict(zip(NAMES, expected[5].tolist(), strict=True))
    one = client.post(f"{DEMO}/predict", json={"x": X[30].tolist()}).json()
    many = client.post(f"{DEMO}/predict", json={"x": X[30:33].tolist()}).json()
    told = learner.predict(X[30:33])
    assert many["predictions"] == [NAMES[k] for k in told.argmax(axis=1)]
    assert one["predictions"] == many["predictions"][0]
    assert one["probabilities"] == many["probabilities"][0]
    assert one["probabilities"] == dict(zip(NAMES, told[0].tolist(), strict=True))


def test_a_websocket_and_a_kill_leave_the_same_state(tmp_path: Path) -> None:
    with started(tmp_path, log_level="error") as server:
        base = f"http://127.0.0.1:{server.port}"
        assert httpx.put(base + DEMO, json=CONFIG).status_code == 201
        with connect(f"ws://127.0.0.1:{server.port}{DEMO}/stream", proxy=None) as stream:
            for row in ROWS[:20]:
                stream.send(json.dumps(row))
                assert json.loads(stream.recv())["accepted"] == 1
            stream.send(npy(X[20:], K[20:]))
            assert json.loads(stream.recv())["accepted"] == 20
            stream.send(json.dumps({"x": [1, 2], "y": "tea"}))
            assert "spam, ham, eggs" in json.loads(stream.recv())["error"]["detail"]
        server.process.kill()
        server.process.wait(timeout=20)
    with at(tmp_path) as client:
        assert state(client) == learnt()
        answer = client.post(SAMPLES, json=ROWS[0])
        assert answer.status_code == 200


def test_late_labels_are_names(client: TestClient) -> None:
    ids = [f"i-{i}" for i in range(40)]
    client.post(f"{DEMO}/predict", json={"x": X.tolist(), "ids": ids})
    labels = [{"id": name, "y": y} for name, y in zip(ids, Y, strict=True)]
    wrong = problem(client.post(f"{DEMO}/labels", json={"id": "i-0", "y": "tea"}))
    assert wrong["errors"][0]["pointer"] == "/y"
    assert "spam, ham, eggs" in wrong["detail"]
    assert client.post(f"{DEMO}/labels", json=labels[0]).status_code == 200
    assert client.post(f"{DEMO}/labels", json=labels[:20]).json()["accepted"] == 19
    sent = client.post(f"{DEMO}/labels", content=lines(labels[20:]), headers=NDJSON)
    assert sent.json()["accepted"] == 20
    assert state(client) == learnt()


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"x": [1, 2], "y": "tea"}, "/y"),
        ({"x": [1, 2], "y": 1}, "/y"),
        ([ROWS[0], {"x": [1, 2], "y": "Spam"}], "/1/y"),
        ({"x": [[1, 2], [3, 4]], "y": ["ham", "tea"]}, "/y/1"),
    ],
)
def test_an_unknown_label_is_refused_with_the_classes(
    client: TestClient, body: Any, place: str
) -> None:
    found = problem(client.post(SAMPLES, json=body))
    assert [each["pointer"] for each in found["errors"]] == [place]
    assert "spam, ham, eggs" in found["detail"]
    by_line = lines([ROWS[0], {"x": [1, 2], "y": "tea"}])
    found = problem(client.post(SAMPLES, content=by_line, headers=NDJSON))
    assert (found["errors"][0]["line"], found["errors"][0]["pointer"]) == (2, "/y")
    assert client.get(DEMO).json()["t"] == 0


def test_an_index_beyond_the_classes_is_refused_in_npy(client: TestClient) -> None:
    found = problem(client.post(SAMPLES, content=npy(X[:1], [3.0]), headers=NPY))
    assert found["errors"][0]["pointer"] == "/0/y"


def test_the_config_is_what_it_was_created_with(client: TestClient) -> None:
    config = client.get(DEMO).json()["config"]
    assert config["classes"] == NAMES
    assert config["options"] == {"classes": 3}
    for same in (CONFIG, config, CONFIG | {"options": {"classes": 3}}):
        assert client.put(DEMO, json=same).status_code == 200
    other = CONFIG | {"classes": ["ham", "spam", "eggs"]}
    assert client.put(DEMO, json=other).status_code == 409


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"model": "linear", "classes": ["a", "b"]}, "/classes"),
        ({"model": "logistic", "classes": ["a", "b", "c"]}, "/classes"),
        ({"model": "softmax", "classes": ["a", "a"]}, "/classes"),
        (
            {"model": "softmax", "classes": ["a", "b"], "options": {"classes": 3}},
            "/options/classes",
        ),
        ({"model": "softmax", "classes": "a,b"}, "/classes"),
        ({"model": "logistic", "classes": ["a", "b"], "expired_label": 1}, "/expired_label"),
        ({"model": "logistic", "classes": ["a", "b"], "expired_label": "c"}, "/expired_label"),
        ({"model": "logistic", "expired_label": "a"}, "/expired_label"),
    ],
)
def test_configs_that_cannot_be_are_refused(
    client: TestClient, config: dict[str, Any], place: str
) -> None:
    found = problem(client.put("/v1/sessions/other", json=config))
    assert found["errors"][0]["pointer"] == place


def test_two_classes_named_features_snapshots_and_forks(client: TestClient) -> None:
    mail = "/v1/sessions/mail"
    config = {"model": "logistic", "classes": ["ham", "spam"], "expired_label": "ham"}
    assert client.put(mail, json=config).status_code == 201
    rows = [{"x": {"word": w}, "y": y} for w, y in [("offer", "spam"), ("hello", "ham")] * 20]
    assert client.post(f"{mail}/samples", json=rows).status_code == 200
    found = client.post(f"{mail}/predict", json={"x": {"word": "offer"}}).json()
    assert found["predictions"] == "spam"
    assert found["probabilities"]["spam"] > 0.5
    snapshot = client.get(f"{mail}/snapshot").json()
    assert client.put("/v1/sessions/twin/snapshot", json=snapshot).status_code == 201
    assert client.post(f"{mail}/fork", json={"name": "copy"}).status_code == 201
    for name in ("twin", "copy"):
        told = client.post(f"/v1/sessions/{name}/predict", json={"x": {"word": "offer"}}).json()
        assert told["predictions"] == "spam"
        assert client.post(f"/v1/sessions/{name}/samples", json=rows[0]).status_code == 200
