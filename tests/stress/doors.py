"""Every route and who may use it, and ways to knock at it that no client library would send."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

from fastapi.routing import iter_route_contexts
from llr_service.app import App
from llr_service.http.auth import hash_key, parse_keys
from llr_service.routes.stream import WebSocketEndpoint
from llr_service.settings import Settings
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.types import Message

SECRETS = {"read": "llr_reader", "write": "llr_writer", "admin": "llr_boss"}
TENANT = "llr_tenant"
"""The key of an admin of the sessions whose names begin with acme-."""
KEYS = parse_keys(
    ",".join(f"{role}:{role}:{hash_key(key)}" for role, key in SECRETS.items())
    + f",tenant:admin:acme-:{hash_key(TENANT)}"
)
ROLES = ["read", "write", "admin"]
LEAST = {
    "GET /": "nobody",
    "HEAD /": "nobody",
    "GET /dashboard/{asset}": "nobody",
    "HEAD /dashboard/{asset}": "nobody",
    "GET /guide": "nobody",
    "HEAD /guide": "nobody",
    "GET /guide/{path:path}": "nobody",
    "HEAD /guide/{path:path}": "nobody",
    "GET /llms.txt": "nobody",
    "HEAD /llms.txt": "nobody",
    "GET /livez": "nobody",
    "GET /readyz": "nobody",
    "GET /docs": "nobody",
    "GET /openapi.json": "nobody",
    "HEAD /openapi.json": "nobody",
    "GET /swagger/swagger-ui-bundle.js": "nobody",
    "GET /swagger/swagger-ui.css": "nobody",
    "GET /swagger/favicon-32x32.png": "nobody",
    "POST /v1/backup": "admin",
    "GET /version": "read",
    "GET /metrics": "read",
    "GET /v1/catalog": "read",
    "GET /v1/sessions": "read",
    "GET /v1/sessions/{name}": "read",
    "GET /v1/sessions/{name}/history": "read",
    "GET /v1/sessions/{name}/events": "read",
    "GET /v1/sessions/{name}/snapshot": "read",
    "POST /v1/sessions/{name}/predict": "read",
    "PUT /v1/sessions/{name}": "write",
    "POST /v1/sessions/{name}/samples": "write",
    "POST /v1/sessions/{name}/fork": "write",
    "PUT /v1/sessions/{name}/shadows/{shadow}": "write",
    "DELETE /v1/sessions/{name}/shadows/{shadow}": "write",
    "POST /v1/sessions/{name}/promote": "write",
    "WS /v1/sessions/{name}/stream": "write",
    "POST /v1/sessions/{name}/labels": "write",
    "PUT /v1/sessions/{name}/snapshot": "admin",
    "DELETE /v1/sessions/{name}": "admin",
}
"""Who may use a route at least. A new route gets its line here, after some thought."""
METHODS = [
    "GET",
    "HEAD",
    "OPTIONS",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "TRACE",
    "get",
    "Delete",
    "X",
]
TRICKS = [
    "{path}/",
    "/{path}",
    "{path}//",
    "{path}/.",
    "{path}/..",
    "{path};x",
    "{path}%00",
    "{path}%0d%0a",
    "{path}%20",
    "{path}%3f",
    "{path}.json",
    "/.{path}",
    "/livez/..{path}",
    "/swagger/..{path}",
    "/swagger/%2e%2e{path}",
    "/dashboard/..{path}",
    "/dashboard/main.js/..{path}",
    "/dashboard/main.js%2f..{path}",
    "/docs%2f..{path}",
    "/swagger{path}",
    "\\{path}",
]


def guarded() -> App:
    """An app with keys."""
    return App(Settings(store="memory:", api_keys=KEYS, allowed_hosts=("testserver", "here")))


@contextmanager
def served(app: App) -> Iterator[TestClient]:
    """A client without a key, of an app with keys and a session that has learnt something."""
    with TestClient(app, raise_server_exceptions=False) as started:
        boss = key_of("admin")
        started.put("/v1/sessions/demo", json={"model": "gaussian"}, headers=boss)
        started.post("/v1/sessions/demo/samples", json={"y": 1}, headers=boss)
        yield started


def key_of(role: str) -> dict[str, str]:
    """The header with a role's key."""
    return {"authorization": f"Bearer {SECRETS[role]}"}


def routes(app: App) -> set[str]:
    """All there are, as in the table."""
    found = {f"WS {WebSocketEndpoint.path}"}
    for route in iter_route_contexts(app.inner.routes):
        found |= {f"{method} {route.path}" for method in route.methods or ["WS"]}
    return found


def raw(client: TestClient, method: str, target: str, headers: dict[str, str]) -> tuple[int, bytes]:
    """The answer to a target that goes to the app as it is, decoded once as servers do."""
    answer: list[Message] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": unquote(target),
        "raw_path": target.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", b"here"), (b"content-type", b"application/json")]
        + [(name.encode(), value.encode()) for name, value in headers.items()],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": b'{"model": "linear"}', "more_body": False}

    async def send(message: Message) -> None:
        answer.append(message)

    async def ask() -> None:
        await client.app(scope, receive, send)

    assert client.portal is not None
    client.portal.call(ask)
    return answer[0]["status"], b"".join(part.get("body", b"") for part in answer[1:])


def handshake(client: TestClient, path: str, headers: dict[str, str]) -> int:
    """101 if a WebSocket is opened, else the status of the refusal."""
    try:
        with client.websocket_connect(path, headers=headers):
            return 101
    except WebSocketDenialResponse as refused:
        return int(refused.status_code)


def kept(client: TestClient) -> Any:
    """All that there is to protect."""
    boss = key_of("admin")
    sessions = client.get("/v1/sessions", headers=boss).json()["sessions"]
    return sessions, client.get("/v1/sessions/demo/snapshot", headers=boss).json()
