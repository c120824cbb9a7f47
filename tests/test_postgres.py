"""The store in Postgres: what servers it trusts, what it does while there is none, what is lost."""

import signal
from collections.abc import Iterator

import postgres
import pytest
from postgres import Cluster
from starlette.testclient import TestClient

from service.app import App
from service.settings import Settings


@pytest.fixture
def url() -> str:
    """Where a store may be."""
    return postgres.place()


@pytest.fixture(scope="module")
def mortal() -> Iterator[Cluster]:
    """A cluster that may be stopped; who stops it starts it again."""
    made = Cluster()
    yield made
    made.remove()


def test_a_service_of_postgres_goes_on_after_a_restart(url: str) -> None:
    for start in range(2):
        with TestClient(App(Settings(store=url))) as client:
            client.put("/v1/sessions/demo", json={"model": "linear", "dim": 2})
            for seq in range(3 * start, 3 * start + 3):
                body = {"x": [1.0, seq], "y": 2.0}
                path = f"/v1/sessions/demo/samples?producer=p&seq={seq}"
                assert client.post(path, json=body).json()["t"] == seq + 1
            assert client.post(path, json=body).json()["duplicate"]
            assert client.get("/readyz").json()["sessions"] == 1
            assert "flushed" in client.get("/version").json()["ack"]


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
