"""Errors of ordinary routes in words of ours, with suggestions; and the form of every JSON body."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from llr_service.app import App
from llr_service.http.wording import WORDS
from llr_service.settings import Settings
from pydantic_core.core_schema import ErrorType
from starlette.testclient import TestClient
from stress.doors import LEAST, handshake

DEMO = "/v1/sessions/demo"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(App(Settings(store="memory:"))) as started:
        started.put(DEMO, json={"model": "linear", "dim": 2})
        yield started


def wrong(client: TestClient, method: str, path: str, **sent: Any) -> tuple[str, list[Any]]:
    answer = client.request(method, path, **sent)
    assert answer.status_code == 422, answer.text
    return answer.json()["detail"], answer.json()["errors"]


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"modle": "linear"}, "/modle: is not known here; did you mean 'model'?"),
        ({}, "/model: is required"),
        ({"model": 1}, "/model: must be a string"),
        ({"model": "linear", "dim": "a"}, "/dim: must be a whole number"),
        ({"model": "linear", "drift": "yes"}, "/drift: must be true or false"),
        ({"model": "linear", "max_features": 0}, "/max_features: must be at least 1"),
        ({"model": "linear", "hash_bits": 99}, "/hash_bits: must be at most 24"),
        ({"model": "linear", "label_seconds": 0}, "/label_seconds: must be greater than 0"),
        ({"model": "linear", "shadows": []}, "/shadows: must be an object"),
        (
            {"model": "linear", "shadows": {"a": {"algoritm": "sg"}}},
            "/shadows/a/algoritm: is not known here; did you mean 'algorithm'?",
        ),
        ([], "the body: must be an object"),
    ],
)
def test_a_wrong_config_is_told_in_words(client: TestClient, body: Any, detail: str) -> None:
    said, errors = wrong(client, "PUT", "/v1/sessions/a", json=body)
    assert detail in said
    assert any(one["detail"] in detail for one in errors)


def test_a_body_that_is_missing_is_told_so(client: TestClient) -> None:
    said, _ = wrong(client, "PUT", "/v1/sessions/a")
    assert said == "the body: is required"


def test_a_wrong_query_is_told_in_words(client: TestClient) -> None:
    assert wrong(client, "GET", "/v1/sessions?limit=0")[0] == "limit: must be at least 1"
    assert wrong(client, "GET", "/v1/sessions?limit=a")[0] == "limit: must be a whole number"
    said, _ = wrong(client, "GET", "/v1/sessions?activity=busy")
    assert said == "activity: must be one of 'learning', 'idle' or 'drifting'"


def test_every_kind_of_error_is_one_of_pydantics() -> None:
    assert set(WORDS) <= set(get_args(ErrorType))


@pytest.mark.parametrize(
    ("method", "path", "said"),
    [
        ("GET", "/v1/sessions?limt=3", "limt: is not known here; did you mean 'limit'?"),
        ("POST", f"{DEMO}/samples?predicton=true", "did you mean 'predictions'?"),
        ("GET", f"{DEMO}?producr=a", "did you mean 'producer'?"),
        ("GET", "/version?a=1", "a: is not known here"),
        ("PUT", "/v1/sessions/b?x", "x: is not known here"),
        ("GET", f"{DEMO}/history?cordinates=1", "is not known here"),
    ],
)
def test_a_query_that_is_not_known_is_refused_with_a_suggestion(
    client: TestClient, method: str, path: str, said: str
) -> None:
    detail, [error] = wrong(client, method, path, json={"model": "gaussian"})
    assert said in detail
    assert error["parameter"] in path
    assert client.get("/v1/sessions/b").status_code == 404


@pytest.mark.parametrize("route", [route for route in LEAST if LEAST[route] != "nobody"])
def test_no_route_ignores_a_query_that_it_does_not_know(client: TestClient, route: str) -> None:
    method, path = route.replace("{name}", "demo").replace("{shadow}", "rival").split()
    if method == "WS":
        assert handshake(client, f"{path}?nonsense=1", {}) == 422
        return
    answer = client.request(method, f"{path}?nonsense=1")
    assert answer.status_code == 422, route
    assert answer.json()["errors"][0]["parameter"] == "nonsense"


def test_pages_and_files_take_any_query(client: TestClient) -> None:
    for path in ("/livez?x=1", "/?x=1", "/dashboard/main.js?v=2"):
        assert client.get(path).status_code == 200


def test_a_405_names_the_methods_that_there_are(client: TestClient) -> None:
    answer = client.patch(DEMO)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "DELETE, GET, PUT"
    assert answer.json()["detail"] == "not with PATCH, but with DELETE, GET, PUT"


def test_every_json_body_ends_with_a_newline(client: TestClient) -> None:
    answers = [
        client.get(path)
        for path in (DEMO, "/v1/sessions", "/v1/catalog", "/version", "/livez", "/nowhere",
                     f"{DEMO}/history", f"{DEMO}/snapshot", "/v1/sessions/none")
    ]  # fmt: skip
    answers.append(client.post(f"{DEMO}/samples", json={"x": [1, 2], "y": 3}))
    answers.append(client.post(f"{DEMO}/predict", json={"x": [1, 2]}))
    answers.append(client.post(f"{DEMO}/fork", json={"name": "twin"}))
    answers.append(client.post(f"{DEMO}/samples", content=b"{"))
    for answer in answers:
        assert answer.content.endswith(b"}\n"), answer.url
        assert not answer.content.endswith(b"\n\n")
        assert answer.headers["content-length"] == str(len(answer.content))


def test_rows_of_the_list_have_a_status(client: TestClient) -> None:
    rows = client.get("/v1/sessions").json()["sessions"]
    assert {row["name"]: row["status"] for row in rows}["demo"] == "ok"
