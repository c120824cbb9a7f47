"""Debug logging changes what is logged, never what is answered or stored."""

import logging
from typing import Any

import httpx
import pytest
from llr_service.app import App
from llr_service.settings import Settings
from support.app import DEMO, SAMPLES, Stub, running

pytestmark = pytest.mark.anyio
NOW = 1_700_000_000.0
REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("PUT", DEMO, {"json": {"model": "linear", "dim": 2}}),
    ("POST", SAMPLES, {"json": {"x": [1.0, 2.0], "y": 3.0}}),
    ("POST", f"{SAMPLES}?producer=p&seq=0", {"json": {"x": [0.5, 2.0], "y": 1.0}}),
    ("POST", f"{SAMPLES}?producer=p&seq=0", {"json": {"x": [0.5, 2.0], "y": 1.0}}),
    ("POST", SAMPLES, {"content": b"{", "headers": {"content-type": "application/json"}}),
    ("POST", SAMPLES, {"json": {"x": [1.0], "y": 3.0}}),
    ("POST", f"{DEMO}/predict", {"json": {"x": [1.0, 1.0], "id": "a"}}),
    ("POST", f"{DEMO}/labels", {"json": {"id": "a", "y": 2.0}}),
    ("POST", f"{DEMO}/labels", {"json": {"id": "b", "y": 2.0}}),
    ("GET", DEMO, {}),
    ("GET", "/v1/sessions", {}),
    ("GET", f"{DEMO}/snapshot", {}),
    ("GET", "/v1/sessions/none", {}),
    ("DELETE", DEMO, {}),
]


def told(answer: httpx.Response) -> tuple[int, bytes, list[tuple[str, str]]]:
    headers = [pair for pair in answer.headers.items() if pair[0] != "x-request-id"]
    return answer.status_code, answer.content, headers


async def test_the_level_of_the_log_changes_no_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found = list[list[Any]]()
    for level in (logging.INFO, logging.DEBUG):
        store = Stub()
        monkeypatch.setattr("llr_service.app.open_store", lambda _, store=store: store)
        caplog.set_level(level)
        caplog.clear()
        async with running(App(Settings(), clock=lambda: NOW)) as http:
            answers = [await http.request(*one[:2], **one[2]) for one in REQUESTS]
        found.append([told(answer) for answer in answers])
        lines = [line for line in caplog.records if line.message == "request"]
        assert len(lines) == (len(REQUESTS) if level == logging.DEBUG else 0)
    assert found[0] == found[1]
    assert {status for status, *_ in found[0]} >= {200, 201, 204, 404}
