"""The store in Postgres: what servers it trusts, what it does while there is none, what is lost."""

import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext, suppress
from functools import partial

import pytest
from llr_service.app import App
from llr_service.doctor import main as doctor
from llr_service.migrate import main as migrate
from llr_service.settings import Settings
from llr_service.stores import open_store
from llr_service.stores.postgres import connection as server
from llr_service.stores.postgres import read, schema, write
from llr_service.stores.postgres.driver import Bigints, Byteas, TimedConnection
from llr_service.stores.postgres.url import Address
from llr_service.stores.store import (
    REPLAY_MARK,
    AppendSamples,
    Change,
    CreateSession,
    Damaged,
    DeleteSession,
    Maintainable,
    PendingExample,
    Sized,
    StoreError,
    StoreTooNew,
    StoreUnavailable,
    UpdatePending,
    WriteSnapshot,
)
from starlette.testclient import TestClient
from support import postgres
from support.brokers import free_port
from support.postgres import Cluster, tampered
from support.scripts import python
from support.stores_contract import created, kinds, known


@pytest.fixture
def url() -> str:
    """Where a store may be."""
    return postgres.place()


@pytest.fixture
def mortal() -> Cluster:
    """A cluster that may be stopped; who stops it starts it again."""
    return postgres.mortal()


def test_a_service_of_postgres_goes_on_after_a_restart(url: str) -> None:
    for start in range(2):
        with TestClient(App(Settings(store=url))) as client:
            client.put("/v1/sessions/demo", json={"model": "linear", "dim": 2})
            for seq in range(3 * start, 3 * start + 3):
                body = {"x": [1.0, seq], "y": 2.0}
                path = f"/v1/sessions/demo/samples?producer=p&seq={seq}"
                assert client.post(path, json=body).json()["t"] == seq + 1
            assert client.post(path, json=body).json()["duplicate"]
            assert client.get("/v1/sessions?total=true").json()["total"] == 1
            assert "flushed" in client.get("/version").json()["ack"]


def test_the_size_is_that_of_the_tables_of_this_store(url: str) -> None:
    with closing(open_store(url)) as store:
        assert isinstance(store, Sized)
        before = store.size()
        store.write([CreateSession("big", b"{}", 1, os.urandom(500_000))])
        assert before + 500_000 <= store.size() < before + 2_000_000


def test_a_server_that_dies_is_503_and_its_return_is_noticed(mortal: Cluster) -> None:
    settings = Settings(store=mortal.url(schema="dies", migrate="true"))
    with TestClient(App(settings)) as client:
        client.put("/v1/sessions/demo", json={"model": "gaussian"})
        path = "/v1/sessions/demo/samples?producer=p&seq="
        assert client.post(f"{path}0", json={"y": 1}).status_code == 200
        mortal.stop(signal.SIGKILL)
        refused = client.post(f"{path}1", json={"y": 2})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert client.get("/readyz").status_code == 503
        assert client.get("/livez").status_code == 200
        mortal.start()
        while client.get("/readyz").status_code != 200:
            pass
        assert client.post(f"{path}1", json={"y": 2}).json()["t"] == 2
        assert client.post(f"{path}0", json={"y": 1}).json()["duplicate"]


def test_a_service_starts_without_its_database_and_is_ready_when_that_comes(
    mortal: Cluster,
) -> None:
    mortal.stop()
    with TestClient(App(Settings(store=mortal.url(schema="late", migrate="true")))) as client:
        assert client.get("/readyz").status_code == 503
        assert client.put("/v1/sessions/demo", json={"model": "gaussian"}).status_code == 503
        mortal.start()
        while client.get("/readyz").status_code != 200:
            pass
        assert client.put("/v1/sessions/demo", json={"model": "gaussian"}).status_code == 201


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes", "synchronous_commit"])
def test_a_server_that_may_lose_what_it_acknowledged_is_refused(
    mortal: Cluster, setting: str
) -> None:
    url = mortal.url(schema="safe", migrate="true")
    try:
        mortal.set(setting, "off")
        with pytest.raises(StoreError, match=f"its setting {setting} is off"):
            open_store(url)
    finally:
        mortal.set(setting, "on")
    open_store(url).close()


def test_a_weaker_promise_of_the_server_is_made_the_full_one(mortal: Cluster) -> None:
    mortal.set("synchronous_commit", "local")
    try:
        with closing(open_store(mortal.url(schema="safe", migrate="true"))) as store:
            assert store.ask(_synchronous) == "on"  # type: ignore[attr-defined]
    finally:
        mortal.set("synchronous_commit", "on")


def _synchronous(connection: TimedConnection) -> object:
    return connection.value("SHOW synchronous_commit")


def test_a_standby_is_not_read_from(mortal: Cluster) -> None:
    url = mortal.url(schema="standby", migrate="true")
    with closing(open_store(url)) as store:
        created(store, "a")
        mortal.stop()
        (mortal.data / "standby.signal").touch()
        mortal.start()
        try:
            with pytest.raises(StoreUnavailable, match="is a standby"):
                store.load("a")
        finally:
            mortal.promote()
        while True:
            with suppress(StoreUnavailable):
                assert known(store, "a").t == 0
                break


def test_tables_are_made_when_told_to_and_only_then(
    url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    untold = url.replace("migrate=true", "migrate=false")
    with pytest.raises(StoreError, match=r"has no tables yet.*run `llr migrate`"):
        open_store(untold)
    assert migrate([untold]) == 0
    assert capsys.readouterr().out.endswith(": ready, 0 sessions\n")
    open_store(untold).close()
    monkeypatch.setattr(schema, "KNOWN", schema.KNOWN + 1)
    with pytest.raises(StoreError, match=r"of version 4, this service needs version 5"):
        open_store(untold)


def test_tables_of_a_later_service_are_refused(url: str) -> None:
    open_store(url).close()
    tampered(url, "UPDATE version SET version = 99")
    with pytest.raises(StoreTooNew, match=r"version 99.* up to 4"):
        open_store(url)


def test_tables_from_before_the_mark_was_indexed_find_the_sessions_that_have_it(url: str) -> None:
    configs = {"a": REPLAY_MARK, "b": b"{}", "c": REPLAY_MARK}
    with closing(open_store(url)) as store:
        store.write([CreateSession(name, config, version=7) for name, config in configs.items()])
    older = (
        "ALTER TABLE sessions RENAME version TO stamp",
        "DROP INDEX sessions_marked",
        *schema.MIGRATIONS[1],
        "UPDATE version SET version = 2",
    )
    for statement in older:
        tampered(url, statement)
    assert migrate([url]) == 0
    with closing(open_store(url)) as store:
        assert [row.name for row in store.list_replays("", 9)] == ["a", "c"]
        assert known(store, "a").version == 7


def test_many_may_make_the_tables_at_once(url: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        stores = [*pool.map(open_store, [url] * 8)]
    for number, store in enumerate(stores):
        assert created(store, f"s{number}")
        store.close()


def test_a_server_that_does_not_answer_is_not_waited_for(url: str) -> None:
    with closing(open_store(f"{url}&timeout=0.3")) as store:
        [a] = created(store, "a")
        locking = f"SET search_path = {postgres.schema_of(url)}; BEGIN; LOCK sessions;"
        with postgres.cluster().session(locking):
            with pytest.raises(StoreUnavailable, match="timeout"):
                store.write([AppendSamples(a, 0, 1, b"x")])
            with pytest.raises(StoreUnavailable, match="timeout"):
                store.count()
        assert kinds(store.write([AppendSamples(a, 0, 1, b"x")])) == "W"


@pytest.mark.parametrize("several", [False, True])
def test_a_server_that_is_stopped_in_its_tracks_is_not_waited_for(
    url: str, several: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llr_service.stores.postgres.connection.GRACE", 0.1)
    with closing(open_store(f"{url}&timeout=0.3")) as store:
        [a] = created(store, "a")
        pid = int(store.ask(_pid))  # type: ignore[attr-defined]
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(StoreUnavailable, match="no answer in time"):
                store.write([AppendSamples(a, 0, 1, b"x")] + [CreateSession("b", b"{}")] * several)
        finally:
            os.kill(pid, signal.SIGCONT)
        assert known(store, "a").id == a  # on another connection


def test_a_connection_that_the_server_ended_while_it_was_idle_is_made_again(url: str) -> None:
    with closing(open_store(url)) as store:
        [a] = created(store, "a")
        pid = int(store.ask(_pid))  # type: ignore[attr-defined]
        tampered(url, f"SELECT pg_terminate_backend({pid}, 5000)")
        assert kinds(store.write([AppendSamples(a, 0, 1, b"x")])) == "W"
        assert int(store.ask(_pid)) != pid  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "array", [Bigints(), Bigints((-(2**63), 0, 2**63 - 1)), Byteas(), Byteas((b"", b"\0\xff"))]
)
def test_arrays_reach_the_server_as_they_are(url: str, array: Bigints | Byteas) -> None:
    kind = "bigint" if isinstance(array, Bigints) else "bytea"

    def back(connection: TimedConnection) -> object:
        return connection.value(f"SELECT $1::{kind}[]", array)

    with closing(open_store(url)) as store:
        assert store.ask(back) == [*array]  # type: ignore[attr-defined]


def test_a_host_that_is_gone_without_a_word_leaves_time_for_the_next(url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # nobody takes what comes
        ports = f"{silent.getsockname()[1]},5432"
        several = url.replace("host=", "host=127.0.0.1,")
        with closing(open_store(f"{several}&port={ports}&timeout=0.5")) as store:
            assert created(store, "a")


def test_a_server_that_falls_silent_is_not_given_the_time_of_a_migration(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped, apply_settings = list[int](), server.apply_settings

    def stop(connection: TimedConnection, address: Address) -> None:
        stopped.append(connection.info.backend_pid)
        os.kill(stopped[-1], signal.SIGSTOP)
        apply_settings(connection, address)

    monkeypatch.setattr("llr_service.stores.postgres.connection.GRACE", 0.1)
    monkeypatch.setattr(server, "apply_settings", stop)
    try:
        store = open_store(f"{url}&timeout=0.3")  # it tells of no tables yet
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    monkeypatch.setattr(server, "apply_settings", apply_settings)
    monkeypatch.setattr("llr_service.stores.postgres.connection.PAUSE", 0.0)
    with closing(store):
        assert created(store, "a")


def _pid(connection: TimedConnection) -> object:
    return connection.value("SELECT pg_backend_pid()")


def test_a_service_that_stops_within_a_transaction_does_not_keep_its_locks(url: str) -> None:
    with (
        closing(open_store(f"{url}&timeout=60")) as stopped,
        closing(open_store(f"{url}&timeout=5")) as other,
    ):
        [a] = created(other, "a")
        stopped.ask(_lock)  # type: ignore[attr-defined]
        assert kinds(other.write([AppendSamples(a, 0, 1, b"x")])) == "W"


def _lock(connection: TimedConnection) -> None:
    connection.execute("BEGIN; SELECT 1 FROM sessions FOR UPDATE")


@pytest.mark.parametrize(("soon", "idle"), [(2, "5s"), (4, "1s")])
def test_a_large_group_may_be_on_its_way_as_long_as_a_statement_may_take(
    url: str, monkeypatch: pytest.MonkeyPatch, soon: int, idle: str
) -> None:
    numbers, found = write.reserve_ids, list[str]()

    def asked(connection: TimedConnection, count: int) -> list[int]:
        found.append(connection.value("SHOW idle_in_transaction_session_timeout"))
        return numbers(connection, count)

    monkeypatch.setattr(write, "SOON", soon)
    monkeypatch.setattr(write, "reserve_ids", asked)
    with closing(open_store(f"{url}&timeout=5")) as store:
        assert kinds(store.write([CreateSession("a", b"{ }")])) == "W"
        assert found == [idle]
        alone = store.ask(_idle)  # type: ignore[attr-defined]
        assert alone == "1s"


def _idle(connection: TimedConnection) -> object:
    return connection.value("SHOW idle_in_transaction_session_timeout")


def test_the_server_asks_a_silent_service_for_a_sign_of_life(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    port = str(free_port())
    monkeypatch.setenv("PGPORT", port)
    cluster = Cluster(listen_addresses="127.0.0.1", port=port)
    try:
        url = f"postgresql://llr@127.0.0.1:{port}/postgres?migrate=true"
        with closing(open_store(url)) as store:
            assert store.ask(_keepalives) == ["5", "2", "3"]  # type: ignore[attr-defined]
    finally:
        cluster.remove()


def _keepalives(connection: TimedConnection) -> list[object]:
    names = ("idle", "interval", "count")
    return [connection.value(f"SHOW tcp_keepalives_{name}") for name in names]


def test_what_has_no_room_in_postgres_is_a_conflict_of_its_own(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_store(url)) as store:
        [a] = created(store, "a")
        long = "".join(map(chr, range(0x4E00, 0x4E00 + 3000)))
        assert (
            kinds(store.write([CreateSession(long, b"{}"), AppendSamples(a, 0, 1, b"x")])) == "CW"
        )
        assert (
            kinds(
                store.write([AppendSamples(a, 1, 1, b"x", (long, 1)), AppendSamples(a, 1, 1, b"y")])
            )
            == "CW"
        )
        monkeypatch.setattr(write, "LARGEST", 10)
        large: list[Change] = [
            AppendSamples(a, 2, 1, b"x" * 11),
            WriteSnapshot(a, 2, 1, b"x" * 11),
            UpdatePending(a, 2, (("i", PendingExample(1, False, b"x" * 11)),)),
            CreateSession("b", b"x" * 11),
            CreateSession("b", b"", 1, b"x" * 11),
        ]
        assert kinds(store.write(large)) == "CCCCC"
        assert "Postgres takes 10 bytes at once, not 11" in str(store.write(large[:1]))
        assert kinds(store.write([AppendSamples(a, 2, 1, b"x" * 10)])) == "W"


def test_a_large_group_goes_in_parts(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "TOGETHER", 25)
    with closing(open_store(url)) as store:
        [a] = created(store, "a")
        group = [AppendSamples(a, t, 1, b"x" * 10) for t in (*range(7), 3, 7)]
        assert kinds(store.write(group)) == "WWWWWWWCW"
        assert known(store, "a").t == 8


def test_the_long_log_of_a_deleted_session_goes_a_part_at_a_time(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "ROWS", 4)
    with closing(open_store(url)) as store:
        assert isinstance(store, Maintainable)
        a, b = created(store, "a", "b")
        store.write(
            [AppendSamples(a, t, 1, b"x") for t in range(10)] + [AppendSamples(b, 0, 1, b"x")]
        )
        store.write([DeleteSession(a)])
        assert doctor([url]) == 0
        left = []
        while store.run_maintenance():
            left.append(int(tampered(url, "SELECT count(*) FROM log")))
        assert left == [7, 3, 1]
        assert tampered(url, "SELECT count(*) FROM discarded") == "0"
        assert known(store, "b").t == 1


def test_services_that_write_to_the_same_sessions_do_not_lock_each_other_out(url: str) -> None:
    with closing(open_store(url)) as store:
        numbers = created(store, *"abcdef")

    def write(order: int) -> str:
        with closing(open_store(url)) as store:
            mine, done = numbers[::order], ""
            for t in range(30):
                done += kinds(store.write([AppendSamples(number, t, 1, b"x") for number in mine]))
            return done

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(write, (1, -1))
    assert (one + other).count("W") == 30 * 6
    with closing(open_store(url)) as store:
        assert [known(store, name).t for name in "abcdef"] == [30] * 6


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sessions SET t = t + 1",
        "UPDATE sessions SET config = 'other'",
        "UPDATE sessions SET snapshot_t = 1",
        "UPDATE log SET blob = 'other'",
        "UPDATE log SET n = 2",
        "DELETE FROM log",
        "UPDATE snapshots SET blob = 'other'",
        "DELETE FROM snapshots",
        "UPDATE producers SET next = next + 1",
        "UPDATE producers SET producer = '\\xff'",
        "UPDATE kept SET blob = 'other'",
        "UPDATE kept SET learnt = true",
    ],
)
def test_what_does_not_fit_is_damaged_and_doctor_tells(
    url: str, statement: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(open_store(url)) as store:
        store.write([CreateSession("a", b"{}", 3, b"state", {"p": 1})])
        number = known(store, "a").id
        kept = (("i", PendingExample(5, False, b"x")),)
        store.write([AppendSamples(number, 3, 1, b"sample", None, kept)])
        assert doctor([url]) == 0
        tampered(url, statement)
        with pytest.raises(Damaged, match="session a"):
            store.load("a")
        assert doctor([url]) == 1
    well, damage, summary = capsys.readouterr().out.splitlines()
    assert well.endswith("1 sessions, all is well")
    assert damage.startswith("a: session a: ")
    assert summary.endswith("1 of 1 sessions damaged")


def test_a_page_is_full_whatever_is_damaged_in_it(url: str) -> None:
    with closing(open_store(url)) as store:
        for name in "abcdefg":
            created(store, name)
        tampered(url, "UPDATE sessions SET t = 9 WHERE name IN ('b', 'd')")
        assert [row.name for row in store.list("", 3)] == ["a", "c", "e"]
        assert [row.name for row in store.list("c", 9)] == ["e", "f", "g"]


def test_sessions_with_the_mark_are_found_by_their_index_however_many_others_there_are(
    url: str,
) -> None:
    with closing(open_store(url)) as store:
        ask = store.ask  # type: ignore[attr-defined]
        plans = [ask(_plan)]
        store.write([CreateSession(f"s{number}", b"{}") for number in range(2000)])
        plans.append(ask(_plan))
        store.write([CreateSession("a", REPLAY_MARK)])
        tampered(url, "ANALYZE sessions")
        plans.append(ask(_plan))
    for plan in plans:
        assert "sessions_marked" in plan
        assert "sessions_name_key" not in plan
        assert "Filter" not in plan


def _plan(connection: TimedConnection) -> str:
    connection.execute(f"PREPARE asked (bytea, bigint) AS {read.LIST_REPLAYS}")
    rows = connection.rows("EXPLAIN EXECUTE asked ('', 1000)")
    connection.execute("DEALLOCATE asked")
    return "\n".join(row["QUERY PLAN"] for row in rows)


def test_an_append_leaves_every_index_of_the_sessions_alone(url: str) -> None:
    with closing(open_store(url)) as store:
        store.write(
            [
                CreateSession("plain", b"{}"),
                CreateSession("marked", REPLAY_MARK),
                CreateSession("long", 999 * REPLAY_MARK),
            ]
        )
        group = [AppendSamples(known(store, row.name).id, 0, 1, b"x") for row in store.list("", 9)]
        assert store.ask(partial(_updated, group=group)) == (3, 3)  # type: ignore[attr-defined]


def _updated(connection: TimedConnection, group: list[AppendSamples]) -> tuple[int, ...]:
    """Rows of sessions that a group changes, and those of them that no index is told of."""
    counted = """SELECT pg_stat_get_xact_tuples_updated(oid) AS rows,
        pg_stat_get_xact_tuples_hot_updated(oid) AS hot
        FROM pg_class WHERE oid = 'sessions'::regclass"""
    with connection.transaction():
        [before] = connection.rows(counted)
        write.write(connection, group)
        [after] = connection.rows(counted)
    return tuple(after[name] - before[name] for name in ("rows", "hot"))


def test_doctor_tells_of_rows_that_are_nobodys(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(open_store(url)) as store:
        created(store, "a")
    tampered(url, "INSERT INTO log VALUES (99, 0, 1, 0, 'x')")
    assert doctor([url]) == 1
    assert "the store: 1 rows of log are of no session" in capsys.readouterr().out


def test_doctor_has_nothing_to_check_where_there_is_no_store(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor([url.replace("migrate=true", "migrate=false")]) == 2
    assert doctor([f"postgresql://llr@/none?host={postgres.cluster().folder}"]) == 2
    assert capsys.readouterr().err.count("llr doctor: postgresql://") == 2


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:x",
        "postgresql://h/d?migrate=perhaps",
        "postgresql://h/d?timeout=0",
        "postgresql://h/d?sslmod=require",
    ],
)
def test_a_url_that_is_wrong_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(StoreError) as refused:
        open_store(url.replace("//", "//me:secret@"))
    assert "secret" not in str(refused.value)


WITHOUT = """
import sys
sys.modules["psycopg"] = None
from llr_service.stores import open_store
open_store("memory:")
try:
    open_store("postgresql://h/d")
except Exception as error:
    print(error)
"""


def test_without_the_driver_it_says_how_to_get_it() -> None:
    with python(WITHOUT) as process:
        said = process.communicate()[0]
    assert said == "a store in Postgres needs its driver: pip install 'llr[postgres]'\n"


@pytest.mark.parametrize("there", [True, False])
def test_a_log_that_goes_while_it_is_read_is_damaged_only_if_its_session_stays(there: bool) -> None:
    class Log:
        """A connection that finds a session, then no log, and perhaps no session any more."""

        def value(self, *_: object) -> int | None:
            return found.pop(0)

        def rows(self, *_: object) -> list[object]:
            return []

    found = [1, 1 if there else None]
    with pytest.raises(Damaged) if there else nullcontext():
        assert read.read_log(Log(), 7, 0, 10, 99) is None  # type: ignore[arg-type]
