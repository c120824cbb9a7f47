"""Copies of a store that is in use, and what comes of going back to one."""

import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from llr_cli.cli import app as cli
from llr_client import Client, errors
from llr_service.app import App
from llr_service.settings import Settings
from llr_service.stores.sqlite.checks import check_all
from starlette.testclient import TestClient
from support.flaky import Flaky, InProcess
from support.numbered import DEMO, create, learn, replay, replayed, state
from support.postgres import cluster, place, schema_of
from support.serving import serving
from typer.testing import CliRunner

from scripts.system_programs import need

BACKUP = "/v1/backup"


def opened(path: Path) -> TestClient:
    return TestClient(App(Settings(store=f"sqlite:///{path}")))


def test_a_restored_copy_is_the_store_as_it_was_and_a_producer_is_told(tmp_path: Path) -> None:
    with opened(tmp_path / "llr.db") as client:
        create(client)
        learn(client, 0, 5)
        copy = client.post(BACKUP)
        assert copy.headers["content-type"] == "application/vnd.sqlite3"
        learn(client, 5, 9)
        assert learn(client, 10, 11).json()["expected"] == 9  # as much as was acknowledged
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == []
    (tmp_path / "restored.db").write_bytes(copy.content)
    assert [each.damage for each in check_all(tmp_path / "restored.db")] == [None]
    with opened(tmp_path / "restored.db") as client:
        assert state(client) == replay(5)
        gap = learn(client, 9, 10)
        assert (gap.status_code, gap.json()["expected"]) == (409, 5)  # less
        learn(client, 5, 10)
        assert state(client) == replay(10)


@pytest.mark.slow
def test_copies_taken_under_load_are_beginnings_of_what_was_acknowledged(tmp_path: Path) -> None:
    with opened(tmp_path / "llr.db") as client, ThreadPoolExecutor(1) as threads:
        create(client)
        learn(client, 0, 1)
        sending = threads.submit(lambda: [learn(client, t, t + 1) for t in range(1, 150)])
        copies = []
        while not sending.done():
            before = client.get(DEMO).json()["t"]
            copies.append((before, client.post(BACKUP).content, client.get(DEMO).json()["t"]))
        assert all(answer.status_code == 200 for answer in sending.result())
    for number, (before, copy, after) in enumerate(copies[-3:]):
        (tmp_path / f"{number}.db").write_bytes(copy)
        with opened(tmp_path / f"{number}.db") as client:
            t = client.get(DEMO).json()["t"]
            assert before <= t <= after
            assert state(client) == replay(t)


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_the_command_takes_a_copy_and_the_sdk_tells_who_is_ahead_of_it(
    tmp_path: Path, held: ExitStack
) -> None:
    copy = tmp_path / "copy.db"
    with serving(f"sqlite:///{tmp_path}/llr.db") as address:
        url = f"http://{address}"
        client = held.enter_context(Client(url))
        session = client.session("demo", model="gaussian")
        session.learn(1.0)
        for code in (0, 1):  # what is there already stays
            done = CliRunner().invoke(cli, ["backup", str(copy), "--url", url])
            assert done.exit_code == code, done.output
        session.learn(2.0)
    asked = ["backup", str(tmp_path / "late.db"), "--url", f"http://me:secret@{address}"]
    gone = CliRunner().invoke(cli, asked)
    assert (gone.exit_code, "secret" in gone.output) == (3, False)
    with (
        serving(f"sqlite:///{copy}", address.rpartition(":")[2]),
        pytest.raises(errors.StateRegressed, match=r"has 1 samples.* acknowledged 2"),
    ):
        session.learn(3.0)


def test_what_is_copied_by_other_means_says_so() -> None:
    with TestClient(App(Settings(store="memory:"))) as client:
        answer = client.post(BACKUP)
    assert answer.status_code == 404
    assert "pg_dump" in answer.json()["detail"]


def test_a_database_dumped_under_load_is_a_beginning_of_what_was_acknowledged(
    held: ExitStack,
) -> None:
    url, enough = place(), threading.Event()
    with TestClient(App(Settings(store=url))) as client, ThreadPoolExecutor(2) as threads:
        create(client)
        senders = [Sender(number, client, held) for number in range(2)]
        for sender in senders:
            sender.send()
        sending = [threads.submit(sender.send_until, enough) for sender in senders]
        try:
            before = client.get(DEMO).json()["t"]
            copy = dumped(url)
            after = client.get(DEMO).json()["t"]
        finally:
            enough.set()
        for each in sending:
            each.result()
    told = dict(one for sender in senders for one in sender.told)
    history = [told[t] for t in range(1, len(told) + 1)]
    with TestClient(App(Settings(store=restored(url, copy)))) as client:
        t = client.get(DEMO).json()["t"]
        assert before <= t <= after < len(history)
        again = history[:t]
        assert state(client) == replayed(again)
        for sender in senders:
            sender.goes_to(client)
            had = sum(at <= t for at, _ in sender.told)
            said = rf"has {had} samples.* acknowledged {len(sender.told)}:"
            with pytest.raises(errors.StateRegressed, match=said):
                sender.send()
            assert sender.session.acked() == had
            missing = [y for _, y in sender.told[had:]]
            sender.session.learn_many(missing)
            again += missing
            assert state(client) == replayed(again)


class Sender:
    """A producer that writes down what was acknowledged: the t and the y of each sample."""

    def __init__(self, number: int, client: TestClient, held: ExitStack) -> None:
        self.told: list[tuple[int, float]] = []
        self._number, self._line = number, Flaky(InProcess(client))
        sdk = held.enter_context(Client("http://testserver", transport=self._line))
        self.session = sdk.session("demo")

    def send(self) -> None:
        y = self._number + len(self.told) / 8
        self.told.append((self.session.learn(y).t, y))

    def send_until(self, enough: threading.Event) -> None:
        """Send, for the last time when it was enough."""
        while not enough.is_set():
            self.send()
        self.send()

    def goes_to(self, client: TestClient) -> None:
        """What it sends from now on goes to another service."""
        self._line.inner = InProcess(client)


def dumped(url: str) -> bytes:
    """What pg_dump makes of a place."""
    dump = [need("pg_dump"), *server(), f"--schema={schema_of(url)}", "postgres"]
    return subprocess.run(dump, check=True, capture_output=True).stdout  # noqa: S603


def restored(url: str, copy: bytes) -> str:
    """The URL of a copy of a place, in a database of its own."""
    schema = schema_of(url)
    cluster().sql(f"CREATE DATABASE {schema}")
    back = [need("psql"), *server(), "--no-psqlrc", "--quiet", schema]
    subprocess.run(back, input=copy, check=True, capture_output=True)  # noqa: S603
    return cluster().url(schema, schema=schema)


def server() -> list[str]:
    return ["--host", str(cluster().folder), "--username=llr"]
