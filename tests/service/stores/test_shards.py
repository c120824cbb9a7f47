"""A store of several databases: each session in its place, and one service over all of them."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from llr_service.app import App
from llr_service.settings import Settings
from llr_service.stores import open_store, open_stores
from llr_service.stores.places import place, urls
from llr_service.stores.store import StoreError
from starlette.testclient import TestClient
from support import postgres
from support.stores_contract import created

NAMES = [f"s{number:02}" for number in range(20)]


@pytest.fixture
def three(tmp_path: Path) -> str:
    """Three databases, of two engines."""
    return f"{postgres.place()},sqlite:///{tmp_path / 'one.db'},{postgres.place()}"


def learn(client: TestClient, name: str, n: int = 1) -> int:
    """Let a session learn; the status of the answer."""
    body = {"y": [1.0] * n}
    status: int = client.post(f"/v1/sessions/{name}/samples", json=body).status_code
    return status


def test_sessions_are_spread_and_listed_as_one(three: str) -> None:
    with TestClient(App(Settings(store=three))) as client:
        for name in NAMES:
            assert client.put(f"/v1/sessions/{name}", json={"model": "gaussian"}).is_success
            assert learn(client, name, 3) == 200
        assert client.get("/v1/sessions?limit=1&total=true").json()["total"] == 20
        assert client.get("/version").json()["store"] == "postgresql, sqlite"
        seen, cursor = list[str](), ""
        while cursor is not None:
            page = client.get(f"/v1/sessions?limit=7&cursor={cursor}").json()
            seen += [row["name"] for row in page["sessions"]]
            cursor = page["next"]
        assert seen == NAMES
        assert client.delete("/v1/sessions/s03").status_code == 204
    found = {}
    for at, url in enumerate(urls(three)):
        with closing(open_store(url)) as store:
            found |= {row.name: (at, row.t) for row in store.list("", 99)}
    assert found == {name: (place(name, 3), 3) for name in NAMES if name != "s03"}
    assert set(Counter(at for at, _ in found.values())) == {0, 1, 2}


def test_a_fork_may_go_to_another_database_and_learn_its_samples_anew(three: str) -> None:
    source = next(name for name in NAMES if place(name, 3) == 0)
    others = [next(name for name in NAMES if place(name, 3) == at) for at in (1, 2)]
    with TestClient(App(Settings(store=three))) as client:
        client.put(f"/v1/sessions/{source}", json={"model": "gaussian", "retain": True})
        assert learn(client, source, 50) == 200
        for name in others:
            body = {"name": name, "algorithm": "sg/ag", "relearn": True}
            assert client.post(f"/v1/sessions/{source}/fork", json=body).is_success
            while client.get(f"/v1/sessions/{name}").json()["t"] < 50:
                pass
            assert learn(client, name) == 200


def test_a_list_in_another_order_or_of_another_length_is_refused(three: str) -> None:
    named = urls(three)
    for store, names in zip(open_stores(three), _by_place(), strict=True):
        created(store, *names)
        store.close()
    swapped = [named[1], named[0], named[2]]
    for wrong in (named[::-1], named[:2], named[:1], named[1:2], swapped):
        with pytest.raises(StoreError, match=r"it is database \d of 3, not .*migrate-store"):
            open_stores(",".join(wrong))
        with pytest.raises(StoreError), TestClient(App(Settings(store=",".join(wrong)))):
            pass
    with pytest.raises(StoreError, match="twice"):
        open_stores(f"{named[0]},{named[0]}")


def test_a_database_that_knows_no_place_is_looked_through(three: str) -> None:
    named = urls(three)
    for url, names in zip(named, _by_place(), strict=True):
        with closing(open_store(url)) as store:  # by itself, of no list
            created(store, *names)
    with pytest.raises(StoreError, match=r"session s\d\d is in database .*migrate-store"):
        open_stores(",".join(named[::-1]))
    for store in open_stores(three):
        store.close()


def test_databases_without_sessions_may_come_in_any_list(three: str) -> None:
    for order in (three, ",".join(urls(three)[::-1]), *urls(three)):
        for store in open_stores(order):
            store.close()


def test_another_list_is_noticed_when_a_database_comes_that_was_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("llr_service.stores.postgres.line.PAUSE", 0.0)
    cluster = postgres.mortal()
    several = [cluster.url(schema=name, migrate="true") for name in ("one", "two")]
    there = next(name for name in NAMES if place(name, 2) == 1)
    with TestClient(App(Settings(store=",".join(several)))) as client:
        assert client.put(f"/v1/sessions/{there}", json={"model": "gaussian"}).is_success
    cluster.stop()
    try:
        with TestClient(App(Settings(store=several[1]))) as client:
            cluster.start()
            with closing(open_store(several[1])) as store:
                assert store.load(there)  # it is back
            assert client.put("/v1/sessions/new", json={"model": "gaussian"}).status_code == 503
            assert client.get("/readyz").status_code == 503
    finally:
        cluster.stop()
        cluster.start()


def _by_place() -> list[list[str]]:
    return [[name for name in NAMES if place(name, 3) == at] for at in range(3)]


def test_a_database_that_is_away_takes_only_its_own_sessions_with_it(tmp_path: Path) -> None:
    here, there = (next(name for name in NAMES if place(name, 2) == at) for at in (0, 1))
    cluster = postgres.mortal()
    store = f"sqlite:///{tmp_path / 'here.db'},{cluster.url(schema='away', migrate='true')}"
    with TestClient(App(Settings(store=store))) as client:
        for name in (here, there):
            client.put(f"/v1/sessions/{name}", json={"model": "gaussian"})
        cluster.stop()
        try:
            assert (learn(client, here), learn(client, there)) == (200, 503)
            assert client.get("/readyz").status_code == 200
            assert client.get("/v1/sessions").status_code == 503
        finally:
            cluster.start()


def test_readiness_does_not_wait_for_a_database_that_hangs(tmp_path: Path) -> None:
    away = f"{postgres.place()}&timeout=600"
    store = f"{away},sqlite:///{tmp_path / 'here.db'}"
    locking = f"SET search_path = {postgres.schema_of(away)}; BEGIN; LOCK sessions;"
    with TestClient(App(Settings(store=store))) as client, ThreadPoolExecutor() as threads:
        with postgres.cluster().session(locking):
            ready = threads.submit(client.get, "/readyz")
            assert ready.result(timeout=20).json() == {"status": "ok"}
        assert client.get("/readyz").json() == {"status": "ok"}
