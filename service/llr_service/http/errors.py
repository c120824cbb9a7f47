"""Exceptions of FastAPI's routes as problems, in the shape of every other."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from llr_service.http.responses import error_response
from llr_service.problems import Problem, pointer

MAX_ERRORS = 10
"""Places that a problem names."""


def install(app: FastAPI) -> None:
    """Answer every exception that leaves a route of this app with a problem."""
    app.add_exception_handler(Problem, _on_problem)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(Exception, _on_failure)


def _answer(problem: Problem) -> Response:
    status, headers, body = error_response(problem)
    return Response(
        body, status, {name.decode(): value.decode("latin-1") for name, value in headers}
    )


async def _on_problem(_: Request, problem: Any) -> Response:
    return _answer(problem)


async def _on_http(request: Request, error: Any) -> Response:
    kinds = {404: "not-found", 405: "method-not-allowed", 400: "malformed"}
    kind = kinds.get(error.status_code, "internal")
    detail = {
        "not-found": "see /docs for the addresses there are",
        "method-not-allowed": f"not with {request.method}",
    }
    headers = _allowed(request) if kind == "method-not-allowed" else {}
    told = {**(error.headers or {}), **headers}
    return _answer(Problem(kind, detail.get(kind, str(error.detail)), headers=told))


def _allowed(request: Request) -> dict[str, str]:
    """Every method of an address that several routes share; the router names those of one only."""
    methods: set[str] = set()
    for context in iter_route_contexts(request.app.routes):
        if compile_path(context.path or "")[0].fullmatch(request.scope["path"]):
            methods |= set(context.methods or ())
    return {"Allow": ", ".join(sorted(methods))} if methods else {}


async def _on_invalid(_: Request, error: Any) -> Response:
    found = error.errors()
    if any(one["type"] == "json_invalid" for one in found):
        return _answer(Problem("malformed", "the body is not JSON"))
    errors = _deepest([_place(one, error.body) for one in found[:MAX_ERRORS]])
    detail = "; ".join(
        f"{one.get('pointer') or one.get('parameter')}: {one['detail']}" for one in errors
    )
    return _answer(Problem("invalid", detail[:500], errors))


def _place(error: dict[str, Any], body: Any) -> dict[str, Any]:
    """Where and why, without what was sent. Kinds of a union are no part of the way there."""
    where, *path = error["loc"]
    if where == "body":
        last = len(path) - 1
        steps = []
        for i, part in enumerate(path):
            there = isinstance(body, dict | list) and _holds(body, part)
            if there or (i == last and error["type"] in ("missing", "extra_forbidden")):
                steps.append(str(part)[:100])
                body = body[part] if there else None
        return {"pointer": pointer(*steps), "detail": error["msg"]}
    return {"parameter": ".".join(str(part)[:100] for part in path), "detail": error["msg"]}


def _deepest(errors: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without those that only say that something below them is wrong."""
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


async def _on_failure(_: Request, __: Exception) -> Response:
    return _answer(Problem("internal", "the failure was logged"))
