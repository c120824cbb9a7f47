"""Quotas: how many sessions a tenant may have, whichever way they are created."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient
from stress.doors import KEYS, TENANT, key_of

OURS = {"authorization": f"Bearer {TENANT}"}
CONFIG = {"model": "gaussian"}


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(App(Settings(store="memory:", api_keys=KEYS, max_tenant_sessions=2))) as made:
        made.put("/v1/sessions/acme-1", json=CONFIG, headers=OURS)
        yield made


def put(client: TestClient, name: str, headers: dict[str, str] = OURS) -> int:
    return int(client.put(f"/v1/sessions/{name}", json=CONFIG, headers=headers).status_code)


def names(client: TestClient) -> list[str]:
    page = client.get("/v1/sessions", headers=key_of("read")).json()
    return [row["name"] for row in page["sessions"]]


def test_a_tenant_has_its_most_sessions_and_may_replace_one(client: TestClient) -> None:
    assert put(client, "acme-2") == 201
    refused = client.put("/v1/sessions/acme-3", json=CONFIG, headers=OURS)
    assert (refused.status_code, refused.json()["limit"]) == (403, 2)
    assert refused.json()["type"] == "urn:llr:problem:quota-exceeded"
    assert put(client, "acme-2") == 200, "it is there already"
    assert client.delete("/v1/sessions/acme-1", headers=OURS).status_code == 204
    assert put(client, "acme-3") == 201


def test_forks_and_restored_snapshots_count_too(client: TestClient) -> None:
    client.post("/v1/sessions/acme-1/samples", json={"y": 1}, headers=OURS)
    snapshots = [client.get("/v1/sessions/acme-1/snapshot", headers=OURS).json()]
    client.put("/v1/sessions/acme-2", json={"model": "linear"}, headers=OURS)
    snapshots.append(client.get("/v1/sessions/acme-2/snapshot", headers=OURS).json())
    assert [snapshot["state"] is None for snapshot in snapshots] == [False, True]
    fork = client.post("/v1/sessions/acme-1/fork", json={"name": "acme-3"}, headers=OURS)
    restored = [
        client.put("/v1/sessions/acme-3/snapshot", json=snapshot, headers=OURS)
        for snapshot in snapshots
    ]
    assert [one.status_code for one in (fork, *restored)] == [403, 403, 403]
    assert names(client) == ["acme-1", "acme-2"]


def test_others_have_no_quota_and_count_in_nobodys(client: TestClient) -> None:
    for name in ("a", "b", "c", "acme2-1", "zzz"):
        assert put(client, name, key_of("write")) == 201
    assert put(client, "acme-2") == 201


def test_requests_at_the_same_time_do_not_exceed_it(client: TestClient) -> None:
    with ThreadPoolExecutor(8) as pool:
        statuses = [*pool.map(lambda n: put(client, f"acme-x{n}"), range(8))]
    assert sorted(statuses) == [201, *[403] * 7]
