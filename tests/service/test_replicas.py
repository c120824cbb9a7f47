"""Two services on one store: whichever is asked, it answers as if it were the only one."""

import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, cast

import pytest
from llr_service.app import App
from llr_service.sessions.session import Session
from llr_service.settings import Settings
from llr_service.stores.store import Change, Conflict, StoreUnavailable, Written
from starlette.testclient import TestClient
from support.postgres import place
from support.shared_memory import SharedMemory

from llr import Learner

DEMO = "/v1/sessions/demo"
SAMPLES, LABELS, PREDICT = f"{DEMO}/samples", f"{DEMO}/labels", f"{DEMO}/predict"
GAUSSIAN = {"model": "gaussian", "algorithm": "sg/ag"}


class Pair(NamedTuple):
    """Two clients, each of a service of its own; both services have the same store."""

    here: TestClient
    there: TestClient


@pytest.fixture(params=["memory", "postgres"])
def pair(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    if request.param == "memory":
        store = SharedMemory()
        monkeypatch.setattr("llr_service.app.open_store", lambda _: store)
    url = place() if request.param == "postgres" else "memory:"
    settings = Settings(store=url, max_producers=2)
    with TestClient(App(settings)) as here, TestClient(App(settings)) as there:
        made = here.put(DEMO, json=GAUSSIAN)
        assert made.status_code == 201
        assert there.get(DEMO).json()["t"] == 0  # both have a copy
        yield Pair(here, there)


def learn(client: TestClient, *ys: float, **asked: Any) -> Any:
    headers = {"If-Match": asked.pop("match")} if "match" in asked else {}
    return client.post(SAMPLES, json=[{"y": y} for y in ys], params=asked, headers=headers)


def state(client: TestClient) -> Any:
    return client.get(f"{DEMO}/snapshot").json()["state"]


def replay(*ys: float) -> Any:
    learner = Learner("gaussian", algorithm="sg/ag", regret="exact")
    for y in ys:
        assert learner.learn(y)
    return learner.to_plain()


def counted(client: TestClient, name: str) -> int:
    lines = client.get("/metrics").text.splitlines()
    [line] = [one for one in lines if one.startswith(f"{name} ")]
    return int(float(line.split()[1]))


def conflicts(client: TestClient) -> int:
    return counted(client, "llr_conflicts_total")


def test_a_store_that_does_not_tell_what_others_did_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away(_: Sequence[str]) -> None:
        raise StoreUnavailable("away")

    store = SharedMemory()
    monkeypatch.setattr("llr_service.app.open_store", lambda _: store)
    with TestClient(App(Settings(store="memory:"))) as client:
        client.put(DEMO, json=GAUSSIAN)
        assert counted(client, "llr_store_errors_total") == 0
        monkeypatch.setattr(store, "versions", away)
        assert client.get("/readyz").status_code == 503
        assert counted(client, "llr_store_errors_total") == 1


def test_a_copy_that_is_behind_is_reloaded_inside_the_request(pair: Pair) -> None:
    assert learn(pair.here, 1.0, 2.0).json()["t"] == 2
    answer = learn(pair.there, 3.0)
    assert (answer.status_code, answer.json()["t"]) == (200, 3)
    assert conflicts(pair.there) == 1
    assert learn(pair.there, 4.0).json()["t"] == 4
    assert conflicts(pair.there) == 1
    assert state(pair.here) == state(pair.there) == replay(1.0, 2.0, 3.0, 4.0)


def test_reads_are_not_older_than_what_the_other_acknowledged(pair: Pair) -> None:
    for t in range(1, 4):
        learn(pair.here, float(t))
        assert pair.there.get(DEMO).json()["t"] == t
        assert pair.there.post(PREDICT).json()["t"] == t
        assert pair.there.get(f"{DEMO}/history").json()["t"][-1] == t
        assert pair.there.get(f"{DEMO}/snapshot").json()["t"] == t
        assert pair.there.get("/v1/sessions").json()["sessions"][0]["t"] == t


def test_a_deletion_at_a_t_leaves_what_the_other_learnt_meanwhile(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = cast(App, pair.here.app).context.sessions
    delete = registry._delete

    async def overtaken(session: Session, matched: bool) -> Written | Conflict:
        learn(pair.there, 1.0)  # after the comparison, before the store
        return await delete(session, matched)

    monkeypatch.setattr(registry, "_delete", overtaken)
    refused = pair.here.delete(DEMO, headers={"If-Match": '"0"'})
    assert (refused.status_code, pair.there.get(DEMO).json()["t"]) == (412, 1)
    assert pair.here.delete(DEMO).status_code == 204
    monkeypatch.setattr(registry, "_delete", delete)
    pair.there.put(DEMO, json=GAUSSIAN)
    assert pair.here.delete(DEMO, headers={"If-Match": '"0"'}).status_code == 204


class Held(SharedMemory):
    """What it stores is not told while it is held."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = threading.Event()
        self.let_go.set()
        self.stored = threading.Event()

    def write(self, group: Sequence[Change]) -> list[Written | Conflict]:
        results = super().write(group)
        self.stored.set()
        assert self.let_go.wait(20)
        return results


def test_a_read_waits_for_what_is_stored_and_was_told_by_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = Held()
    monkeypatch.setattr("llr_service.app.open_store", lambda _: store)
    settings = Settings(store="memory:")
    with (
        TestClient(App(settings)) as here,
        TestClient(App(settings)) as there,
        ThreadPoolExecutor() as threads,
    ):
        here.put(DEMO, json=GAUSSIAN)
        store.let_go.clear()
        store.stored.clear()
        sent = threads.submit(learn, here, 1.0, producer="p", seq=0)
        assert store.stored.wait(20)
        again = learn(there, 1.0, producer="p", seq=0).json()
        assert (again["t"], again["duplicate"]) == (1, True)
        read = threads.submit(here.get, DEMO)
        with pytest.raises(TimeoutError):
            read.result(timeout=0.2)
        store.let_go.set()
        assert read.result().json()["t"] == 1
        assert sent.result().json()["accepted"] == 1


def test_readiness_does_not_wait_for_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Held()
    monkeypatch.setattr("llr_service.app.open_store", lambda _: store)
    with TestClient(App(Settings(store="memory:"))) as client, ThreadPoolExecutor() as threads:
        client.put(DEMO, json=GAUSSIAN)
        store.let_go.clear()
        store.stored.clear()
        sent = threads.submit(learn, client, 1.0)
        assert store.stored.wait(20)
        ready = threads.submit(client.get, "/readyz")
        try:
            assert ready.result(timeout=10).status_code == 200
        finally:
            store.let_go.set()
        assert sent.result().json()["t"] == 1


def test_a_producer_may_change_from_one_to_the_other(pair: Pair) -> None:
    learn(pair.here, 1.0, 2.0, producer="p", seq=0)
    answer = learn(pair.there, 3.0, producer="p", seq=2)
    assert (answer.status_code, answer.json()["t"]) == (200, 3)
    again = learn(pair.here, 1.0, 2.0, 3.0, producer="p", seq=0)
    assert (again.json()["t"], again.json()["duplicate"]) == (3, True)
    assert pair.here.get(DEMO, params={"producer": "p"}).json()["next_seq"] == 3
    gap = learn(pair.here, 9.0, producer="p", seq=7)
    assert (gap.status_code, gap.json()["expected"]) == (409, 3)
    learn(pair.here, 4.0, producer="q", seq=0)
    full = learn(pair.there, 5.0, producer="r", seq=0)
    assert full.json()["type"] == "urn:llr:problem:producers-full"


def test_if_match_means_the_session_and_not_the_copy(pair: Pair) -> None:
    learn(pair.here, 1.0)
    stale = learn(pair.there, 2.0, match='"0"')
    assert (stale.status_code, stale.json()["t"]) == (412, 1)
    learn(pair.here, 2.0)
    assert learn(pair.there, 3.0, match='"2"').json()["t"] == 3


def test_a_stream_of_blocks_keeps_its_order_across_a_reload(pair: Pair) -> None:
    learn(pair.here, 1.0)
    ys = [float(y) for y in range(2, 400)]

    def body() -> Iterator[bytes]:
        for y in ys:
            yield json.dumps({"y": y}).encode() + b"\n"

    headers = {"content-type": "application/x-ndjson"}
    params = {"producer": "p", "seq": "0"}
    answer = pair.there.post(SAMPLES, content=body(), headers=headers, params=params)
    assert (answer.status_code, answer.json()["t"]) == (200, 399)
    assert state(pair.here) == replay(1.0, *ys)


def test_messages_keep_their_order_across_reloads(pair: Pair) -> None:
    with pair.there.websocket_connect(f"{DEMO}/stream?producer=p&seq=0") as stream:
        learnt: list[float] = []
        for turn in range(5):
            learn(pair.here, float(-turn))
            for y in range(4):
                stream.send_text(json.dumps({"y": 10.0 * turn + y}))
            answers = [json.loads(stream.receive_text()) for _ in range(4)]
            learnt += [float(-turn), *(10.0 * turn + y for y in range(4))]
            assert [answer["t"] for answer in answers] == [len(learnt) - 3 + k for k in range(4)]
    assert state(pair.here) == replay(*learnt)


def test_labels_find_what_was_kept_through_the_other(pair: Pair) -> None:
    assert pair.here.post(PREDICT, json={"id": "a"}).status_code == 200
    learnt = pair.there.post(LABELS, json={"id": "a", "y": 1.0})
    assert (learnt.status_code, learnt.json()["accepted"]) == (200, 1)
    again = pair.here.post(LABELS, json={"id": "a", "y": 1.0})
    assert (again.json()["t"], again.json()["duplicate"]) == (1, True)
    assert pair.here.post(LABELS, json={"id": "b", "y": 1.0}).status_code == 404
    assert state(pair.there) == replay(1.0)


def test_an_id_stands_for_one_x_on_both(pair: Pair) -> None:
    other = "/v1/sessions/other"
    pair.here.put(other, json={"model": "linear", "dim": 1})
    assert pair.there.get(other).status_code == 200
    assert pair.here.post(f"{other}/predict", json={"id": "a", "x": [1.0]}).status_code == 200
    taken = pair.there.post(f"{other}/predict", json={"id": "a", "x": [2.0]})
    assert taken.json()["type"] == "urn:llr:problem:id-taken"
    assert pair.there.post(f"{other}/predict", json={"id": "a", "x": [1.0]}).status_code == 200


def test_a_session_deleted_through_the_other_is_gone(pair: Pair) -> None:
    learn(pair.here, 1.0, producer="p", seq=0)
    assert learn(pair.there, 1.0, producer="p", seq=0).json()["duplicate"]
    assert pair.here.delete(DEMO).status_code == 204
    assert learn(pair.there, 1.0, producer="p", seq=0).status_code == 404
    assert pair.there.get(DEMO).status_code == 404
    assert pair.there.delete(DEMO).status_code == 404


def test_a_session_created_again_through_the_other_is_the_new_one(pair: Pair) -> None:
    learn(pair.there, 5.0, 6.0)
    assert pair.here.delete(DEMO).status_code == 204
    linear = {"model": "linear", "dim": 2}
    assert pair.here.put(DEMO, json=linear).status_code == 201
    assert pair.there.get(DEMO).json()["model"] == "linear"
    assert pair.there.put(DEMO, json=linear).status_code == 200
    assert pair.there.put(DEMO, json=GAUSSIAN).status_code == 409
    answer = pair.there.post(SAMPLES, json={"x": [1.0, 2.0], "y": 1.0})
    assert (answer.status_code, answer.json()["t"]) == (200, 1)
    assert pair.here.delete(DEMO).status_code == 204
    pair.here.put(DEMO, json=GAUSSIAN)
    assert pair.there.delete(DEMO).status_code == 204
    assert pair.here.get(DEMO).status_code == 404


def test_a_name_taken_anew_here_leaves_nobody_with_the_copy_of_before(pair: Pair) -> None:
    registry = cast(App, pair.there.app).context.sessions
    before = registry.peek("demo")
    assert pair.here.delete(DEMO).status_code == 204
    assert pair.there.put(DEMO, json=GAUSSIAN).status_code == 201
    assert before is not None
    assert before.discarded
    assert registry.peek("demo") is not before


def test_a_fork_has_all_that_the_other_acknowledged(pair: Pair) -> None:
    learn(pair.here, 1.0, 2.0, producer="p", seq=0)
    assert pair.there.post(f"{DEMO}/fork", json={"name": "twin"}).json()["t"] == 2
    taken = pair.here.post(f"{DEMO}/fork", json={"name": "twin"})
    assert taken.status_code == 409
    twin = pair.here.get("/v1/sessions/twin/snapshot").json()
    assert (twin["producers"], twin["state"]) == ({"p": 2}, replay(1.0, 2.0))


def test_what_cannot_be_learnt_is_judged_on_the_present_state(pair: Pair) -> None:
    free = "/v1/sessions/free"
    pair.here.put(free, json={"model": "linear"})
    assert pair.there.get(free).json()["dim"] is None
    pair.here.post(f"{free}/samples", json={"x": [1.0, 2.0], "y": 1.0})
    wrong = pair.there.post(f"{free}/samples", json={"x": [1.0], "y": 1.0})
    assert wrong.status_code == 422
    assert pair.there.post(f"{free}/samples", json={"x": [1.0, 2.0], "y": 1.0}).json()["t"] == 2


def test_events_tell_of_a_team_that_the_other_changed(pair: Pair) -> None:
    with pair.there.stream("GET", f"{DEMO}/events") as events:
        lines = (line for line in events.iter_lines() if line.startswith("data: "))
        assert json.loads(next(lines).removeprefix("data: "))["shadows"] == {}
        pair.here.put(f"{DEMO}/shadows/rival", json={"algorithm": "auto"})
        assert "rival" in json.loads(next(lines).removeprefix("data: "))["shadows"]
        pair.here.delete(DEMO)


def test_events_tell_what_happened_through_the_other(pair: Pair) -> None:
    with pair.there.stream("GET", f"{DEMO}/events") as events:
        lines = (line for line in events.iter_lines() if line.startswith("id: "))
        assert next(lines) == "id: 0"
        for t in range(1, 4):
            learn(pair.here, float(t))
            assert next(lines) == f"id: {t}"
        pair.here.delete(DEMO)
        assert [*lines] == []
