"""A standby takes over: what is lost of what was acknowledged, and that services go on alone."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient
from support.numbered import DEMO, create, learn, replay, state
from support.postgres import Cluster

THERE = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()"
RECEIVER = "walreceiver"
"""What a standby calls itself."""


class Databases(NamedTuple):
    """A primary and its standby."""

    primary: Cluster
    standby: Cluster

    @property
    def url(self) -> str:
        """Both hosts, the primary first."""
        hosts = f"{self.primary.folder},{self.standby.folder}"
        return f"postgresql://llr@/postgres?host={hosts}&migrate=true"

    def catch_up(self) -> None:
        """Wait until the standby has what the primary has."""
        while self.primary.sql(THERE) != "1":
            pass


@contextmanager
def databases(synchronous: str = "") -> Iterator[Databases]:
    """A primary and its standby, which has all there is; the primary waits for those named."""
    primary = Cluster(synchronous_standby_names=synchronous)
    try:
        standby = Cluster(of=primary)
        try:
            both = Databases(primary, standby)
            both.catch_up()
            yield both
        finally:
            standby.remove()
    finally:
        primary.remove()


def when_ready(client: TestClient, start: int, stop: int) -> Any:
    """The answer to samples that are sent again until the service is there, as a producer does."""
    while client.get("/readyz").status_code == 503:
        pass
    while (answer := learn(client, start, stop)).status_code == 503:
        pass
    return answer


def test_a_synchronous_standby_has_all_that_was_acknowledged() -> None:
    with databases(RECEIVER) as both, TestClient(App(Settings(store=both.url))) as client:
        create(client)
        assert learn(client, 0, 5).status_code == 200
        both.primary.stop(signal.SIGKILL)
        away = learn(client, 5, 6)  # the other host is a standby
        assert (away.status_code, away.headers["retry-after"]) == (503, "1")
        both.standby.promote()
        assert when_ready(client, 5, 6).json()["t"] == 6
        assert state(client) == replay(6)


def test_what_an_asynchronous_standby_has_not_is_told_by_a_service_that_had_it_in_memory() -> None:
    with databases() as both, TestClient(App(Settings(store=both.url))) as client:
        create(client)
        learn(client, 0, 5)
        both.catch_up()
        both.standby.stop()
        assert learn(client, 5, 9).json()["t"] == 9
        both.primary.stop(signal.SIGKILL)
        both.standby.start()
        both.standby.promote()
        gap = when_ready(client, 9, 10)
        assert (gap.status_code, gap.json()["expected"]) == (409, 5)
        assert client.get(DEMO).json()["t"] == 5
        assert learn(client, 5, 10).json()["t"] == 10
        assert state(client) == replay(10)


def test_nothing_is_acknowledged_while_a_synchronous_standby_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("llr_service.stores.postgres.connection.GRACE", 0.5)
    with (
        databases(RECEIVER) as both,
        TestClient(App(Settings(store=f"{both.url}&timeout=2"))) as client,
    ):
        create(client)
        assert learn(client, 0, 5).status_code == 200
        both.standby.stop()
        assert learn(client, 5, 6).status_code == 503  # one statement
        other = client.put("/v1/sessions/other", json={"model": "gaussian"})
        assert other.status_code == 503  # a transaction
        both.standby.start()
        assert when_ready(client, 5, 6).json()["t"] == 6
        assert state(client) == replay(6)
