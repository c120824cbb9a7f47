"""The times of a session: what was acknowledged keeps its time, wherever it is read from."""

import json
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llr_service.app import App
from llr_service.sessions.times import (
    DRIFT_SAMPLES,
    LEARNING_MS,
    MAX_MARKS,
    Times,
    activity,
    stride,
)
from llr_service.settings import Settings
from starlette.testclient import TestClient
from support.serving import Server, started
from support.shared_memory import SharedMemory

DEMO = "/v1/sessions/demo"
SAMPLES = f"{DEMO}/samples"
GAUSSIAN = {"model": "gaussian", "algorithm": "sg/ag"}


class Clock:
    """Seconds since 1970, moved by hand."""

    def __init__(self) -> None:
        self.now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def http(clock: Clock) -> Iterator[TestClient]:
    with TestClient(App(Settings(store="memory:"), clock)) as client:
        assert client.put(DEMO, json=GAUSSIAN).status_code == 201
        yield client


def learn(client: TestClient, *ys: float) -> None:
    assert client.post(SAMPLES, json=[{"y": y} for y in ys]).status_code == 200


def told(client: Any) -> dict[str, Any]:
    """All that a service says about times."""
    state, past = client.get(DEMO).json(), client.get(f"{DEMO}/history").json()
    listed = client.get("/v1/sessions").json()["sessions"][0]
    shown = ("created_at", "last_sample_at", "drift")
    history = {key: past[key] for key in ("t", "time", "drift", "drift_time")}
    return {"state": [state[key] for key in shown], "listed": listed["created_at"]} | history


def test_a_session_says_when_it_was_created_and_when_it_learnt(
    http: TestClient, clock: Clock
) -> None:
    state = http.get(DEMO).json()
    assert state["created_at"] == "2001-09-09T01:46:40.000Z"
    assert (state["last_sample_at"], state["activity"]) == (None, "idle")
    clock.now += 1.5
    learn(http, 1.0, 2.0)
    clock.now += 60
    learn(http, 3.0)
    state, past = http.get(DEMO).json(), http.get(f"{DEMO}/history").json()
    assert state["created_at"] == "2001-09-09T01:46:40.000Z"
    assert state["last_sample_at"] == "2001-09-09T01:47:41.500Z"
    assert past["t"] == [0, 1, 2, 3]
    assert [time[14:] for time in past["time"]] == ["46:40.000Z", *["46:41.500Z"] * 2, "47:41.500Z"]


def test_a_duplicate_a_shadow_and_a_refusal_leave_the_times_as_they_are(
    http: TestClient, clock: Clock
) -> None:
    numbered = {"producer": "a", "seq": 0}
    assert http.post(SAMPLES, json={"y": 1.0}, params=numbered).status_code == 200
    before = told(http)
    clock.now += 5
    assert http.post(SAMPLES, json={"y": 1.0}, params=numbered).json()["duplicate"]
    assert http.post(SAMPLES, json={"y": "x"}).status_code == 422
    assert http.put(f"{DEMO}/shadows/rival", json={"algorithm": "auto"}).status_code == 201
    assert http.post(f"{DEMO}/promote", json={"name": "rival"}).status_code == 200
    assert told(http)["state"] == before["state"]


def test_the_list_filters_by_activity(http: TestClient, clock: Clock) -> None:
    for n in range(5):
        assert http.put(f"/v1/sessions/s{n}", json=GAUSSIAN).status_code == 201
    for n in (1, 2, 4):
        assert http.post(f"/v1/sessions/s{n}/samples", json={"y": 1.0}).status_code == 200

    def names(**asked: Any) -> tuple[list[str], str | None]:
        page = http.get("/v1/sessions", params=asked).json()
        return [each["name"] for each in page["sessions"]], page["next"]

    assert names(activity="learning") == (["s1", "s2", "s4"], None)
    assert names(activity="learning", limit=2) == (["s1", "s2"], "s2")
    assert names(activity="learning", limit=2, cursor="s2") == (["s4"], None)
    assert names(activity="idle") == (["demo", "s0", "s3"], None)
    assert names(activity="drifting") == ([], None)
    clock.now += LEARNING_MS / 1000 + 1
    assert names(activity="learning") == ([], None)
    assert names(activity="idle", limit=3) == (["demo", "s0", "s1"], "s1")
    assert http.get("/v1/sessions", params={"activity": "busy"}).status_code == 422


def test_a_page_with_a_filter_looks_at_a_bounded_number_of_sessions(
    http: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llr_service.routes.sessions.MAX_SCANNED", 2)
    for n in range(5):
        assert http.put(f"/v1/sessions/s{n}", json=GAUSSIAN).status_code == 201
    assert http.post("/v1/sessions/s4/samples", json={"y": 1.0}).status_code == 200
    pages, after = list[list[str]](), ""
    while after is not None:
        asked = {"activity": "learning", "cursor": after}
        page = http.get("/v1/sessions", params=asked).json()
        pages.append([each["name"] for each in page["sessions"]])
        after = page["next"]
    assert pages == [[], [], ["s4"]]


def test_a_drift_has_its_time_and_shows_as_activity(http: TestClient, clock: Clock) -> None:
    for _ in range(20):
        learn(http, *[0.5, -0.5] * 20)
        clock.now += 1
    begun = clock.now
    while not http.get(DEMO).json()["drift"]["alarms"]:
        assert clock.now < begun + 60
        learn(http, *[9.0, 5.0] * 20)
        clock.now += 1
    state = http.get(DEMO).json()
    assert state["activity"] == "drifting"
    assert state["drift"]["time"] == [state["last_sample_at"]]
    past = http.get(f"{DEMO}/history").json()
    assert past["drift_time"] == state["drift"]["time"]
    learn(http, *[7.0] * DRIFT_SAMPLES)
    assert http.get(DEMO).json()["activity"] == "learning"
    clock.now += 3600
    assert http.get(DEMO).json()["activity"] == "idle"


def test_times_are_the_same_after_kill_9(tmp_path: Path) -> None:
    with started(tmp_path, log_level="error") as server:
        ask(server, "PUT", DEMO, GAUSSIAN)
        for n in range(1100):  # enough for snapshots, a tail of the log, and marks that are dropped
            ask(server, "POST", SAMPLES, [{"y": 9.0 if n > 300 else n % 3}] * (1 + n % 2))
        before = [ask(server, "GET", path) for path in (DEMO, f"{DEMO}/history")]
        server.process.kill()
        server.process.wait(timeout=20)
    with started(tmp_path, log_level="error") as server:
        after = [ask(server, "GET", path) for path in (DEMO, f"{DEMO}/history")]
    assert before[0]["drift"]["alarms"] > 0
    assert None not in (before[0]["last_sample_at"], *before[1]["time"])
    assert after == before


def ask(server: Server, method: str, path: str, body: Any = None) -> Any:
    headers = {"content-type": "application/json"}
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=20)) as connection:
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status in (200, 201), text
        return json.loads(text)


def test_replicas_tell_the_same_times(monkeypatch: pytest.MonkeyPatch) -> None:
    store, first, second = SharedMemory(), Clock(), Clock()
    second.now += 0.25
    monkeypatch.setattr("llr_service.app.open_store", lambda _: store)
    settings = Settings(store="memory:")
    with TestClient(App(settings, first)) as here, TestClient(App(settings, second)) as there:
        assert here.put(DEMO, json=GAUSSIAN).status_code == 201
        for n in range(20):
            learn((here, there)[n % 2], 1.0 * n)
            first.now += 1
            second.now += 1
        assert told(here) == told(there)
        assert told(here)["time"][-1] == "2001-09-09T01:46:59.250Z"


def test_a_snapshot_and_a_fork_carry_the_times(http: TestClient, clock: Clock) -> None:
    learn(http, 1.0)
    clock.now += 10
    learn(http, 2.0)
    clock.now += 10
    snapshot = http.get(f"{DEMO}/snapshot").json()
    assert http.put("/v1/sessions/restored/snapshot", json=snapshot).status_code == 201
    assert http.post(f"{DEMO}/fork", json={"name": "forked"}).status_code == 201
    times = http.get(f"{DEMO}/history").json()["time"]
    for name in ("restored", "forked"):
        past = http.get(f"/v1/sessions/{name}/history").json()["time"]
        assert past[1:] == times[1:]
        assert past[0] is None  # it was created after its samples were learnt
    del snapshot["times"]  # as an older version wrote it
    assert http.put("/v1/sessions/older/snapshot", json=snapshot).status_code == 201
    state = http.get("/v1/sessions/older").json()
    assert (state["last_sample_at"], state["activity"]) == (None, "idle")


@pytest.mark.parametrize("times", [[[3, 5]], [[1, 5], [1, 6]], [[1, 0]], [[1, 2**60]]])
def test_times_that_cannot_be_are_refused(http: TestClient, times: Any) -> None:
    learn(http, 1.0, 2.0)
    snapshot = http.get(f"{DEMO}/snapshot").json() | {"times": times}
    assert http.put("/v1/sessions/other/snapshot", json=snapshot).status_code == 422


@pytest.mark.parametrize("size", [1, 3, 50, 1000])
def test_marks_are_bounded_and_about_even_and_alarms_keep_theirs(size: int) -> None:
    times, alarms, exact = Times(), list[int](), {0: 0}
    for n in range(1, 6001):
        t = n * size
        if n in (7, 40, 1234, 4000):
            alarms.append(t - size // 2)
        times = times.at(t, 10 * t, alarms)
        assert times.nbytes <= 16 * MAX_MARKS
        exact[t] = 10 * t
        if n % 1000 == 0 or n == 480 // size:
            assert len(times.to_plain()) >= min(n, 120)
            most = 2 * stride(t) if size < stride(t) else 0
            for past in range(size, t + 1, size):
                assert exact[past] <= (times.of(past) or 0) <= exact[past] + 10 * most
            assert [times.of(a) for a in alarms] == [10 * (a + size // 2) for a in alarms]
    assert (times.last, times.of(0), times.of(times.t + 1)) == (10 * times.t, None, None)
    assert Times.unpack(times.pack()).to_plain() == times.to_plain()


def test_alarms_without_end_leave_the_marks_bounded() -> None:
    times, alarms = Times(), list[int]()
    for t in range(1, 20_000):
        if t % 5 == 0:
            alarms = [*alarms[-15:], t]
        times = times.at(t, t, alarms)
        assert times.nbytes <= 16 * MAX_MARKS
        assert all(times.of(alarm) == alarm for alarm in alarms)


@given(
    st.lists(st.tuples(st.integers(1, 90), st.booleans(), st.booleans()), max_size=900),
)
@settings(max_examples=40, derandomize=True, deadline=None)
def test_packing_at_any_time_makes_no_difference(batches: list[tuple[int, bool, bool]]) -> None:
    live, packed, t, alarms = Times(), Times(), 0, list[int]()
    for n, (size, alarm, restart) in enumerate(batches):
        t += size
        alarms = [*alarms[-15:], t - size // 2] if alarm else alarms
        live, packed = live.at(t, 5 + n, alarms), packed.at(t, 5 + n, alarms)
        if restart:
            packed = Times.unpack(packed.pack())
    assert live.to_plain() == packed.to_plain()


def test_times_are_values() -> None:
    start = Times().at(1, 100).at(2, 200)
    one, other = start.at(3, 300), start.at(3, 400)
    assert [times.of(2) for times in (start, one, other)] == [200] * 3
    assert (start.of(3), one.of(3), other.of(3)) == (None, 300, 400)
    assert start.at(3, 0) is start


def test_activity_changes_at_its_thresholds() -> None:
    times = Times().at(1000, 10**6)
    assert activity(1000, times, None, 10**6 + LEARNING_MS) == "learning"
    assert activity(1000, times, None, 10**6 + LEARNING_MS + 1) == "idle"
    assert activity(1000, times, 1000 - DRIFT_SAMPLES + 1, 10**6) == "drifting"
    assert activity(1000, times, 1000 - DRIFT_SAMPLES, 10**6) == "learning"
