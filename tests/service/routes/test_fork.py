"""Forks: copies that go their own way, bit for bit, or from θ with another config."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient

import llr

A, B = "/v1/sessions/a", "/v1/sessions/b"
RNG = np.random.default_rng(5)
X = RNG.normal(size=(300, 2))
Y = X @ [1.0, -2.0] + 0.1 * RNG.normal(size=300)
ROWS = [{"x": x, "y": y} for x, y in zip(X.tolist(), Y.tolist(), strict=True)]


def learn(client: TestClient, path: str, rows: Any, **query: Any) -> dict[str, Any]:
    answer = client.post(f"{path}/samples", json=rows, params=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def fork(client: TestClient, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{A}/fork", json={"name": "b"} | body)
    assert answer.status_code == 201, answer.text
    assert answer.headers["etag"] == f'"{answer.json()["t"]}"'
    return dict(answer.json())


def snapshot(client: TestClient, path: str) -> dict[str, Any]:
    """A snapshot, wall-clock times apart."""
    return {**client.get(f"{path}/snapshot").json(), "name": "", "times": []}


@pytest.fixture(params=["auto", "sg/ag", "svrg/ag"])
def source(request: pytest.FixtureRequest, client: TestClient) -> str:
    """A session that has learnt from a producer, and the name of its algorithm."""
    client.put(A, json={"model": "linear", "algorithm": request.param})
    learn(client, A, ROWS[:100], producer="p", seq=0)
    return str(request.param)


def test_a_fork_is_the_same_to_the_last_bit_and_goes_its_own_way(
    client: TestClient, source: str
) -> None:
    assert fork(client)["t"] == 100
    assert snapshot(client, A) == snapshot(client, B)
    history = client.get(f"{B}/history").json()
    of_source = client.get(f"{A}/history").json()
    assert history["time"][1:] == of_source["time"][1:]
    assert history | {"name": "a", "time": of_source["time"]} == of_source
    learn(client, A, ROWS[100:200])
    before = snapshot(client, A)
    assert learn(client, B, ROWS[200:])["t"] == 200
    assert snapshot(client, A) == before
    learn(client, A, ROWS[200:])
    assert client.get(A).json()["theta"] != client.get(B).json()["theta"]
    assert client.get(B).json()["config"] == client.get(A).json()["config"]


def test_a_fork_may_treat_late_labels_otherwise_and_has_none_that_wait(
    client: TestClient, source: str
) -> None:
    client.post(f"{A}/predict", json={"x": [1.0, 2.0], "id": "i"})
    made = fork(client, label_seconds=5, expired_label=0)
    assert (made["t"], made["kept"], client.get(A).json()["kept"]) == (100, 0, 1)
    assert (made["config"]["label_seconds"], made["config"]["expired_label"]) == (5.0, 0.0)
    assert snapshot(client, A)["state"] == snapshot(client, B)["state"]
    assert client.post(f"{B}/labels", json={"id": "i", "y": 1.0}).status_code == 404


def test_a_fork_learns_on_as_its_source_would(client: TestClient, source: str) -> None:
    fork(client)
    learn(client, A, ROWS[100:])
    for row in ROWS[100:]:
        learn(client, B, row)
    assert snapshot(client, A) == snapshot(client, B)
    client.delete(A)
    assert client.get(B).json()["t"] == 300


def test_a_fork_knows_its_sources_producers(client: TestClient, source: str) -> None:
    fork(client)
    fork(client, name="c", eta0=0.5)
    for path, t in ((B, 100), ("/v1/sessions/c", 0)):
        again = learn(client, path, ROWS[:100], producer="p", seq=0)
        assert (again["duplicate"], again["t"]) == (True, t)
        assert learn(client, path, ROWS[90:110], producer="p", seq=90)["accepted"] == 10
        assert client.get(path, params={"producer": "p"}).json()["next_seq"] == 110
    assert client.get(A, params={"producer": "p"}).json()["next_seq"] == 100


@pytest.mark.parametrize("change", [{"algorithm": "sg/sg"}, {"eta0": 0.25}, {"regret": "off"}])
def test_a_fork_with_another_config_restarts_from_theta(
    client: TestClient, source: str, change: dict[str, Any]
) -> None:
    theta = client.get(A).json()["theta"]
    twin = fork(client, **change)
    assert (twin["t"], twin["theta"], twin["loss"]["total"]) == (0, theta, 0)
    config: dict[str, Any] = {"dim": 2, "algorithm": source, "eta0": 0.001, "regret": None} | change
    assert {name: twin["config"][name] for name in config} == config
    assert client.get(f"{B}/history").json()["t"] == [0]
    learn(client, B, ROWS[100:])
    alone = llr.Learner(
        "linear", 2, config["algorithm"], config["eta0"], theta, config["regret"] or "exact"
    )
    alone.learn(X[100:], Y[100:])
    assert client.get(B).json()["theta"] == alone.theta.tolist()
    assert client.get(B).json()["eta"] == alone.eta


def test_what_is_given_as_it_was_is_no_change(client: TestClient, source: str) -> None:
    assert fork(client, algorithm=source, dim=2, eta0=0.001, options={})["t"] == 100


def test_a_fork_may_start_elsewhere_and_keeps_the_options_that_fit(client: TestClient) -> None:
    options = {"classes": 3, "intercept": False}
    client.put(A, json={"model": "softmax", "algorithm": "auto", "options": options})
    learn(client, A, [{"x": [1, 2], "y": 2}, {"x": [2, 1], "y": 0}])
    twin = fork(client, algorithm="sg/ag")
    assert twin["config"]["options"] == {"classes": 3}
    assert twin["theta"] == client.get(A).json()["theta"]
    assert fork(client, name="c", theta0=0)["theta"] == [[0, 0], [0, 0], [0, 0]]
    assert fork(client, name="d", options={"classes": 4}, theta0=0)["theta"] == [[0, 0]] * 4


def test_a_session_that_has_learnt_nothing_can_be_forked(client: TestClient) -> None:
    client.put(A, json={"model": "linear", "theta0": 0.5})
    assert (fork(client)["dim"], fork(client, name="c", eta0=1)["t"]) == (None, 0)
    for path in (B, "/v1/sessions/c"):
        assert learn(client, path, ROWS[0])["t"] == 1
    assert client.get(A).json()["dim"] is None


def test_a_fork_outlives_a_restart(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path / 'llr.db'}")
    with TestClient(App(settings)) as client:
        client.put(A, json={"model": "linear"})
        learn(client, A, ROWS[:50], producer="p", seq=0)
        fork(client)
        fork(client, name="c", algorithm="sg/ag")
        before = [snapshot(client, f"/v1/sessions/{name}") for name in "abc"]
    with TestClient(App(settings)) as client:
        assert [snapshot(client, f"/v1/sessions/{name}") for name in "abc"] == before


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({}, 422, "/name"),
        ({"name": "no/name"}, 422, "/name"),
        ({"name": "b", "colour": 1}, 422, "/colour"),
        ({"name": "b", "algorithm": "magic"}, 422, "/algorithm"),
        ({"name": "b", "model": "magic"}, 422, "/model"),
        ({"name": "b", "model": "softmax", "options": {"classes": 3}}, 422, "/theta0"),
        ({"name": "b", "dim": 3}, 422, "/theta0"),
        ({"name": "b", "eta0": -1}, 422, "/eta0"),
        ({"name": "b", "eta0": "1"}, 422, "/eta0"),
        ({"name": "b", "options": {"wings": 2}}, 422, "/options/wings"),
        ({"name": "a"}, 409, None),
        ({"name": "taken"}, 409, None),
        ({"name": "taken", "algorithm": "sg"}, 409, None),
    ],
)
def test_a_fork_that_cannot_be_is_refused_by_its_place(
    client: TestClient, body: dict[str, Any], status: int, pointer: str | None
) -> None:
    for name in ("a", "taken"):
        client.put(f"/v1/sessions/{name}", json={"model": "linear"})
        learn(client, f"/v1/sessions/{name}", ROWS[:2])
    answer = client.post(f"{A}/fork", json=body)
    assert (answer.status_code, answer.headers["content-type"]) == (
        status,
        "application/problem+json",
    )
    if pointer is not None:
        assert answer.json()["errors"][0]["pointer"] == pointer
    assert [row["name"] for row in client.get("/v1/sessions").json()["sessions"]] == ["a", "taken"]


def test_nobody_cannot_be_forked(client: TestClient) -> None:
    answer = client.post("/v1/sessions/nobody/fork", json={"name": "b"})
    assert answer.json()["type"] == "urn:llr:problem:session-not-found"
