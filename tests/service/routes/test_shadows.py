"""Shadows over HTTP: they come, are compared, take over, go; and drift is told."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llr_service.app import App
from llr_service.settings import Settings
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import CreateSession
from starlette.testclient import TestClient

import llr

A = "/v1/sessions/a"
RNG = np.random.default_rng(5)
X = RNG.normal(size=(200, 2))
Y = X @ [1.0, -2.0] + 0.1 * RNG.normal(size=200)
ROWS = [{"x": x, "y": y} for x, y in zip(X.tolist(), Y.tolist(), strict=True)]
SHADOWS = {"rival": {"algorithm": "sg/ag"}, "plain": {"algorithm": "sg", "eta0": 0.1}}


def learn(client: TestClient, rows: Any, **query: Any) -> dict[str, Any]:
    answer = client.post(f"{A}/samples", json=rows, params=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def told(learner: llr.Learner) -> dict[str, Any]:
    loss, regret = learner.loss, learner.regret
    return {
        "eta": learner.eta,
        "log_eta": learner.log_eta,
        "loss": loss._asdict(),
        "regret": {"ml": regret.ml, "best_fixed": regret.best_fixed},
    }


def create(client: TestClient, **config: Any) -> None:
    answer = client.put(A, json={"model": "linear", "dim": 2, "shadows": SHADOWS} | config)
    assert answer.status_code == 201, answer.text


def test_shadows_are_told_with_every_answer_in_the_state_and_in_the_past(
    client: TestClient,
) -> None:
    create(client)
    answer = learn(client, ROWS[:50])
    rival = llr.Learner("linear", 2, "sg/ag", regret="exact")
    rival.learn(X[:50], Y[:50])
    shown = answer["shadows"]["rival"]
    assert shown.items() >= (told(rival) | {"algorithm": "sg/ag", "status": "ok"}).items()
    assert shown["lead"] == pytest.approx(answer["loss"]["mean"] - shown["loss"]["mean"])
    assert client.get(A).json()["shadows"] == answer["shadows"]
    past = client.get(f"{A}/history").json()["shadows"]
    assert set(past) == {"rival", "plain"}
    assert past["rival"]["loss"][-1] == rival.loss.total
    assert len(past["rival"]["t"]) == 51


def test_a_session_without_shadows_says_nothing_of_them_when_it_learns(client: TestClient) -> None:
    create(client, shadows={})
    assert "shadows" not in learn(client, ROWS[:5])
    assert client.get(A).json()["shadows"] == {}


def test_a_shadow_is_added_removed_and_promoted_while_the_session_runs(
    client: TestClient, settings: Settings
) -> None:
    create(client, shadows={})
    learn(client, ROWS[:20])
    put = f"{A}/shadows/rival", {"algorithm": "sg/ag"}
    assert [client.put(put[0], json=put[1]).status_code for _ in range(2)] == [201, 200]
    other = client.put(put[0], json={"algorithm": "sg"})
    assert (other.status_code, other.json()["type"]) == (409, "urn:llr:problem:shadow-exists")
    learn(client, ROWS[20:60])
    for _ in range(2):  # a retry changes nothing
        state = client.post(f"{A}/promote", json={"name": "rival"}).json()
        assert (state["champion"], state["former"], state["t"]) == ("rival", "auto", 60)
        assert (state["algorithm"], state["config"]["algorithm"]) == ("sg/ag", "sg/ag")
        assert state["config"]["shadows"]["auto"]["algorithm"] == "auto"
    assert client.delete(f"{A}/shadows/auto").status_code == 204
    gone = client.delete(f"{A}/shadows/auto")
    assert (gone.status_code, gone.json()["type"]) == (404, "urn:llr:problem:shadow-not-found")
    assert client.get(A).json()["shadows"] == {}
    before = client.get(f"{A}/snapshot").json()
    client.__exit__(None, None, None)
    with TestClient(App(settings)) as again:
        assert again.get(f"{A}/snapshot").json() == before
        assert learn(again, ROWS[60:])["t"] == 200


def test_who_created_the_session_may_create_it_again_after_a_promotion(client: TestClient) -> None:
    create(client)
    learn(client, ROWS[:5])
    client.post(f"{A}/promote", json={"name": "rival"})
    first = {"model": "linear", "dim": 2, "shadows": SHADOWS}
    assert client.put(A, json=first).status_code == 200
    assert client.put(A, json=client.get(A).json()["config"]).status_code == 200
    assert client.put(A, json=first | {"algorithm": "sg"}).status_code == 409


def test_a_team_moves_to_another_session_by_snapshot_and_by_fork(client: TestClient) -> None:
    create(client)
    learn(client, ROWS[:30])
    client.put(f"{A}/shadows/late", json={"algorithm": "svrg"})
    learn(client, ROWS[30:50])
    client.post(f"{A}/promote", json={"name": "late"})
    snapshot = client.get(f"{A}/snapshot").json()
    assert client.put("/v1/sessions/b/snapshot", json=snapshot).status_code == 201
    assert client.post(f"{A}/fork", json={"name": "c"}).status_code == 201
    for name in "abc":
        client.post(f"/v1/sessions/{name}/samples", json=ROWS[50:])
    apart: dict[str, Any] = {"name": "", "times": []}
    shots = [client.get(f"/v1/sessions/{name}/snapshot").json() | apart for name in "abc"]
    assert shots[0] == shots[1] == shots[2]


def test_a_fork_with_another_algorithm_takes_the_shadows_along(client: TestClient) -> None:
    create(client)
    learn(client, ROWS[:30])
    copy = client.post(f"{A}/fork", json={"name": "b", "algorithm": "svrg"}).json()
    assert (copy["t"], set(copy["shadows"])) == (0, {"rival", "plain"})
    fewer = client.post(f"{A}/fork", json={"name": "c", "shadows": {}, "drift": False}).json()
    assert (fewer["shadows"], fewer["drift"]) == ({}, None)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"rival": {"algorithm": "none"}}, "/shadows/rival/algorithm"),
        ({"rival": {"algorithm": "sg", "eta0": -1}}, "/shadows/rival/eta0"),
        ({"rival": {"algorithm": "sg", "options": {"levle": 1}}}, "/shadows/rival/options/levle"),
        ({"rival": {"algorithm": "sg", "options": {"level": 1}}}, "/shadows/rival/options/level"),
        ({"rival": {}}, "/shadows/rival/algorithm"),
        ({"../x": {"algorithm": "sg"}}, "/shadows/..~1x"),
        ({f"s{k}": {"algorithm": "sg"} for k in range(9)}, "/shadows"),
    ],
)
def test_what_no_shadow_can_be_made_of_is_refused_by_its_place(
    client: TestClient, body: Any, pointer: str
) -> None:
    answer = client.put(A, json={"model": "quantile", "dim": 2, "shadows": body})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert client.get(A).status_code == 404


def test_what_cannot_be_added_or_promoted_changes_nothing(client: TestClient) -> None:
    create(client)
    client.put("/v1/sessions/open", json={"model": "linear"})
    early = client.put("/v1/sessions/open/shadows/x", json={"algorithm": "sg"})
    assert (early.status_code, early.json()["type"]) == (422, "urn:llr:problem:invalid")
    bad = client.put(f"{A}/shadows/x", json={"algorithm": "sg", "options": {"no": 1}})
    assert (bad.status_code, bad.json()["errors"][0]["pointer"]) == (422, "/options/no")
    for k in range(6):
        assert client.put(f"{A}/shadows/s{k}", json={"algorithm": "sg"}).status_code == 201
    assert client.put(f"{A}/shadows/more", json={"algorithm": "sg"}).status_code == 422
    assert client.post(f"{A}/promote", json={"name": "nobody"}).status_code == 404
    assert client.post(f"{A}/promote", json={}).status_code == 422
    assert len(client.get(A).json()["shadows"]) == 8


def test_a_shadow_that_diverges_is_marked_and_the_session_goes_on(client: TestClient) -> None:
    create(client, shadows={"wild": {"algorithm": "sg", "eta0": 1e300}})
    answer = learn(client, ROWS)
    assert (answer["t"], answer["shadows"]["wild"]["status"]) == (200, "diverged")
    assert client.get(A).json()["status"] == "ok"
    refused = client.post(f"{A}/promote", json={"name": "wild"})
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:llr:problem:diverged")


def test_a_rise_of_the_loss_is_told_in_the_state_and_in_the_past_and_survives(
    client: TestClient, settings: Settings
) -> None:
    client.put(A, json={"model": "gaussian", "algorithm": "sg"})
    calm, storm = RNG.normal(size=500).tolist(), (50.0 + RNG.normal(size=100)).tolist()
    learn(client, {"y": calm})
    assert client.get(A).json()["drift"] == {"alarms": 0, "at": [], "time": []}
    for y in storm[:50]:
        learn(client, {"y": y})
    learn(client, {"y": storm[50:]})
    state, past = client.get(A).json()["drift"], client.get(f"{A}/history").json()["drift"]
    assert state["alarms"] == 1
    assert 500 < state["at"][0] < 520
    assert past == state["at"]
    client.__exit__(None, None, None)
    with TestClient(App(settings)) as again:
        assert again.get(A).json()["drift"] == state


def test_nobody_looks_out_for_drift_if_told_not_to(client: TestClient) -> None:
    create(client, drift=False)
    learn(client, ROWS)
    assert client.get(A).json()["drift"] is None
    assert client.get(f"{A}/history").json()["drift"] == []


def test_a_store_from_before_there_were_teams_still_loads(tmp_path: Path) -> None:
    learner = llr.Learner("linear", 2, "sg/ag", regret="exact")
    learner.learn(X[:50], Y[:50])
    store = SQLite(tmp_path / "llr.db")
    config = {"model": "linear", "dim": 2, "algorithm": "sg/ag", "eta0": 0.001, "options": {}}
    store.write([CreateSession("a", json.dumps(config).encode(), 50, learner.pack())])
    store.close()
    with TestClient(App(Settings(store=f"sqlite:///{tmp_path / 'llr.db'}"))) as client:
        learn(client, ROWS[50:])
        learner.learn(X[50:], Y[50:])
        assert client.get(A).json()["theta"] == learner.theta.tolist()
        assert client.get(A).json()["drift"]["alarms"] == 0
