"""A service without keys answers who means it, and no page that let its own name lead here."""

from collections.abc import Iterator

import pytest
from llr_service.app import App
from llr_service.http.access import name_of
from llr_service.http.auth import hash_key, parse_keys
from llr_service.settings import Settings
from starlette.testclient import TestClient
from stress.doors import handshake

LOOPBACK = [
    "localhost",
    "localhost:8080",
    "LOCALHOST",
    "localhost.",
    "127.0.0.1:8080",
    "127.8.9.1",
    "[::1]",
    "[::1]:8080",
    "llr.localhost:80",
]
ELSEWHERE = [
    "evil.example",
    "evil.example:8080",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.example@localhost",
    "localhost@evil.example",
    "notlocalhost",
    "192.0.2.1",
    "0.0.0.0",  # noqa: S104
    "[::ffff:192.0.2.1]",
    "[::1",
    "localhost:evil.example",
    "localhost, evil.example",
    "localhost/evil.example",
    "",
    "*",
]
KEYS = parse_keys(f"boss:admin:{hash_key('boss')}")


@pytest.fixture(autouse=True)
def _no_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLR_ALLOWED_HOSTS")


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(App(Settings(store="memory:")), "http://localhost") as started:
        started.put("/v1/sessions/demo", json={"model": "gaussian"})
        yield started


def status(settings: Settings, host: str, path: str = "/v1/sessions") -> int:
    with TestClient(App(settings), "http://localhost") as client:
        return int(client.get(path, headers={"host": host, "x-api-key": "boss"}).status_code)


@pytest.mark.parametrize("host", LOOPBACK)
def test_loopback_is_answered_by_every_name_it_has(client: TestClient, host: str) -> None:
    for _ in range(2):
        assert client.get("/v1/sessions", headers={"host": host}).status_code == 200
    assert handshake(client, "/v1/sessions/demo/stream", {"host": host}) == 101


@pytest.mark.parametrize("host", ELSEWHERE)
def test_another_host_is_refused_before_anything_is_done(client: TestClient, host: str) -> None:
    asks = [("DELETE", "/v1/sessions/demo"), ("GET", "/"), ("GET", "/docs"), ("GET", "/metrics")]
    asks += [("POST", "/v1/sessions/demo/samples"), ("PUT", "/v1/sessions/new")]
    for method, path in asks:
        refused = client.request(method, path, json={"y": 1}, headers={"host": host})
        assert refused.status_code == 421, path
        assert refused.json()["type"] == "urn:llr:problem:misdirected"
        assert "allowed_hosts" in refused.json()["detail"]
    assert handshake(client, "/v1/sessions/demo/stream", {"host": host}) == 421
    assert [row["name"] for row in client.get("/v1/sessions").json()["sessions"]] == ["demo"]


def test_whatever_watches_the_service_may_call_it_as_it_likes(client: TestClient) -> None:
    for path in ("/livez", "/readyz"):
        assert client.get(path, headers={"host": "10.0.0.7"}).status_code == 200


def test_of_two_hosts_both_count(client: TestClient) -> None:
    hosts = [("host", "localhost"), ("host", "evil.example")]
    for headers in (hosts, hosts[::-1]):
        assert client.get("/v1/sessions", headers=headers).status_code == 421


def test_hosts_that_are_allowed_are_answered_and_no_others() -> None:
    settings = Settings(store="memory:", allowed_hosts="llr.example, Service,fd00::7")  # type: ignore[arg-type]
    for host in ("llr.example", "LLR.example:443", "service:8080", "localhost:1", "[fd00::7]:80"):
        assert status(settings, host) == 200
    for host in ("x.llr.example", "example", "service.evil"):
        assert status(settings, host) == 421
    assert status(Settings(store="memory:", allowed_hosts=("*",)), "anything.example") == 200


def test_with_keys_any_host_is_answered_unless_some_are_named() -> None:
    assert status(Settings(store="memory:", api_keys=KEYS), "llr.example") == 200
    named = Settings(store="memory:", api_keys=KEYS, allowed_hosts=("llr.example",))
    assert status(named, "llr.example") == 200
    assert status(named, "other.example") == 421


def test_who_listens_beyond_loopback_without_keys_says_which_hosts() -> None:
    beyond = Settings(store="memory:", host="::", insecure=True)
    assert status(beyond, "anything.example") == 200
    named = Settings(store="memory:", host="::", insecure=True, allowed_hosts=("service",))
    assert status(named, "service:8080") == 200
    assert status(named, "evil.example") == 421
    assert status(Settings(store="memory:", insecure=True), "evil.example") == 421


@pytest.mark.parametrize("host", ["http://a", "a:80", "a/b", "[::1]"])
def test_a_host_is_set_without_scheme_port_or_path(host: str) -> None:
    with pytest.raises(ValueError, match="without http"):
        Settings(store="memory:", allowed_hosts=(host,))


def test_no_memory_is_kept_of_hosts_without_end() -> None:
    assert name_of(b"localhost:99999") == "localhost"
    assert name_of(b"localhost:100000") == ""
