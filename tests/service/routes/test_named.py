"""Sessions whose features have names, over HTTP: the same laws as for rows of numbers."""

import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, seed, settings
from hypothesis import strategies as st
from llr_service.app import App
from llr_service.sessions.registry import SessionRegistry
from llr_service.settings import Settings
from llr_service.theta import WHOLE
from starlette.testclient import TestClient

import llr

DEMO = "/v1/sessions/demo"
SAMPLES = f"{DEMO}/samples"
NDJSON = {"content-type": "application/x-ndjson"}
CITIES = ("Rome", "Oslo", "Lima", "Bern")


def sample(i: int) -> dict[str, Any]:
    """One of a stream of samples in which names come and go."""
    x: dict[str, Any] = {"age": i % 7 - 3.5, "city": CITIES[i % 4], "new": i % 3 == 0}
    x[f"late{i // 5}"] = 1 if i % 2 else -0.25
    return {"x": x if i % 6 else {}, "y": (i * 37 % 11) / 10 - 0.5}


STREAM = [sample(i) for i in range(40)]


def at(path: Path, **more: Any) -> TestClient:
    url = f"sqlite:///{path / 'llr.db'}"
    return TestClient(App(Settings(store=url, **more)), raise_server_exceptions=False)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with at(tmp_path) as started:
        started.put(DEMO, json={"model": "linear"})
        yield started


def state(client: TestClient, name: str = "demo") -> Any:
    snapshot = client.get(f"/v1/sessions/{name}/snapshot").json()
    return {"t": snapshot["t"], "state": snapshot["state"]}


def learnt(samples: list[dict[str, Any]] = STREAM) -> dict[str, Any]:
    """The state that the library has after these samples."""
    learner = llr.NamedLearner("linear")
    for one in samples:
        assert learner.learn([one["x"]], [one["y"]])
    return {"t": learner.t, "state": learner.to_plain()}


def lines(samples: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in samples).encode()


def problem(answer: Any, status: int = 422) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.mark.slow
def test_every_way_to_send_leaves_the_same_state(client: TestClient) -> None:
    columns = {"x": [one["x"] for one in STREAM], "y": [one["y"] for one in STREAM]}
    ways: dict[str, Any] = {
        "singly": [{"json": one} for one in STREAM],
        "list": [{"json": STREAM}],
        "columns": [{"json": columns}],
        "lines": [{"content": lines(STREAM), "headers": NDJSON}],
        "chunks": [
            {"content": iter([lines(STREAM)[:999], lines(STREAM)[999:]]), "headers": NDJSON}
        ],
        "mixed": [{"json": STREAM[:7]}, {"content": lines(STREAM[7:]), "headers": NDJSON}],
    }
    for name, requests in ways.items():
        client.put(f"/v1/sessions/{name}", json={"model": "linear"})
        for request in requests:
            assert client.post(f"/v1/sessions/{name}/samples", **request).status_code == 200
        assert state(client, name) == learnt(), name


def test_theta_is_told_by_name(client: TestClient) -> None:
    answer = client.post(SAMPLES, json=STREAM).json()
    assert (answer["t"], answer["accepted"]) == (40, 40)
    learner = llr.NamedLearner("linear")
    learner.learn([one["x"] for one in STREAM], [one["y"] for one in STREAM])
    assert answer["theta"] == learner.theta == client.get(DEMO).json()["theta"]
    assert {"age", "city=Rome", "new", "late0"} <= answer["theta"].keys()
    assert "theta" not in client.post(f"{SAMPLES}?theta=false", json=STREAM[0]).json()


def test_softmax_has_a_list_a_name(client: TestClient) -> None:
    config = {"model": "softmax", "options": {"classes": 3}, "named": True}
    assert client.put("/v1/sessions/soft", json=config).status_code == 201
    body = [{"x": {"a": 1, "b": "c"}, "y": 2}, {"x": {"a": -1}, "y": 0}]
    answer = client.post("/v1/sessions/soft/samples", json=body).json()
    assert {name: len(each) for name, each in answer["theta"].items()} == {"a": 3, "b=c": 3}
    found = client.post("/v1/sessions/soft/predict", json={"x": {"a": 1}}).json()["predictions"]
    assert sum(found) == pytest.approx(1.0)


@pytest.mark.parametrize("first", [{"a": 1}, {}, [1.0]])
def test_the_first_sample_tells_whether_features_have_names(client: TestClient, first: Any) -> None:
    assert client.get(DEMO).json()["features"] is None
    assert client.post(SAMPLES, json={"x": first, "y": 1}).status_code == 200
    named = client.get(DEMO).json()["features"]
    assert (named is None) == (first == [1.0])
    before = state(client)
    other = [1.0] if named else {"a": 1}
    wanted = "an object of named features" if named else "a list of numbers"
    for body, place in (
        ({"x": other, "y": 1}, "/x"),
        ([{"x": other, "y": 1}], "/0/x"),
        ({"x": [other], "y": [1]}, "/x/0"),
    ):
        told = problem(client.post(SAMPLES, json=body))
        assert f"takes x as {wanted}" in told["detail"]
        assert told["errors"][0]["pointer"] == place
    told = problem(client.post(SAMPLES, content=lines([{"x": other, "y": 1}]), headers=NDJSON))
    assert (told["errors"][0]["line"], told["errors"][0]["pointer"]) == (1, "/x")
    told = problem(client.post(f"{DEMO}/predict", json={"x": other}))
    assert told["errors"][0]["pointer"] == "/x"
    assert state(client) == before


def test_npy_has_no_names(client: TestClient) -> None:
    client.put("/v1/sessions/named", json={"model": "linear", "named": True})
    stream = io.BytesIO()
    np.save(stream, np.ones((2, 3)))
    kind = {"content-type": "application/x-npy"}
    told = problem(
        client.post("/v1/sessions/named/samples", content=stream.getvalue(), headers=kind)
    )
    assert "an object of named features, in JSON" in told["detail"]
    assert client.get("/v1/sessions/named").json()["t"] == 0


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"dim": 2, "named": True}, "/dim"),
        ({"dim": 2, "max_features": 10}, "/dim"),
        ({"named": True, "regret": "exact"}, "/regret"),
        ({"max_features": 100_001}, "/max_features"),
        ({"max_features": 0}, "/max_features"),
        ({"hash_bits": 25}, "/hash_bits"),
        ({"hash_bits": True}, "/hash_bits"),
        ({"named": False, "hash_bits": 8}, "/hash_bits"),
        ({"named": False, "max_features": 8}, "/max_features"),
        ({"named": 1}, "/named"),
        ({"model": "gaussian", "named": True}, "/named"),
        ({"model": "softmax", "options": {"classes": 3}, "max_features": 50_000}, "/max_features"),
    ],
)
def test_a_config_that_cannot_be_is_refused_by_its_place(
    client: TestClient, config: dict[str, Any], place: str
) -> None:
    answer = client.put("/v1/sessions/other", json={"model": "linear"} | config)
    assert problem(answer)["errors"][0]["pointer"] == place
    assert client.get("/v1/sessions/other").status_code == 404


@pytest.mark.parametrize("config", [{"named": True}, {"max_features": 10}, {"hash_bits": 8}])
def test_a_session_may_be_made_for_names(client: TestClient, config: dict[str, Any]) -> None:
    path = "/v1/sessions/other"
    assert client.put(path, json={"model": "linear"} | config).status_code == 201
    assert client.put(path, json={"model": "linear"} | config).status_code == 200
    made = client.get(path).json()
    assert (made["theta"], made["dim"], made["features"]["known"]) == ({}, None, 0)
    assert made["features"]["max_features"] == config.get("max_features", 100_000)
    assert problem(client.post(f"{path}/samples", json={"x": [1], "y": 1}))


def test_a_session_may_be_made_for_lists_of_any_length(client: TestClient) -> None:
    path = "/v1/sessions/other"
    assert client.put(path, json={"model": "linear", "named": False}).status_code == 201
    told = problem(client.post(f"{path}/samples", json={"x": {"a": 1}, "y": 1}))
    assert told["errors"][0]["pointer"] == "/x"
    told = problem(client.post(f"{path}/predict", json={"x": [{"a": 1}]}))
    assert told["errors"][0]["pointer"] == "/x/0"
    assert client.post(f"{path}/samples", json={"x": [1, 2], "y": 1}).json()["theta"] == [0.0, 0.0]


def test_exact_regret_and_names_exclude_each_other_whenever_it_is_known(
    client: TestClient,
) -> None:
    path = "/v1/sessions/other"
    client.put(path, json={"model": "linear", "regret": "exact"})
    told = problem(client.post(f"{path}/samples", json={"x": {"a": 1}, "y": 1}))
    assert told["errors"][0]["pointer"] == "/regret"
    assert client.get(path).json()["t"] == 0


def test_names_beyond_the_most_share_places_and_the_state_says_so(client: TestClient) -> None:
    path = "/v1/sessions/few"
    client.put(path, json={"model": "linear", "max_features": 3, "hash_bits": 4})
    client.post(f"{path}/samples", json={"x": {"a": 1, "b": 1, "c": 1}, "y": 1})
    features = {"known": 3, "max_features": 3, "hash_bits": 4, "hashing": False}
    assert client.get(path).json()["features"] == features
    body = [{"x": {f"n{i}": 1.0, "a": 1}, "y": i % 2} for i in range(200)]
    answer = client.post(f"{path}/samples", json=body).json()
    assert client.get(path).json()["features"] == features | {"hashing": True}
    assert {"a", "b", "c"} < answer["theta"].keys()
    others = answer["theta"].keys() - {"a", "b", "c"}
    assert others
    assert all(name.startswith("#") for name in others)
    assert len(others) <= 2**4


def test_of_many_names_an_answer_tells_those_of_its_body(client: TestClient) -> None:
    many = {f"n{i}": 1.0 for i in range(WHOLE)}
    answer = client.post(SAMPLES, json={"x": many, "y": 1}).json()
    assert len(answer["theta"]) == WHOLE
    body = {"x": {"one-more": 1, "n3": 2}, "y": 0}
    answer = client.post(f"{SAMPLES}?producer=p&seq=0", json=body).json()
    again = client.post(f"{SAMPLES}?producer=p&seq=0", json=body).json()
    assert again["duplicate"]
    whole = client.get(DEMO).json()
    assert len(whole["theta"]) == WHOLE + 1
    for told in (answer["theta"], again["theta"]):
        assert told == {name: whole["theta"][name] for name in ("one-more", "n3")}
    told = client.post(SAMPLES, content=lines([body]), headers=NDJSON).json()["theta"]
    assert told.keys() == {"one-more", "n3"}


def test_a_retry_is_applied_once_and_an_overlap_adds_its_rest(client: TestClient) -> None:
    for seq, body in ((0, STREAM[:10]), (0, STREAM[:10]), (5, STREAM[5:20])):
        url = f"{SAMPLES}?producer=p&seq={seq}"
        assert client.post(url, json=body).status_code == 200
    answer = client.post(
        f"{SAMPLES}?producer=p&seq=12", content=lines(STREAM[12:]), headers=NDJSON
    ).json()
    assert (answer["accepted"], answer["t"]) == (20, 40)
    assert state(client) == learnt()


def test_if_match_and_predictions_are_as_for_rows(client: TestClient) -> None:
    client.post(SAMPLES, json=STREAM[:10])
    told = client.post(f"{DEMO}/predict", json={"x": STREAM[10]["x"]}).json()["predictions"]
    url = f"{SAMPLES}?predictions=true"
    answer = client.post(url, json=STREAM[10], headers={"if-match": '"10"'}).json()
    assert answer["predictions"] == [told]
    assert client.post(url, json=STREAM[11], headers={"if-match": '"10"'}).status_code == 412


def test_predicting_changes_nothing_and_takes_names_that_are_not_known(client: TestClient) -> None:
    asked = {"x": [{"age": 1, "never": "seen"}, {}, {"age": 1}]}
    assert client.post(f"{DEMO}/predict", json=asked).json()["predictions"] == [0.0] * 3
    client.post(SAMPLES, json=STREAM)
    before = state(client)
    found = client.post(f"{DEMO}/predict", json=asked).json()
    assert (found["t"], len(found["predictions"])) == (40, 3)
    assert found["predictions"][0] == found["predictions"][2]
    assert state(client) == before


def test_late_labels_learn_from_the_names_that_were_kept(client: TestClient) -> None:
    ids = [f"i{i}" for i in range(40)]
    client.post(f"{DEMO}/predict", json={"x": STREAM[0]["x"], "id": ids[0]})
    many = {"x": [one["x"] for one in STREAM[1:]], "ids": ids[1:]}
    assert client.post(f"{DEMO}/predict", json=many).status_code == 200
    assert client.post(f"{DEMO}/predict", json=many).status_code == 200
    taken = client.post(f"{DEMO}/predict", json={"x": {"age": 99}, "id": ids[1]})
    assert problem(taken, 409)["errors"][0]["pointer"] == "/id"
    labels = [{"id": name, "y": one["y"]} for name, one in zip(ids, STREAM, strict=True)]
    client.post(f"{DEMO}/labels", json=labels[0])
    answer = client.post(f"{DEMO}/labels", json=labels).json()
    assert (answer["accepted"], answer["t"]) == (39, 40)
    assert state(client) == learnt()


def test_what_was_kept_before_the_kind_was_known_may_not_fit(client: TestClient) -> None:
    predict, labels = f"{DEMO}/predict", f"{DEMO}/labels"
    assert client.post(predict, json={"x": {"abc": 1.5}, "id": "named"}).status_code == 200
    told = problem(client.post(predict, json={"x": [1.0], "id": "list"}))
    assert told["errors"][0]["pointer"] == "/x"
    client.post(SAMPLES, json={"x": [1.0, 2.0], "y": 1})
    told = problem(client.post(labels, json={"id": "named", "y": 1}))
    assert "its x has named features, the session 2 features" in told["detail"]
    assert client.get(DEMO).json()["t"] == 1


def test_what_is_kept_outlives_a_restart_and_expires_with_its_label(tmp_path: Path) -> None:
    now = [1_800_000_000.0]
    url = f"sqlite:///{tmp_path / 'llr.db'}"
    config = {"model": "linear", "label_seconds": 60, "expired_label": 0.5}
    for _ in range(2):
        with TestClient(App(Settings(store=url), lambda: now[0])) as client:
            client.put(DEMO, json=config)
            client.post(f"{DEMO}/predict", json={"x": {"a": 2, "b": "c"}, "id": "late"})
            assert client.get(DEMO).json()["kept"] == 1
    now[0] += 61
    with TestClient(App(Settings(store=url), lambda: now[0])) as client:
        client.post(f"{DEMO}/predict", json={"x": {"a": 1}, "id": "next"})
        assert state(client) == learnt([{"x": {"a": 2, "b": "c"}, "y": 0.5}])


def test_a_snapshot_goes_on_elsewhere_to_the_last_bit(client: TestClient) -> None:
    client.post(SAMPLES, json=STREAM[:25])
    snapshot = client.get(f"{DEMO}/snapshot").json()
    assert client.put("/v1/sessions/twin/snapshot", json=snapshot).status_code == 201
    client.post("/v1/sessions/twin/samples", json=STREAM[25:])
    assert state(client, "twin") == learnt()
    other = snapshot | {"config": {"model": "linear", "max_features": 5}}
    told = problem(client.put("/v1/sessions/third/snapshot", json=other))
    assert told["errors"][0]["pointer"] == "/state"


def test_a_fork_is_the_same_and_one_with_changes_starts_at_theta(client: TestClient) -> None:
    client.post(f"{SAMPLES}?producer=p&seq=0", json=STREAM[:25])
    assert client.post(f"{DEMO}/fork", json={"name": "twin"}).status_code == 201
    url = "/v1/sessions/twin/samples?producer=p&seq=20"
    client.post(url, json=STREAM[20:])
    assert state(client, "twin") == learnt()
    assert state(client) == learnt(STREAM[:25])
    made = client.post(f"{DEMO}/fork", json={"name": "rival", "algorithm": "sg/ag"})
    assert made.status_code == 201, made.text
    assert (made.json()["t"], made.json()["theta"]) == (0, client.get(DEMO).json()["theta"])
    assert client.post("/v1/sessions/rival/samples", json=STREAM[25]).json()["t"] == 1


@pytest.mark.slow
def test_a_restart_gives_the_same_state_from_the_log_and_from_a_snapshot(tmp_path: Path) -> None:
    with at(tmp_path) as client:
        client.put(DEMO, json={"model": "linear"})
        client.post(f"{SAMPLES}?producer=p&seq=0", json=STREAM[0])
    for i in range(1, 40, 13):
        with at(tmp_path) as client:
            assert state(client) == learnt(STREAM[:i])
            for seq in range(i, min(i + 13, 40)):
                url = f"{SAMPLES}?producer=p&seq={seq}"
                assert client.post(url, json=STREAM[seq]).status_code == 200
    with at(tmp_path) as client:
        assert state(client) == learnt()
        assert client.get(f"{DEMO}?producer=p").json()["next_seq"] == 40


def test_a_sample_takes_room_for_what_is_in_it_however_many_names_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def not_folded(_: SessionRegistry) -> None:
        """Leave the log as it is when the service stops."""

    monkeypatch.setattr(SessionRegistry, "fold_tails", not_folded)
    with at(tmp_path) as client:
        client.put(DEMO, json={"model": "linear"})
        for start in range(0, 3000, 1000):
            client.post(
                SAMPLES, json={"x": {f"n{i}": 1 for i in range(start, start + 1000)}, "y": 1}
            )
        for i in range(5):
            client.post(SAMPLES, json={"x": {f"n{i}": 1.5 for i in range(i, i + 10)}, "y": 1})
    with closing(sqlite3.connect(tmp_path / "llr.db")) as file:
        sizes = [size for (size,) in file.execute("SELECT length(blob) FROM log ORDER BY t")]
    assert max(sizes[-5:]) < 250


def test_shadows_learn_the_same_names_and_one_may_take_over(tmp_path: Path) -> None:
    path = "/v1/sessions/team"
    wild = {"algorithm": "sg", "eta0": 1e200}
    shadows = {"plain": {"algorithm": "sg/ag", "eta0": 0.1}, "wild": wild}
    with at(tmp_path) as client:
        client.put(path, json={"model": "linear", "shadows": shadows})
        answer = client.post(f"{path}/samples", json=STREAM[:20]).json()
        assert answer["shadows"]["wild"]["status"] == "diverged"
        refused = client.put(f"{path}/shadows/far", json={"algorithm": "svrg/ag"})
        assert problem(refused)["errors"][0]["pointer"] == "/algorithm"
        assert client.put(f"{path}/shadows/late", json={"algorithm": "isg"}).status_code == 201
        client.post(f"{path}/samples", json=STREAM[20:])
    with at(tmp_path) as client:
        told = client.get(path).json()
        assert told["shadows"]["plain"]["t"] == 40
        assert told["shadows"]["late"]["t"] == 20
        assert client.post(f"{path}/promote", json={"name": "plain"}).status_code == 200
        direct = llr.NamedLearner("linear", "sg/ag", 0.1)
        direct.learn([one["x"] for one in STREAM], [one["y"] for one in STREAM])
        assert client.get(path).json()["theta"] == direct.theta
        snapshot = client.get(f"{path}/snapshot").json()
        assert client.put("/v1/sessions/twin/snapshot", json=snapshot).status_code == 201
        assert client.get("/v1/sessions/twin").json()["theta"] == direct.theta


def test_samples_that_were_kept_are_learnt_anew(client: TestClient) -> None:
    path = "/v1/sessions/kept"
    client.put(path, json={"model": "linear", "retain": True})
    client.post(f"{path}/samples", json=STREAM)
    changed = {"algorithm": "sg/ag", "eta0": 0.1, "relearn": True}
    refused = {"name": "no", "algorithm": "svrg", "relearn": True}
    told = problem(client.post(f"{path}/fork", json=refused))
    assert told["errors"][0]["pointer"] == "/algorithm"
    made = client.post(f"{path}/fork", json={"name": "anew"} | changed)
    assert made.status_code in (201, 202), made.text
    while (told := client.get("/v1/sessions/anew").json())["relearning"]["done"] < 40:
        assert told["relearning"]["stopped"] is None
    direct = llr.NamedLearner("linear", "sg/ag", 0.1)
    direct.learn([one["x"] for one in STREAM], [one["y"] for one in STREAM])
    assert told["theta"] == direct.theta


def test_history_tells_the_names_of_its_columns(client: TestClient) -> None:
    client.post(SAMPLES, json=[{"x": {"a,b": 1, "c": 2, "d": "e"}, "y": 1}] * 5)
    past = client.get(f"{DEMO}/history").json()
    assert past["coordinates"] == ["a,b", "c", "d=e"]
    theta = client.get(DEMO).json()["theta"]
    assert past["theta"][-1] == list(theta.values())
    some = client.get(f"{DEMO}/history", params={"theta": "d=e,c"}).json()
    assert some["coordinates"] == ["d=e", "c"]
    assert some["theta"][-1] == [theta["d=e"], theta["c"]]
    quoted = client.get(f"{DEMO}/history", params={"theta": '["a,b"]'}).json()
    assert quoted["coordinates"] == ["a,b"]
    assert client.get(f"{DEMO}/history", params={"theta": "x,c"}).json()["coordinates"] == ["c"]
    for wrong in ("[1]", "[", '["c", null]'):
        told = problem(client.get(f"{DEMO}/history", params={"theta": wrong}))
        assert told["errors"][0]["parameter"] == "theta"


def test_history_stays_bounded_however_many_names_there_are(client: TestClient) -> None:
    client.post(SAMPLES, json={"x": {f"n{i}": 1 for i in range(500)}, "y": 1})
    past = client.get(f"{DEMO}/history").json()
    assert len(past["coordinates"]) == 8
    names = ",".join(f"n{i}" for i in range(64))
    past = client.get(f"{DEMO}/history", params={"theta": names}).json()
    assert {len(row) for row in past["theta"]} == {64}


def test_the_catalog_tells_which_algorithms_take_names(client: TestClient) -> None:
    named = {
        one["name"]: one["named_features"] for one in client.get("/v1/catalog").json()["algorithms"]
    }
    assert named["auto"]
    for name, takes in named.items():
        config = {"model": "linear", "algorithm": name, "named": True}
        status = client.put(f"/v1/sessions/{name.replace('/', '-')}", json=config).status_code
        assert status == (201 if takes else 422), name


NAMES = st.sampled_from(["a", "b", "a=b", "", "#1", "é", "\u0000", "x" * 300, "~/", "-0"])
VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [0, 1, -1, 1e308, -1e308, 5e-324, 1e200, True, "b", "", None, [], {}]
)
HOSTILE = st.dictionaries(NAMES | st.text(max_size=3), VALUES | st.floats(), max_size=4)
LABELS = st.sampled_from([0, 1, -1, 1e308, "1", None, True]) | st.floats(-2, 2)


@pytest.fixture(scope="module")
def hostile() -> Iterator[TestClient]:
    app = App(Settings(store="memory:", max_dim=100))
    with TestClient(app, raise_server_exceptions=False) as started:
        config = {"model": "linear", "max_features": 6, "hash_bits": 2}
        assert started.put(DEMO, json=config).status_code == 201
        yield started


@pytest.mark.slow
@seed(71)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(HOSTILE, LABELS), min_size=1, max_size=3))
@example([({"a": 1e308, "b": -1e308}, 1e308)])
def test_hostile_objects_are_refused_and_change_nothing_or_leave_finite_numbers(
    hostile: TestClient, samples: list[tuple[dict[str, Any], Any]]
) -> None:
    before = hostile.get(f"{DEMO}/snapshot").json()
    body = json.dumps([{"x": x, "y": y} for x, y in samples])
    kind = {"content-type": "application/json"}
    answer = hostile.post(SAMPLES, content=body.encode(), headers=kind)
    assert answer.status_code in (200, 409, 422), answer.text
    after = hostile.get(f"{DEMO}/snapshot").json()
    if answer.status_code != 200:
        assert after == before
        assert answer.status_code == 409 or answer.json()["errors"][0]["pointer"].startswith("/")
    numbers = json.loads(json.dumps(hostile.get(DEMO).json(), allow_nan=False))
    assert numbers["features"]["known"] <= 6
    assert len(numbers["theta"]) <= 6 + 2**2
