"""`predict?interval=`: bounds for numbers, prediction sets for classes, the same after a crash."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient

import llr

DEMO = "/v1/sessions/demo"
RNG = np.random.default_rng(8)
X = RNG.normal(size=(60, 2))
Y = X @ [1.0, -2.0] + RNG.normal(size=60)
ROWS = [{"x": x, "y": y} for x, y in zip(X.tolist(), Y.tolist(), strict=True)]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    url = f"sqlite:///{tmp_path / 'llr.db'}"
    with TestClient(App(Settings(store=url)), raise_server_exceptions=False) as started:
        assert started.put(DEMO, json={"model": "linear", "dim": 2}).status_code == 201
        yield started


def asked(client: TestClient, x: Any, level: Any = 0.9, name: str = "demo") -> Any:
    body = {} if x is None else {"x": x}
    return client.post(f"/v1/sessions/{name}/predict?interval={level}", json=body)


def test_bounds_are_the_librarys(client: TestClient) -> None:
    early = asked(client, [1.0, 2.0]).json()
    assert (early["lower"], early["upper"]) == (None, None)
    for part in (ROWS[:1], ROWS[1:7], ROWS[7:]):
        assert client.post(f"{DEMO}/samples", json=part).status_code == 200
    learner = llr.Learner("linear", 2, regret="exact")
    assert learner.learn(X, Y)
    for level in llr.intervals.LEVELS:
        expected = learner.interval(X[:3], level)
        many = asked(client, X[:3].tolist(), level).json()
        assert many["lower"] == expected.lower.tolist()
        assert many["upper"] == expected.upper.tolist()
        one = asked(client, X[0].tolist(), level).json()
        assert (one["lower"], one["upper"]) == (many["lower"][0], many["upper"][0])
        assert one["lower"] < one["predictions"] < one["upper"]
        assert "set" not in one
    assert "lower" not in client.post(f"{DEMO}/predict", json={"x": [1, 2]}).json()


def test_snapshots_forks_shadows_and_a_restart_have_the_same_bounds(
    client: TestClient, tmp_path: Path
) -> None:
    config = {"model": "linear", "dim": 2, "shadows": {"rival": {"algorithm": "sg/ag"}}}
    client.put("/v1/sessions/both", json=config)
    for row in ROWS:
        assert client.post("/v1/sessions/both/samples", json=row).status_code == 200
    expected = asked(client, [1.0, 2.0], name="both").json()
    snapshot = client.get("/v1/sessions/both/snapshot").json()
    assert client.put("/v1/sessions/twin/snapshot", json=snapshot).status_code == 201
    assert client.post("/v1/sessions/both/fork", json={"name": "copy"}).status_code == 201
    for name in ("twin", "copy"):
        found = asked(client, [1.0, 2.0], name=name).json()
        assert {**found, "name": "both"} == expected
    backup = client.post("/v1/backup").content
    (tmp_path / "copy.db").write_bytes(backup)
    with TestClient(App(Settings(store=f"sqlite:///{tmp_path / 'copy.db'}"))) as again:
        assert asked(again, [1.0, 2.0], name="both").json() == expected
    assert client.post("/v1/sessions/both/promote", json={"name": "rival"}).status_code == 200
    rival = llr.Learner("linear", 2, "sg/ag", regret="exact")
    assert rival.learn(X, Y)
    found = asked(client, [1.0, 2.0], name="both").json()
    assert found["lower"] == rival.interval([1.0, 2.0]).lower


@pytest.mark.parametrize("level", ["0.7", "90", "", "nan", "high"])
def test_levels_that_are_not_tracked_are_refused(client: TestClient, level: str) -> None:
    answer = asked(client, [1.0, 2.0], level)
    assert answer.status_code == 422
    problem = answer.json()
    assert problem["errors"][0]["parameter"] == "interval"
    assert "0.5, 0.8, 0.9, 0.95, 0.99" in problem["detail"]


def test_models_without_features_named_features_and_ids(client: TestClient) -> None:
    client.put("/v1/sessions/mean", json={"model": "gaussian"})
    client.post("/v1/sessions/mean/samples", json={"y": Y.tolist()})
    found = asked(client, None, name="mean").json()
    assert math.isfinite(found["lower"])
    client.put("/v1/sessions/flats", json={"model": "linear"})
    rows = [{"x": {"rooms": i % 4}, "y": i % 4 + 0.1 * (i % 3)} for i in range(40)]
    client.post("/v1/sessions/flats/samples", json=rows)
    found = asked(client, {"rooms": 2}, name="flats").json()
    assert found["lower"] < found["upper"]
    body = {"x": [1.0, 2.0], "id": "a"}
    assert client.post(f"{DEMO}/predict?interval=0.9", json=body).status_code == 200
    assert client.post(f"{DEMO}/labels", json={"id": "a", "y": 1.0}).status_code == 200


def test_classes_have_a_set(client: TestClient) -> None:
    client.put("/v1/sessions/mail", json={"model": "logistic", "classes": ["ham", "spam"]})
    client.put("/v1/sessions/digits", json={"model": "softmax", "options": {"classes": 3}})
    for i in range(60):
        x = X[i].tolist()
        y = "spam" if Y[i] > 0 else "ham"
        assert client.post("/v1/sessions/mail/samples", json={"x": x, "y": y}).status_code == 200
        label = {"x": x, "y": int(Y[i] > 0) + int(Y[i] > 1)}
        assert client.post("/v1/sessions/digits/samples", json=label).status_code == 200
    one = asked(client, [3.0, -3.0], name="mail").json()
    assert one["predictions"] == "spam"
    assert one["set"] == ["spam"]
    assert "lower" not in one
    many = asked(client, [[3.0, -3.0], [0.0, 0.0]], 0.99, name="mail").json()
    assert many["set"][1] == ["ham", "spam"]
    found = asked(client, [[-3.0, 3.0], [3.0, -3.0]], name="digits").json()["set"]
    assert (found[0][0], found[1][-1]) == (0, 2)
