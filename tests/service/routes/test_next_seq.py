"""`GET /v1/sessions/{name}?producer=`: where a producer is to go on."""

import asyncio
from pathlib import Path

import pytest
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient
from support.app import DEMO, Stub, away, running, until

SEVEN = "/v1/sessions/demo?producer=sensor-7"


def create(client: TestClient) -> None:
    client.put("/v1/sessions/demo", json={"model": "gaussian"})
    client.post("/v1/sessions/demo/samples?producer=sensor-7&seq=0", json={"y": [1, 2, 3]})


def test_it_is_the_number_of_the_next_sample_and_0_for_a_stranger(client: TestClient) -> None:
    create(client)
    assert client.get(SEVEN).json()["next_seq"] == 3
    assert client.get("/v1/sessions/demo?producer=sensor-8").json()["next_seq"] == 0
    assert client.get(SEVEN).json()["t"] == 3


def test_nobody_is_told_who_did_not_ask(client: TestClient) -> None:
    create(client)
    assert "next_seq" not in client.get("/v1/sessions/demo").json()


def test_it_is_right_for_a_session_that_has_to_be_loaded(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path / 'llr.db'}")
    with TestClient(App(settings)) as client:
        create(client)
    with TestClient(App(settings)) as client:
        assert client.get(SEVEN).json()["next_seq"] == 3


@pytest.mark.parametrize("producer", ["", "a%20b", "%C3%A9", "a" * 129])
def test_a_producer_that_cannot_be_is_refused(client: TestClient, producer: str) -> None:
    create(client)
    refused = client.get(f"/v1/sessions/demo?producer={producer}")
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["parameter"] == "producer"


@pytest.mark.anyio
async def test_what_the_store_may_still_refuse_is_not_counted(store: Stub) -> None:
    app = App(Settings(store="memory:"))
    async with running(app) as http:
        await http.put(DEMO, json={"model": "gaussian"})
        store.opened.clear()
        samples = http.post(f"{DEMO}/samples?producer=sensor-7&seq=0", json={"y": [1, 2]})
        learning = asyncio.create_task(samples)
        await until(lambda: store.waiting)
        asking = asyncio.create_task(http.get(SEVEN))
        session = app.context.sessions.peek("demo")
        assert session is not None
        await until(lambda: session.queue.lock_waiters)
        assert not asking.done()
        store.fails = away
        store.opened.set()
        assert (await learning).status_code == (await asking).status_code == 503
        store.fails = None
        assert (await http.get(SEVEN)).json()["next_seq"] == 0
