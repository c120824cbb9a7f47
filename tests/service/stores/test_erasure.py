"""DELETE erases: the file and its log contain nothing of a deleted session."""

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from llr_service.stores.sqlite import SQLite
from llr_service.stores.sqlite.checks import check_all
from llr_service.stores.store import (
    AppendSamples,
    CreateSession,
    DeleteSession,
    PendingExample,
    VersionCheck,
    WriteSnapshot,
    Written,
)
from starlette.testclient import TestClient

MARKER = b"a marker that is found nowhere else"
DEMO = "/v1/sessions/demo"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "llr.db"


@contextmanager
def opened(path: Path) -> Iterator[SQLite]:
    store = SQLite(path)
    try:
        yield store
    finally:
        store.close()


def found(path: Path, marker: bytes = MARKER) -> list[str]:
    """The files in which the marker is."""
    return [file.name for file in path.parent.iterdir() if marker in file.read_bytes()]


def tidy(store: SQLite) -> None:
    while store.run_maintenance():
        pass


def fill(store: SQLite, name: str, marker: bytes, entries: int = 40) -> int:
    """A session with the marker in every table, large and small, some of it replaced already."""
    config = b'{"note": "%b"}' % marker
    [created] = store.write([CreateSession(name, config, producers={marker.decode(): 1})])
    assert isinstance(created, Written)
    session, size = created.session, 0
    for t in range(entries):
        blob = os.urandom(30) + marker * (1 + 300 * (t % 7 == 0))
        pending = ((f"{marker.decode()}{t}", PendingExample(2**40, False, blob)),)
        check = VersionCheck(t, t + 1)
        change: AppendSamples | WriteSnapshot
        if t % 9 == 8:
            change = WriteSnapshot(session, t, 1, blob * 9, pending=pending, check=check)
        else:
            change = AppendSamples(session, t, 1, blob, pending=pending, check=check)
        assert store.write([change]) == [created]
        size += len(blob)
    return session


def test_neither_the_file_nor_its_log_has_anything_of_a_deleted_session(path: Path) -> None:
    with opened(path) as store:
        other = fill(store, "other", b"of another session")
        session = fill(store, "demo", MARKER)
        assert found(path), "it was stored at all"
        store.write([DeleteSession(session)])
        tidy(store)
        assert found(path) == []
        assert found(path, b"of another session") == ["llr.db"]
        assert store.load("other")
        store.write([DeleteSession(other)])
        tidy(store)
        assert found(path, b"of another session") == []


def test_a_long_log_is_erased_too_when_its_last_part_is_deleted(path: Path) -> None:
    with opened(path) as store:
        [created] = store.write([CreateSession("demo", b"{}")])
        assert isinstance(created, Written)
        for t in range(1200):
            check = VersionCheck(t, t + 1)
            blob = struct.pack("<q", t) + MARKER
            store.write([AppendSamples(created.session, t, 1, blob, check=check)])
        store.write([DeleteSession(created.session)])
        assert store.run_maintenance(), "it is deleted in parts"
        tidy(store)
        assert found(path) == []


def test_what_a_kill_left_in_the_log_is_erased_at_the_next_start(path: Path) -> None:
    killed = path.parent / "killed"
    killed.mkdir()
    with opened(path) as store:
        session = fill(store, "demo", MARKER)
        store.write([DeleteSession(session)])
        for file in path.parent.glob("llr.db*"):
            (killed / file.name).write_bytes(file.read_bytes())
    assert "llr.db-wal" in found(killed / path.name)
    with opened(killed / path.name) as store:
        tidy(store)
        assert found(killed / path.name) == []


def test_a_store_that_is_killed_after_its_log_was_cut_opens_whole(path: Path) -> None:
    killed = path.parent / "killed"
    killed.mkdir()
    with opened(path) as store:
        fill(store, "other", b"of another session")
        store.write([DeleteSession(fill(store, "demo", MARKER))])
        tidy(store)
        for file in path.parent.glob("llr.db*"):
            (killed / file.name).write_bytes(file.read_bytes())
    with opened(killed / path.name) as store:
        assert [row.name for row in store.list("", 9)] == ["other"]
    assert [each.damage for each in check_all(killed / path.name)] == [None]


def test_a_service_erases_what_it_deleted(client: TestClient, tmp_path: Path) -> None:
    path = tmp_path / "llr.db"
    samples = struct.pack("<3d", 1.2345678901234567, 2.3456789012345678, 3.456789012345679)
    client.put(DEMO, json={"model": "linear", "retain": True})
    rows = [{"x": list(struct.unpack("<3d", samples)), "y": 1.0}] * 50
    client.post(f"{DEMO}/samples", json=rows)
    assert found(path, samples)
    assert client.delete(DEMO).status_code == 204
    assert any(not found(path, samples) for _ in range(2000) if client.get("/readyz"))
