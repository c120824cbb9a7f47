"""GET of a session and of the list: encoded once, and never in the way of other requests."""

import asyncio
import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from llr_service import serializers
from llr_service.app import App
from llr_service.routes import sessions
from llr_service.settings import Settings
from support.app import DEMO, SAMPLES, Stub, running

pytestmark = pytest.mark.anyio
GAUSSIAN = {"model": "gaussian"}


def barely_seen() -> dict[str, Any]:
    """Samples with a direction that only an O(d³) step can judge."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 20))
    X[:, -1], X[5, -1] = 0.0, 1e-3
    return {"x": X.tolist(), "y": (5.0 * rng.normal(size=40)).tolist()}


async def test_a_state_is_encoded_once_until_it_changes(
    store: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    encode = serializers._encode

    def counted(session: Any, ensemble: Any, described: Any) -> Any:
        made.append(ensemble)
        return encode(session, ensemble, described)

    monkeypatch.setattr(serializers, "_encode", counted)
    async with running(App(Settings())) as http:
        await http.put(DEMO, json=GAUSSIAN)
        first = [await http.get(DEMO) for _ in range(3)]
        assert len(made) == 1
        assert len({answer.content for answer in first}) == 1
        await http.post(SAMPLES, json={"y": 4.0})
        second = await http.get(DEMO)
        assert (second.json()["t"], second.headers["etag"]) == (1, '"1"')
        await http.post(f"{DEMO}/predict", json={"id": "a"})
        assert (await http.get(DEMO)).json()["kept"] == 1
        assert len(made) == 3


async def test_a_state_that_was_encoded_keeps_nothing_large_in_memory(
    store: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App(Settings())
    async with running(app) as http:
        await http.put(DEMO, json=GAUSSIAN)
        await http.post(SAMPLES, json={"y": 4.0})
        session = app.context.sessions.get_cached("demo")
        assert session is not None
        old = weakref.ref(session.published)
        body = (await http.get(DEMO)).content
        assert session in serializers._encoded
        await http.post(SAMPLES, json={"y": 5.0})
        gc.collect()
        assert old() is None
        monkeypatch.setattr(serializers, "MAX_CACHED", len(body) - 100)
        assert (await http.get(DEMO)).json()["t"] == 2
        assert session not in serializers._encoded


async def test_the_next_number_of_a_producer_comes_on_top_of_the_state(store: Stub) -> None:
    async with running(App(Settings())) as http:
        await http.put(DEMO, json=GAUSSIAN)
        await http.post(f"{SAMPLES}?producer=p&seq=0", json={"y": [1.0, 2.0]})
        plain = (await http.get(DEMO)).json()
        for producer, due in (("p", 2), ("q", 0)):
            told = (await http.get(DEMO, params={"producer": producer})).json()
            assert told == plain | {"next_seq": due}


async def test_all_who_ask_share_one_search_for_the_best_parameter(
    store: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[bool] = []
    whole = serializers._encode_whole

    def counted(*arguments: Any) -> bytes:
        threads.append(threading.current_thread() is threading.main_thread())
        return whole(*arguments)

    monkeypatch.setattr(serializers, "_encode_whole", counted)
    async with running(App(Settings())) as http:
        await http.put(DEMO, json={"model": "linear", "dim": 20})
        await http.post(SAMPLES, json=barely_seen())
        answers = await asyncio.gather(*(http.get(DEMO) for _ in range(8)))
        answers.append(await http.get(DEMO))
    assert threads == [False]
    assert {answer.json()["regret"]["best_fixed"] is None for answer in answers} == {False}


async def test_a_state_that_could_not_be_encoded_is_tried_again(
    store: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = serializers._encode_whole

    def fails(*_: Any) -> bytes:
        raise MemoryError

    async with running(App(Settings())) as http:
        await http.put(DEMO, json={"model": "linear", "dim": 20})
        await http.post(SAMPLES, json=barely_seen())
        monkeypatch.setattr(serializers, "_encode_whole", fails)
        assert (await http.get(DEMO)).status_code == 500
        monkeypatch.setattr(serializers, "_encode_whole", whole)
        assert (await http.get(DEMO)).status_code == 200


async def test_a_long_theta_is_written_in_a_thread(
    store: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serializers, "LONG_THETA", 3)
    async with running(App(Settings())) as http:
        await http.put(DEMO, json={"model": "linear", "dim": 3})
        await http.put("/v1/sessions/short", json={"model": "linear", "dim": 2})
        one = await http.get(DEMO)
        assert one.json()["theta"] == [0.0, 0.0, 0.0]
        monkeypatch.setattr(serializers, "_encode_whole", lambda *_: b'{"t":0}')
        await http.post(SAMPLES, json={"x": [1, 2, 3], "y": 1})
        assert (await http.get(DEMO)).content == b'{"t":0}'
        assert (await http.get("/v1/sessions/short")).json()["theta"] == [0.0, 0.0]


async def test_a_list_lets_others_be_served_every_few_rows(
    store: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks, at = 0, list[int]()
    row = serializers.list_row

    def noted(session: Any) -> dict[str, Any]:
        at.append(ticks)
        return row(session)

    monkeypatch.setattr(serializers, "list_row", noted)
    async with running(App(Settings())) as http:
        names = [f"s{i:03}" for i in range(3 * sessions.ROWS_AT_ONCE)]
        for name in names:
            await http.put(f"/v1/sessions/{name}", json=GAUSSIAN)
        asking = asyncio.create_task(http.get("/v1/sessions", params={"limit": 1000}))
        while not asking.done():
            ticks += 1
            await asyncio.sleep(0)
        page = asking.result().json()
    assert [one["name"] for one in page["sessions"]] == names
    assert page["next"] is None
    assert max(at.count(tick) for tick in at) == sessions.ROWS_AT_ONCE


async def test_a_row_that_takes_long_counts_for_many(store: Stub) -> None:
    app = App(Settings())
    async with running(app) as http:
        for name, dim in (("wide", 1000), ("narrow", 10)):
            await http.put(f"/v1/sessions/{name}", json={"model": "linear", "dim": dim})
        peek = app.context.sessions.peek
        costs = [sessions._row_cost(peek(name)) for name in ("wide", "narrow", "none")]
        assert costs == [51, 1, 1]
