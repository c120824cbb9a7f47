"""The OpenAPI document: FastAPI's, with the direct routes, the problems and the examples added."""

import inspect
import re
from copy import deepcopy
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

import llr
from llr_service.http.routing import DirectRoute
from llr_service.problems import KINDS, MEDIA_TYPE
from llr_service.routes import DIRECT
from llr_service.routes.request_schemas import COMPONENTS
from llr_service.schemas import ProblemDocument
from llr_service.sessions.config import NAME

REF = "#/components/schemas/"
FRESH = {
    "format": 1,
    "name": "demo",
    "t": 0,
    "config": {"model": "linear"},
    "producers": {},
    "state": None,
}
NAME_PARAMETER = {
    "name": "name",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "pattern": f"^{NAME}$", "title": "Name"},
    "description": "The session's name.",
}


def document(app: FastAPI) -> dict[str, Any]:
    """The whole document, made once."""
    if app.openapi_schema is None:
        made = get_openapi(
            title="LLR",
            version=llr.__version__,
            summary="Learners that tune their own step size, as named sessions.",
            routes=app.routes,
        )
        models = {route.response for route in DIRECT} | {ProblemDocument}
        _, schemas = models_json_schema(
            [
                (model, "serialization")
                for model in sorted(models, key=lambda model: model.__name__)
            ],
            ref_template=REF + "{model}",
        )
        made.setdefault("components", {}).setdefault("schemas", {}).update(schemas["$defs"])
        made["components"]["schemas"] |= deepcopy(COMPONENTS)
        for route in DIRECT:
            made["paths"].setdefault(route.path, {})[route.method.lower()] = _operation(route)
        made["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"key": []}, {}]
        _summarise(made)
        _add_what_fastapi_leaves_out(made)
        for item in made["paths"].values():
            for operation in item.values():
                _add_problems(operation)
        for unused in ("HTTPValidationError", "ValidationError"):
            made["components"]["schemas"].pop(unused, None)
        _widen_numbers(made)
        app.openapi_schema = made
    return app.openapi_schema


def _summarise(made: dict[str, Any]) -> None:
    """Summaries in words: the first sentence of each description, in place of a function's name."""
    for item in made["paths"].values():
        for operation in item.values():
            first, _, _ = operation["description"].partition("\n\n")
            operation["summary"] = re.split(r"[.:;](?:\s|$)", " ".join(first.split()))[0]


def _add_what_fastapi_leaves_out(made: dict[str, Any]) -> None:
    created = made["paths"]["/v1/sessions/{name}"]["put"]["responses"]
    created["200"] = created["201"] | {"description": "It exists with the same config."}
    restored = made["paths"]["/v1/sessions/{name}/snapshot"]["put"]["requestBody"]["content"]
    restored["application/json"]["examples"] = {"of a fresh session": {"value": FRESH}}
    schemas = made["components"]["schemas"]
    for name in ("SessionConfig", "Fork"):  # one name for what is the same in both
        members = schemas[name]["properties"]
        text = members["theta0"].pop("description")
        schemas["Theta0"] = members["theta0"] | {"title": "Theta0"}
        members["theta0"] = {"$ref": REF + "Theta0", "description": text}
    streams = {"/v1/sessions/{name}/events": "text/event-stream", "/metrics": "text/plain"}
    for path, kind in streams.items():
        answer = made["paths"][path]["get"]["responses"]["200"]
        answer["content"] = {kind: {"schema": {"type": "string"}}}


FORMATS = {"integer": "int64", "number": "double"}


def _widen_numbers(part: Any) -> None:
    """Give numbers their formats: generated clients take 32 bits otherwise."""
    if isinstance(part, dict):
        if isinstance(part.get("type"), str) and part["type"] in FORMATS:
            part["format"] = FORMATS[part["type"]]
        for key, each in part.items():
            if key not in ("example", "examples", "default"):
                _widen_numbers(each)
    elif isinstance(part, list):
        for each in part:
            _widen_numbers(each)


def _operation(route: DirectRoute) -> dict[str, Any]:
    """The operation of a direct route, from its declaration."""
    summary, _, more = inspect.cleandoc(route.call.__doc__ or "").partition("\n\n")
    answer = {"application/json": {"schema": {"$ref": REF + route.response.__name__}}} | route.also
    operation: dict[str, Any] = {
        "tags": [route.tag],
        "summary": summary.rstrip("."),
        "description": " ".join((more or summary).split()),
        "operationId": route.operation_id,
        "parameters": [NAME_PARAMETER, *route.parameters],
        "responses": {"200": {"description": "Done.", "content": answer}},
        "x-role": str(route.access.role),
    }
    if route.content:
        body = {"required": route.body_required, "content": route.content}
        operation["requestBody"] = body
    return operation


def _add_problems(operation: dict[str, Any]) -> None:
    """Every status a problem can have, on every operation."""
    for status in sorted({kind.status for kind in KINDS.values()}):
        titles = [kind.title for kind in KINDS.values() if kind.status == status]
        operation["responses"][str(status)] = {
            "description": "; ".join(titles),
            "content": {MEDIA_TYPE: {"schema": {"$ref": REF + "ProblemDocument"}}},
        }
