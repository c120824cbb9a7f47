"""Upgrades: `llr checkpoint` and a clean stop fold logs; another arithmetic replays none."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from llr_service.app import App
from llr_service.checkpoint import fold_all, main
from llr_service.codec import log_entry
from llr_service.settings import Settings
from llr_service.stores.memory import Memory
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import AppendSamples, StoredSession, VersionCheck
from starlette.testclient import TestClient
from support.stores_contract import known

import llr
from llr import serialization

LINEAR = {"model": "linear", "retain": True, "shadows": {"rival": {"algorithm": "sg/ag"}}}
ROWS = {"x": [[1.0, 0.5], [0.25, -1.0], [2.0, 0.75]], "y": [1.0, 2.0, 3.0]}
NAMES = ("a", "b")


def opened(path: Path) -> TestClient:
    return TestClient(App(Settings(store=f"sqlite:///{path}")), base_url="http://localhost")


def states(client: TestClient) -> dict[str, dict[str, Any]]:
    return {name: client.get(f"/v1/sessions/{name}").json() for name in NAMES}


def tails(path: Path) -> dict[str, int]:
    with closing(SQLite(path)) as store:
        return {name: len(known(store, name).tail) for name in NAMES}


@pytest.fixture
def killed(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A store whose service was killed: two sessions with samples in their logs; their states."""
    path, left = tmp_path / "llr.db", tmp_path / "killed.db"
    with opened(path) as client:
        for name in NAMES:
            client.put(f"/v1/sessions/{name}", json=LINEAR)
            for start in (0, 3):
                sent = f"/v1/sessions/{name}/samples?producer=p&seq={start}"
                assert client.post(sent, json=ROWS).status_code == 200
        client.post("/v1/sessions/a/predict", json={"x": [1.0, 2.0], "id": "i"})
        found = states(client)
        for end in ("", "-wal", "-acked"):
            shutil.copyfile(f"{path}{end}", f"{left}{end}")
    return left, found


@pytest.fixture
def newer() -> Iterator[int]:
    """The next arithmetic is the one that runs."""
    number = llr.ARITHMETIC + 1
    with ExitStack() as stack:
        for module in ("llr_service.sessions.session_log", "llr.serialization"):
            stack.enter_context(patch(f"{module}.ARITHMETIC", number))
        yield number


def test_all_logs_are_folded_and_nothing_else_changes(
    killed: tuple[Path, dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, before = killed
    assert tails(path) == {"a": 2, "b": 2}
    url = f"sqlite:///{path}"
    assert main(["--store", url]) == 0
    assert capsys.readouterr().out == f"{url}: 2 sessions, the logs of 2 were folded\n"
    assert tails(path) == {"a": 0, "b": 0}
    assert main(["--store", url]) == 0
    assert "the logs of 0 were folded" in capsys.readouterr().out
    with opened(path) as client:
        assert states(client) == before
        label = client.post("/v1/sessions/a/labels", json={"id": "i", "y": 1.0})
        assert label.json()["t"] == 7
        copy = client.post("/v1/sessions/b/fork", json={"name": "c", "relearn": True})
        assert copy.json()["relearning"]["of"] == 6


def test_a_clean_stop_folds_the_logs_of_the_sessions_in_memory(
    killed: tuple[Path, dict[str, Any]],
) -> None:
    path, before = killed
    with opened(path) as client:
        assert client.get("/v1/sessions/a").json() == before["a"]
    assert tails(path) == {"a": 0, "b": 2}
    with opened(path) as client:
        assert states(client) == before


def test_samples_that_another_arithmetic_learnt_are_refused_until_they_are_folded(
    killed: tuple[Path, dict[str, Any]], newer: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path, before = killed
    with opened(path) as client:
        for name in NAMES:
            refused = client.get(f"/v1/sessions/{name}")
            assert refused.status_code == 503
            assert "run `llr checkpoint` of the version before" in refused.json()["detail"]
    assert main(["--store", f"sqlite:///{path}"]) == 1
    assert "session a: an older version learnt" in capsys.readouterr().err
    assert tails(path) == {"a": 2, "b": 2}
    with patch.multiple("llr_service.sessions.session_log", ARITHMETIC=newer - 1):
        assert main(["--store", f"sqlite:///{path}"]) == 0
    with opened(path) as client:
        assert states(client) == before


def test_what_a_newer_arithmetic_wrote_is_refused(
    killed: tuple[Path, dict[str, Any]],
) -> None:
    path, _ = killed
    with patch.object(serialization, "ARITHMETIC", llr.ARITHMETIC + 1), opened(path) as client:
        client.get("/v1/sessions/a")
    assert tails(path) == {"a": 0, "b": 2}
    with closing(SQLite(path)) as store:
        store.write([_entry_of(known(store, "b"), llr.ARITHMETIC + 1)])
    with opened(path) as client:
        for name in NAMES:
            refused = client.get(f"/v1/sessions/{name}")
            assert refused.status_code == 503
            assert f"arithmetic {llr.ARITHMETIC + 1}" in refused.json()["detail"]
            assert "start that version" in refused.json()["detail"]


def _entry_of(stored: StoredSession, arithmetic: int) -> Any:
    samples = log_entry.unpack_samples(stored.tail[0].blob)
    blob = log_entry.pack_samples(samples, arithmetic, 1)
    check = VersionCheck(stored.version, stored.version + 1)
    return AppendSamples(stored.id, stored.t, samples.n, blob, check=check)


@pytest.mark.parametrize("what", ["learner", "ensemble", "config"])
def test_what_a_newer_format_wrote_is_answered_with_503(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "llr.db"
    with monkeypatch.context() as patches:
        if what == "learner":
            patches.setattr(serialization, "VERSION", serialization.VERSION + 1)
        if what == "ensemble":
            patches.setattr("llr_service.sessions.packing.FORMAT", 2)
        with opened(path) as client:
            client.put("/v1/sessions/a", json=LINEAR)
            client.post("/v1/sessions/a/samples", json=ROWS)
    if what == "config":
        with closing(SQLite(path)) as store:
            stored = known(store, "a")
        changed = replace(stored, config=stored.config.replace(b'{"model"', b'{"later":1,"model"'))
        _load_instead(monkeypatch, lambda: changed)
    with opened(path) as client:
        refused = client.get("/v1/sessions/a")
        assert (refused.status_code, refused.json()["type"]) == (503, "urn:llr:problem:unavailable")
        assert "start that version" in refused.json()["detail"]


def _load_instead(patches: pytest.MonkeyPatch, load: Callable[[], StoredSession]) -> None:
    patches.setattr(SQLite, "load", lambda *_: load())


def test_a_session_that_changes_meanwhile_is_read_again(
    killed: tuple[Path, dict[str, Any]],
) -> None:
    path, _ = killed
    with closing(SQLite(path)) as store:
        write, versions = store.write, [3, 2]

        def changed_before(group: Any) -> Any:
            if versions:
                versions.pop()
                write([_entry_of(known(store, "a"), llr.ARITHMETIC)])
            return write(group)

        with patch.object(store, "write", changed_before):
            assert fold_all(store, 10**6) == (2, [])
        assert known(store, "a").t == 12
    assert tails(path) == {"a": 0, "b": 0}


def test_nothing_is_folded_where_nothing_is() -> None:
    assert fold_all(Memory(), 0) == (0, [])
