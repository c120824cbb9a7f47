"""What-ifs: a fork that learns the samples of a session again, to the last bit."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llr_service.app import App
from llr_service.sessions import replay
from llr_service.sessions.config import ReplaySource, SessionConfig, ShadowConfig, to_stored
from llr_service.settings import Settings
from llr_service.stores.store import REPLAY_MARK, StoreFull, StoreUnavailable
from support.app import Stub, running, until
from support.serving import Server, started
from support.what_ifs import ROWS, A, B, Gate, X, Y, done, fresh, source, state, what_if

pytestmark = pytest.mark.anyio


@pytest.fixture
async def http(store: Stub) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an app on the stub."""
    async with running(App(Settings(store="memory:"))) as client:
        yield client


@pytest.mark.parametrize(
    "changes",
    [{}, {"algorithm": "sg/sg"}, {"algorithm": "auto"}, {"algorithm": "sg", "eta0": 0.01}],
)
async def test_a_what_if_ends_as_a_fresh_session_with_the_same_samples(
    http: httpx.AsyncClient, changes: dict[str, Any]
) -> None:
    await source(http)
    made = await what_if(http, **changes)
    assert (made["t"], made["relearning"]["of"], made["relearning"]["source"]) == (0, 600, "a")
    ended = await done(http)
    expected = {"source": "a", "done": 600, "of": 600, "stopped": None}
    assert (ended["relearning"], ended["status"], ended["t"]) == (expected, "ok", 600)
    snapshot = (await http.get(f"{B}/snapshot")).json()
    assert snapshot["state"] == fresh(**{"algorithm": "sg/ag"} | changes)
    assert snapshot["producers"] == {"p": 600}


async def test_producers_go_on_with_a_what_if(http: httpx.AsyncClient) -> None:
    await source(http)
    await what_if(http)
    await done(http)
    again: dict[str, Any] = {"producer": "p", "seq": 570}
    answer = await http.post(f"{B}/samples", json=ROWS[570:] + ROWS[:5], params=again)
    assert (answer.json()["accepted"], answer.json()["t"]) == (5, 605)
    expected = {"source": "a", "done": 600, "of": 600, "stopped": None}
    assert (await state(http))["relearning"] == expected


async def test_progress_shows_and_others_wait_until_it_is_done(
    http: httpx.AsyncClient, gate: Gate
) -> None:
    await source(http)
    await what_if(http, algorithm="auto")
    gate.open(3)
    await until(lambda: gate.asked == 4)
    assert (await state(http))["relearning"]["done"] == 90
    requests = [
        http.post(f"{B}/samples", json=ROWS[0]),
        http.post(f"{B}/samples", content=b'{"x":[1,2],"y":3}\n', headers=NDJSON),
        http.post(f"{B}/predict", json={"x": [1, 2], "id": "i"}),
        http.post(f"{B}/labels", json={"id": "i", "y": 1}),
        http.post(f"{B}/fork", json={"name": "c"}),
        http.get(f"{B}/snapshot"),
    ]
    for answer in await asyncio.gather(*requests):
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:llr:problem:relearning")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert (answer.json()["done"], answer.json()["of"]) == (90, 600)
    assert (await http.post(f"{B}/predict", json={"x": [1, 2]})).status_code == 200
    assert (await http.post(f"{A}/samples", json=ROWS[0])).status_code == 200
    gate.open()
    assert (await done(http))["t"] == 600
    assert (await http.get(f"{B}/snapshot")).json()["state"] == fresh("auto")


async def test_a_stream_to_a_what_if_ends_and_nothing_of_it_is_learnt(
    store: Stub, gate: Gate
) -> None:
    app = App(Settings(store="memory:"))
    told: list[Any] = []
    messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    messages.put_nowait({"type": "websocket.connect"})
    messages.put_nowait({"type": "websocket.receive", "text": json.dumps(ROWS[0])})

    async def send(message: Any) -> None:
        told.append(message)

    async with running(app) as http, asyncio.timeout(20):
        await source(http)
        await what_if(http)
        await until(lambda: gate.asked == 1)
        scope = {"type": "websocket", "path": f"{B}/stream", "query_string": b"", "headers": []}
        await app(scope, messages.get, send)
        assert json.loads(told[-2]["text"])["error"]["type"] == "urn:llr:problem:relearning"
        assert told[-1]["code"] == 1013
        assert (await state(http))["t"] == 0
        gate.open()
        await done(http)


NDJSON = {"content-type": "application/x-ndjson"}


async def test_a_promotion_keeps_the_samples_and_a_what_if_learns_as_the_session_does_now(
    http: httpx.AsyncClient,
) -> None:
    await source(http, dim=2, shadows={"rival": {"algorithm": "auto"}})
    promoted = await http.post(f"{A}/promote", json={"name": "rival"})
    assert promoted.status_code == 200, promoted.text
    assert (await state(http, A))["retained"]["complete"]
    made = await what_if(http)
    assert made["algorithm"] == "auto"
    await done(http)
    await http.put("/v1/sessions/c", json=made["config"])
    await http.post("/v1/sessions/c/samples", json=ROWS)
    snapshots = [(await http.get(f"{path}/snapshot")).json() for path in (B, "/v1/sessions/c")]
    assert snapshots[0]["state"] == snapshots[1]["state"]


async def test_named_features_are_learnt_anew_with_their_names(http: httpx.AsyncClient) -> None:
    rows = [
        {"x": {"a": x[0], f"b{i % 7}": x[1]}, "y": y}
        for i, (x, y) in enumerate(zip(X, Y, strict=True))
    ]
    await http.put(A, json={"model": "linear", "algorithm": "sg/ag", "retain": True})
    for at in range(0, 600, 40):
        answer = await http.post(f"{A}/samples", json=rows[at : at + 40])
        assert answer.status_code == 200, answer.text
    made = await what_if(http, algorithm="sg", eta0=0.01)
    ended = await done(http)
    assert (ended["t"], ended["status"]) == (600, "ok")
    await http.put("/v1/sessions/c", json=made["config"])
    await http.post("/v1/sessions/c/samples", json=rows)
    snapshots = [(await http.get(f"{path}/snapshot")).json() for path in (B, "/v1/sessions/c")]
    assert snapshots[0]["state"] == snapshots[1]["state"]


async def test_its_own_samples_stay_if_its_config_says_so(http: httpx.AsyncClient) -> None:
    await source(http)
    await what_if(http)
    await what_if(http, name="c", retain=False)
    kept = (await done(http))["retained"]
    assert (kept["samples"], kept["complete"]) == (600, True)
    assert (await done(http, "/v1/sessions/c"))["retained"] is None
    further = await http.post(f"{B}/fork", json={"name": "d", "relearn": True, "eta0": 0.5})
    assert further.json()["relearning"]["of"] == 600
    refused = await http.post("/v1/sessions/c/fork", json={"name": "e", "relearn": True})
    assert refused.status_code == 409


async def test_a_session_that_did_not_keep_its_samples_says_what_was_needed(
    http: httpx.AsyncClient, gate: Gate
) -> None:
    await http.put(A, json={"model": "linear"})
    await http.post(f"{A}/samples", json=ROWS)
    refused = await http.post(f"{A}/fork", json={"name": "b", "relearn": True})
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:llr:problem:not-retained")
    assert '"retain": true' in refused.json()["detail"]
    assert (await http.get(B)).status_code == 404


async def test_a_session_that_stopped_keeping_says_how_far_it_came(store: Stub) -> None:
    async with running(App(Settings(store="memory:", max_retained=2000))) as http:
        await source(http)
        refused = await http.post(f"{A}/fork", json={"name": "b", "relearn": True})
        assert refused.json()["detail"].startswith("60 of its 600 samples are kept")


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [({"algorithm": "no"}, "/algorithm"), ({"dim": 3}, "/dim"), ({"theta0": [1.0]}, "/theta0")],
)
async def test_a_config_that_cannot_be_is_refused_before_anything_is_made(
    http: httpx.AsyncClient, changes: dict[str, Any], pointer: str
) -> None:
    await source(http)
    refused = await http.post(f"{A}/fork", json={"name": "b", "relearn": True} | changes)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, pointer)
    assert (await http.get(B)).status_code == 404


async def test_one_that_diverges_says_so_and_stays_where_it_was(http: httpx.AsyncClient) -> None:
    await source(http)
    await what_if(http, algorithm="sg", eta0=1e6)
    ended = await done(http)
    assert ended["status"] == "stopped"
    assert "leave the finite numbers" in ended["relearning"]["stopped"]
    t = ended["t"]
    assert t % 30 == 0, "at the end of a batch as it once came"
    assert np.isfinite(ended["theta"]).all()
    refused = await http.post(f"{B}/samples", json=ROWS[0])
    assert (refused.status_code, refused.json()["type"]) == (
        409,
        "urn:llr:problem:relearning-stopped",
    )
    assert (await state(http))["t"] == t
    assert (await http.delete(B)).status_code == 204


async def test_samples_the_other_model_cannot_take_stop_it(http: httpx.AsyncClient) -> None:
    await source(http)
    await what_if(http, model="logistic")
    ended = await done(http)
    assert (ended["t"], ended["status"]) == (0, "stopped")
    assert "y" in ended["relearning"]["stopped"]


async def test_a_source_that_is_deleted_meanwhile_stops_it(
    http: httpx.AsyncClient, gate: Gate
) -> None:
    await source(http)
    await what_if(http)
    gate.open(2)
    await until(lambda: gate.asked == 3)
    await http.delete(A)
    await http.put(A, json={"model": "linear"})
    gate.open()
    ended = await done(http)
    assert (ended["t"], ended["status"]) == (60, "stopped")
    assert "deleted" in ended["relearning"]["stopped"]


async def test_one_that_does_not_move_is_seen_to_by_another(store: Stub, gate: Gate) -> None:
    async with running(App(Settings(store="memory:"))) as http:
        await source(http)
        await what_if(http)
        gate.open(2)
        await until(lambda: gate.asked == 3)
    app = App(Settings(store="memory:"))
    async with running(app) as http:
        worker = app.context.sessions.replay_worker
        await worker.close()
        assert not worker._tasks, "as if it had started before the other ended"
        await worker.adopt_orphans()
        assert not worker._tasks, "perhaps somebody sees to it"
        await worker.adopt_orphans()
        assert [*worker._tasks] == ["b"]
        gate.open()
        assert (await done(http))["t"] == 600


@pytest.mark.parametrize(
    "text", ["relearn", '"relearn":["', '\\"relearn":["', REPLAY_MARK.decode() * 2]
)
def test_a_config_has_the_mark_of_the_store_if_it_is_that_of_a_what_if(text: str) -> None:
    config = SessionConfig(
        model=text,
        algorithm=text,
        theta0={text: [1.0], "relearn": [1.0]},
        options={text: text, "relearn": text},
        shadows={"relearn": ShadowConfig(algorithm=text, options={text: text})},
    )
    assert REPLAY_MARK in to_stored(config, ReplaySource("relearn", 1, 9))
    assert REPLAY_MARK not in to_stored(config)


async def test_only_what_ifs_are_looked_through_and_those_that_ended_let_be(store: Stub) -> None:
    app = App(Settings(store="memory:"))
    async with running(app) as http:
        await source(http)
        await http.put("/v1/sessions/c", json={"model": "linear"})
        await what_if(http)
        await done(http)
        worker = app.context.sessions.replay_worker
        await until(lambda: not worker._tasks)
        store.told.clear()
        await worker.adopt_orphans()
        await worker.adopt_orphans()
        assert store.told == ["b", "b"]
        assert not worker._tasks


async def test_samples_of_another_session_are_not_taken_for_those_of_the_source(
    store: Stub, gate: Gate
) -> None:
    async with running(App(Settings(store="memory:"))) as http:
        await source(http)
        await what_if(http)
        await http.put("/v1/sessions/other", json={"model": "linear"})
    numbers = store._ids
    numbers["a"], numbers["other"] = numbers["other"], numbers["a"]
    gate.open()
    async with running(App(Settings(store="memory:"))) as http:
        ended = await done(http)
        assert (ended["t"], ended["status"]) == (0, "stopped")
        assert "deleted" in ended["relearning"]["stopped"]


async def test_a_what_if_may_be_deleted_meanwhile_and_made_again(
    http: httpx.AsyncClient, gate: Gate
) -> None:
    await source(http)
    await what_if(http)
    gate.open(2)
    await until(lambda: gate.asked == 3)
    assert (await http.delete(B)).status_code == 204
    await what_if(http, algorithm="sg/sg")
    gate.open()
    await done(http)
    assert (await http.get(f"{B}/snapshot")).json()["state"] == fresh("sg/sg")


async def test_what_is_learnt_meanwhile_by_the_source_is_not_in_it(
    http: httpx.AsyncClient, gate: Gate
) -> None:
    await source(http)
    await what_if(http)
    await http.post(f"{A}/samples", json=ROWS[:7], params={"producer": "p", "seq": 600})
    gate.open()
    assert (await done(http))["t"] == 600
    assert (await http.get(B, params={"producer": "p"})).json()["next_seq"] == 600


@pytest.mark.slow
@given(st.lists(st.integers(1, 90), min_size=1, max_size=12), st.integers(1, 3000))
@settings(max_examples=12, derandomize=True, deadline=None)
def test_it_is_the_same_however_the_samples_came_and_are_read(sizes: list[int], block: int) -> None:
    async def live() -> Any:
        async with running(App(Settings(store="memory:"))) as http:
            await http.put(A, json={"model": "linear", "algorithm": "sg/ag", "retain": True})
            at = 0
            for n in sizes:
                await http.post(f"{A}/samples", json=ROWS[at : at + n])
                at += len(ROWS[at : at + n])
            await what_if(http, algorithm="svrg/ag")
            await done(http)
            return (await http.get(f"{B}/snapshot")).json()["state"], at

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay, "BLOCK", block)
        state, n = asyncio.run(live())
    assert state == fresh("svrg/ag", n=n)


@pytest.mark.parametrize("failure", [StoreFull("full"), StoreUnavailable("away")])
async def test_it_goes_on_by_itself_when_the_store_failed(
    http: httpx.AsyncClient, store: Stub, gate: Gate, failure: Exception
) -> None:
    await source(http)
    await what_if(http)
    tries = 0

    def fails(_: Any) -> Any:
        nonlocal tries
        tries += 1
        if tries == 3:
            store.fails = None
        raise failure

    store.fails = fails
    gate.open()
    assert (await done(http))["t"] == 600
    assert tries == 3
    assert (await http.get(f"{B}/snapshot")).json()["state"] == fresh("sg/ag")


async def test_a_damaged_log_stops_it(http: httpx.AsyncClient, store: Stub, gate: Gate) -> None:
    await source(http)
    await what_if(http)
    del store._sessions[1].log[5]
    gate.open()
    ended = await done(http)
    assert (ended["t"], ended["status"]) == (150, "stopped")
    assert "its log goes on at 180, not at 150" in ended["relearning"]["stopped"]


async def test_events_tell_of_the_progress_and_of_the_end(tmp_path: Path) -> None:
    with started(tmp_path, log_level="error") as server:
        retained_source(server)
        ask(server, "POST", f"{A}/fork", {"name": "b", "relearn": True, "algorithm": "auto"})
        with closing(HTTPConnection("127.0.0.1", server.port, timeout=20)) as connection:
            connection.request("GET", f"{B}/events")
            answer, seen = connection.getresponse(), list[dict[str, Any]]()
            while not seen or seen[-1]["relearning"]["done"] < 600:
                line = answer.readline()
                if line.startswith(b"data: "):
                    seen.append(json.loads(line.removeprefix(b"data: ")))
        assert [each["t"] for each in seen] == [each["relearning"]["done"] for each in seen]


def ask(server: Server, method: str, path: str, body: Any = None) -> Any:
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=20)) as connection:
        connection.request(method, path, json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status in (200, 201), text
        return json.loads(text)


def retained_source(server: Server) -> None:
    ask(server, "PUT", A, {"model": "linear", "algorithm": "sg/ag", "retain": True})
    for at in range(0, 600, 30):
        ask(server, "POST", f"{A}/samples", ROWS[at : at + 30])


SLOW = """
import asyncio
from llr_service.sessions import replay
from llr_service.__main__ import main
block = replay.ReplayWorker._learn_block
async def slow(*arguments):
    await block(*arguments)
    await asyncio.sleep(0.02)
replay.BLOCK, replay.ReplayWorker._learn_block = 1, slow
main()
"""


def test_a_kill_in_the_middle_does_not_end_it(tmp_path: Path) -> None:
    with started(tmp_path, ("-c", SLOW), log_level="error") as server:
        retained_source(server)
        ask(server, "POST", f"{A}/fork", {"name": "b", "relearn": True, "algorithm": "sg/sg"})
        while (at := ask(server, "GET", B)["t"]) < 120:
            pass
        server.process.kill()
        server.process.wait(timeout=20)
    assert 120 <= at < 600
    with started(tmp_path, log_level="error") as server:
        while ask(server, "GET", "/v1/sessions")["sessions"][1]["t"] < 600:
            pass  # the list loads no session: it goes on by itself
        shown = ask(server, "GET", f"{B}/snapshot")
        assert shown["state"] == fresh("sg/sg")
