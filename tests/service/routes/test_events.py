"""Server-Sent Events, with the app driven as a server drives it: TestClient waits for an end."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import llr_service.serializers
import pytest
from llr_service.app import App
from llr_service.sessions.session import Session
from llr_service.stores.store import StoredSession, StoreUnavailable
from llr_service.theta import WHOLE
from support.app import DEMO, SAMPLES, Stub, away, until
from support.events import EVENTS, Reader, served

pytestmark = pytest.mark.anyio


@pytest.fixture
async def app() -> AsyncIterator[App]:
    async with served() as (app, _):
        yield app


@pytest.fixture
async def http(app: App) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        yield client


async def test_the_first_event_is_the_present_state_and_later_ones_follow_learning(
    app: App, http: httpx.AsyncClient
) -> None:
    await http.post(SAMPLES, json={"y": [1, 2, 3]})
    reader = Reader(app)
    assert await reader.opened() == 200
    assert reader.headers[b"content-type"].startswith(b"text/event-stream")
    assert reader.headers[b"cache-control"] == b"no-store"
    assert await reader.state() == (await http.get(DEMO)).json()
    for t in (4, 5):
        await http.post(SAMPLES, json={"y": t})
        assert await reader.state() == (await http.get(DEMO)).json()
    await reader.leave()


async def test_of_many_named_features_an_event_has_the_largest(
    app: App, http: httpx.AsyncClient
) -> None:
    path = "/v1/sessions/named"
    config = {"model": "linear", "algorithm": "sg", "eta0": 1e-4}
    await http.put(path, json=config)
    x = {f"n{i}": i / 100 for i in range(WHOLE + 200)}
    await http.post(f"{path}/samples", json={"x": x, "y": -1})
    reader = Reader(app, path=f"{path}/events")
    told, whole = await reader.state(), (await http.get(path)).json()
    assert list(told["theta"]) == [f"n{i}" for i in reversed(range(200, WHOLE + 200))]
    assert told["theta"].items() <= whole["theta"].items()
    assert (len(whole["theta"]), told["features"]) == (WHOLE + 200, whole["features"])
    await reader.leave()
    await http.post(f"{path}/fork", json={"name": "rival", "eta0": 1e-3})
    reader = Reader(app, path="/v1/sessions/rival/events")
    told = await reader.state()
    assert (len(told["theta"]), "theta0" in told["config"]) == (WHOLE, False)
    await reader.leave()


async def test_there_are_at_most_20_events_a_second_and_the_last_is_never_missed(
    app: App, http: httpx.AsyncClient
) -> None:
    reader = Reader(app)
    t = 0
    while len(reader.times) < 6:
        t = (await http.post(SAMPLES, json={"y": 1})).json()["t"]
    seen = [(await reader.state())["t"]]
    while seen[-1] < t:
        seen.append((await reader.state())["t"])
    await reader.leave()
    assert len(seen) < t
    first, *later = reader.times[1:]
    for event in later:
        assert event - first > 0.0499
        first = event


async def test_a_frozen_reader_costs_no_memory_and_sees_the_newest_when_it_thaws(
    app: App, http: httpx.AsyncClient
) -> None:
    reader = Reader(app)
    await reader.state()
    reader.thawed.clear()
    for _ in range(50):
        await http.post(SAMPLES, json={"y": 1})
    reader.thawed.set()
    seen = [(await reader.state())["t"]]
    while seen[-1] < 50:
        seen.append((await reader.state())["t"])
    assert len(seen) <= 2
    await reader.leave()


@pytest.mark.parametrize("last", [b"0", b"99", b"", b"-1", b"1e0", b"x\xff", b"1 "])
async def test_who_comes_back_behind_or_with_nonsense_gets_the_present_state(
    app: App, http: httpx.AsyncClient, last: bytes
) -> None:
    await http.post(SAMPLES, json={"y": 1})
    reader = Reader(app, (b"last-event-id", last))
    assert (await reader.state())["t"] == 1
    await reader.leave()


async def test_who_comes_back_up_to_date_waits_for_the_next_state(
    app: App, http: httpx.AsyncClient
) -> None:
    await http.post(SAMPLES, json={"y": 1})
    reader = Reader(app, (b"last-event-id", b"1"))
    assert await reader.part() == b"retry: 1000\n\n"
    await http.post(SAMPLES, json={"y": 1})
    assert (await reader.state())["t"] == 2
    await reader.leave()


@pytest.mark.parametrize("header", [(), ((b"last-event-id", b"0"),)])
async def test_who_watches_is_told_that_a_session_diverged_and_when_it_goes_on(
    app: App, http: httpx.AsyncClient, header: tuple[tuple[bytes, bytes], ...]
) -> None:
    wild = "/v1/sessions/wild"
    config = {"model": "linear", "dim": 1, "algorithm": "sg", "eta0": 1e6}
    await http.put(wild, json=config)
    reader = Reader(app, *header, path=f"{wild}/events")
    await reader.opened()
    if not header:
        assert (await reader.state())["status"] == "ok"
    far = {"x": [[1e100]] * 5, "y": [1.0] * 5}
    for _ in range(2):  # the second changes nothing
        assert (await http.post(f"{wild}/samples", json=far)).status_code == 409
    told = await reader.state()
    assert (told["t"], told["status"]) == (0, "diverged")
    await http.post(f"{wild}/samples", json={"x": [0.0], "y": 0.0})
    told = await reader.state()
    assert (told["t"], told["status"]) == (1, "ok")
    await reader.leave()


@pytest.mark.parametrize("last", [b"\xb2", b"9" * 5000])
async def test_an_id_that_only_looks_like_a_number_is_nonsense(app: App, last: bytes) -> None:
    reader = Reader(app, (b"last-event-id", last))
    status = await reader.opened()
    await reader.leave()
    assert status == 200


async def test_a_quiet_stream_shows_that_it_is_alive(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llr_service.routes.events.HEARTBEAT", 0.001)
    reader = Reader(app)
    await reader.state()
    assert await reader.part() == b": still here\n\n"
    await reader.leave()


async def test_more_streams_than_allowed_are_429_until_one_is_left() -> None:
    async with served(max_streams=2) as (app, http):
        readers = [Reader(app), Reader(app)]
        for reader in readers:
            await reader.state()
        refused = await http.get(EVENTS)
        assert refused.status_code == 429
        assert refused.headers["retry-after"]
        assert refused.json()["type"] == "urn:llr:problem:too-many"
        assert "llr_streams_open 2.0" in (await http.get("/metrics")).text
        await readers.pop().leave()
        readers.append(Reader(app))
        assert await readers[-1].opened() == 200
        for reader in readers:
            await reader.leave()
        assert "llr_streams_open 0.0" in (await http.get("/metrics")).text


async def test_streams_opened_at_the_same_moment_do_not_pass_the_limit() -> None:
    async with served(max_streams=2) as (app, _):
        readers = [Reader(app) for _ in range(6)]
        statuses = [await reader.opened() for reader in readers]
        for reader in readers:
            await reader.leave()
        assert sorted(statuses) == [200] * 2 + [429] * 4


async def test_a_session_that_is_deleted_ends_its_streams(
    app: App, http: httpx.AsyncClient
) -> None:
    reader = Reader(app)
    await reader.state()
    assert (await http.delete(DEMO)).status_code == 204
    assert await reader.rest() == [b"id:\n\n"]  # a browser begins anew with the next one
    missing = Reader(app)
    assert await missing.opened() == 404
    await missing.rest()


async def test_a_stream_goes_on_with_what_the_store_has_after_it_refused_a_sample(
    store: Stub,
) -> None:
    async with served() as (app, http):
        reader = Reader(app)
        await reader.state()
        store.fails = away
        assert (await http.post(SAMPLES, json={"y": 1})).status_code == 503
        store.fails = None
        assert (await http.post(SAMPLES, json={"y": 2})).status_code == 200
        assert (await reader.state())["t"] == 1
        await reader.leave()


async def test_a_stream_waits_for_a_store_that_is_away(
    store: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(_: str) -> StoredSession | None:
        tried.append(1)
        raise StoreUnavailable("away")

    tried = list[int]()
    monkeypatch.setattr("llr_service.routes.events.AGAIN", 0.0)
    async with served() as (app, http):
        reader = Reader(app)
        await reader.state()
        with monkeypatch.context() as patched:
            patched.setattr(store, "load", unreadable)
            patched.setattr("llr_service.routes.events.HEARTBEAT", 0.0)
            store.fails = away
            assert (await http.post(SAMPLES, json={"y": 1})).status_code == 503
            await until(lambda: tried)
            assert await reader.part() == b": still here\n\n"
        store.fails = None
        assert (await reader.state())["t"] == 0
        assert (await http.post(SAMPLES, json={"y": 2})).status_code == 200
        assert (await reader.state())["t"] == 1
        await reader.leave()


async def test_all_streams_end_when_the_service_drains(app: App, http: httpx.AsyncClient) -> None:
    await http.put("/v1/sessions/other", json={"model": "gaussian"})
    readers = [Reader(app), Reader(app), Reader(app, path="/v1/sessions/other/events")]
    for reader in readers:
        await reader.state()
    app.context.drain()
    for reader in readers:
        assert await reader.rest() == []
    assert (await http.get("/readyz")).status_code == 503


async def test_an_event_is_written_once_for_all_who_watch(
    app: App, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    session_state = llr_service.serializers.session_state

    def counted(session: Session, theta: Any) -> Any:
        written.append(session.t)
        return session_state(session, theta)

    monkeypatch.setattr("llr_service.serializers.session_state", counted)
    readers = [Reader(app) for _ in range(5)]
    for reader in readers:
        assert (await reader.state())["t"] == 0
    await http.post(SAMPLES, json={"y": 1})
    for reader in readers:
        assert (await reader.state())["t"] == 1
        await reader.leave()
    assert written == [0, 1]
