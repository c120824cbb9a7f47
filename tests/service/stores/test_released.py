"""Stores and snapshots that released versions wrote open in this one.

`released/VERSION` holds what that version wrote: a store whose sessions have log tails, a store of
snapshots alone, a snapshot as the API gives it, and the t and theta of each session.
"""

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from llr_service.app import App
from llr_service.settings import Settings
from llr_service.stores.sqlite import SQLite
from llr_service.stores.sqlite.checks import check_all
from starlette.testclient import TestClient
from support.stores_contract import known

RELEASED = sorted((Path(__file__).parent / "released").iterdir())


@pytest.fixture(params=RELEASED, ids=lambda path: path.name)
def released(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of what a version wrote."""
    return Path(shutil.copytree(request.param, tmp_path / "released"))


def opened(path: Path) -> TestClient:
    return TestClient(App(Settings(store=f"sqlite:///{path}")), base_url="http://localhost")


def states(released: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((released / "states.json").read_text())
    return found


@pytest.mark.parametrize("file", ["tails.db", "snapshots.db"])
def test_a_store_is_migrated_and_nothing_of_it_is_lost(released: Path, file: str) -> None:
    path = released / file
    with closing(SQLite(path)) as store:
        assert {row.name: row.t for row in store.list("", 9)}.items() <= {
            name: state["t"] for name, state in states(released).items()
        }.items()
        if file == "tails.db":
            assert [*known(store, "labels").pending] == ["", "a", "b", "c"]
            assert known(store, "plain").producers == {"p": 60}
    assert [each.damage for each in check_all(path) if each.damage] == []


def test_samples_are_learnt_again_to_the_bit_or_refused_with_what_to_do(released: Path) -> None:
    """0.1.0 is refused: its `labels` and `plain` would have other last digits in this version."""
    with opened(released / "tails.db") as client:
        for name, before in states(released).items():
            answer = client.get(f"/v1/sessions/{name}")
            if answer.status_code == 200:
                state = answer.json()
                assert (state["t"], state["theta"]) == (before["t"], before["theta"]), name
            else:
                assert before["t"]
                assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
                detail = answer.json()["detail"]
                assert "run `llr checkpoint`" in detail or "with 0.1.0 save" in detail
        assert client.get("/v1/sessions/empty").status_code == 200


def test_a_store_of_snapshots_goes_on_where_it_was(released: Path) -> None:
    with opened(released / "snapshots.db") as client:
        for name, before in states(released).items():
            if name == "empty":
                continue
            state = client.get(f"/v1/sessions/{name}").json()
            assert (state["t"], state["theta"]) == (before["t"], before["theta"]), name
        more = client.post("/v1/sessions/plain/samples?producer=p&seq=60", json={"y": [1.0]})
        assert more.json()["t"] == 61


def test_a_snapshot_is_taken_in(released: Path, tmp_path: Path) -> None:
    snapshot = json.loads((released / "snapshot.json").read_text())
    with opened(tmp_path / "new.db") as client:
        assert client.put("/v1/sessions/features/snapshot", json=snapshot).status_code == 201
        state = client.get("/v1/sessions/features").json()
        before = states(released)["features"]
        assert (state["t"], state["theta"]) == (before["t"], before["theta"])
