"""The stores keep their contract, and the one on disk survives what disks and people do to it."""

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
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
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

pytest.register_assert_rewrite("stores_contract")

from stores_contract import CONTRACT, PLACES, Dump, Model, created, dump, kinds, known

from service.stores import ENGINES, open_store
from service.stores.sqlite import SQLite, schema
from service.stores.sqlite.checking import check
from service.stores.store import (
    Append,
    Change,
    Create,
    Damaged,
    Delete,
    Entry,
    Replace,
    Store,
    Stored,
    StoreError,
    StoreInUse,
    StoreTooNew,
    Written,
)

ROOT = Path(__file__).parent.parent
FLIPS = int(os.environ.get("FLIPS", "250"))
SEED = int(os.environ.get("SEED", "1"))


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each engine."""
    made = open_store(PLACES[request.param](tmp_path))
    yield made
    made.close()


@pytest.mark.parametrize("promise", CONTRACT, ids=lambda promise: promise.__name__)
def test_every_store_keeps_its_contract(store: Store, promise: Any) -> None:
    promise(store)


@pytest.mark.parametrize("url", ["", "memory", "redis://x", "memory:x", "sqlite:", "sqlite:x", "sqlite:///"])
def test_a_url_that_names_no_store_is_refused(url: str) -> None:
    with pytest.raises(StoreError):
        open_store(url)


def test_an_unknown_engine_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(StoreError, match="'redis': no such store, there are memory:, sqlite:"):
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
        after.sessions, after.last = dict(self.model.sessions), self.model.last
        for _ in range(size):
            group.append(data.draw(changes(after)))
            fits += "W" if after.fits(group[-1]) else "C"
        assert kinds(self.store.write(group)) == fits
        self.model = after

    @precondition(lambda self: self.engine != "memory")
    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = open_store(self.url)

    @invariant()
    def all_is_as_it_should_be(self) -> None:
        assert dump(self.store) == self.model.sessions

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


@st.composite
def changes(draw: st.DrawFn, model: Model) -> Change:
    """A change to one of three sessions, mostly one that fits."""
    name = draw(st.sampled_from("abc"))
    old = model.sessions.get(name)
    blob, producers = draw(st.binary(max_size=9)), st.tuples(st.sampled_from("pq"), st.integers(0, 9))
    if old is None or draw(st.integers(0, 9)) == 0:
        return Create(name, blob, *draw(st.sampled_from([(), (3, b"state", {"p": 4})])))
    number = draw(st.sampled_from([old.id] * 9 + [old.id + 1]))
    if draw(st.integers(0, 9)) == 0:
        return Delete(number)
    t = draw(st.sampled_from([old.t] * 9 + [old.t + 1]))
    make = draw(st.sampled_from([Append, Append, Replace]))
    return make(number, t, draw(st.integers(1, 3)), blob, draw(st.none() | producers))


@pytest.mark.parametrize("engine", ENGINES)
def test_any_groups_leave_what_the_model_says(engine: str) -> None:
    machine = type("Machine", (Machine,), {"engine": engine}).TestCase
    machine.settings = settings(max_examples=25, stateful_step_count=15, derandomize=True, deadline=None)
    machine().runTest()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a file may be."""
    return tmp_path / "store.db"


def filled(path: Path) -> Dump:
    """What is in a new file after some life: logs, snapshots, producers, and one session deleted."""
    store, lot = SQLite(path), random.Random(1)
    numbers = created(store, *[f"s{i}" for i in range(12)])
    for t in range(6):
        for number in numbers:
            producer = (f"p{t % 3}", t + 1)
            if (number + t) % 4:
                change: Change = Append(number, t, 1, lot.randbytes(300), producer)
            else:
                change = Replace(number, t, 1, lot.randbytes(2000), producer)
            store.write([change])
    store.write([Delete(numbers[-1])])
    whole = dump(store)
    killed = path.with_name("killed")
    killed.mkdir()
    for file in path.parent.glob("store.db*"):
        shutil.copy(file, killed)
    store.close()
    return whole


def test_what_was_written_is_there_when_opened_again(path: Path) -> None:
    whole = filled(path)
    for each in (path, path.parent / "killed" / path.name):
        store = SQLite(each)
        assert dump(store) == whole
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


def python(script: str, *arguments: object, under: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
    """A process of its own that runs a script."""
    command = [*under, sys.executable, "-c", script, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)  # noqa: S603


OPENING = """
import sys
from service.stores.sqlite import SQLite
try:
    SQLite(sys.argv[1])
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_second_process_is_refused(path: Path) -> None:
    store = SQLite(path)
    assert python(OPENING, path).communicate()[0] == f"StoreInUse {path} is in use by another process\n"
    with pytest.raises(StoreInUse):
        SQLite(path)
    assert created(store, "a")
    store.close()
    assert python(OPENING, path).communicate()[0] == ""


WRITING = """
import sys
from service.stores.sqlite import SQLite
from service.stores.store import Append, Create
store = SQLite(sys.argv[1])
stored = store.load("a")
session = stored.id if stored else store.write([Create("a", b"{}")])[0].session
t = stored.t if stored else 0
while True:
    store.write([Append(session, t + i, 1, b"x" * (t % 500), ("p", t + i + 1)) for i in range(3)])
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
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = filled(path)
    later = ("ALTER TABLE sessions ADD note TEXT", "UPDATE sessions SET note = name")
    latest = ("CREATE TABLE notes AS SELECT note FROM sessions",)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, later, latest))
    store = SQLite(path)
    assert dump(store) == whole
    store.close()
    assert version(path) == 3


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = filled(path)
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
        db.execute("PRAGMA user_version = 2")
    db.close()
    with pytest.raises(StoreTooNew, match=r"store\.db .*version 2.* up to 1"):
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


def test_the_log_of_the_database_stays_bounded(path: Path) -> None:
    store = SQLite(path)
    [a] = created(store, "a")
    for t in range(40):
        store.write([Replace(a, t, 1, bytes(2**20))])
    store.write([Replace(a, 40, 1, bytes(2**26))])
    sizes = set()
    for t in range(41, 80):
        store.write([Replace(a, t, 1, bytes(2**20))])
        sizes.add(path.with_name("store.db-wal").stat().st_size)
    assert min(sizes) <= 32 * 2**20
    store.close()


def tampered(path: Path, *statements: str) -> None:
    db = sqlite3.connect(path)
    with db:
        for statement in statements:
            db.execute(statement)
    db.close()


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
        "DELETE FROM snapshots WHERE session = 5",
        "UPDATE producers SET next = next + 1 WHERE session = 5",
        "UPDATE producers SET producer = producer || x'ff' WHERE session = 5",
        "DELETE FROM producers WHERE session = 5 AND producer = 'p1'",
    ],
)
def test_rows_that_do_not_fit_are_noticed_and_the_others_served(path: Path, statement: str) -> None:
    whole = filled(path)
    tampered(path, statement)
    damaged = {each.name for each in check(path) if each.damage and each.name}
    assert damaged == {"s4"}
    store = SQLite(path)
    with pytest.raises(Damaged, match="s4"):
        store.load("s4")
    assert {name: store.load(name) for name in whole if name != "s4"} == {
        name: each for name, each in whole.items() if name != "s4"
    }
    store.close()


def hurt(file: Path, lot: random.Random) -> str:
    """Flip a bit of a file, or cut it."""
    data = bytearray(file.read_bytes())
    at = lot.randrange(len(data))
    if lot.random() < 0.1:
        del data[at:]
    else:
        data[at] ^= 1 << lot.randrange(8)
    file.write_bytes(data)
    return f"{file.name} at {at}"


@pytest.mark.parametrize("state", ["closed", "killed"])
def test_no_flipped_bit_and_no_cut_gives_a_wrong_answer(path: Path, state: str) -> None:
    whole, lot = filled(path), random.Random(SEED)
    source = path.parent / "killed" if state == "killed" else path.parent
    hurts, served = path.parent / "hurt", 0
    for _ in range(FLIPS):
        hurts.mkdir()
        files = [shutil.copy(file, hurts) for file in sorted(source.glob("store.db*"))]
        where = hurt(Path(lot.choice(files)), lot)
        with suppress(StoreError), closing(SQLite(hurts / path.name)) as store:
            healthy = served_of(store, whole, where)
            served += len(healthy)
            go_on(store, healthy, where)
        shutil.rmtree(hurts)
    print(f"{FLIPS} files hurt when {state}, {served} of {FLIPS * len(whole)} sessions served")
    assert served > FLIPS * len(whole) / 4


def served_of(store: Store, whole: Dump, where: str) -> dict[str, Stored]:
    """The sessions of a hurt file that are served; that they are as they were is asserted."""
    healthy = {}
    for name, stored in whole.items():
        with suppress(StoreError):
            loaded = store.load(name)
            assert loaded == stored, (where, name)
            healthy[name] = loaded
    with suppress(StoreError):
        assert {each.name for each in store.list("", 99)} <= whole.keys(), where
    return {name: stored for name, stored in healthy.items() if stored}


def go_on(store: Store, healthy: dict[str, Stored], where: str) -> None:
    """Writing to a hurt file, too, leaves each session right or damaged."""
    group = [Append(stored.id, stored.t, 1, b"more", ("p0", 9)) for stored in healthy.values()]
    results = store.write(group)
    for (name, stored), result in zip(healthy.items(), results, strict=True):
        tail = (*stored.tail, Entry(stored.t, 1, b"more"))
        more = replace(stored, t=stored.t + 1, tail=tail, producers={**stored.producers, "p0": 9})
        with suppress(StoreError):
            after = more if isinstance(result, Written) else stored
            assert store.load(name) == after, (where, name, result)
