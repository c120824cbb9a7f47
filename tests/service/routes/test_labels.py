"""Late labels over HTTP: kept, learnt once, expired, bounded, and as durable as samples."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llr_service.app import App
from llr_service.settings import Settings
from llr_service.stores.memory import Memory
from llr_service.stores.store import (
    AppendSamples,
    Change,
    Conflict,
    StoreFull,
    StoreUnavailable,
    UpdatePending,
    Written,
)
from starlette.testclient import TestClient

import llr

DEMO = "/v1/sessions/demo"
CONFIG = {"model": "linear", "dim": 2, "algorithm": "sg/ag"}
ROWS = [[0.5, -1.2], [0.1, 0.3], [2.0, 1.0], [-0.0, 1e-300]]
DAY = 86_400


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.seconds = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def app(tmp_path: Path, clock: Clock) -> App:
    return App(Settings(store=f"sqlite:///{tmp_path / 'llr.db'}", max_kept="64KiB"), clock)  # type: ignore[arg-type]


@pytest.fixture
def client(app: App) -> Iterator[TestClient]:
    with TestClient(app, raise_server_exceptions=False) as started:
        started.put(DEMO, json=CONFIG)
        yield started


def predict(client: TestClient, **body: Any) -> Any:
    return client.post(f"{DEMO}/predict", json=body)


def label(client: TestClient, body: Any, **query: Any) -> Any:
    return client.post(f"{DEMO}/labels", json=body, params=query)


def labels(**labelled: float) -> list[dict[str, Any]]:
    return [{"id": name, "y": y} for name, y in labelled.items()]


def state(client: TestClient) -> Any:
    return client.get(f"{DEMO}/snapshot").json()["state"]


def replay(*samples: tuple[Sequence[float], float]) -> Any:
    """The state that these samples leave."""
    learner = llr.Learner("linear", 2, "sg/ag", regret="exact")
    for x, y in samples:
        assert learner.learn([x], [y])
    return learner.to_plain()


def sweep(client: TestClient, app: App) -> None:
    assert client.portal is not None
    client.portal.call(app.context.sessions.expire_labels)


def test_labels_in_any_order_leave_what_the_samples_in_that_order_leave(
    client: TestClient,
) -> None:
    alone = predict(client, x=ROWS[0], id="a")
    assert alone.json() == {"name": "demo", "t": 0, "predictions": 0.0}
    many = predict(client, x=ROWS[1:], ids=["b", "c", "d"])
    assert many.json()["predictions"] == [0.0, 0.0, 0.0]
    assert client.get(DEMO).json()["kept"] == 4
    first = label(client, {"id": "c", "y": 1.5})
    assert first.headers["etag"] == '"1"'
    assert (first.json()["t"], first.json()["accepted"], first.json()["duplicate"]) == (1, 1, False)
    client.post(f"{DEMO}/samples", json={"x": [3.0, 4.0], "y": 2.0})
    last = label(client, labels(d=-1.0, a=0.5, b=2.0), predictions="true", theta="false").json()
    assert (last["t"], last["accepted"], len(last["predictions"])) == (5, 3, 3)
    assert "theta" not in last
    order = [(ROWS[2], 1.5), ([3.0, 4.0], 2.0), (ROWS[3], -1.0), (ROWS[0], 0.5), (ROWS[1], 2.0)]
    assert state(client) == replay(*order)
    assert client.get(DEMO).json()["kept"] == 0


def test_the_answer_to_a_label_is_the_answer_to_learning(client: TestClient) -> None:
    predict(client, x=ROWS[0], id="a")
    late = label(client, {"id": "a", "y": 1.0}).json()
    client.put("/v1/sessions/twin", json=CONFIG)
    sample = client.post("/v1/sessions/twin/samples", json={"x": ROWS[0], "y": 1.0}).json()
    assert late | {"name": "twin"} == sample


def test_a_label_is_learnt_once_and_says_so(client: TestClient) -> None:
    predict(client, x=ROWS[:2], ids=["a", "b"])
    label(client, {"id": "a", "y": 1.0})
    for y in (1.0, 7.0):
        again = label(client, {"id": "a", "y": y}).json()
        assert (again["t"], again["accepted"], again["duplicate"]) == (1, 0, True)
    twice = [*labels(a=1.0, b=2.0), {"id": "b", "y": 9.0}]
    partly = label(client, twice).json()
    assert (partly["t"], partly["accepted"], partly["duplicate"]) == (2, 1, False)
    assert state(client) == replay((ROWS[0], 1.0), (ROWS[1], 2.0))


def test_the_same_prediction_again_is_harmless_before_and_after_its_label(
    client: TestClient,
) -> None:
    for _ in range(2):
        assert predict(client, x=ROWS[0], id="a").status_code == 200
    assert predict(client, x=[ROWS[0]] * 2, ids=["a", "a"]).status_code == 200
    label(client, {"id": "a", "y": 1.0})
    assert predict(client, x=ROWS[0], id="a").status_code == 200
    assert label(client, {"id": "a", "y": 1.0}).json()["duplicate"]
    assert client.get(DEMO).json()["t"] == 1


def test_an_id_of_another_x_is_refused_and_nothing_of_the_body_is_kept(client: TestClient) -> None:
    predict(client, x=ROWS[0], id="a")
    for learnt in (False, True):
        if learnt:
            label(client, {"id": "a", "y": 1.0})
        many = predict(client, x=[ROWS[2], ROWS[1]], ids=["new", "a"])
        assert (many.status_code, many.json()["type"]) == (409, "urn:llr:problem:id-taken")
        place = {"pointer": "/ids/1", "id": "a", "detail": "stands for another x"}
        assert many.json()["errors"] == [place]
        one = predict(client, x=ROWS[1], id="a").json()
        assert one["errors"] == [place | {"pointer": "/id"}]
        assert client.get(DEMO).json()["kept"] == (0 if learnt else 1)
    assert label(client, {"id": "new", "y": 1.0}).status_code == 404


def test_unknown_ids_are_named_and_nothing_of_the_body_is_learnt(client: TestClient) -> None:
    predict(client, x=ROWS[0], id="a")
    refused = label(client, labels(no=1.0, a=1.0, never=2.0))
    assert (refused.status_code, refused.json()["type"]) == (404, "urn:llr:problem:id-not-found")
    detail = "unknown or expired"
    assert refused.json()["errors"] == [
        {"pointer": "/0/id", "id": "no", "detail": detail},
        {"pointer": "/2/id", "id": "never", "detail": detail},
    ]
    assert "no, never" in refused.json()["detail"]
    alone = label(client, {"id": "no", "y": 1.0}).json()
    assert alone["errors"] == [{"pointer": "/id", "id": "no", "detail": detail}]
    assert client.get(DEMO).json()["t"] == 0
    assert label(client, {"id": "a", "y": 1.0}).json()["accepted"] == 1


def test_a_label_outside_the_domain_is_refused_by_its_place(client: TestClient) -> None:
    client.delete(DEMO)
    client.put(DEMO, json={"model": "bernoulli"})
    assert predict(client, ids=["a", "b"]).json()["predictions"] == 0.5
    label(client, {"id": "a", "y": 1})
    refused = label(client, labels(a=1.0, b=0.5))
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/1/y"
    assert label(client, {"id": "b", "y": 2}).json()["errors"][0]["pointer"] == "/y"
    assert label(client, {"id": "b", "y": 0}).json()["t"] == 2


def test_labels_learn_only_where_the_session_is_expected_to_be(client: TestClient) -> None:
    predict(client, x=ROWS[0], id="a")
    body, path = {"id": "a", "y": 1.0}, f"{DEMO}/labels"
    assert client.post(path, json=body, headers={"if-match": '"3"'}).status_code == 412
    assert client.post(path, json=body, headers={"if-match": '"0"'}).json()["t"] == 1
    numbered = label(client, body, producer="p", seq="0")
    assert (numbered.status_code, numbered.json()["errors"][0]["parameter"]) == (422, "producer")


def test_x_expires_and_a_learnt_id_is_known_for_as_long_again(
    client: TestClient, clock: Clock
) -> None:
    predict(client, x=ROWS[:2], ids=["a", "b"])
    clock.seconds += DAY - 1
    label(client, {"id": "a", "y": 1.0})
    clock.seconds += 1
    late = label(client, {"id": "b", "y": 1.0})
    assert (late.status_code, late.json()["errors"][0]["id"]) == (404, "b")
    assert "86400 seconds" in late.json()["detail"]
    assert predict(client, x=ROWS[2], id="b").status_code == 200
    clock.seconds += DAY - 2
    assert label(client, {"id": "a", "y": 1.0}).json()["duplicate"]
    clock.seconds += 1
    assert label(client, {"id": "a", "y": 1.0}).status_code == 404
    assert label(client, {"id": "b", "y": 1.0}).json()["t"] == 2


def test_what_expired_leaves_memory_and_disk(client: TestClient, app: App, clock: Clock) -> None:
    predict(client, x=ROWS, ids=[*"abcd"])
    clock.seconds += DAY
    sweep(client, app)
    assert client.get(DEMO).json()["kept"] == 0
    session = app.context.sessions.peek("demo")
    assert session is not None
    assert session.pending.nbytes == 0
    assert "llr_expired_total 4.0" in client.get("/metrics").text
    stored = reloaded(client, app)
    assert stored.get("a") is None


def reloaded(client: TestClient, app: App) -> Any:
    """What a session keeps, read from the store anew."""
    registry = app.context.sessions
    session = registry.peek("demo")
    assert session is not None
    session.discard()
    client.get(DEMO)
    loaded = registry.peek("demo")
    assert loaded is not None
    assert loaded is not session
    return loaded.pending


def test_a_session_may_have_its_own_time_and_a_label_for_what_expired(
    client: TestClient, app: App, clock: Clock
) -> None:
    client.delete(DEMO)
    client.put(DEMO, json=CONFIG | {"label_seconds": 60, "expired_label": -1})
    predict(client, x=ROWS[0], id="a")
    clock.seconds += 1
    predict(client, x=ROWS[1], id="b")
    predict(client, x=ROWS[2], id="c")
    clock.seconds += 59
    sweep(client, app)
    assert client.get(DEMO).json()["t"] == 1
    label(client, {"id": "c", "y": 2.0})
    clock.seconds += 1
    refused = label(client, {"id": "b", "y": 9.0})
    assert refused.status_code == 404
    assert label(client, {"id": "c", "y": 2.0}).json()["duplicate"]
    assert state(client) == replay((ROWS[0], -1.0), (ROWS[2], 2.0), (ROWS[1], -1.0))


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"model": "bernoulli", "expired_label": 0.5}, "/expired_label"),
        ({"model": "linear", "expired_label": "0"}, "/expired_label"),
        ({"model": "linear", "label_seconds": 0}, "/label_seconds"),
        ({"model": "linear", "label_seconds": 1e12}, "/label_seconds"),
    ],
)
def test_a_config_that_cannot_be_is_refused(client: TestClient, config: Any, place: str) -> None:
    refused = client.put("/v1/sessions/other", json=config)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == place


def test_what_cannot_be_learnt_when_it_expires_is_forgotten_and_logged(
    client: TestClient, app: App, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    client.delete(DEMO)
    client.put(DEMO, json=CONFIG | {"expired_label": 1e300})
    predict(client, x=[1e300, 1e300], id="a")
    clock.seconds += DAY
    sweep(client, app)
    assert "expired samples cannot be learnt" in caplog.text
    assert (client.get(DEMO).json()["t"], client.get(DEMO).json()["kept"]) == (0, 0)
    assert predict(client, x=ROWS[0], id="a").status_code == 200


def test_a_label_that_makes_it_diverge_leaves_its_x_kept(client: TestClient) -> None:
    predict(client, x=[1e300, 1e300], id="a")
    assert label(client, {"id": "a", "y": 1e300}).status_code == 409
    assert (client.get(DEMO).json()["t"], client.get(DEMO).json()["kept"]) == (0, 1)


def test_the_first_kept_row_tells_the_width_until_a_sample_does(client: TestClient) -> None:
    client.delete(DEMO)
    client.put(DEMO, json={"model": "linear"})
    assert predict(client, x=[1.0, 2.0, 3.0], id="a").status_code == 200
    refused = predict(client, x=[1.0, 2.0], id="b")
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/x")
    refused = predict(client, x=[[1.0, 2.0]], ids=["b"])
    assert refused.json()["errors"][0]["pointer"] == "/x/0"
    client.post(f"{DEMO}/samples", json={"x": [1.0, 2.0], "y": 1.0})
    assert predict(client, x=[1.0, 2.0], id="b").status_code == 200
    stale = label(client, labels(b=1.0, a=1.0))
    assert (stale.status_code, stale.json()["errors"][0]["pointer"]) == (422, "/1/id")
    assert stale.json()["errors"][0]["id"] == "a"
    assert label(client, {"id": "b", "y": 1.0}).json()["t"] == 2


NDJSON = {"content-type": "application/x-ndjson; charset=utf-8"}


def test_labels_may_come_one_a_line_and_are_told_by_their_lines(client: TestClient) -> None:
    predict(client, x=ROWS[:3], ids=["a", "b", "c"])
    path = f"{DEMO}/labels"
    unknown = b'{"id": "a", "y": 1}\n\n{"id": "z", "y": 2}\n'
    refused = client.post(path, content=unknown, headers=NDJSON)
    assert refused.status_code == 404
    [error] = refused.json()["errors"]
    assert (error["line"], error["pointer"], error["id"]) == (3, "/id", "z")
    wrong = client.post(path, content=b'{"id": "a", "y": 1}\n{"id": "b"}\n{', headers=NDJSON)
    assert (wrong.status_code, [e["line"] for e in wrong.json()["errors"]]) == (422, [2, 3])
    assert client.get(DEMO).json()["t"] == 0
    body = b'{"id": "c", "y": 1}\r\n\n{"id": "a", "y": 2}'
    assert client.post(path, content=body, headers=NDJSON).json()["accepted"] == 2
    assert state(client) == replay((ROWS[2], 1.0), (ROWS[0], 2.0))
    assert client.post(path, content=b"\n \n", headers=NDJSON).status_code == 422
    text = client.post(path, content=b"a", headers={"content-type": "text/plain"})
    assert (text.status_code, "x-ndjson" in text.json()["detail"]) == (415, True)


def test_history_tells_when_labels_were_predicted_for_and_learnt(
    tmp_path: Path, clock: Clock
) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path / 'times.db'}")
    with TestClient(App(settings, clock)) as client:
        client.put(DEMO, json=CONFIG)
        assert client.get(f"{DEMO}/history").json()["labels"] is None
        start = int(1000 * clock.seconds)
        predict(client, x=ROWS[0], id="a")
        client.post(f"{DEMO}/samples", json={"x": ROWS[3], "y": 1.0})
        clock.seconds += 2
        predict(client, x=ROWS[1:3], ids=["b", "c"])
        clock.seconds += 3
        label(client, labels(c=1.0, a=0.5))
        told = {
            "t": [1, 2],
            "at": [start + 5000] * 2,
            "predicted_t": [1, 0],
            "predicted_at": [start + 2000, start],
        }
        assert client.get(f"{DEMO}/history").json()["labels"] == told
        counts = {"waiting": 1, "learnt": 2, "expired": 0}
        assert client.get(DEMO).json()["labels"] == counts
    with TestClient(App(settings, clock)) as client:
        assert client.get(f"{DEMO}/history").json()["labels"] == told
        clock.seconds += DAY
        predict(client, x=ROWS[0], id="d")
        assert client.get(f"{DEMO}/history").json()["labels"] is None, "forgotten with its ids"
        counts = {"waiting": 1, "learnt": 2, "expired": 1}
        assert client.get(DEMO).json()["labels"] == counts
    with TestClient(App(settings, clock)) as client:
        assert client.get(DEMO).json()["labels"] == counts


def test_a_session_without_dim_may_begin_with_late_labels(client: TestClient) -> None:
    client.delete(DEMO)
    client.put(DEMO, json={"model": "linear"})
    predict(client, x=[[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]], ids=["a", "b"])
    assert label(client, labels(b=1.0, a=2.0)).json()["t"] == 2
    assert client.get(DEMO).json()["dim"] == 3


def test_a_full_session_keeps_nothing_more_until_labels_come(
    client: TestClient, app: App, clock: Clock
) -> None:
    n = 64 * 1024 // (400 + 3 + 16)
    ids = [f"{i:03}" for i in range(n)]
    assert predict(client, x=[[float(i), 1.0] for i in range(n)], ids=ids).status_code == 200
    clock.seconds += 10
    full = predict(client, x=ROWS[0], id="more")
    assert (full.status_code, full.json()["type"]) == (429, "urn:llr:problem:too-many")
    assert full.headers["retry-after"] == str(DAY - 10)
    assert predict(client, x=[0.0, 1.0], id="000").status_code == 200
    assert client.post(f"{DEMO}/samples", json={"x": ROWS[0], "y": 1.0}).status_code == 200
    label(client, labels(**dict.fromkeys(ids[:20], 0.001)))
    assert predict(client, x=ROWS[0], id="more").status_code == 200
    assert label(client, {"id": ids[19], "y": 0.001}).json()["duplicate"]
    assert label(client, {"id": ids[0], "y": 0.001}).status_code == 404
    session = app.context.sessions.peek("demo")
    assert session is not None
    assert session.pending.nbytes <= 64 * 1024


def test_a_long_stream_of_late_labels_takes_no_more_memory_than_it_may(
    client: TestClient, app: App
) -> None:
    for start in range(0, 2000, 50):
        ids = [f"i{start + i}" for i in range(50)]
        assert predict(client, x=[ROWS[0]] * 50, ids=ids).status_code == 200
        assert label(client, labels(**dict.fromkeys(ids, 0.5))).json()["accepted"] == 50
    session = app.context.sessions.peek("demo")
    assert session is not None
    assert session.t == 2000
    assert session.pending.nbytes <= 64 * 1024
    assert session.nbytes > session.pending.nbytes > 0


def test_many_labels_at_once_are_learnt_in_a_thread_and_the_same(tmp_path: Path) -> None:
    X = np.random.default_rng(1).normal(size=(9000, 2))
    with TestClient(App(Settings(store="memory:"))) as client:
        client.put(DEMO, json=CONFIG)
        ids = [f"i{i}" for i in range(len(X))]
        predict(client, x=X.tolist(), ids=ids)
        done = label(client, [{"id": one, "y": 0.25} for one in ids[::-1]]).json()
        assert (done["t"], done["accepted"]) == (9000, 9000)
        learner = llr.Learner("linear", 2, "sg/ag", regret="exact")
        learner.learn(X[::-1].copy(), np.full(9000, 0.25))
        assert state(client) == learner.to_plain()


def test_what_is_kept_and_what_was_learnt_is_there_after_a_restart(
    tmp_path: Path, clock: Clock
) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path / 'llr.db'}")
    with TestClient(App(settings, clock)) as client:
        client.put(DEMO, json=CONFIG)
        predict(client, x=ROWS, ids=[*"abcd"])
        label(client, {"id": "c", "y": 1.5})
    with TestClient(App(settings, clock)) as client:
        assert client.get(DEMO).json()["kept"] == 3
        assert predict(client, x=ROWS[0], id="b").status_code == 409
        assert label(client, {"id": "c", "y": 1.5}).json()["duplicate"]
        assert label(client, labels(d=-1.0, a=0.5)).json()["t"] == 3
        assert state(client) == replay((ROWS[2], 1.5), (ROWS[3], -1.0), (ROWS[0], 0.5))
    clock.seconds += DAY
    with TestClient(App(settings, clock)) as client:
        assert label(client, {"id": "b", "y": 1.0}).status_code == 404


def test_a_deleted_session_leaves_no_ids_to_the_next_of_its_name(client: TestClient) -> None:
    predict(client, x=ROWS[0], id="a")
    client.delete(DEMO)
    client.put(DEMO, json=CONFIG)
    assert label(client, {"id": "a", "y": 1.0}).status_code == 404
    assert predict(client, x=ROWS[1], id="a").status_code == 200


class Stub(Memory):
    """A store that notes what it is given, and fails when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.failure: Exception | None = None
        self.given: list[Change] = []

    def write(self, group: Sequence[Change]) -> list[Written | Conflict]:
        if self.failure:
            raise self.failure
        self.given += group
        return super().write(group)


@pytest.mark.parametrize(
    ("failure", "status"), [(StoreFull("full"), 507), (StoreUnavailable("away"), 503)]
)
def test_what_could_not_be_stored_is_neither_kept_nor_learnt(
    monkeypatch: pytest.MonkeyPatch, failure: Exception, status: int
) -> None:
    store = Stub()
    monkeypatch.setattr("llr_service.app.open_store", lambda _: store)
    with TestClient(App(Settings(store="memory:"))) as client:
        client.put(DEMO, json=CONFIG)
        predict(client, x=ROWS[0], id="a")
        store.failure = failure
        assert predict(client, x=ROWS[1], id="b").status_code == status
        assert label(client, {"id": "a", "y": 1.0}).status_code == status
        store.failure = None
        assert label(client, {"id": "b", "y": 1.0}).status_code == 404
        assert label(client, {"id": "a", "y": 1.0}).json()["accepted"] == 1
        assert state(client) == replay((ROWS[0], 1.0))


def test_that_a_label_was_learnt_is_stored_with_what_was_learnt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = Stub()
    monkeypatch.setattr("llr_service.app.open_store", lambda _: store)
    with TestClient(App(Settings(store="memory:"))) as client:
        client.put(DEMO, json=CONFIG)
        predict(client, x=ROWS[:2], ids=["a", "b"])
        predict(client, x=ROWS[0], id="a")
        label(client, {"id": "a", "y": 1.0})
        metrics = client.get("/metrics").text
    _, kept, learnt, _ = store.given  # the last one folds the log when the service stops
    assert isinstance(kept, UpdatePending)
    assert isinstance(learnt, AppendSamples)
    assert [name for name, _ in kept.pending] == ["a", "b"]
    [(name, row), counts] = learnt.pending
    assert (name, row and row.learnt, counts[0]) == ("a", True, "")
    assert "llr_kept_total 2.0" in metrics
    assert "llr_labels_total 1.0" in metrics
