"""Responses as values, and the one form in which problems are answered.

`install` gives exceptions of FastAPI's routes the same form.
"""

from collections.abc import Collection
from http import HTTPStatus
from typing import Any, NamedTuple

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.responses import Response as FastAPIResponse
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from llr_service.http.wording import members_of, worded
from llr_service.problems import MEDIA_TYPE, Problem, pointer

Header = tuple[bytes, bytes]
JSON: Header = (b"content-type", b"application/json")
_LENGTHS: list[Header] = [(b"content-length", b"%d" % size) for size in range(4096)]


class Response(NamedTuple):
    """Status, headers and body of a response that is sent whole."""

    status: int
    headers: list[Header]
    body: bytes


def content_length(size: int) -> Header:
    """The header that tells the length of a body."""
    return _LENGTHS[size] if size < len(_LENGTHS) else (b"content-length", b"%d" % size)


def error_response(problem: Problem) -> Response:
    """The response that tells a problem."""
    headers = {"content-type": MEDIA_TYPE} | problem.headers
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    body = orjson.dumps(problem.body(), option=orjson.OPT_APPEND_NEWLINE)
    return Response(problem.kind.status, raw, body)


def closing_response(problem: Problem, default_headers: list[Header]) -> bytes:
    """The same as bytes, for a request that cannot be parsed: it closes the connection."""
    status, headers, body = error_response(problem)
    headers += [*default_headers, content_length(len(body)), (b"connection", b"close")]
    lines = [b"%b: %b\r\n" % header for header in headers]
    first = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()
    return b"".join([first, *lines, b"\r\n", body])


class JSONLine(JSONResponse):
    """A response of a FastAPI route: JSON and a final newline; NaN is null."""

    def render(self, content: Any) -> bytes:
        """Encode it."""
        return orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)


MAX_ERRORS = 10
"""Places that a problem names."""


def install(app: FastAPI) -> None:
    """Answer every exception that leaves a route of this app with a problem."""
    app.add_exception_handler(Problem, _on_problem)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(Exception, _on_failure)


def _answer(problem: Problem) -> FastAPIResponse:
    status, headers, body = error_response(problem)
    return FastAPIResponse(
        body, status, {name.decode(): value.decode("latin-1") for name, value in headers}
    )


async def _on_problem(_: Request, problem: Any) -> FastAPIResponse:
    return _answer(problem)


async def _on_http(request: Request, error: Any) -> FastAPIResponse:
    kinds = {404: "not-found", 405: "method-not-allowed", 400: "malformed"}
    kind = kinds.get(error.status_code, "internal")
    headers = _allowed(request) if kind == "method-not-allowed" else {}
    allowed = headers.get("Allow", "other methods")
    detail = {
        "not-found": "see /docs for the addresses there are",
        "method-not-allowed": f"not with {request.method}, but with {allowed}",
    }
    told = {**(error.headers or {}), **headers}
    return _answer(Problem(kind, detail.get(kind, str(error.detail)), headers=told))


def _allowed(request: Request) -> dict[str, str]:
    """Every method of an address that several routes share; the router names those of one only."""
    methods: set[str] = set()
    for context in iter_route_contexts(request.app.routes):
        if compile_path(context.path or "")[0].fullmatch(request.scope["path"]):
            methods |= set(context.methods or ())
    return {"Allow": ", ".join(sorted(methods))} if methods else {}


async def _on_invalid(request: Request, error: Any) -> FastAPIResponse:
    found = error.errors()
    if any(one["type"] == "json_invalid" for one in found):
        return _answer(Problem("malformed", "the body is not JSON"))
    known = _members(request) if any(one["type"] == "extra_forbidden" for one in found) else ()
    errors = _deepest([_place(one, error.body, known) for one in found[:MAX_ERRORS]])
    detail = "; ".join(
        f"{one.get('pointer') or one.get('parameter', 'the body')}: {one['detail']}"
        for one in errors
    )
    return _answer(Problem("invalid", detail[:500], errors))


def _members(request: Request) -> Collection[str]:
    """The names of the members that the body of a route may have."""
    params = request.scope["route"].dependant.body_params
    models = [param.field_info.annotation for param in params]
    return {name for model in models if _is_model(model) for name in members_of(model)}


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _place(error: dict[str, Any], body: Any, known: Collection[str]) -> dict[str, Any]:
    """The place and the reason of an error, without the value and without union members."""
    where, *path = error["loc"]
    if where == "body":
        last = len(path) - 1
        steps = []
        for i, part in enumerate(path):
            there = isinstance(body, dict | list) and _holds(body, part)
            if there or (i == last and error["type"] in ("missing", "extra_forbidden")):
                steps.append(str(part)[:100])
                body = body[part] if there else None
        return {"pointer": pointer(*steps), "detail": worded(error, known)}
    parameter = ".".join(str(part)[:100] for part in path)
    return {"parameter": parameter, "detail": worded(error)}


def _deepest(errors: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The errors without those that only repeat that a nested value is wrong."""
    places = [one.get("pointer", "") for one in errors]
    return [
        one
        for one, at in zip(errors, places, strict=True)
        if not at or not any(other.startswith(f"{at}/") for other in places)
    ]


def _holds(body: Any, part: Any) -> bool:
    if isinstance(body, dict):
        return part in body
    return isinstance(part, int) and part < len(body)


async def _on_failure(_: Request, __: Exception) -> FastAPIResponse:
    return _answer(Problem("internal", "the failure was logged"))
