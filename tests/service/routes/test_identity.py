"""A name that is resolved again gives the same session or none; answers stay in proportion."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from support.app import DEMO, running

CONFIG = {"model": "gaussian"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def recreate(client: TestClient) -> None:
    assert client.delete(DEMO).status_code == 204
    assert client.put(DEMO, json=CONFIG).status_code == 201


def test_a_websocket_does_not_go_on_into_another_session(client: TestClient) -> None:
    client.put(DEMO, json=CONFIG)
    with client.websocket_connect(f"{DEMO}/stream") as stream:
        stream.send_text('{"y": 1.0}')
        assert json.loads(stream.receive_text())["t"] == 1
        recreate(client)
        stream.send_text('{"y": 2.0}')
        assert json.loads(stream.receive_text())["error"]["status"] == 404
        with pytest.raises(WebSocketDisconnect) as closed:
            stream.receive_text()
    assert closed.value.code == 4404
    assert client.get(DEMO).json()["t"] == 0


@pytest.mark.anyio
async def test_nor_does_a_stream_of_lines(settings: Settings) -> None:
    async with running(App(settings)) as http:
        await http.put(DEMO, json=CONFIG)
        taken = asyncio.Event()

        async def lines() -> AsyncIterator[bytes]:
            yield b'{"y": 1.0}\n'
            await taken.wait()
            assert (await http.delete(DEMO)).status_code == 204
            assert (await http.put(DEMO, json=CONFIG)).status_code == 201
            yield b'{"y": 2.0}\n'

        headers = {"content-type": "application/x-ndjson"}
        sending = asyncio.create_task(
            http.post(f"{DEMO}/samples", content=lines(), headers=headers)
        )
        while (await http.get(DEMO)).json()["t"] == 0:
            await asyncio.sleep(0)
        taken.set()
        answer = await sending
        assert answer.status_code == 404, answer.text
        assert answer.json()["accepted"] == 1
        assert (await http.get(DEMO)).json()["t"] == 0


def test_a_snapshot_without_a_state_replaces_no_session(client: TestClient) -> None:
    client.put(DEMO, json=CONFIG)
    empty = client.get(f"{DEMO}/snapshot").json() | {"state": None, "team": None}
    client.post(f"{DEMO}/samples", json={"y": 1.0})
    answer = client.put(f"{DEMO}/snapshot", json=empty)
    assert answer.status_code == 409
    assert answer.json()["type"] == "urn:llr:problem:session-exists"
    assert client.put("/v1/sessions/new/snapshot", json=empty).status_code == 201


def test_a_coordinate_is_told_once_and_not_too_many_of_them(client: TestClient) -> None:
    client.put(DEMO, json={"model": "linear", "dim": 200, "regret": "off"})
    client.post(f"{DEMO}/samples", json={"x": [1.0] * 200, "y": 1.0})
    again = client.get(f"{DEMO}/history", params={"theta": ",".join(["3", "0"] * 900)})
    assert again.json()["coordinates"] == [3, 0]
    many = client.get(f"{DEMO}/history", params={"theta": ",".join(map(str, range(101)))})
    assert many.status_code == 422


def test_a_shadow_that_is_there_is_documented(client: TestClient) -> None:
    put = client.get("/openapi.json").json()["paths"]["/v1/sessions/{name}/shadows/{shadow}"]["put"]
    assert put["responses"]["200"]["content"] == put["responses"]["201"]["content"]


def test_a_snapshot_that_is_written_in_a_thread_is_the_same(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.put(DEMO, json={"model": "linear", "dim": 3, "shadows": {"rival": {"algorithm": "sg"}}})
    sample = {"x": [1, 2, 3], "y": 1}
    client.post(f"{DEMO}/samples", params={"producer": "p", "seq": "0"}, json=sample)
    at_once = client.get(f"{DEMO}/snapshot")
    monkeypatch.setattr("llr_service.routes.copies.LONG", 0)
    threaded = client.get(f"{DEMO}/snapshot")
    assert (threaded.content, threaded.headers["etag"]) == (at_once.content, '"1"')
    assert client.put("/v1/sessions/twin/snapshot", json=threaded.json()).status_code == 201
