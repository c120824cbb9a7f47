"""Arrow bodies over HTTP: by position and by name, the state that JSON leaves, and refusals."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient
from support.arrow import HEADERS, of_samples, stream

DEMO = "/v1/sessions/demo"
SAMPLES = f"{DEMO}/samples"
RNG = np.random.default_rng(8)
N = 60
TABLE: dict[str, Any] = {
    "city": [[None, "Rome", "Oslo"][k] for k in RNG.integers(0, 3, N)],
    "age": [None if each < 20 else int(each) for each in RNG.integers(10, 60, N)],
    "new": [[None, True, False][k] for k in RNG.integers(0, 3, N)],
    "size": RNG.normal(size=N).astype(np.float32).tolist(),
    "y": RNG.normal(size=N).tolist(),
}


@pytest.fixture
def client() -> Iterator[TestClient]:
    app = App(Settings(store="memory:"))
    with TestClient(app, raise_server_exceptions=False) as started:
        yield started


def state(client: TestClient, name: str) -> Any:
    snapshot = client.get(f"/v1/sessions/{name}/snapshot").json()
    return snapshot["t"], snapshot["state"]


def post(client: TestClient, body: bytes, name: str = "demo", **query: Any) -> Any:
    address = f"/v1/sessions/{name}/samples"
    return client.post(address, content=body, headers=HEADERS, params=query)


@pytest.mark.parametrize("told", [{}, {"named": True}])
@pytest.mark.parametrize("rows", [None, 7])
def test_columns_by_name_leave_the_state_of_json(
    client: TestClient, told: dict[str, Any], rows: int | None
) -> None:
    """Also where only the first sample says whether features have names."""
    for name in ("demo", "other"):
        config = {"model": "linear", **told}
        assert client.put(f"/v1/sessions/{name}", json=config).status_code == 201
    columns = TABLE | {"size": pa.array(TABLE["size"], "float32")}
    answer = post(client, stream(columns, rows=rows))
    assert (answer.status_code, answer.json()["accepted"]) == (200, N), answer.text
    features = [name for name in TABLE if name != "y"]
    x = [{k: TABLE[k][i] for k in features if TABLE[k][i] is not None} for i in range(N)]
    sent = client.post("/v1/sessions/other/samples", json={"x": x, "y": TABLE["y"]})
    assert sent.status_code == 200
    assert state(client, "demo") == state(client, "other")
    assert "city=Rome" in answer.json()["theta"]


def test_columns_by_position_leave_the_state_of_json(client: TestClient) -> None:
    X, y = RNG.normal(size=(9000, 3)), RNG.normal(size=9000)
    for name in ("demo", "other"):
        config = {"model": "linear", "dim": 3}
        assert client.put(f"/v1/sessions/{name}", json=config).status_code == 201
    answer = post(client, of_samples(X, y=y), predictions="true").json()
    body = {"x": X.tolist(), "y": y.tolist()}
    other = client.post("/v1/sessions/other/samples?predictions=true", json=body).json()
    assert answer["predictions"] == other["predictions"]
    assert state(client, "demo") == state(client, "other")


def test_a_refused_body_changes_nothing(client: TestClient) -> None:
    assert client.put(DEMO, json={"model": "logistic", "dim": 2}).status_code == 201
    good = {"a": [1.0, 2.0], "b": [1.0, 2.0], "y": [1.0, 0.0]}
    for body, status, place in (
        (stream(good | {"y": [1.0, 7.0]}), 422, "/1/y"),
        (stream(good | {"b": [1.0, None]}), 422, "/1/b"),
        (stream(good | {"c": [1.0, 2.0]}), 422, None),
        (stream(good | {"w": [1.0, -1.0]}), 422, "/1/w"),
        (stream(good, compression="lz4"), 422, None),
        (stream(good)[:-20], 400, None),
        (b"", 400, None),
    ):
        answer = post(client, body)
        assert answer.status_code == status, answer.text
        if place is not None:
            assert answer.json()["errors"][0]["pointer"] == place
    assert client.get(DEMO).json()["t"] == 0
    assert "leave it out" in post(client, stream(good), columns="x,y").json()["detail"]
    assert post(client, stream(good)).json()["t"] == 2


def test_numbered_bodies_are_applied_once(client: TestClient) -> None:
    assert client.put(DEMO, json={"model": "linear", "dim": 2}).status_code == 201
    body = stream({"a": [1.0, 2.0], "b": [1, 2], "y": [1.0, 0.0]})
    for accepted in (2, 0):
        assert post(client, body, producer="p", seq=0).json()["accepted"] == accepted
