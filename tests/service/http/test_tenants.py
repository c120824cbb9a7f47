"""Row 17, for tenants: for a key with a prefix there are its own sessions, and nothing else."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from llr_service.app import App
from llr_service.http.auth import hash_key, parse_keys
from llr_service.sessions.config import NAME
from llr_service.settings import Settings
from llr_service.stores.memory import Memory
from starlette.testclient import TestClient
from stress.doors import LEAST, METHODS, TRICKS, handshake, raw

PREFIXES = {"boss": "", "acme": "acme-", "rival": "rival-"}
KEYS = parse_keys(
    ",".join(
        f"{name}-{role}:{role}:{prefix and prefix + ':'}{hash_key(name + role)}"
        for name, prefix in PREFIXES.items()
        for role in ("read", "write", "admin")
    )
)
CONFIG = {"model": "gaussian", "shadows": {"rival": {"algorithm": "sg"}}}
SHARED = {"GET /v1/sessions", "GET /v1/catalog", "GET /version"}
"""Routes for tenants that name no session. A new route is not for tenants until it is here."""
OF_SESSIONS = [route for route in LEAST if "{name}" in route]
GUARDED = [route for route in LEAST if LEAST[route] != "nobody"]
FOR_OPERATORS = [route for route in GUARDED if route not in {*SHARED, *OF_SESSIONS}]
BODIES: dict[str, Any] = {
    "PUT /v1/sessions/{name}": CONFIG,
    "PUT /v1/sessions/{name}/snapshot": {"name": "a", "t": 0, "config": CONFIG, "state": None},
    "POST /v1/sessions/{name}/samples": {"y": 1},
    "POST /v1/sessions/{name}/labels": {"id": "a", "y": 1},
    "POST /v1/sessions/{name}/predict": {},
    "POST /v1/sessions/{name}/fork": {"name": "acme-copy"},
    "PUT /v1/sessions/{name}/shadows/{shadow}": {"algorithm": "sg"},
    "POST /v1/sessions/{name}/promote": {"name": "rival"},
}
"""What each route takes, good enough to be done if there were such a session."""
NAMING = {"POST /v1/sessions/{name}/fork": [("name", 403)]}
"""The members of bodies that name a session, and what a tenant is told of a name of others."""


@pytest.fixture
def app() -> App:
    return App(Settings(store="memory:", api_keys=KEYS))


@pytest.fixture
def client(app: App) -> Iterator[TestClient]:
    """An app with two sessions of each tenant, and some that are nobody's."""
    with TestClient(app, raise_server_exceptions=False) as started:
        for name in ("acme-1", "acme-2", "rival-1", "rival-2", "acme-", "acme", "acme2-1", "demo"):
            started.put(f"/v1/sessions/{name}", json=CONFIG, headers=of("boss"))
            started.post(f"/v1/sessions/{name}/samples", json={"y": 1}, headers=of("boss"))
        yield started


def of(tenant: str, role: str = "admin") -> dict[str, str]:
    return {"authorization": f"Bearer {tenant}{role}"}


def ask(client: TestClient, route: str, name: str, who: str = "acme") -> tuple[int, str]:
    """The status and the text of the answer to a good request about a session."""
    method, path = route.replace("{name}", name).replace("{shadow}", "rival").split()
    if method == "WS":
        return handshake(client, path, of(who)), ""
    answer = client.request(method, path, json=BODIES.get(route), headers=of(who))
    return answer.status_code, answer.text


def names(client: TestClient, who: str, query: str = "") -> list[str]:
    page = client.get(f"/v1/sessions{query}", headers=of(who)).json()
    return [row["name"] for row in page["sessions"]]


def kept(client: TestClient) -> Any:
    """All that there is."""
    boss = of("boss")
    sessions = names(client, "boss")
    snapshots = [client.get(f"/v1/sessions/{name}/snapshot", headers=boss) for name in sessions]
    return sessions, [snapshot.json() for snapshot in snapshots]


@pytest.mark.parametrize("route", OF_SESSIONS)
def test_a_session_of_others_is_answered_as_one_that_does_not_exist(
    client: TestClient, route: str
) -> None:
    before = kept(client)
    told = {name: ask(client, route, name) for name in ("rival-1", "acme2-1", "demo", "rival-none")}
    alike = {(status, text.replace(name, "…")) for name, (status, text) in told.items()}
    assert len(alike) == 1, "the answer tells which of them exist"
    assert kept(client) == before
    if route.startswith("PUT"):
        status, text = told["rival-1"]
        assert status == 403
        assert "begin with acme-" in text
    elif route.startswith("WS"):
        assert told["rival-1"][0] == 404
        assert ask(client, route, "acme-1")[0] == 101
    else:
        missing, text = ask(client, route, "acme-none")
        assert alike == {(missing, text.replace("acme-none", "…"))}
        assert missing == 404


@pytest.mark.parametrize("route", [route for route in OF_SESSIONS if "/events" not in route])
def test_a_tenant_does_with_its_own_what_its_role_allows(client: TestClient, route: str) -> None:
    client.post("/v1/sessions/acme-1/predict", json={"id": "a"}, headers=of("acme"))
    new = route.endswith("snapshot") and route.startswith("PUT")
    assert ask(client, route, "acme-new" if new else "acme-1")[0] in (101, 200, 201, 204)


@pytest.mark.parametrize("role", ["read", "write"])
def test_a_tenants_role_is_asked_for_before_its_names(client: TestClient, role: str) -> None:
    for name in ("acme-1", "rival-1", "none"):
        refused = client.delete(f"/v1/sessions/{name}", headers=of("acme", role))
        assert refused.status_code == 403
        assert "role admin" in refused.json()["detail"]


@pytest.mark.parametrize("route", FOR_OPERATORS)
def test_what_is_about_the_whole_service_is_not_for_tenants(client: TestClient, route: str) -> None:
    method, path = route.split()
    assert client.request(method, path, headers=of("acme")).status_code == 403
    there = 404 if path == "/v1/backup" else 200  # a store in memory is not copied
    assert client.request(method, path, headers=of("boss")).status_code == there


def test_what_tenants_share_holds_nothing_of_others(client: TestClient) -> None:
    assert {"GET /metrics", "POST /v1/backup"} <= set(FOR_OPERATORS)
    for route in SHARED:
        answer = client.get(route.split()[1], headers=of("acme"))
        assert answer.status_code == 200
        assert not re.search("rival|demo|acme2", answer.text)
    assert "total" not in client.get("/v1/sessions?total=true", headers=of("acme")).json()
    assert client.get("/v1/sessions?total=true", headers=of("boss")).json()["total"] > 1


def naming(app: App) -> dict[str, list[str]]:
    """The members of bodies that are a session's name, as the OpenAPI document has them."""
    document = app.inner.openapi()
    found: dict[str, list[str]] = {}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            reference = body.get("schema", {}).get("$ref", "").rpartition("/")[2]
            members = document["components"]["schemas"].get(reference, {}).get("properties", {})
            told = [name for name, schema in members.items() if NAME in str(schema)]
            asked = operation.get("parameters", [])
            told += [one["name"] for one in asked if NAME in str(one) and one["in"] != "path"]
            if told:
                found[f"{method.upper()} {path}"] = told
    return found


def test_every_name_in_a_body_is_one_that_is_checked(app: App, client: TestClient) -> None:
    assert naming(app) == {route: [name for name, _ in rows] for route, rows in NAMING.items()}
    before = kept(client)
    for route, members in NAMING.items():
        method, path = route.replace("{name}", "acme-1").split()
        for member, status in members:
            told = set()
            for name in ("rival-1", "rival-none", "demo"):
                body = BODIES[route] | {member: name}
                answer = client.request(method, path, json=body, headers=of("acme"))
                told.add((answer.status_code, answer.text.replace(name, "…")))
                assert answer.json()["errors"][0]["pointer"] == f"/{member}"
            assert [code for code, _ in told] == [status], "the answer tells which of them exist"
    assert kept(client) == before


@pytest.mark.parametrize("trick", [*TRICKS, "/v1/sessions/acme-1/..{path}", "{path}/acme-1"])
def test_tricks_with_the_path_lead_a_tenant_to_nobody_else(client: TestClient, trick: str) -> None:
    before = kept(client)
    for path in ("/v1/sessions/rival-1", "/v1/sessions/rival-1/samples", "/metrics"):
        for method in METHODS:
            for written in (path, path.upper(), path.replace("/", "%2f"), path[1:]):
                target = trick.replace("{path}", written)
                status, body = raw(client, method, target, of("acme"))
                assert status in (401, 403, 404, 405, 422), (method, target)
                assert b"rival-2" not in body
                assert b"llr_samples" not in body
    assert kept(client) == before


@pytest.mark.parametrize(
    "name", ["ACME-1", "Acme-1", "%61cme2-1", "acme%2d", "acme-%00", " acme-1", "acme", "acme-/.."]
)
def test_only_the_prefix_to_the_letter_leads_to_a_tenants_sessions(
    client: TestClient, name: str
) -> None:
    before = kept(client)
    for method in ("GET", "DELETE", "PUT"):
        status, _ = raw(client, method, f"/v1/sessions/{name}", of("acme"))
        assert status in (403, 404, 405, 422), method
    assert kept(client) == before


def test_lists_are_a_tenants_own_whatever_the_cursor(client: TestClient) -> None:
    assert names(client, "acme") == ["acme-1", "acme-2"]
    assert names(client, "rival") == ["rival-1", "rival-2"]
    assert len(names(client, "boss")) == 8
    for cursor in ("", "a", "acme-", "0"):
        assert names(client, "acme", f"?cursor={cursor}") == ["acme-1", "acme-2"]
    for cursor in ("acme-2", "acme2-1", "rival-1", "zzz"):
        assert names(client, "acme", f"?cursor={cursor}") == []


def test_pages_of_a_tenant_end_where_its_sessions_do(client: TestClient) -> None:
    first = client.get("/v1/sessions?limit=1", headers=of("acme")).json()
    assert (first["sessions"][0]["name"], first["next"]) == ("acme-1", "acme-1")
    query = f"?limit=1&cursor={first['next']}"
    last = client.get(f"/v1/sessions{query}", headers=of("acme")).json()
    assert (last["sessions"][0]["name"], last["next"]) == ("acme-2", None)


def test_the_store_is_asked_for_what_follows_the_prefix_and_no_more(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int]] = []
    listed = Memory.list

    def spy(store: Memory, after: str, limit: int) -> Any:
        asked.append((after, limit))
        return listed(store, after, limit)

    monkeypatch.setattr(Memory, "list", spy)
    names(client, "rival", "?limit=7")
    names(client, "rival", "?limit=7&cursor=rival-1")
    names(client, "boss", "?limit=7&cursor=b")
    assert asked == [("rival-", 8), ("rival-1", 8), ("b", 8)]


def test_the_form_of_the_dashboard_is_told_where_the_name_is_wrong(client: TestClient) -> None:
    refused = client.put("/v1/sessions/mine", json=CONFIG, headers=of("acme")).json()
    assert refused["type"] == "urn:llr:problem:forbidden"
    [error] = refused["errors"]
    assert error["parameter"] == "name"
    assert error["detail"] == "the names of this key's sessions begin with acme-"


def test_the_version_names_the_keys_that_a_caller_may_know_of(client: TestClient) -> None:
    said = client.get("/version", headers=of("acme", "write")).json()
    own = {"name": "acme-write", "role": "write", "prefix": "acme-"}
    assert (said["key"], said["keys"]) == (own, [own])
    assert len(client.get("/version", headers=of("acme")).json()["keys"]) == 1
    everything = client.get("/version", headers=of("boss"))
    assert {one["name"] for one in everything.json()["keys"]} == {key.name for key in KEYS}
    assert not any(key.digest.hex() in everything.text for key in KEYS)
