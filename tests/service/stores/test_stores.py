"""The stores keep their contract, and the one on disk survives what disks and people do to it."""

import os
import random
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from llr_service.stores import ENGINES, open_store
from llr_service.stores.integrity import SessionCheck
from llr_service.stores.sqlite import SQLite, database, schema
from llr_service.stores.sqlite import write as changes_of
from llr_service.stores.sqlite.checks import check_all
from llr_service.stores.sqlite.connection import connect, run_all
from llr_service.stores.store import (
    NOT_RETAINED,
    REPLAY_MARK,
    UNVERSIONED,
    AppendSamples,
    Change,
    CreateSession,
    Damaged,
    DeleteSession,
    Entry,
    PendingChanges,
    PendingExample,
    Retained,
    Store,
    StoredSession,
    StoreError,
    StoreInUse,
    StoreTooNew,
    UpdatePending,
    WriteSnapshot,
    Written,
)
from support.scripts import python, said
from support.shared_contract import VERSIONED
from support.sqlite import tampered
from support.stores_contract import (
    CONTRACT,
    PLACES,
    Dump,
    Model,
    created,
    dump,
    kinds,
    known,
    retained,
)

FLIPS = int(os.environ.get("FLIPS", "250"))
SEED = int(os.environ.get("SEED", "1"))
OF_VERSION_2 = (
    "INSERT INTO sessions VALUES (1, 3, 1274869828, 3, 0, 'a', 3904355907, x'7b7d', 2968263172, 0)",
    "INSERT INTO snapshots VALUES (1, 3, CAST('state' AS BLOB), 341576582)",
)
SETTINGS = settings(stateful_step_count=15, derandomize=True, deadline=None)
EXAMPLES = {"memory": 25, "sqlite": 25}
"""Lives a store is led through; 6 where each takes a second."""


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each engine."""
    made = open_store(PLACES[request.param](tmp_path))
    yield made
    made.close()


@pytest.mark.parametrize("promise", [*CONTRACT, *VERSIONED], ids=lambda promise: promise.__name__)
def test_every_store_keeps_its_contract(store: Store, promise: Any) -> None:
    promise(store)


@pytest.mark.parametrize(
    "url", ["", "memory", "redis://x", "memory:x", "sqlite:", "sqlite:x", "sqlite:///"]
)
def test_a_url_that_names_no_store_is_refused(url: str) -> None:
    with pytest.raises(StoreError):
        open_store(url)


def test_an_unknown_engine_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(
        StoreError, match="'redis': no such store, there are memory:, postgresql:, sqlite:"
    ):
        open_store("redis://x")


class Machine(RuleBasedStateMachine):
    """Any groups, right or wrong, against the model."""

    engine: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.url = PLACES[self.engine](Path(self.folder.name))
        self.store, self.model = open_store(self.url), Model()

    @rule(data=st.data(), size=st.integers(1, 6))
    def write(self, data: st.DataObject, size: int) -> None:
        after, group, fits = Model(), list[Change](), ""
        after.sessions, after.logs = dict(self.model.sessions), dict(self.model.logs)
        for _ in range(size):
            group.append(data.draw(changes(after)))
            fits += "W" if after.fits(group[-1]) else "C"
        results = self.store.write(group)
        assert kinds(results) == fits
        for change, result in zip(group, results, strict=True):
            after.number(change, result)
        self.model = after

    @precondition(lambda self: self.engine != "memory")
    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = open_store(self.url)

    @invariant()
    def all_is_as_it_should_be(self) -> None:
        assert dump(self.store) == self.model.sessions
        for stored in self.model.sessions.values():
            log = self.model.logs.get(stored.id, ())
            assert retained(self.store, stored) == [*log]

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


SHELVED: st.SearchStrategy[PendingChanges] = st.lists(
    st.tuples(
        st.sampled_from("ijk"),
        st.none()
        | st.builds(PendingExample, st.integers(0, 9), st.booleans(), st.binary(max_size=9)),
    ),
    max_size=3,
).map(tuple)


@st.composite
def changes(draw: st.DrawFn, model: Model) -> Change:
    """A change to one of three sessions, mostly one that fits."""
    name = draw(st.sampled_from("abc"))
    old = model.sessions.get(name)
    blob, producers = (
        draw(st.binary(max_size=9)),
        st.tuples(st.sampled_from("pq"), st.integers(0, 9)),
    )
    if old is None or not old.id or draw(st.integers(0, 9)) == 0:
        config = blob + draw(st.sampled_from([b"", REPLAY_MARK]))
        plain, known = (
            CreateSession(name, config),
            CreateSession(name, config, 3, b"state", {"p": 4}),
        )
        return draw(st.sampled_from([plain, known]))
    others = [each.id for each in model.sessions.values() if each.id] + [10**6]
    number = draw(st.sampled_from([old.id] * 9 + [draw(st.sampled_from(others))]))
    if draw(st.integers(0, 9)) == 0:
        return DeleteSession(number)
    t = draw(st.sampled_from([old.t] * 9 + [old.t + 1]))
    n, producer, kept = draw(st.integers(1, 3)), draw(st.none() | producers), draw(SHELVED)
    match draw(st.integers(0, 3)):
        case 0:
            keep, added = draw(keeping(model, old, t, n, blob))
            return WriteSnapshot(number, t, n, b"state", producer, kept, UNVERSIONED, keep, added)
        case 1:
            return UpdatePending(number, t, kept)
    return AppendSamples(number, t, n, blob, producer, kept)


@st.composite
def keeping(
    draw: st.DrawFn, model: Model, old: StoredSession, t: int, n: int, blob: bytes
) -> tuple[Retained, bytes | None]:
    """What a log shall keep: all of it if that is there, as much as it does, or nothing."""
    whole = old.retained.samples == old.snapshot_t
    if t != old.t or not draw(st.booleans()):
        return Retained(), None
    if whole and draw(st.booleans()):
        log = (*model.logs.get(old.id, ()), *old.tail)
        return Retained(t + n, sum(len(entry.blob) for entry in log) + len(blob)), blob
    return old.retained, None


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_any_groups_leave_what_the_model_says(engine: str) -> None:
    machine = type("Machine", (Machine,), {"engine": engine})
    examples = settings(SETTINGS, max_examples=EXAMPLES.get(engine, 6))
    run_state_machine_as_test(machine, settings=examples)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a file may be."""
    return tmp_path / "store.db"


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Dump]:
    """A folder with a file that has seen some life, closed and as a kill leaves it; its content."""
    folder = tmp_path_factory.mktemp("lived")
    store, lot = SQLite(folder / "store.db"), random.Random(1)
    group = [CreateSession(f"s{i}", b"{}" + REPLAY_MARK * (i % 3 == 0)) for i in range(12)]
    numbers = [made.session for made in store.write(group) if isinstance(made, Written)]
    for t in range(6):
        for number in numbers:
            producer = (f"p{t % 3}", t + 1)
            kept = (
                (f"i{t}", PendingExample(t, t % 2 == 0, lot.randbytes(100))),
                (f"i{t - 3}", None),
            )
            change: Change = AppendSamples(number, t, 1, lot.randbytes(300), producer, kept)
            if (number + t) % 4 == 0:
                state, keeps = lot.randbytes(2000), number % 2 == 1
                log = (
                    (Retained(t + 1, 300 * t + 300), lot.randbytes(300))
                    if keeps
                    else (NOT_RETAINED, None)
                )
                change = WriteSnapshot(number, t, 1, state, producer, kept, UNVERSIONED, *log)
            store.write(
                [UpdatePending(number, t, ((f"k{t}", PendingExample(t, False, b"x")),)), change]
            )
    store.write([DeleteSession(numbers[-1])])
    whole = dump(store)
    (folder / "killed").mkdir()
    for file in folder.glob("store.db*"):
        shutil.copy(file, folder / "killed")
    store.close()
    return folder, whole


def entries_of(store: Store, whole: Dump) -> dict[str, list[Entry]]:
    """What the log of each session had to keep."""
    return {name: retained(store, stored) for name, stored in whole.items() if stored}


@pytest.fixture
def whole(path: Path, lived: tuple[Path, Dump]) -> Dump:
    """What is in the file at `path`; a copy as a kill leaves it is in the folder `killed`."""
    shutil.copytree(lived[0], path.parent, dirs_exist_ok=True)
    return lived[1]


def test_what_was_written_is_there_when_opened_again(path: Path, whole: Dump) -> None:
    for each in (path, path.parent / "killed" / path.name):
        store = SQLite(each)
        assert dump(store) == whole
        kept = entries_of(store, whole)
        assert [len(kept[name]) for name in ("s0", "s2", "s3", "s4")] == [4, 6, 0, 4]
        store.close()


def test_the_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    open_store("sqlite:///some/where/store.db").close()
    open_store(f"sqlite:///{tmp_path}/else/where/store.db").close()
    assert {each.name for each in tmp_path.rglob("*.db")} == {"store.db"}
    assert len([*tmp_path.rglob("*.db")]) == 2


def test_a_store_opened_in_one_thread_may_be_used_in_another(path: Path) -> None:
    store = SQLite(path)
    thread = Thread(target=created, args=(store, "a"))
    thread.start()
    thread.join()
    assert store.count() == 1
    store.close()


def test_a_closed_store_stays_closed(path: Path) -> None:
    store = SQLite(path)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.count()


OPENING = """
import sys
from llr_service.stores.sqlite import SQLite
try:
    SQLite(sys.argv[1])
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_second_process_is_refused(path: Path) -> None:
    store = SQLite(path)
    assert said(OPENING, path) == f"StoreInUse {path} is in use by another process\n"
    with pytest.raises(StoreInUse):
        SQLite(path)
    assert created(store, "a")
    store.close()
    assert said(OPENING, path) == ""


WRITING = """
import sys
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import AppendSamples, CreateSession
store = SQLite(sys.argv[1])
stored = store.load("a")
session = stored.id if stored else store.write([CreateSession("a", b"{}")])[0].session
t = stored.t if stored else 0
while True:
    blob = b"x" * (t % 500)
    store.write([AppendSamples(session, t + i, 1, blob, ("p", t + i + 1)) for i in range(3)])
    t += 3
    print(t, flush=True)
"""


def test_a_kill_takes_nothing_that_was_acknowledged(path: Path) -> None:
    for kill in range(5):
        writer = python(WRITING, path)
        assert writer.stdout
        acked = [int(writer.stdout.readline()) for _ in range(20 + kill)]
        writer.send_signal(signal.SIGKILL)
        acked += map(int, writer.communicate()[0].split("\n")[:-1])
        store = SQLite(path)
        stored = known(store, "a")
        assert stored.t in (acked[-1], acked[-1] + 3)
        assert stored.producers == {"p": stored.t}
        store.close()


def version(path: Path) -> int:
    with sqlite3.connect(path) as db:
        [(number,)] = db.execute("PRAGMA user_version")
    db.close()
    return int(number)


def test_an_older_file_is_migrated_version_by_version(
    path: Path, whole: Dump, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = ("ALTER TABLE sessions ADD note TEXT", "UPDATE sessions SET note = name")
    latest = ("CREATE TABLE notes AS SELECT note FROM sessions",)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, later, latest))
    store = SQLite(path)
    assert dump(store) == whole
    store.close()
    assert version(path) == len(schema.MIGRATIONS)


def test_a_file_from_before_late_labels_can_keep_them(path: Path) -> None:
    tampered(path, *schema.MIGRATIONS[0], "PRAGMA user_version = 1")
    with closing(SQLite(path)) as store:
        [a] = created(store, "a")
        store.write([UpdatePending(a, 0, (("i", PendingExample(1, False, b"x")),))])
        assert known(store, "a").pending == {"i": PendingExample(1, False, b"x")}


def test_a_file_from_before_logs_were_kept_goes_on_and_may_keep_them(path: Path) -> None:
    older = [*schema.MIGRATIONS[0], *schema.MIGRATIONS[1]]
    tampered(path, *older, "PRAGMA user_version = 2")
    tampered(path, *OF_VERSION_2)
    with closing(SQLite(path)) as store:
        old = known(store, "a")
        assert (old.t, old.snapshot, old.retained) == (3, b"state", Retained())
        store.write([WriteSnapshot(old.id, 3, 1, b"new", retained=Retained(), blob=None)])
        [b] = created(store, "b")
        store.write([WriteSnapshot(b, 0, 1, b"new", retained=Retained(1, 1), blob=b"x")])
        assert retained(store, known(store, "b")) == [Entry(0, 1, b"x")]


TO_VERSION_4 = (
    "ALTER TABLE sessions DROP COLUMN version",
    "DROP INDEX sessions_marked",
    *schema.MIGRATIONS[3],
    "PRAGMA user_version = 4",
)


def test_a_file_from_before_the_mark_was_indexed_finds_the_sessions_that_have_it(
    path: Path,
) -> None:
    configs = {"a": REPLAY_MARK, "b": b"{}", "c": REPLAY_MARK}
    with closing(SQLite(path)) as store:
        store.write([CreateSession(name, config) for name, config in configs.items()])
    tampered(path, *TO_VERSION_4)
    with closing(SQLite(path)) as store:
        assert [row.name for row in store.list_replays("", 9)] == ["a", "c"]
    assert check_all(path) == [SessionCheck(name, None) for name in "abc"]


def test_an_append_leaves_the_index_of_the_mark_alone(path: Path) -> None:
    with closing(SQLite(path)):
        pass
    with closing(sqlite3.connect(path)) as db:
        roots = dict(db.execute("SELECT rootpage, name FROM sqlite_schema WHERE rootpage"))
        moved = db.execute(f"EXPLAIN {changes_of.MOVE.format('(1, 1, 1, 1, 1, 1, 1)')}").fetchall()
        made = db.execute(f"EXPLAIN {changes_of.SESSION}", (1, 1, 1, "a", 1, b"")).fetchall()
    written = [{roots[row[3]] for row in rows if row[1] == "OpenWrite"} for rows in (moved, made)]
    assert written[0] == {"sessions"}
    assert "sessions_marked" in written[1]


def test_a_long_log_goes_a_part_at_a_time_once_its_session_is_deleted(path: Path) -> None:
    a, b = created(store := SQLite(path), "a", "b")
    store.write([AppendSamples(a, t, 1, b"x") for t in range(1200)])
    store.write([AppendSamples(b, 0, 1, b"y")])
    assert not store.run_maintenance()
    store.write([DeleteSession(a)])
    assert (store.load("a"), store.read_log(a, 0, 1200, 99)) == (None, None)
    store.close()
    assert rows_of(path) == 701
    with closing(SQLite(path)) as store:
        parts = 0
        while store.run_maintenance():
            parts += 1
        assert parts == 2
        assert len(known(store, "b").tail) == 1
    assert rows_of(path) == 1
    assert [each for each in check_all(path) if each.damage] == []


def test_a_log_of_large_entries_goes_by_its_bytes(path: Path) -> None:
    with closing(SQLite(path)) as store:
        [a] = created(store, "a")
        store.write([AppendSamples(a, t, 1, bytes(2**18)) for t in range(9)])
        store.write([DeleteSession(a)])
        assert (store.run_maintenance(), store.run_maintenance(), store.run_maintenance()) == (
            True,
            True,
            False,
        )


def test_the_log_of_a_session_that_lives_is_never_tidied_away(path: Path) -> None:
    with closing(SQLite(path)) as store:
        [a] = created(store, "a")
        store.write([AppendSamples(a, 0, 1, b"x")])
    tampered(path, "INSERT INTO discarded SELECT id FROM sessions")
    with closing(SQLite(path)) as store:
        while store.run_maintenance():
            pass
        assert len(known(store, "a").tail) == 1


def rows_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        [(rows,)] = db.execute("SELECT count(*) FROM log")
    return int(rows)


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    path: Path, whole: Dump, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, ("DROP TABLE log", "no SQL")))
        with pytest.raises(StoreError, match="cannot be opened"):
            SQLite(path)
    store = SQLite(path)
    assert dump(store) == whole
    store.close()


def test_a_newer_file_is_refused(path: Path) -> None:
    SQLite(path).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StoreTooNew, match=r"store\.db .*version 99.* up to 6"):
        SQLite(path)


def test_what_is_not_a_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, but some text about one\n" * 99)
    (tmp_path / "folder").mkdir()
    with sqlite3.connect(tmp_path / "other") as db:
        db.execute("CREATE TABLE theirs (x)")
    db.close()
    before = (tmp_path / "other").read_bytes()
    reasons = {
        "text": "text is not a database",
        "text/x": "the folder .*text cannot be made",
        "other": "other cannot be used: it is a database of another program",
        "folder": "folder cannot be opened",
    }
    for name, reason in reasons.items():
        with pytest.raises(StoreError, match=reason):
            SQLite(tmp_path / name)
    assert (tmp_path / "other").read_bytes() == before


@pytest.mark.slow
def test_the_log_of_the_database_stays_bounded(path: Path) -> None:
    store, log = SQLite(path), path.with_name("store.db-wal")
    [a] = created(store, "a")
    for t, size in enumerate([2**20] * 40 + [2**26] + [2**20] * 40):
        store.write([WriteSnapshot(a, t, 1, bytes(size))])
        if t == 39:
            assert log.stat().st_size < 20 * 2**20
    assert log.stat().st_size <= 32 * 2**20
    store.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sessions SET t = t + 1 WHERE id = 5",
        "UPDATE sessions SET config = '{}' WHERE id = 5",
        "UPDATE sessions SET config = x'00' WHERE id = 5",
        "UPDATE sessions SET t_crc = t_crc - 1 WHERE id = 5",
        "UPDATE sessions SET producers = 2 WHERE id = 5",
        "UPDATE sessions SET hash = 0 WHERE id = 5",
        "UPDATE sessions SET id = 50 WHERE id = 5",
        "DELETE FROM log WHERE session = 5 AND t = 4",
        "DELETE FROM log WHERE session = 5 AND t = 5",
        "DELETE FROM log WHERE session = 5",
        "UPDATE log SET blob = substr(blob, 2) WHERE session = 5 AND t = 4",
        "UPDATE log SET n = 2 WHERE session = 5 AND t = 5",
        "UPDATE log SET t = t + 1 WHERE session = 5 AND t = 5",
        "UPDATE log SET blob = (SELECT blob FROM log WHERE session = 6 LIMIT 1) WHERE session = 5",
        "UPDATE log SET blob = 'text' WHERE session = 5",
        "UPDATE snapshots SET blob = x'00' WHERE session = 5",
        "UPDATE snapshots SET t = 1.5 WHERE session = 5",
        "UPDATE snapshots SET session = 55 WHERE session = 5",
        "UPDATE snapshots SET retained = retained - 1 WHERE session = 5",
        "UPDATE snapshots SET retained_bytes = retained_bytes + 1 WHERE session = 5",
        "UPDATE snapshots SET retained = 0, retained_bytes = 0 WHERE session = 5",
        "DELETE FROM snapshots WHERE session = 5",
        "UPDATE producers SET next = next + 1 WHERE session = 5",
        "UPDATE producers SET producer = producer || x'ff' WHERE session = 5",
        "DELETE FROM producers WHERE session = 5 AND producer = 'p1'",
        "UPDATE kept SET expires = expires + 1 WHERE session = 5",
        "UPDATE kept SET learnt = 1 - learnt WHERE session = 5 AND id = 'i5'",
        "UPDATE kept SET blob = x'00' WHERE session = 5 AND id = 'i5'",
        "UPDATE kept SET id = 'i9' WHERE session = 5 AND id = 'i5'",
        "UPDATE sessions SET kept = kept + 1 WHERE id = 5",
    ],
)
def test_rows_that_do_not_fit_are_noticed_and_the_others_served(
    path: Path, whole: Dump, statement: str
) -> None:
    tampered(path, statement)
    damaged = {each.name for each in check_all(path) if each.damage and each.name}
    assert damaged == {"s4"}
    store = SQLite(path)
    with pytest.raises(Damaged, match="s4"):
        store.load("s4")
    assert {name: store.load(name) for name in whole if name != "s4"} == {
        name: each for name, each in whole.items() if name != "s4"
    }
    store.close()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM log WHERE session = 5 AND t = 0",
        "DELETE FROM log WHERE session = 5 AND t = 3",
        "UPDATE log SET blob = x'00' WHERE session = 5 AND t = 1",
        "UPDATE log SET blob = 'text' WHERE session = 5 AND t = 1",
        "UPDATE log SET t = 'x' WHERE session = 5 AND t = 1",
    ],
)
def test_what_a_log_had_to_keep_is_noticed_if_it_is_not_there(
    path: Path, whole: Dump, statement: str
) -> None:
    tampered(path, statement)
    assert {each.name for each in check_all(path) if each.damage} == {"s4"}
    with closing(SQLite(path)) as store:
        assert store.load("s4") == whole["s4"]
        with pytest.raises(Damaged, match=r"session number 5: its (log|rows)"):
            retained(store, known(store, "s4"))
        assert len(retained(store, known(store, "s2"))) == 6


def test_a_group_with_damaged_sessions_is_stored_for_the_others(path: Path) -> None:
    numbers = created(store := SQLite(path), *"abcdefghij")
    for t in range(20):
        marks = [b"%040d" % (number * 100 + t) * 20 for number in numbers]
        store.write([AppendSamples(n, t, 1, mark) for n, mark in zip(numbers, marks, strict=True)])
    store.close()
    data = bytearray(path.read_bytes())
    for mark in marks[:7:3]:
        data[data.find(mark) // 4096 * 4096] = 0
    path.write_bytes(data)
    with closing(SQLite(path)) as store:
        group = [AppendSamples(number, 20, 1, b"") for number in numbers]
        group += [AppendSamples(numbers[0], t, 1, b"") for t in range(21, 31)]
        assert kinds(store.write(group)) == "CWWCWWCWWW" + "C" * 10
        assert [known(store, name).t for name in "cfij"] == [21] * 4
        with pytest.raises(Damaged, match="session a"):
            store.load("a")


@pytest.mark.parametrize(
    "harm", [Path.unlink, lambda log: os.truncate(log, log.stat().st_size // 2)]
)
def test_a_log_that_lost_acknowledged_writes_is_noticed(path: Path, whole: Dump, harm: Any) -> None:
    left = path.parent / "killed"
    harm(left / "store.db-wal")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"acknowledged writes are missing.*store\.db-acked"):
            SQLite(left / path.name)
    (left / "store.db-acked").unlink()
    with closing(SQLite(left / path.name)) as store:
        assert dump(store) != whole


def test_a_store_that_was_taken_away_makes_room_for_a_new_one(path: Path, whole: Dump) -> None:
    path.unlink()
    path.with_name(f"{path.name}-acked").unlink()
    with closing(SQLite(path)) as store:
        assert dump(store) == {}
        assert created(store, "a") == [1]
    with closing(SQLite(path)) as store:
        assert [*dump(store)] == ["a"]


FILLING = """
import resource, sys
from pathlib import Path
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import AppendSamples, CreateSession, StoreError
folder = Path(sys.argv[1])
ballast = folder / "ballast"
ballast.write_bytes(bytes(2**20))
store = SQLite(folder / "store.db")
[created] = store.write([CreateSession("a", b"{}")])
if sys.argv[2] == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, resource.RLIM_INFINITY))
t, refused = 0, []
while len(refused) < 5:
    try:
        store.write([AppendSamples(created.session, t, 1, bytes(5000), ("p", t + 1))])
        t += 1
    except StoreError as error:
        refused.append(type(error).__name__)
        assert store.load("a").t == t
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
ballast.unlink()
store.write([AppendSamples(created.session, t, 1, bytes(5000), ("p", t + 1))])
stored = store.load("a")
store.close()
assert SQLite(folder / "store.db").load("a") == stored
assert [entry.t for entry in stored.tail] == list(range(t + 1))
print(t, *set(refused))
"""
TMPFS = ("unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=4m tmpfs "$0" && exec "$@"')


def test_a_file_that_may_not_grow_keeps_what_it_has_and_goes_on_later(tmp_path: Path) -> None:
    acked, refusal = said(FILLING, tmp_path, "limit").split()
    assert int(acked) > 20
    assert refusal == "StoreUnavailable"


def test_a_full_disk_keeps_what_it_has_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    under = (*TMPFS, str(tmp_path))
    if said("", under=under):
        pytest.skip("no small disk can be mounted here")
    acked, refusal = said(FILLING, tmp_path, "disk", under=under).split()
    assert int(acked) > 20
    assert refusal == "StoreFull"


def hurt(folder: Path, lot: random.Random) -> str:
    """Flip a bit of a file, or cut it; the larger the file, the likelier is it that one."""
    files = sorted(folder.iterdir())
    [file] = lot.choices(files, [max(each.stat().st_size, 2000) for each in files])
    data = bytearray(file.read_bytes())
    at = lot.randrange(len(data))
    if lot.random() < 0.1:
        del data[at:]
    else:
        data[at] ^= 1 << lot.randrange(8)
    file.write_bytes(data)
    return f"{file.name} at {at}"


@pytest.mark.slow
@pytest.mark.parametrize(("state", "share"), [("closed", 0.75), ("killed", 0)])
def test_no_flipped_bit_and_no_cut_gives_a_wrong_answer(
    path: Path, whole: Dump, state: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "SETTINGS", (*database.SETTINGS, "PRAGMA synchronous = OFF"))
    lot = random.Random(SEED)
    source = path.parent / "killed" if state == "killed" else path.parent
    hurts, served = path.parent / "hurt", 0
    with closing(SQLite(path)) as store:
        kept = entries_of(store, whole)
    for _ in range(FLIPS):
        hurts.mkdir()
        for file in source.glob("store.db*"):
            shutil.copy(file, hurts)
        where = hurt(hurts, lot)
        with suppress(StoreError), closing(SQLite(hurts / path.name)) as store:
            healthy = served_of(store, whole, where)
            for name, stored in healthy.items():
                with suppress(StoreError):
                    assert retained(store, stored) == kept[name], (where, name)
            served += len(healthy)
            go_on(store, healthy, where)
        shutil.rmtree(hurts)
    print(f"{FLIPS} files hurt when {state}, {served} of {FLIPS * len(whole)} sessions served")  # noqa: T201
    assert served > FLIPS * len(whole) * share


def served_of(store: Store, whole: Dump, where: str) -> dict[str, StoredSession]:
    """The sessions of a hurt file that are served; that they are as they were is asserted."""
    healthy = {}
    for name, stored in whole.items():
        with suppress(StoreError):
            loaded = store.load(name)
            assert loaded == stored, (where, name)
            healthy[name] = loaded
    for listed in (store.list, store.list_replays):
        with suppress(StoreError):
            for name, config, t, _ in listed("", 99):
                stored = whole[name]
                assert stored, where
                assert (stored.config, stored.t) == (config, t), where
    return {name: stored for name, stored in healthy.items() if stored}


def go_on(store: Store, healthy: dict[str, StoredSession], where: str) -> None:
    """Writing to a hurt file, too, leaves each session right or damaged."""
    group = [
        AppendSamples(stored.id, stored.t, 1, b"more", ("p0", 9)) for stored in healthy.values()
    ]
    results = store.write(group)
    for (name, stored), result in zip(healthy.items(), results, strict=True):
        tail = (*stored.tail, Entry(stored.t, 1, b"more"))
        more = replace(stored, t=stored.t + 1, tail=tail, producers={**stored.producers, "p0": 9})
        with suppress(StoreError):
            after = more if isinstance(result, Written) else stored
            assert store.load(name) == after, (where, name, result)


@pytest.mark.parametrize("rows", [0, 1, 3, 5, 63, 64, 85, 200])
def test_any_number_of_rows_goes_through_few_statements(rows: int) -> None:
    db = connect(Path(":memory:"))
    db.execute("CREATE TABLE pairs (a, b)")
    pairs = [(i, f"{i}") for i in range(rows)]
    run_all(db, "INSERT INTO pairs (a, b) VALUES {}", pairs)
    assert db.execute("SELECT a, b FROM pairs ORDER BY a").fetchall() == pairs
    db.close()
