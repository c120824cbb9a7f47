"""Sample weights over HTTP: every format leaves the same state, after a crash too."""

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
JSON, NDJSON = {"content-type": "application/json"}, {"content-type": "application/x-ndjson"}
NPY = {"content-type": "application/x-npy"}
CONFIG = {"model": "linear", "dim": 2, "shadows": {"rival": {"algorithm": "sg/ag"}}}
RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 2))
Y = X @ [1.0, -2.0] + 0.1 * RNG.normal(size=40)
W = np.where(RNG.random(40) < 0.2, 0.0, np.exp(RNG.normal(size=40)))
W[:2] = 1.0
ROWS: list[dict[str, Any]] = [
    {"x": x, "y": y} | ({} if w == 1.0 else {"w": w})
    for x, y, w in zip(X.tolist(), Y.tolist(), W.tolist(), strict=True)
]
"""Samples some of which leave their weight out."""


def at(path: Path, **more: Any) -> TestClient:
    url = f"sqlite:///{path / 'llr.db'}"
    return TestClient(App(Settings(store=url, **more)), raise_server_exceptions=False)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with at(tmp_path) as started:
        assert started.put(DEMO, json=CONFIG).status_code == 201
        yield started


def copy(client: TestClient, path: Path) -> TestClient:
    """Another service on a copy of the store as it is: snapshots and log, nothing from memory."""
    answer = client.post("/v1/backup")
    assert answer.status_code == 200
    (path / "copy").mkdir()
    (path / "copy" / "llr.db").write_bytes(answer.content)
    return at(path / "copy")


def state(client: TestClient, name: str = "demo") -> Any:
    snapshot = client.get(f"/v1/sessions/{name}/snapshot").json()
    return {"t": snapshot["t"], "state": snapshot["state"], "team": snapshot["team"]}


def learnt() -> Any:
    """The champion's state as the library has it."""
    learner = llr.Learner("linear", 2, regret="exact")
    assert learner.learn(X, Y, w=W)
    return learner.to_plain()


def npy(*columns: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.column_stack(columns))
    return stream.getvalue()


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def problem(answer: Any, status: int = 422) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def test_every_format_leaves_the_same_state(client: TestClient) -> None:
    columns = {"x": X.tolist(), "y": Y.tolist(), "w": W.tolist()}
    ways: dict[str, Any] = {
        "singly": [{"json": row} for row in ROWS],
        "list": [{"json": ROWS}],
        "columns": [{"json": columns}],
        "lines": [{"content": lines(ROWS), "headers": NDJSON}],
        "npy": [{"content": npy(X, Y, W), "headers": NPY, "params": {"columns": "x,y,w"}}],
        "reordered": [{"content": npy(W, Y, X), "headers": NPY, "params": {"columns": "w,y,x"}}],
        "arrow": [{"content": arrow.of_samples(X, w=W, y=Y), "headers": arrow.HEADERS}],
    }
    for name, requests in ways.items():
        assert client.put(f"/v1/sessions/{name}", json=CONFIG).status_code == 201
        for request in requests:
            answer = client.post(f"/v1/sessions/{name}/samples", **request)
            assert answer.status_code == 200, answer.text
    states = [state(client, name) for name in ways]
    assert all(each == states[0] for each in states)
    assert states[0]["state"] == learnt()
    shadow = llr.Learner("linear", 2, "sg/ag", regret="exact")
    assert shadow.learn(X, Y, w=W)
    assert states[0]["team"]["states"] == [shadow.to_plain()]


def test_a_websocket_and_a_kill_leave_the_same_state(tmp_path: Path) -> None:
    """Weights are in the log: what a killed service learns again is what it had learnt."""
    query = "columns=x,y,w&theta=false"
    with started(tmp_path, log_level="error") as server:
        base = f"http://127.0.0.1:{server.port}"
        assert httpx.put(base + DEMO, json=CONFIG).status_code == 201
        address = f"ws://127.0.0.1:{server.port}{DEMO}/stream?{query}"
        with connect(address, proxy=None) as stream:
            for row in ROWS[:10]:
                stream.send(json.dumps(row))
                assert json.loads(stream.recv())["accepted"] == 1
            for first in (10, 25):
                part = slice(first, first + 15)
                stream.send(npy(X[part], Y[part], W[part]))
                assert json.loads(stream.recv())["accepted"] == 15
        server.process.kill()
        server.process.wait(timeout=20)
    with at(tmp_path) as client:
        assert state(client)["state"] == learnt()


def test_the_log_alone_gives_the_state_back(client: TestClient, tmp_path: Path) -> None:
    for row in ROWS:
        assert client.post(SAMPLES, json=row).status_code == 200
    with copy(client, tmp_path) as again:
        assert state(again) == state(client)


def test_late_labels_bring_their_weight(client: TestClient, tmp_path: Path) -> None:
    ids = [f"i-{i}" for i in range(len(ROWS))]
    body = {"x": X.tolist(), "ids": ids}
    assert client.post(f"{DEMO}/predict", json=body).status_code == 200
    labels = [
        {"id": name, **{key: row[key] for key in ("y", "w") if key in row}}
        for name, row in zip(ids, ROWS, strict=True)
    ]
    assert client.post(f"{DEMO}/labels", json=labels[0]).status_code == 200
    assert client.post(f"{DEMO}/labels", json=labels[:20]).json()["accepted"] == 19
    sent = client.post(f"{DEMO}/labels", content=lines(labels[20:]), headers=NDJSON)
    assert sent.json()["accepted"] == 20
    assert state(client)["state"] == learnt()
    with copy(client, tmp_path) as again:
        assert state(again)["state"] == learnt()


def test_forks_and_what_ifs_learn_with_the_weights(client: TestClient) -> None:
    config = CONFIG | {"retain": True}
    assert client.put("/v1/sessions/kept", json=config).status_code == 201
    for part in (ROWS[:1], ROWS[1:3], ROWS[3:30]):
        assert client.post("/v1/sessions/kept/samples", json=part).status_code == 200
    fork = {"name": "again", "relearn": True}
    assert client.post("/v1/sessions/kept/fork", json=fork).status_code == 201
    for _ in range(2000):
        found = client.get("/v1/sessions/again").json()["relearning"]
        if found["done"] == found["of"] or found["stopped"]:
            break
    assert (found["done"], found["stopped"]) == (30, None)
    assert client.post("/v1/sessions/kept/fork", json={"name": "twin"}).status_code == 201
    for name in ("kept", "again", "twin"):
        assert client.post(f"/v1/sessions/{name}/samples", json=ROWS[30:]).status_code == 200
        assert state(client, name)["state"] == learnt()


def test_named_features_have_weights_too(client: TestClient, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"x": {"a": i % 3, "city": "Rome"}, "y": i % 4, "w": 0.5 * i} for i in range(12)
    ]
    named = "/v1/sessions/named"
    client.put(named, json={"model": "linear"})
    for part in (rows[:1], rows[1:]):
        assert client.post(f"{named}/samples", json=part).status_code == 200
    learner = llr.NamedLearner("linear")
    for row in rows:
        assert learner.learn(row["x"], row["y"], w=row["w"])
    assert state(client, "named")["state"] == learner.to_plain()
    with copy(client, tmp_path) as again:
        assert state(again, "named")["state"] == learner.to_plain()


def test_a_weight_of_1_is_no_weight_and_0_only_counts(client: TestClient) -> None:
    first, other = ROWS[2], ROWS[3]
    client.put("/v1/sessions/bare", json=CONFIG)
    bare = {"x": first["x"], "y": first["y"]}
    client.post("/v1/sessions/bare/samples", json=bare)
    client.post(SAMPLES, json=bare | {"w": 1})
    assert state(client, "bare") == state(client)
    before = client.post(SAMPLES, json=bare).json()
    after = client.post(SAMPLES, json={"x": other["x"], "y": other["y"], "w": 0}).json()
    assert after["t"] == before["t"] + 1
    assert after["accepted"] == 1
    for member in ("theta", "intercept", "eta", "regret"):
        assert after[member] == before[member]
    assert after["loss"]["total"] == before["loss"]["total"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"x": [1, 2], "y": 1, "w": -1}, "/w"),
        ([{"x": [1, 2], "y": 1}, {"x": [1, 2], "y": 1, "w": -0.5}], "/1/w"),
        ({"x": [[1, 2], [3, 4]], "y": [1, 2], "w": [1, -2]}, "/w/1"),
        ({"x": [1, 2], "y": 1, "w": "2"}, "/w"),
        ({"x": [1, 2], "y": 1, "w": True}, "/w"),
        ({"x": [1, 2], "y": 1, "w": None}, "/w"),
        ({"x": [[1, 2], [3, 4]], "y": [1, 2], "w": [1]}, "/w"),
    ],
)
def test_what_is_no_weight_is_refused_by_its_place(
    client: TestClient, body: Any, place: str
) -> None:
    before = state(client)
    errors = problem(client.post(SAMPLES, json=body))["errors"]
    assert [each["pointer"] for each in errors] == [place]
    assert state(client) == before


@pytest.mark.parametrize("weight", ["NaN", "Infinity", "1e999"])
def test_weights_that_are_not_finite_are_refused(client: TestClient, weight: str) -> None:
    text = f'{{"x": [1, 2], "y": 1, "w": {weight}}}'
    found = problem(client.post(SAMPLES, content=text, headers=JSON))
    assert "finite" in found["detail"]


def test_a_line_and_a_label_with_a_bad_weight_are_named(client: TestClient) -> None:
    body = lines([ROWS[0], {"x": [1, 2], "y": 1, "w": -1}])
    found = problem(client.post(SAMPLES, content=body, headers=NDJSON))
    assert [(each["line"], each["pointer"]) for each in found["errors"]] == [(2, "/w")]
    client.post(f"{DEMO}/predict", json={"x": [1, 2], "id": "a"})
    for label in ({"id": "a", "y": 1, "w": -1}, {"id": "a", "y": 1, "w": "1"}):
        found = problem(client.post(f"{DEMO}/labels", json=label))
        assert [each["pointer"] for each in found["errors"]] == ["/w"]


@pytest.mark.parametrize(
    ("columns", "why"),
    [("x,w", "each once"), ("x,y,y", "each once"), ("x,y,z", "each once"), ("y", "x is missing")],
)
def test_columns_that_cannot_be_are_refused(client: TestClient, columns: str, why: str) -> None:
    query = {"columns": columns}
    found = problem(client.post(SAMPLES, content=npy(X, Y), headers=NPY, params=query))
    assert why in found["detail"]
    assert found["errors"][0]["parameter"] == "columns"


def test_columns_are_those_of_npy(client: TestClient) -> None:
    for request in ({"json": ROWS}, {"content": lines(ROWS), "headers": NDJSON}):
        found = problem(client.post(f"{SAMPLES}?columns=x,y", **request))
        assert found["errors"][0]["parameter"] == "columns"
    narrow = client.post(f"{SAMPLES}?columns=x,y,w", content=npy(X[:, :1], Y), headers=NPY)
    assert "n × (d + 2): d features, then y, then w" in problem(narrow)["detail"]
    bad = npy(X[:2], Y[:2], [1.0, -1.0])
    found = problem(client.post(f"{SAMPLES}?columns=x,y,w", content=bad, headers=NPY))
    assert found["errors"][0]["pointer"] == "/1/w"


def test_models_without_features_have_columns_y_and_w(client: TestClient) -> None:
    mean = "/v1/sessions/mean"
    client.put(mean, json={"model": "gaussian"})
    sent = client.post(f"{mean}/samples?columns=y,w", content=npy(Y, W), headers=NPY)
    assert sent.json()["accepted"] == 40
    learner = llr.Learner("gaussian", regret="exact")
    assert learner.learn(Y, w=W)
    assert state(client, "mean")["state"] == learner.to_plain()
