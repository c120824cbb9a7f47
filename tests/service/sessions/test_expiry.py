"""Sessions that expire: gone after their time without a sample, and not before."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from llr_service.app import App
from llr_service.sessions import housekeeping
from llr_service.sessions.expiry import Expiry
from llr_service.settings import Settings
from starlette.testclient import TestClient
from support.app import DEMO, SAMPLES, Stub, running, settle
from support.shared_memory import SharedMemory

CONFIG = {"model": "gaussian", "expire_seconds": 60}


class Clock:
    """Seconds since 1970, moved by hand."""

    now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def app(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> App:
    """An app that looks for what expires only when a test does."""
    for name in ("SCAN_SECONDS", "SWEEP_SECONDS"):
        monkeypatch.setattr(housekeeping, name, 1e6)
    return App(Settings(store="memory:"), clock)


@pytest.fixture
async def http(app: App) -> AsyncIterator[httpx.AsyncClient]:
    async with running(app) as client:
        await settle()
        assert (await client.put(DEMO, json=CONFIG)).status_code == 201
        yield client


pytestmark = pytest.mark.anyio


async def there(http: httpx.AsyncClient, path: str = DEMO) -> bool:
    return (await http.get(path)).status_code == 200


async def test_a_session_goes_after_its_time_without_a_sample_and_not_before(
    app: App, http: httpx.AsyncClient, clock: Clock
) -> None:
    expiry = Expiry(app.context.sessions, clock)
    clock.now += 59.9
    await expiry.sweep()
    await http.post(SAMPLES, json={"y": 1})
    state = (await http.get(DEMO)).json()
    assert state["expires_at"] == "2001-09-09T01:48:39.900Z"
    assert state["config"]["expire_seconds"] == 60
    for seconds, expected in ((59.9, True), (0.2, False)):
        clock.now += seconds
        await expiry.sweep()
        assert await there(http) is expected
    await http.put(DEMO, json=CONFIG)
    assert (await http.get(DEMO)).json()["t"] == 0


async def test_what_is_not_asked_to_expire_stays(
    app: App, http: httpx.AsyncClient, clock: Clock
) -> None:
    await http.put("/v1/sessions/stays", json={"model": "gaussian"})
    expiry = Expiry(app.context.sessions, clock)
    clock.now += 1e9
    await expiry.scan()
    await expiry.sweep()
    assert await there(http, "/v1/sessions/stays")
    assert not await there(http)
    assert (await http.get("/v1/sessions/stays")).json()["expires_at"] is None


async def test_a_fork_begins_its_own_time(app: App, http: httpx.AsyncClient, clock: Clock) -> None:
    expiry, twin = Expiry(app.context.sessions, clock), "/v1/sessions/twin"
    await http.post(SAMPLES, json={"y": 1})
    clock.now += 50
    await http.post(f"{DEMO}/fork", json={"name": "twin"})
    clock.now += 20
    await expiry.sweep()
    assert (await there(http), await there(http, twin)) == (False, True)
    assert (await http.get(twin)).json()["t"] == 1
    clock.now += 50
    await expiry.sweep()
    assert not await there(http, twin)


async def test_a_session_that_another_replica_taught_stays(
    app: App, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SharedMemory()
    monkeypatch.setattr("llr_service.app.open_store", lambda _: store)
    other = App(Settings(store="memory:"), clock)
    async with running(app) as here, running(other) as there_too:
        await settle()
        await here.put(DEMO, json=CONFIG)
        expiry = Expiry(app.context.sessions, clock)
        clock.now += 100
        assert (await there_too.post(SAMPLES, json={"y": 1})).status_code == 200
        await expiry.sweep()
        assert (await here.get(DEMO)).json()["t"] == 1
        clock.now += 59
        await expiry.sweep()
        assert await there(there_too)
        clock.now += 2
        await expiry.sweep()
        assert not await there(there_too)


async def test_a_busy_session_is_looked_at_again(clock: Clock, store: Stub) -> None:
    app = App(Settings(store="memory:"), clock)
    async with running(app) as http:
        await http.put(DEMO, json=CONFIG)
        expiry = Expiry(app.context.sessions, clock)
        clock.now += 100
        store.opened.clear()
        learning = asyncio.create_task(http.post(SAMPLES, json={"y": 1}))
        await settle()
        await expiry.sweep()
        store.opened.set()
        assert (await learning).status_code == 200
        clock.now += 2
        await expiry.sweep()
        assert (await http.get(DEMO)).json()["t"] == 1


def test_sessions_of_an_earlier_run_expire_too(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(housekeeping, "SWEEP_SECONDS", 0.01)
    settings = Settings(store=f"sqlite:///{tmp_path / 'llr.db'}")
    with TestClient(App(settings, clock)) as client:
        client.put(DEMO, json=CONFIG)
        client.put("/v1/sessions/stays", json={"model": "gaussian"})
    clock.now += 100
    with TestClient(App(settings, clock)) as client:
        while len(names := client.get("/v1/sessions").json()["sessions"]) > 1:
            pass
        assert [row["name"] for row in names] == ["stays"]
