"""The registry: sessions are loaded when used, evicted when idle, and right after any failure."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import httpx
import llr_service.sessions.registry
import llr_service.sessions.session_log
import numpy as np
import pytest
from llr_service.app import App
from llr_service.codec import decode_json, decode_query
from llr_service.options import MIB
from llr_service.sessions.config import SessionConfig
from llr_service.sessions.storage import MAX_TRIES
from llr_service.settings import Settings
from llr_service.stores.memory import Memory
from llr_service.stores.store import (
    Change,
    Conflict,
    Damaged,
    StoreError,
    StoreFull,
    StoreUnavailable,
    Written,
)
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient
from support.app import DEMO, SAMPLES, Stub, away, running, settle, until

import llr

pytestmark = pytest.mark.anyio
LONG = [0.5] * 12_600
JSON = "application/json"
NDJSON = {"content-type": "application/x-ndjson"}


class Slow:
    """Long batches, which are held up in the middle of learning until they are let go."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.let_go = threading.Event()
        self.begun = self.done = 0
        learn = llr.Learner.learn

        def held(learner: llr.Learner, *samples: Any, **options: Any) -> Any:
            long = np.size(samples[-1]) >= len(LONG)
            self.begun += long
            assert not long or self.let_go.wait(20)
            outcome = learn(learner, *samples, **options)
            self.done += long
            return outcome

        patch.setattr(llr.Learner, "learn", held)


@pytest.fixture
def app(store: Stub) -> App:
    return App(Settings(store="memory:", max_queue=4, max_producers=2, memory_cap=MIB))


@pytest.fixture
async def http(app: App) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an app on the stub, with a session of the gaussian model."""
    async with running(app) as client:
        await client.put(DEMO, json={"model": "gaussian"})
        yield client


def replay(*labels: Any) -> Any:
    """The state that these samples leave, as a snapshot has it."""
    learner = llr.Learner("gaussian", regret="exact")
    for y in labels:
        assert learner.learn(y)
    return learner.to_plain()


async def snapshot(http: httpx.AsyncClient, session: str = DEMO) -> Any:
    return (await http.get(f"{session}/snapshot")).json()


async def crowd(app: App, http: httpx.AsyncClient) -> None:
    """Other sessions, until `demo` has left memory."""
    for i in range(30):
        await http.put(f"/v1/sessions/s{i}", json={"model": "linear", "dim": 5000})
    assert app.context.sessions.peek("demo") is None


@pytest.mark.slow
async def test_idle_sessions_leave_memory_and_come_back_bit_equal(
    app: App, http: httpx.AsyncClient
) -> None:
    rng, before = np.random.default_rng(1), {}
    for i in range(20):
        session = f"/v1/sessions/s{i}"
        await http.put(session, json={"model": "linear", "dim": 5000})
        for x in rng.normal(size=(3, 5000)).tolist():
            assert (await http.post(f"{session}/samples", json={"x": x, "y": 1})).is_success
        before[session] = await snapshot(http, session)
    loaded = [i for i in range(20) if app.context.sessions.peek(f"s{i}")]
    assert 0 < len(loaded) < 20
    assert loaded[-1] == 19
    assert f"llr_evictions_total {21 - len(loaded)}.0" in (await http.get("/metrics")).text
    for session, state in before.items():
        assert await snapshot(http, session) == state


async def test_concurrent_first_touches_load_once(
    app: App, store: Stub, http: httpx.AsyncClient
) -> None:
    await crowd(app, http)
    answers = await asyncio.gather(*[http.get(DEMO) for _ in range(20)])
    assert {answer.status_code for answer in answers} == {200}
    assert store.loads["demo"] == 1


async def test_a_full_queue_is_503_and_says_when_to_come_again(
    store: Stub, http: httpx.AsyncClient
) -> None:
    store.opened.clear()
    posts = [asyncio.create_task(http.post(SAMPLES, json={"y": i})) for i in range(6)]
    refused = await next(asyncio.as_completed(posts))
    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "1"
    assert refused.json()["type"] == "urn:llr:problem:unavailable"
    store.opened.set()
    statuses = [(await post).status_code for post in posts]
    assert sorted(statuses) == [200] * 4 + [503] * 2
    assert (await http.get(DEMO)).json()["t"] == 4


async def test_more_producers_than_a_session_remembers_are_refused_for_good(
    http: httpx.AsyncClient,
) -> None:
    for producer, status in (("a", 200), ("b", 200), ("c", 409), ("a", 200)):
        answer = await http.post(f"{SAMPLES}?producer={producer}&seq=0", json={"y": 1})
        assert answer.status_code == status
        if status == 409:
            assert answer.json()["type"] == "urn:llr:problem:producers-full"
            assert "retry-after" not in answer.headers
    assert (await http.get(DEMO)).json()["t"] == 2
    assert (await snapshot(http))["producers"] == {"a": 1, "b": 1}


def full(_: Sequence[Change]) -> list[Written | Conflict]:
    raise StoreFull("no room")


def moved(group: Sequence[Change]) -> list[Written | Conflict]:
    return [Conflict("elsewhere") for _ in group]


@pytest.mark.parametrize(("fails", "status"), [(full, 507), (away, 503), (moved, 503)])
async def test_what_the_store_refuses_is_not_learnt_and_can_be_sent_again(
    store: Stub, http: httpx.AsyncClient, fails: Any, status: int
) -> None:
    assert (await http.post(f"{SAMPLES}?producer=p&seq=0", json={"y": 1})).is_success
    store.fails = fails
    refused = await http.post(f"{SAMPLES}?producer=p&seq=1", json={"y": 2})
    assert refused.status_code == status
    assert ("retry-after" in refused.headers) == (status == 503)
    store.fails = None
    assert (await http.get(DEMO)).json()["t"] == 1
    assert store.loads["demo"] == (MAX_TRIES if fails is moved else 1)
    again = (await http.post(f"{SAMPLES}?producer=p&seq=1", json={"y": 2})).json()
    assert (again["t"], again["duplicate"]) == (2, False)
    assert (await snapshot(http))["state"] == replay(1.0, 2.0)


async def test_what_was_stored_before_the_store_failed_is_not_learnt_twice(
    store: Stub, http: httpx.AsyncClient
) -> None:
    def late(group: Sequence[Change]) -> list[Written | Conflict]:
        Memory.write(store, group)
        raise StoreError("stored, but nobody was told")

    store.fails = late
    assert (await http.post(f"{SAMPLES}?producer=p&seq=0", json={"y": 1})).status_code == 503
    store.fails = None
    again = (await http.post(f"{SAMPLES}?producer=p&seq=0", json={"y": 1})).json()
    assert (again["t"], again["duplicate"]) == (1, True)
    assert (await snapshot(http))["state"] == replay(1.0)


async def test_what_failed_is_counted_apart_from_what_became_durable(
    store: Stub, http: httpx.AsyncClient
) -> None:
    before = await metrics(http)
    store.fails = full
    assert (await http.post(SAMPLES, json={"y": 1})).status_code == 507
    failed = await metrics(http)
    assert failed["llr_store_errors_total"] == before["llr_store_errors_total"] + 1
    store.fails = None
    assert (await http.post(SAMPLES, json={"y": 1})).is_success
    after = await metrics(http)
    assert after["llr_store_errors_total"] == failed["llr_store_errors_total"]
    for name in ("llr_commit_seconds_count", "llr_commit_group_size_sum"):
        assert failed[name] == before[name]
        assert after[name] == before[name] + 1


@pytest.mark.parametrize(
    ("error", "counted"), [(StoreUnavailable, 1), (RuntimeError, 1), (Damaged, 0)]
)
async def test_a_question_the_store_fails_at_is_counted_unless_one_session_is_to_blame(
    store: Stub, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, error: Any, counted: int
) -> None:
    def load(_: str) -> None:
        raise error("it cannot be read")

    before = await metrics(http)
    monkeypatch.setattr(store, "load", load)
    assert (await http.get("/v1/sessions/other")).is_server_error
    after = await metrics(http)
    assert after["llr_store_errors_total"] == before["llr_store_errors_total"] + counted


async def metrics(http: httpx.AsyncClient) -> dict[str, float]:
    told = text_string_to_metric_families((await http.get("/metrics")).text)
    return {sample.name: sample.value for family in told for sample in family.samples}


@pytest.mark.parametrize(("fails", "status"), [(full, 507), (away, 503)])
async def test_creating_and_deleting_fail_as_the_store_does(
    store: Stub, http: httpx.AsyncClient, fails: Any, status: int
) -> None:
    store.fails = fails
    assert (await http.put("/v1/sessions/new", json={"model": "gaussian"})).status_code == status
    assert (await http.delete(DEMO)).status_code == status
    store.fails = None
    assert (await http.get(DEMO)).status_code == 200
    assert (await http.get("/v1/sessions/new")).status_code == 404


async def test_long_batches_leave_other_sessions_served(
    http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await http.put("/v1/sessions/other", json={"model": "gaussian"})
    slow = Slow(monkeypatch)
    long = asyncio.create_task(http.post(SAMPLES, json={"y": LONG}))
    await until(lambda: slow.begun)
    assert (await http.post("/v1/sessions/other/samples", json={"y": 1})).is_success
    assert (await http.get(DEMO)).json()["t"] == 0
    assert not long.done()
    slow.let_go.set()
    assert (await long).json()["t"] == len(LONG)


async def test_a_label_waits_for_the_long_batch_that_came_before_it(
    app: App, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await http.post(f"{DEMO}/predict", json={"id": "a"})
    session, slow = await app.context.sessions.get("demo"), Slow(monkeypatch)
    long = asyncio.create_task(http.post(SAMPLES, json={"y": LONG}))
    await until(lambda: slow.begun)
    label = asyncio.create_task(http.post(f"{DEMO}/labels", json={"id": "a", "y": 1}))
    await until(lambda: session.queue.lock_waiters == 2)
    slow.let_go.set()
    assert [(await each).json()["t"] for each in (long, label)] == [len(LONG), len(LONG) + 1]


async def test_a_cancelled_request_neither_loses_nor_doubles(
    store: Stub, http: httpx.AsyncClient
) -> None:
    store.opened.clear()
    post = asyncio.create_task(http.post(f"{SAMPLES}?producer=p&seq=0", json={"y": 1}))
    await until(lambda: store.waiting)
    post.cancel()
    await asyncio.gather(post, return_exceptions=True)
    store.opened.set()
    again = (await http.post(f"{SAMPLES}?producer=p&seq=0", json={"y": 1})).json()
    assert (again["t"], again["duplicate"]) == (1, True)
    assert (await http.post(f"{SAMPLES}?producer=p&seq=1", json={"y": 2})).json()["t"] == 2
    assert (await snapshot(http))["state"] == replay(1.0, 2.0)


def test_a_restart_gives_the_same_state_and_remembers_producers(settings: Settings) -> None:
    seen = []
    for start in range(3):
        with TestClient(App(settings)) as client:
            client.put(DEMO, json={"model": "linear", "dim": 3})
            for seq in range(0, 40 * (start + 1), 8):
                rows = np.random.default_rng(seq).normal(size=(8, 4))
                body = {"x": rows[:, :3].tolist(), "y": rows[:, 3].tolist()}
                answer = client.post(f"{SAMPLES}?producer=p&seq={seq}", json=body).json()
                assert answer["duplicate"] == (seq < 40 * start)
            seen.append(client.get(f"{DEMO}/snapshot").json())
            assert seen[-1]["t"] == 40 * (start + 1)
        with TestClient(App(settings)) as client:
            assert client.get(f"{DEMO}/snapshot").json() == seen[-1]


class Held:
    """A decoder that waits until it is let go; if nobody lets it go, it is in everybody's way."""

    def __init__(self, decode: Callable[..., Any], seconds: float) -> None:
        self.begun, self.let_go = threading.Event(), threading.Event()
        self._decode, self._seconds = decode, seconds

    def __call__(self, *given: Any, **more: Any) -> Any:
        self.begun.set()
        assert self.let_go.wait(self._seconds), "nobody else was served"
        return self._decode(*given, **more)


async def test_long_bodies_are_decoded_while_other_sessions_are_served(
    http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(decode_json, 0.5)
    monkeypatch.setattr("llr_service.routes.learning.decode_json", held)
    long = asyncio.create_task(http.post(SAMPLES, json={"y": LONG}))
    await until(held.begun.is_set)
    held.let_go.set()
    assert (await long).status_code == 200


@pytest.mark.slow
async def test_long_bodies_to_predict_for_are_decoded_while_other_sessions_are_served(
    http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(decode_query, 0.5)
    monkeypatch.setattr("llr_service.routes.predict.decode_query", held)
    await http.put("/v1/sessions/wide", json={"model": "linear", "dim": 1})
    x = [[0.5]] * 20_000
    long = asyncio.create_task(http.post("/v1/sessions/wide/predict", json={"x": x}))
    await until(held.begun.is_set)
    held.let_go.set()
    assert (await long).status_code == 200


async def test_a_session_evicted_while_a_long_body_is_decoded_is_loaded_again(
    app: App, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(decode_json, 20)
    monkeypatch.setattr("llr_service.routes.learning.decode_json", held)
    long = asyncio.create_task(http.post(SAMPLES, json={"y": LONG}))
    await until(held.begun.is_set)
    await crowd(app, http)
    held.let_go.set()
    assert (await long).status_code == 200


async def test_what_a_cancelled_request_stored_is_shown(
    store: Stub, http: httpx.AsyncClient
) -> None:
    store.opened.clear()
    post = asyncio.create_task(http.post(f"{SAMPLES}?producer=p&seq=0", json={"y": 1}))
    await until(lambda: store.waiting)
    post.cancel()
    await asyncio.gather(post, return_exceptions=True)
    store.opened.set()
    shown = await snapshot(http)
    assert (shown["t"], shown["producers"]) == (1, {"p": 1})


async def test_a_cancelled_long_batch_leaves_no_trace_in_the_history(
    http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await http.post(SAMPLES, json={"y": [1.0] * 20_000})).is_success
    slow = Slow(monkeypatch)
    long = asyncio.create_task(http.post(SAMPLES, json={"y": LONG}))
    await until(lambda: slow.begun)
    long.cancel()
    after = asyncio.create_task(http.post(SAMPLES, json={"y": [2.0] * 100}))
    slow.let_go.set()
    await asyncio.gather(long, return_exceptions=True)
    assert (await after).is_success
    assert (await snapshot(http))["state"] == replay([1.0] * 20_000, [2.0] * 100)


async def test_an_acknowledged_sample_outlives_a_long_batch_of_a_dropped_session(
    app: App, store: Stub, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(monkeypatch)
    store.opened.clear()
    store.fails = away
    refused = asyncio.create_task(http.post(SAMPLES, json={"y": 1}))
    await until(lambda: store.waiting)
    long = asyncio.create_task(http.post(SAMPLES, json={"y": LONG}))
    await until(lambda: slow.begun)
    store.opened.set()
    assert (await refused).status_code == 503
    store.fails = None
    assert (await http.post(SAMPLES, json={"y": 7})).json()["t"] == 1
    slow.let_go.set()
    learnt = [7.0, *(LONG if (await long).is_success else [])]
    await crowd(app, http)
    assert (await snapshot(http))["state"] == replay(learnt)


async def test_a_session_read_while_it_is_created_is_one_session(
    app: App, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry, let_go, rebuild = (
        app.context.sessions,
        threading.Event(),
        llr_service.sessions.session_log.recover,
    )
    held = lambda *stored: let_go.wait(20) and rebuild(*stored)  # noqa: E731
    monkeypatch.setattr(llr_service.sessions.registry, "recover", held)
    creating = asyncio.create_task(registry.create("new", SessionConfig(model="gaussian")))
    reading = asyncio.create_task(registry.get("new"))
    await creating
    assert (await http.post("/v1/sessions/new/samples", json={"y": 1})).json()["t"] == 1
    let_go.set()
    await reading
    assert (await http.get("/v1/sessions/new")).json()["t"] == 1


async def test_a_load_older_than_what_was_acknowledged_is_not_kept(
    app: App, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry, let_go = app.context.sessions, threading.Event()
    recover = llr_service.sessions.session_log.recover
    held = lambda *stored: let_go.wait(20) and recover(*stored)  # noqa: E731
    monkeypatch.setattr(llr_service.sessions.registry, "recover", held)
    small = registry._settings.model_copy(update={"memory_cap": 1})
    monkeypatch.setattr(registry, "_settings", small)
    creating = asyncio.create_task(registry.create("new", SessionConfig(model="gaussian")))
    reading = asyncio.create_task(registry.get("new"))
    await creating
    assert (await http.post("/v1/sessions/new/samples", json={"y": 1})).json()["t"] == 1
    await http.put("/v1/sessions/other", json={"model": "gaussian"})
    assert registry.peek("new") is None  # evicted
    let_go.set()
    assert (await reading).t == 1
    assert (await http.get("/v1/sessions/new")).json()["t"] == 1


async def test_a_session_evicted_while_a_body_arrives_is_loaded_again(
    app: App, http: httpx.AsyncClient
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def body() -> AsyncIterator[bytes]:
        yield b'{"y":'
        begun.set()
        await go_on.wait()
        yield b"1}"

    kind = {"content-type": JSON}
    post = asyncio.create_task(http.post(SAMPLES, content=body(), headers=kind))
    await begun.wait()
    await crowd(app, http)
    go_on.set()
    assert (await post).status_code == 200


async def test_a_stream_does_not_fill_the_queue_by_itself(
    store: Stub, http: httpx.AsyncClient
) -> None:
    async def body() -> AsyncIterator[bytes]:
        for _ in range(12):
            yield b'{"y":1}\n'

    store.opened.clear()
    post = asyncio.create_task(http.post(SAMPLES, content=body(), headers=NDJSON))
    await until(lambda: store.waiting)
    await settle()
    store.opened.set()
    assert (await post).status_code == 200


async def test_a_stream_that_is_told_to_stop_says_how_far_it_came(store: Stub) -> None:
    app, pulled = App(Settings(store="memory:")), 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal pulled
        while True:
            pulled += 1
            yield b'{"y":1}\n'

    async with running(app) as http:
        await http.put(DEMO, json={"model": "gaussian"})
        store.opened.clear()
        post = asyncio.create_task(http.post(SAMPLES, content=body(), headers=NDJSON))
        await until(lambda: pulled == 10)
        await settle()
        app.context.drain()
        await settle()
        store.opened.set()
        stopped = (await post).json()
    kept = store.load("demo")
    assert kept is not None
    assert (stopped["status"], stopped["accepted"]) == (503, kept.t)


async def test_a_stream_that_is_called_off_leaves_nobody_waiting(store: Stub) -> None:
    app = App(Settings(block_bytes=1024, max_line=1024))
    async with running(app) as http:
        await http.put(DEMO, json={"model": "gaussian"})
        store.opened.clear()
        body = b'{"y": 1}\n' * 5000
        stream = asyncio.create_task(http.post(SAMPLES, content=body, headers=NDJSON))
        session = await app.context.sessions.get("demo")
        await until(lambda: session.busy and store.waiting)
        await settle()  # so many blocks are under way that one more has to wait for its place
        stream.cancel()
        store.opened.set()
        await asyncio.wait([stream])
        await until(lambda: not session.busy)


async def test_a_delete_that_is_stored_after_its_request_was_given_up_leaves_no_copy(
    store: Stub, settings: Settings
) -> None:
    app = App(settings)
    async with running(app) as http:
        await http.put(DEMO, json={"model": "gaussian"})
        store.opened.clear()
        asked = asyncio.create_task(http.delete(DEMO))
        await until(lambda: store.waiting)
        asked.cancel()
        await settle()
        store.opened.set()
        await until(lambda: app.context.sessions.peek("demo") is None)
        assert (await http.get(DEMO)).status_code == 404
