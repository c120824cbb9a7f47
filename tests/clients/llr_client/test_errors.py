"""The tree of errors is the service's table of problems."""

import inspect
import re
from typing import Any

import httpx
import pytest
from llr_client import errors
from llr_client.errors import LLRError, Problem, error_from_response
from llr_service.problems import KINDS, TYPE_PREFIX
from llr_service.problems import Problem as ServiceProblem


def answered(kind: str, **extra: Any) -> LLRError:
    """What the SDK makes of the service's answer."""
    problem = ServiceProblem(kind, "what to do", [{"pointer": "/y", "detail": "no"}], **extra)
    request = httpx.Request("GET", "http://here/")
    headers = {"x-request-id": "id-1", "retry-after": "3"}
    response = httpx.Response(
        problem.kind.status, json=problem.body(), headers=headers, request=request
    )
    return error_from_response(response)


@pytest.mark.parametrize("kind", KINDS)
def test_every_problem_of_the_service_has_its_class(kind: str) -> None:
    error = answered(kind, expected=7)
    assert isinstance(error, Problem)
    assert type(error) is errors.KINDS[kind]
    assert type(error).kind == kind
    assert (error.type, error.status) == (TYPE_PREFIX + kind, KINDS[kind].status)
    assert (error.title, error.detail) == (KINDS[kind].title, "what to do")
    assert error.errors == [{"pointer": "/y", "detail": "no"}]
    assert (error.request_id, error.retry_after, error.extra) == ("id-1", 3.0, {"expected": 7})
    assert str(error) == f"{KINDS[kind].title}: what to do"


def test_no_class_is_for_a_problem_the_service_does_not_have() -> None:
    assert set(errors.KINDS) == set(KINDS)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    rows = re.findall(r"^    ([│├└─ ]*)(\w+) +(\d{3})?", errors.__doc__ or "", re.MULTILINE)
    told: dict[int, str] = {}
    for indent, name, status in rows:
        depth = len(indent) // 4
        told[depth] = name
        found = getattr(errors, name)
        assert depth == 0 or found.__bases__ == (getattr(errors, told[depth - 1]),), name
        if status:
            assert KINDS[found.kind].status == int(status), name
    classes = {
        name
        for name, value in inspect.getmembers(errors, inspect.isclass)
        if issubclass(value, LLRError)
    }
    assert {name for _, name, _ in rows} == classes


@pytest.mark.parametrize("body", [b"<html>Bad Gateway</html>", b"[1]", b"", b'{"errors": null}'])
def test_what_a_proxy_answers_is_a_problem_without_a_type(body: bytes) -> None:
    request = httpx.Request("GET", "http://here/")
    error = error_from_response(httpx.Response(502, content=body, request=request))
    assert isinstance(error, Problem)
    assert (type(error), error.type, error.status) == (Problem, "about:blank", 502)
    assert str(error) == "HTTP status 502"


def test_a_problem_of_a_later_service_is_a_problem() -> None:
    request = httpx.Request("GET", "http://here/")
    body = {"type": "urn:llr:problem:later", "title": "Later", "detail": "wait"}
    error = error_from_response(httpx.Response(409, json=body, request=request))
    assert isinstance(error, Problem)
    assert (type(error), error.type) == (Problem, "urn:llr:problem:later")


@pytest.mark.parametrize("places", [["bad"], "bad", {"field": "bad"}, 7, [None]])
def test_what_a_proxy_calls_errors_does_not_hide_its_answer(places: Any) -> None:
    request = httpx.Request("GET", "http://here/")
    error = error_from_response(httpx.Response(400, json={"errors": places}, request=request))
    assert isinstance(error, Problem)
    assert (error.status, error.errors) == (400, [])
