"""Learning over HTTP: what each kind of request gets, and what a failing store leaves behind."""

import hashlib
import io
from typing import Any

import httpx
import numpy as np
import pytest
from llr_service import serializers
from llr_service.app import App
from llr_service.http.auth import parse_keys
from llr_service.sessions.session_log import SessionLog
from llr_service.settings import Settings
from llr_service.stores.store import Conflict, StoreUnavailable
from support.app import Stub, running

pytestmark = pytest.mark.anyio

JSON, NPY = "application/json", "application/x-npy"
GOOD = b'{"x": [1, 2], "y": 3}'
SESSIONS: dict[str, dict[str, Any]] = {
    "s": {"model": "linear", "dim": 2},
    "yes-or-no": {"model": "logistic", "dim": 2},
    "bold": {"model": "linear", "dim": 2, "algorithm": "sg", "eta0": 1e9},
    "coin": {"model": "bernoulli"},
    "any": {"model": "linear"},
    "named": {"model": "linear", "max_features": 10},
    "led": {"model": "linear", "dim": 2, "shadows": {"other": {"algorithm": "sg/ag"}}},
    "kept": {"model": "linear", "dim": 2, "retain": True},
}


def npy(*rows: tuple[float, ...]) -> bytes:
    file = io.BytesIO()
    np.save(file, np.array(rows))
    return file.getvalue()


async def post(
    http: httpx.AsyncClient, body: bytes, query: str = "", name: str = "s", **headers: str
) -> httpx.Response:
    sent = {"content-type": JSON} | {key.replace("_", "-"): value for key, value in headers.items()}
    return await http.post(f"/v1/sessions/{name}/samples{query}", content=body, headers=sent)


CASES: list[tuple[str, dict[str, Any], int, int | None]] = [
    ("one sample", {"body": GOOD}, 200, 1),
    ("columns", {"body": b'{"x": [[1, 2], [3, 4]], "y": [1, 2]}'}, 200, 3),
    ("npy", {"body": npy((1.0, 2.0, 3.0)), "content_type": NPY}, 200, 4),
    ("a producer's first", {"body": GOOD, "query": "?producer=p&seq=0"}, 200, 5),
    (
        "one known, one new",
        {"body": b'[{"x":[1,2],"y":3},{"x":[1,2],"y":4}]', "query": "?producer=p&seq=0"},
        200,
        6,
    ),
    ("a duplicate", {"body": GOOD, "query": "?producer=p&seq=0"}, 200, 6),
    ("a gap", {"body": GOOD, "query": "?producer=p&seq=9"}, 409, None),
    ("If-Match holds", {"body": GOOD, "if_match": '"6"'}, 200, 7),
    ("If-Match fails", {"body": GOOD, "if_match": '"6"'}, 412, None),
    ("not JSON", {"body": b"{"}, 400, None),
    ("too wide", {"body": b'{"x": [1, 2, 3], "y": 3}'}, 422, None),
    ("not finite", {"body": b'{"x": [1e999, 2], "y": 3}'}, 422, None),
    ("no samples", {"body": b"[]"}, 422, None),
    ("a label out of bounds", {"body": GOOD, "name": "yes-or-no"}, 422, None),
    ("a step too far", {"body": b'{"x":[1e308,1e308],"y":-1e308}', "name": "bold"}, 409, None),
    ("no such session", {"body": GOOD, "name": "nobody"}, 404, None),
    ("no such parameter", {"body": GOOD, "query": "?theta=perhaps"}, 422, None),
    ("no such type", {"body": GOOD, "content_type": "text/plain"}, 415, None),
    ("another host", {"body": GOOD, "host": "example.org"}, 421, None),
    ("a long body", {"body": GOOD + b" " * 60_000}, 200, 8),
    ("a thousand labels", {"body": b'{"y": [1%b]}' % (b", 0" * 999), "name": "coin"}, 200, 1000),
    ("a first sample fixes dim", {"body": GOOD, "name": "any"}, 200, 1),
    ("named features", {"body": b'{"x": {"a": 1, "b": "red"}, "y": 3}', "name": "named"}, 200, 1),
    ("names for numbers", {"body": b'{"x": {"a": 1}, "y": 3}'}, 422, None),
    ("a session with a shadow", {"body": GOOD, "name": "led"}, 200, 1),
    ("a session that retains", {"body": GOOD, "name": "kept"}, 200, 1),
    ("an escaped name", {"body": GOOD, "name": "%73"}, 200, 9),
    ("not a name", {"body": GOOD, "name": "%2e%2e"}, 422, None),
]


async def test_every_kind_of_request_gets_its_status_and_moves_t_only_if_learnt() -> None:
    app = App(Settings(store="memory:"))
    async with running(app) as http:
        for name, config in SESSIONS.items():
            assert (await http.put(f"/v1/sessions/{name}", json=config)).status_code == 201
        for what, request, status, t in CASES:
            answer = await post(http, **request)
            assert answer.status_code == status, (what, answer.text)
            if t is None:
                assert answer.headers["content-type"] == "application/problem+json", what
            else:
                assert (answer.json()["t"], answer.headers["etag"]) == (t, f'"{t}"'), what
        assert app.context.bodies == 0


async def test_a_reading_key_may_not_learn_and_an_unknown_one_is_refused_first() -> None:
    def digest(key: str) -> str:
        return hashlib.sha256(key.encode()).hexdigest()

    keys = parse_keys(f"reader:read:{digest('r')},writer:write:{digest('w')}")
    async with running(App(Settings(store="memory:", api_keys=keys))) as http:
        await http.put("/v1/sessions/s", json=SESSIONS["s"], headers={"x-api-key": "w"})
        for key, name, status in (
            ("w", "s", 200),
            ("r", "s", 403),
            ("x", "s", 401),
            ("x", "nobody", 401),
            ("r", "nobody", 403),
        ):
            answer = await post(http, GOOD, name=name, authorization=f"Bearer {key}")
            assert answer.status_code == status


async def test_a_conflict_in_the_store_is_retried_and_counted_once(store: Stub) -> None:
    app = App(Settings(store="memory:"))
    async with running(app) as http:
        await http.put("/v1/sessions/s", json=SESSIONS["s"])
        await post(http, GOOD, "?producer=p&seq=0")

        def once(group: Any) -> Any:
            store.fails = None
            return [Conflict("another writer was first") for _ in group]

        store.fails = once
        both = b'[{"x":[1,2],"y":3},{"x":[1,2],"y":4}]'
        answer = (await post(http, both, "?producer=p&seq=0")).json()
        assert (answer["t"], answer["accepted"]) == (2, 1)
        assert "\nllr_duplicates_total 1.0" in (await http.get("/metrics")).text
        session = app.context.sessions.peek("s")
        assert session is not None
        assert not session.busy
        assert session.producers == {"p": 2}
        assert app.context.bodies == 0


async def test_a_failure_before_the_store_is_500_and_a_retry_learns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = App(Settings(store="memory:"))
    async with running(app) as http:
        await http.put("/v1/sessions/s", json=SESSIONS["s"])
        with monkeypatch.context() as patch:
            patch.setattr(SessionLog, "append_samples", lambda *_: 1 / 0)
            failed = await post(http, GOOD, "?producer=p&seq=0", x_request_id="known")
        assert (failed.status_code, failed.headers["x-request-id"]) == (500, "known")
        assert "see the log for request known" in failed.json()["detail"]
        again = (await post(http, GOOD, "?producer=p&seq=0")).json()
        assert (again["t"], again["duplicate"]) == (1, False)
        session = app.context.sessions.peek("s")
        assert session is not None
        assert not session.busy


async def test_a_store_that_is_away_is_503_and_nothing_is_learnt(store: Stub) -> None:
    async with running(App(Settings(store="memory:"))) as http:
        await http.put("/v1/sessions/s", json=SESSIONS["s"])

        def once(_: Any) -> Any:
            store.fails = None
            raise StoreUnavailable("away")

        store.fails = once
        failed = await post(http, GOOD)
        assert (failed.status_code, failed.headers["retry-after"]) == (503, "1")
        assert (await post(http, GOOD)).json()["t"] == 1


async def test_an_answer_that_cannot_be_made_is_500_for_one_request_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(App(Settings(store="memory:"))) as http:
        await http.put("/v1/sessions/s", json=SESSIONS["s"])
        made, left = serializers.learn_response, [RuntimeError("a bug")]

        def broken(*arguments: Any) -> bytes:
            if left:
                raise left.pop()
            return made(*arguments)

        monkeypatch.setattr(serializers, "learn_response", broken)
        assert (await post(http, GOOD)).status_code == 500
        assert (await post(http, GOOD)).json()["t"] == 2
