"""One rule in every engine: what does not follow the last stored change is refused.

A group fails while the next one is already on its way. What was computed from the failed group must
not be stored, whether or not it moves t.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from llr_service.app import App
from llr_service.problems import Problem
from llr_service.sessions import delayed_labels
from llr_service.sessions.config import SessionConfig, to_stored
from llr_service.sessions.consistency import get_flushed, get_latest, run_with_retry
from llr_service.sessions.session import Session
from llr_service.sessions.storage import VersionConflict
from llr_service.settings import Settings
from llr_service.stores.memory import Memory
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import (
    Change,
    CreateSession,
    Result,
    Store,
    StoredSession,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from support.app import DEMO, SAMPLES, running, settle, until
from support.shared_memory import SharedMemory

pytestmark = pytest.mark.anyio
LINEAR = {"model": "linear", "dim": 2, "shadows": {"rival": {"algorithm": "sg/ag"}}}
LABEL = {"id": "a", "y": 1.0}


class Gate:
    """Holds groups back until they may go, and fails the next ones as told."""

    def __init__(self) -> None:
        self.open, self.waiting = threading.Event(), 0
        self.open.set()
        self.failures: list[StoreError] = []

    def passed(self) -> None:
        """Wait, then fail if told to."""
        self.waiting += 1
        assert self.open.wait(20)
        self.waiting -= 1
        if self.failures:
            raise self.failures.pop(0)


class GatedMemory(Memory):
    gate: Gate

    def write(self, group: Sequence[Change]) -> list[Result]:
        self.gate.passed()
        return super().write(group)


class GatedSQLite(SQLite):
    gate: Gate

    def write(self, group: Sequence[Change]) -> list[Result]:
        self.gate.passed()
        return super().write(group)


ENGINES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: GatedMemory(),
    "sqlite": lambda path: GatedSQLite(path / "llr.db"),
}


@pytest.fixture(params=ENGINES)
def gate(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gate:
    store: Any = ENGINES[request.param](tmp_path)
    store.gate = Gate()
    monkeypatch.setattr("llr_service.app.open_store", lambda _: store)
    found: Gate = store.gate
    return found


async def one_fails(
    gate: Gate, failure: StoreError, *requests: Callable[[], Any]
) -> list[httpx.Response]:
    """Send the first request, then the others while its group is on its way; then it fails."""
    gate.open.clear()
    first = asyncio.ensure_future(requests[0]())
    await until(lambda: gate.waiting)
    others = [asyncio.ensure_future(request()) for request in requests[1:]]
    await settle()
    gate.failures = [failure]
    gate.open.set()
    answers: list[httpx.Response] = await asyncio.gather(first, *others)
    return answers


@pytest.mark.parametrize("failure", [StoreFull("full"), StoreUnavailable("away")])
async def test_a_prediction_that_was_acknowledged_takes_its_label(
    gate: Gate, failure: StoreError
) -> None:
    async with running(App(Settings(store="memory:"))) as http:
        await http.put(DEMO, json=LINEAR)
        predict = {"x": [1.0, 2.0], "id": "a"}
        first, learnt, again = await one_fails(
            gate,
            failure,
            lambda: http.post(f"{DEMO}/predict", json=predict),
            lambda: http.post(SAMPLES, json={"x": [1.0, 0.0], "y": 1.0}),
            lambda: http.post(f"{DEMO}/predict", json=predict),
        )
        assert first.status_code in (503, 507)
        assert learnt.status_code == 200
        stored = again.status_code == 200
        label = await http.post(f"{DEMO}/labels", json=LABEL)
        assert label.status_code == (200 if stored else 404)
        assert (await http.get(DEMO)).json()["t"] == 1 + stored


async def test_a_promotion_that_was_refused_changed_nothing(gate: Gate) -> None:
    async with running(App(Settings(store="memory:"))) as http:
        await http.put(DEMO, json=LINEAR)
        await http.post(SAMPLES, json={"x": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], "y": [1, 2, 3]})
        before = (await http.get(DEMO)).json()
        promoted, learnt = await one_fails(
            gate,
            StoreFull("full"),
            lambda: http.post(f"{DEMO}/promote", json={"name": "rival"}),
            lambda: http.post(SAMPLES, json={"x": [2.0, 1.0], "y": 1.0}),
        )
        assert (promoted.status_code, learnt.status_code) == (507, 200)
        after = (await http.get(DEMO)).json()
        assert after["algorithm"] == before["algorithm"]
        assert [*after["shadows"]] == ["rival"]
        assert (after["t"], after["theta"]) == (4, learnt.json()["theta"])


async def test_after_a_failure_a_copy_accepts_nothing_until_it_is_loaded(gate: Gate) -> None:
    app = App(Settings(store="memory:"))
    async with running(app) as http:
        await http.put(DEMO, json=LINEAR)
        copy = app.context.sessions.get_cached("demo")
        assert copy is not None
        answers = await one_fails(
            gate,
            StoreFull("full"),
            *[lambda: http.post(SAMPLES, json={"x": [1.0, 0.0], "y": 1.0})] * 4,
        )
        codes = sorted(answer.status_code for answer in answers)
        assert codes == [200, 200, 200, 507]
        assert copy.discarded
        assert (await http.get(DEMO)).json()["t"] == 3


async def test_a_refusal_rests_on_what_is_stored(gate: Gate) -> None:
    async with running(App(Settings(store="memory:"))) as http:
        await http.put(DEMO, json=LINEAR)
        sample, at_start = {"x": [1.0, 0.0], "y": 1.0}, {"If-Match": '"0"'}
        first, second = await one_fails(
            gate,
            StoreFull("full"),
            lambda: http.post(SAMPLES, json=sample),
            lambda: http.post(SAMPLES, json=sample, headers=at_start),
        )
        assert first.status_code == 507
        assert (second.status_code, second.json()["t"]) == (200, 1)


LATE = {"model": "linear", "dim": 2, "expired_label": 0.0, "label_seconds": 5}


async def test_an_expiry_that_waited_learns_nothing_on_a_copy_that_was_discarded() -> None:
    now = [1000.0]
    app = App(Settings(store="memory:"), lambda: now[0])
    async with running(app) as http:
        await http.put(DEMO, json=LATE)
        await http.post(f"{DEMO}/predict", json={"x": [1.0, 2.0], "id": "a"})
        copy = app.context.sessions.get_cached("demo")
        assert copy is not None
        now[0] += 10
        async with copy.queue.lock():
            expiring = asyncio.ensure_future(delayed_labels.expire(copy))
            await settle()
            assert copy.busy, "it cannot be evicted meanwhile"
            copy.discard()
        with pytest.raises(VersionConflict):
            await expiring
        assert copy.latest is not None
        assert copy.latest.t == 0
        assert (await http.get(DEMO)).json()["t"] == 0
        await app.context.sessions.expire_labels()
        assert (await http.get(DEMO)).json()["t"] == 1


async def test_a_copy_stays_in_memory_while_labels_wait_for_an_expiry() -> None:
    now = [1000.0]
    app = App(Settings(store="memory:"), lambda: now[0])
    async with running(app) as http:
        await http.put(DEMO, json=LATE)
        await http.post(f"{DEMO}/predict", json={"x": [1.0, 2.0], "id": "a"})
        copy = app.context.sessions.get_cached("demo")
        assert copy is not None
        now[0] += 10
        async with copy.queue.lock():
            sent = asyncio.ensure_future(http.post(f"{DEMO}/labels", json=LABEL))
            await until(lambda: copy.queue.lock_waiters == 2)
            assert copy.busy
        assert (await sent).status_code == 404


async def test_work_on_a_copy_that_was_discarded_is_done_again() -> None:
    app = App(Settings(store="memory:"))
    async with running(app) as http:
        await http.put(DEMO, json=LINEAR)
        registry = app.context.sessions
        first, copies = await registry.get("demo"), list[Session]()

        async def work(session: Session) -> int:
            copies.append(session)
            if session is first:
                session.discard()
            return len(copies)

        assert await run_with_retry(registry, first, work, lambda _: False) == 2
        assert copies[1] is await get_latest(registry, "demo")
        assert await registry.evict_if_stale(first)


async def test_a_name_that_is_another_sessions_now_is_not_read_for_the_first() -> None:
    app = App(Settings(store="memory:"))
    async with running(app) as http:
        await http.put(DEMO, json=LINEAR)
        first = await get_latest(app.context.sessions, "demo")
        await http.delete(DEMO)
        await http.put(DEMO, json=LINEAR)
        with pytest.raises(Problem, match="creates it"):
            await get_flushed(app.context.sessions, first)
        second = await get_latest(app.context.sessions, "demo")
        assert await get_flushed(app.context.sessions, second) is second


class HeldLoad(SharedMemory):
    """Reads at once, and returns what it read when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.read, self.go_on = threading.Event(), threading.Event()

    def load(self, name: str) -> StoredSession | None:
        found = super().load(name)
        self.read.set()
        assert self.go_on.wait(20)
        return found


async def test_a_load_from_before_a_creation_does_not_hide_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = HeldLoad()
    monkeypatch.setattr("llr_service.app.open_store", lambda _: store)
    async with running(App(Settings(store="memory:"))) as http:
        before = asyncio.ensure_future(http.get(DEMO))
        await until(store.read.is_set)
        store.write([CreateSession("demo", to_stored(SessionConfig(model="gaussian")))])
        after = asyncio.ensure_future(http.get(DEMO))  # another replica has acknowledged it
        await settle()
        store.go_on.set()
        assert (await before).status_code == 404
        assert (await after).status_code == 200
