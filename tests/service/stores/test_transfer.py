"""`llr migrate-store`: all that sessions have, to another store, whatever stops it on the way."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from llr_service.migrate_store import main
from llr_service.sessions.config import ReplaySource, SessionConfig, to_stored
from llr_service.stores import open_store
from llr_service.stores.store import (
    AppendSamples,
    Change,
    Conflict,
    CreateSession,
    Entry,
    PendingExample,
    Retained,
    Store,
    StoreError,
    UpdatePending,
    WriteSnapshot,
    Written,
)
from llr_service.stores.transfer import StoreTransfer
from support import postgres
from support.root import ROOT
from support.stores_contract import created, dump, known, retained

Everything = dict[str, tuple[object, list[Entry]]]


def lived(store: Store, sessions: int = 6) -> None:
    """Sessions with all a session can have."""
    lot = random.Random(1)
    for number in range(sessions):
        name = f"s{number}"
        t, state = (5, b"from elsewhere") if number % 3 == 2 else (0, None)
        [made] = store.write([CreateSession(name, b'{"a": 1}', t, state, {"p": 1})])
        assert isinstance(made, Written)
        for step in range(number):
            change: Change = AppendSamples(made.session, t, 2, lot.randbytes(50), ("q", step))
            if step == 2:
                change = WriteSnapshot(made.session, t, 2, lot.randbytes(99))
                if number % 3 == 0:
                    change = replace(change, retained=Retained(t + 2, 150), blob=lot.randbytes(50))
            store.write([change])
            t += 2
        shelf = (("i", PendingExample(9, False, b"x")), ("j", PendingExample(7, True, b"")))
        store.write([UpdatePending(made.session, t, shelf[: number % 3])])


def everything(stores: Sequence[Store]) -> Everything:
    """All that is in stores, but for the numbers they give."""
    found: Everything = {}
    for store in stores:
        for name, stored in dump(store).items():
            assert stored
            found[name] = (replace(stored, id=0, version=0), retained(store, stored))
    return found


@pytest.fixture
def source(tmp_path: Path) -> str:
    """A file whose sessions have lived."""
    url = f"sqlite:///{tmp_path / 'source.db'}"
    with closing(open_store(url)) as store:
        lived(store)
    return url


def content(url: str) -> Everything:
    """All that is in a store."""
    with closing(open_store(url)) as store:
        return everything([store])


def test_all_that_sessions_have_goes_to_postgres_and_back(source: str, tmp_path: Path) -> None:
    before, database = content(source), postgres.place()
    back = f"sqlite:///{tmp_path / 'back.db'}"
    assert len(before) == 6
    assert any(log for _, log in before.values())
    assert main([source, database]) == 0
    assert main([database, back]) == 0
    assert content(database) == content(back) == content(source) == before


def test_a_second_move_moves_nothing(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    database = postgres.place()
    assert (main([source, database]), main([source, database])) == (0, 0)
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith(", 6 of them moved now")
    assert second.endswith(", 0 of them moved now")


def names(work: StoreTransfer) -> list[str]:
    """What there is to move."""
    return [row.name for row in work.listed()]


class Torn(Exception):
    """The end of a process."""


class Tearing:
    """A store whose process ends before the n-th group."""

    def __init__(self, store: Store, after: int) -> None:
        self._store, self._left = store, after

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def write(self, group: Sequence[Change]) -> list[Written | Conflict]:
        if self._left == 0:
            raise Torn
        self._left -= 1
        return self._store.write(group)


def test_a_move_that_was_killed_at_any_group_goes_on(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llr_service.stores.transfer.PAGE", 120)
    before, at = content(source), 0
    with closing(open_store(source)) as old:
        while True:
            new = open_store("memory:")
            try:
                work = StoreTransfer([old], Tearing(new, at))  # type: ignore[arg-type]
                assert len([*work.move(names(work))]) == len(before)
                break
            except Torn:
                at += 1
            work = StoreTransfer([old], new)
            assert sum(work.move(names(work))) > 0
            assert everything([new]) == before
    assert at > 10


def test_a_long_log_goes_in_parts_and_goes_on_from_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llr_service.stores.transfer.PAGE", 300)
    with closing(open_store(f"sqlite:///{tmp_path / 'source.db'}")) as old:
        lived(old, 9)
        new, groups = open_store("memory:"), 0
        while True:
            try:
                work = StoreTransfer([old], Tearing(new, 1))  # type: ignore[arg-type]
                moved = sum(work.move(names(work)))
            except Torn:
                groups += 1
                continue
            break
        assert everything([new]) == everything([old])
    assert groups > 10
    assert moved <= 1


@pytest.mark.parametrize(
    "other",
    [
        CreateSession("s5", b"another config"),
        CreateSession("s5", b'{"a": 1}', producers={"p": 9}),
        CreateSession("s5", b'{"a": 1}', 5, b"another state", {"p": 1, "q": 4}),
    ],
)
def test_a_session_that_is_another_is_left_alone(
    source: str, other: CreateSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path / 'there.db'}"
    with closing(open_store(url)) as store:
        store.write([other])
        there = known(store, "s5")
    assert main([source, url]) == 1
    assert "the destination has another session s5" in capsys.readouterr().err
    with closing(open_store(url)) as store:
        assert known(store, "s5") == there


def test_a_session_that_learnt_something_else_is_left_alone(source: str) -> None:
    with closing(open_store(source)) as old:
        new = open_store("memory:")
        s1 = known(old, "s1")
        [made] = new.write([CreateSession("s1", s1.config, producers=s1.producers)])
        assert isinstance(made, Written)
        new.write([AppendSamples(made.session, 0, 2, b"something else")])
        work = StoreTransfer([old], new)
        assert names(work)
        with pytest.raises(StoreError, match="another session s1"):
            [*work.move(["s1"])]


def test_damaged_sessions_are_not_left_behind_in_silence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = postgres.place()
    with closing(open_store(schema)) as store:
        created(store, "a", "b")
    postgres.tampered(schema, "UPDATE sessions SET t = 5 WHERE name = 'a'")
    assert main([schema, f"sqlite:///{tmp_path / 'new.db'}"]) == 1
    assert "1 of 2 sessions are damaged" in capsys.readouterr().err


def test_a_database_with_a_service_is_neither_source_nor_destination(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database, other = postgres.place(), f"sqlite:///{tmp_path / 'other.db'}"
    with closing(open_store(database)):
        assert main([database, other]) == 1
        assert main([source, database]) == 1
    assert capsys.readouterr().err.count("in use by a service") == 2


def test_a_session_that_still_learns_anew_stays_until_it_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, other = (f"sqlite:///{tmp_path / name}.db" for name in "ab")
    config = to_stored(SessionConfig(model="gaussian"), ReplaySource("a", 1, 2))
    with closing(open_store(url)) as store:
        store.write([CreateSession("b", config)])
    assert main([url, other]) == 1
    assert "session b has not learnt all samples" in capsys.readouterr().err
    with closing(open_store(url)) as store:
        store.write([AppendSamples(known(store, "b").id, 0, 2, b"both")])
    assert main([url, other]) == 0


def test_what_is_nowhere_cannot_be_moved(source: str) -> None:
    assert main([source, "memory:"]) == 1
    assert main(["memory:", source]) == 1


def test_several_sources_become_one_store(
    tmp_path: Path, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    other, database = f"sqlite:///{tmp_path / 'other.db'}", postgres.place()
    with closing(open_store(other)) as store:
        created(store, "here", "there")
    before = content(source) | content(other)
    with pytest.raises(StoreError, match="llr migrate-store"):
        open_store(f"{source},{other}")
    for sources in ([source, other], [f"{source},{other}"]):
        assert main([*sources, database]) == 0
        assert content(database) == before
    assert main([source, source, database]) == 1
    assert capsys.readouterr().err.endswith("in use by another process\n")
    with closing(open_store(other)) as store:
        created(store, "s1")
    assert main([source, other, database]) == 1
    assert "two of the sources have a session s1" in capsys.readouterr().err


def test_a_killed_process_leaves_what_the_next_one_finishes(tmp_path: Path) -> None:
    url, database = f"sqlite:///{tmp_path / 'source.db'}", postgres.place()
    with closing(open_store(url)) as store:
        numbers = created(store, *[f"s{i}" for i in range(60)])
        store.write([AppendSamples(number, 0, 1, b"x") for number in numbers])
    command = [sys.executable, "-m", "llr_service.migrate_store", url, database]
    process = subprocess.Popen(command, cwd=ROOT)  # noqa: S603
    while process.poll() is None and not _begun(database):
        pass
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert main([url, database]) == 0
    assert content(database) == content(url)


def _begun(database: str) -> bool:
    try:
        return postgres.tampered(database, "SELECT count(*) FROM sessions") != "0"
    except subprocess.CalledProcessError:
        return False
