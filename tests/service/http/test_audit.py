"""The audit log: who changed what, and who was refused, by the name of the key."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from llr_service import logs
from starlette.testclient import TestClient
from stress.doors import LEAST, SECRETS, TENANT, guarded, handshake, key_of, served

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
BODIES: dict[str, Any] = {
    "PUT /v1/sessions/{name}": {"model": "gaussian"},
    "POST /v1/sessions/{name}/fork": {"name": "copy"},
    "PUT /v1/sessions/{name}/shadows/{shadow}": {"algorithm": "sg"},
    "POST /v1/sessions/{name}/promote": {"name": "rival"},
}
SAMPLES = {"samples", "labels", "predict"}
"""What a direct route ends with: it learns, or it reads."""


@pytest.fixture
def client() -> Iterator[TestClient]:
    with served(guarded()) as started:
        yield started


@pytest.fixture
def audited(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.handler.setFormatter(logs.JsonFormatter())
    caplog.set_level(logging.INFO, logs.AUDIT)
    caplog.clear()
    return caplog


def lines(audited: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    every = (json.loads(line) for line in audited.text.splitlines())
    return [line for line in every if line["logger"] == logs.AUDIT]


def test_every_change_has_a_line_with_the_keys_name_and_reads_and_samples_have_none(
    client: TestClient, audited: pytest.LogCaptureFixture
) -> None:
    for route in LEAST:
        method, path = route.split()
        if method == "WS" or path.endswith("/events"):
            continue
        audited.clear()
        path = path.replace("{name}", "demo").replace("{shadow}", "rival")
        client.request(method, path, json=BODIES.get(route), headers=key_of("admin"))
        changes = method not in ("GET", "HEAD") and path.rpartition("/")[2] not in SAMPLES
        told = [(line["key"], line["role"], line["path"]) for line in lines(audited)]
        assert told == [("admin", "admin", path)] * changes, route


def test_a_change_is_told_with_its_outcome(
    client: TestClient, audited: pytest.LogCaptureFixture
) -> None:
    client.delete("/v1/sessions/none", headers=key_of("admin"))
    client.delete("/v1/sessions/demo", headers=key_of("admin"))
    client.delete("/nowhere", headers=key_of("admin"))
    client.patch("/v1/sessions/demo", headers=key_of("admin"))
    first, second = lines(audited)
    assert (first["status"], second["status"]) == (404, 204)
    assert second["route"] == "/v1/sessions/{name}"
    assert second["message"] == "change"
    assert second["request_id"]
    assert second["client"] == "testclient"


def test_every_401_and_403_has_a_line_and_none_has_a_key(
    client: TestClient, audited: pytest.LogCaptureFixture
) -> None:
    client.get("/v1/sessions")
    client.get("/v1/sessions", headers={"x-api-key": "llr_wrong"})
    client.post("/v1/sessions/demo/samples", json={"y": 1}, headers=key_of("read"))
    client.put("/v1/sessions/b", json={"model": "gaussian"}, headers={"x-api-key": TENANT})
    refused = lines(audited)
    assert [(line["status"], line["key"]) for line in refused] == [
        (401, None),
        (401, None),
        (403, "read"),
        (403, "tenant"),
    ]
    assert {line["message"] for line in refused} == {"refused"}
    assert not any(key in audited.text for key in (*SECRETS.values(), TENANT, "llr_wrong"))


def test_handshakes_that_are_refused_have_a_line(
    client: TestClient, audited: pytest.LogCaptureFixture
) -> None:
    path = "/v1/sessions/demo/stream"
    assert handshake(client, path, {}) == 401
    assert handshake(client, path, key_of("read")) == 403
    assert handshake(client, path, key_of("write")) == 101
    told = [(line["method"], line["status"], line["key"]) for line in lines(audited)]
    assert told == [("WS", 401, None), ("WS", 403, "read")]


def test_a_line_carries_the_trace_of_its_request(
    client: TestClient, audited: pytest.LogCaptureFixture
) -> None:
    given = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "x-request-id": "mine"}
    client.delete("/v1/sessions/none", headers=key_of("admin") | given)
    client.delete("/v1/sessions/none", headers=key_of("admin"))
    first, second = lines(audited)
    assert (first["trace_id"], first["request_id"]) == (TRACE, "mine")
    assert "trace_id" not in second


def test_audit_lines_are_written_whatever_the_level(capsys: pytest.CaptureFixture[str]) -> None:
    root, audit = logging.getLogger(), logging.getLogger(logs.AUDIT)
    before = root.handlers[:], root.level
    try:
        logs.configure("error", form="json")
        audit.info("change")
        logging.getLogger("llr_service").warning("m")
    finally:
        logging.captureWarnings(False)
        root.handlers[:], root.level = before
    [line] = capsys.readouterr().err.splitlines()
    assert json.loads(line)["message"] == "change"
