"""A store that is older than it was, as after a failover or a restore under running services."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any, NamedTuple

import pytest
from llr_service.app import App
from llr_service.settings import Settings
from llr_service.stores.store import (
    Change,
    Conflict,
    CreateSession,
    DeleteSession,
    StoredSession,
    Version,
    Written,
)
from starlette.testclient import TestClient
from support.shared_memory import SharedMemory

DEMO = "/v1/sessions/demo"
GAUSSIAN = {"model": "gaussian", "algorithm": "sg/ag"}


class Standby(SharedMemory):
    """A store whose standby takes over, without what came after it was last brought up to date."""

    def __init__(self) -> None:
        super().__init__()
        self._behind: Any = None
        self.loads, self.gave_up = 0, False
        self.answered, self.let_go = threading.Event(), threading.Event()
        self.let_go.set()

    def load(self, name: str) -> StoredSession | None:
        self.loads += 1
        return super().load(name)

    def replicate(self) -> None:
        with self._lock:
            self._behind = deepcopy(self._sessions)

    def fail_over(self) -> None:
        with self._lock:
            self._sessions = self._behind

    def versions(self, names: Sequence[str]) -> Mapping[str, Version]:
        found = super().versions(names)
        self.answered.set()
        self.gave_up |= not self.let_go.wait(20)
        return found


class Served(NamedTuple):
    client: TestClient
    store: Standby

    def learn(self, y: float, seq: int) -> Any:
        asked = {"producer": "p", "seq": seq}
        return self.client.post(f"{DEMO}/samples", json={"y": y}, params=asked).json()

    @property
    def t(self) -> int:
        return int(self.client.get(DEMO).json()["t"])


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    store = Standby()
    monkeypatch.setattr("llr_service.app.open_store", lambda _: store)
    with TestClient(App(Settings(store="memory:"))) as client:
        assert client.put(DEMO, json=GAUSSIAN).status_code == 201
        yield Served(client, store)


@pytest.mark.parametrize("before", [0, 1, 2])
def test_what_the_database_lost_is_not_shown(served: Served, before: int) -> None:
    for seq in range(3):
        if seq == before:
            served.store.replicate()
        served.learn(1.0, seq)
    assert served.t == 3
    served.store.fail_over()
    assert served.t == before


def test_the_list_does_not_show_what_the_database_lost(served: Served) -> None:
    served.learn(1.0, 0)
    served.store.replicate()
    served.learn(2.0, 1)
    served.store.fail_over()
    [shown] = served.client.get("/v1/sessions").json()["sessions"]
    assert shown["t"] == 1


def test_what_the_database_lost_is_learnt_when_it_is_sent_again(served: Served) -> None:
    served.learn(1.0, 0)
    served.store.replicate()
    served.learn(2.0, 1)
    served.store.fail_over()
    again = served.learn(2.0, 1)
    assert (again["t"], again["duplicate"]) == (2, False)
    stored = served.store.load("demo")
    assert stored is not None
    assert (stored.t, stored.producers) == (2, {"p": 2})


def test_a_producer_that_is_ahead_of_the_database_is_told_of_the_gap(served: Served) -> None:
    served.learn(1.0, 0)
    served.store.replicate()
    served.learn(2.0, 1)
    served.store.fail_over()
    gap = served.learn(3.0, 2)
    assert (gap["type"], gap["expected"]) == ("urn:llr:problem:sequence-gap", 1)


def test_events_tell_that_the_database_went_back(served: Served) -> None:
    served.learn(1.0, 0)
    served.store.replicate()
    served.learn(2.0, 1)
    with served.client.stream("GET", f"{DEMO}/events") as events:
        lines = (line for line in events.iter_lines() if line.startswith("id: "))
        assert next(lines) == "id: 2"
        served.store.fail_over()
        assert next(lines) == "id: 1"
        served.client.delete(DEMO)


def test_what_was_stored_while_the_store_was_asked_costs_no_reload(served: Served) -> None:
    served.learn(1.0, 0)
    loads, store = served.store.loads, served.store
    with ThreadPoolExecutor() as threads:
        store.answered.clear()
        store.let_go.clear()
        read = threads.submit(served.client.get, DEMO)
        assert store.answered.wait(20)  # as it was before the next sample
        assert served.learn(2.0, 1)["t"] == 2
        store.let_go.set()
        assert read.result().json()["t"] == 2
    assert store.loads == loads


class Vanishing(SharedMemory):
    """A store in which a session that was in the way of another is gone when it is looked for."""

    def write(self, group: Sequence[Change]) -> list[Written | Conflict]:
        results = super().write(group)
        taken = [one for one, is_ in zip(group, results, strict=True) if isinstance(is_, Conflict)]
        for create in (one for one in taken if isinstance(one, CreateSession)):
            super().write([DeleteSession(self._ids[create.name])])
        return results


def test_what_is_in_the_way_and_gone_at_once_does_not_keep_a_session_from_being_created(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = Vanishing()
    monkeypatch.setattr("llr_service.app.open_store", lambda _: store)
    with TestClient(App(Settings(store="memory:"))) as client:
        for name in ("demo", "twin"):
            store.write([CreateSession(name, b"{}", version=1)])
        assert client.put(DEMO, json=GAUSSIAN).status_code == 201
        assert client.post(f"{DEMO}/fork", json={"name": "twin"}).status_code == 201
