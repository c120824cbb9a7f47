"""Late labels and kill −9: whatever was under way is sent again, and all is as if nothing was."""

import json
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from support.serving import Server, started

import llr

DEMO = "/v1/sessions/demo"
CONFIG = {"model": "linear", "dim": 2, "algorithm": "sg/ag"}
HEADERS = {"content-type": "application/json"}
Request = tuple[str, str, Any]


def ask(server: Server, request: Request) -> Any:
    method, path, body = request
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=20)) as connection:
        connection.request(method, path, json.dumps(body), HEADERS)
        answer = connection.getresponse()
        assert answer.status in (200, 201), answer.read()
        return json.loads(answer.read())


def cut_short(server: Server, request: Request) -> None:
    """Send a request and kill the service, without an answer."""
    method, path, body = request
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=20)) as connection:
        connection.request(method, path, json.dumps(body), HEADERS)
        server.process.kill()
        server.process.wait(timeout=20)


def conversation() -> tuple[list[Request], llr.Learner]:
    """Predictions in order, labels out of order; and a learner that had the samples instead."""
    requests: list[Request] = []
    learner = llr.Learner("linear", 2, "sg/ag", regret="exact")
    for i in range(0, 12, 2):
        rows = [[i / 7, 1.0 - i], [i / 3, 0.5 * i]]
        for n, x in enumerate(rows):
            requests.append(("POST", f"{DEMO}/predict", {"x": x, "id": f"i-{i + n}"}))
        for n in (1, 0):
            requests.append(("POST", f"{DEMO}/labels", [{"id": f"i-{i + n}", "y": 0.25 * i}]))
            assert learner.learn([rows[n]], [0.25 * i])
    return requests, learner


def test_a_kill_at_any_request_loses_nothing_and_learns_nothing_twice(tmp_path: Path) -> None:
    requests, learner = conversation()
    at = 0
    for lives in (3, 8, 6):
        with started(tmp_path, log_level="error") as server:
            ask(server, ("PUT", DEMO, CONFIG))
            for request in requests[at : at + lives]:
                ask(server, request)
            at += lives
            cut_short(server, requests[at])
    with started(tmp_path, log_level="error") as server:
        for request in requests[at:]:
            ask(server, request)
        for request in requests:
            again = ask(server, request)
            assert again.get("duplicate", True)
        assert ask(server, ("GET", f"{DEMO}/snapshot", None))["state"] == learner.to_plain()
        assert ask(server, ("GET", DEMO, None))["kept"] == 0
