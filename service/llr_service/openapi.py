"""The OpenAPI document: FastAPI's, with the samples route, the problems and the examples added."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

import llr
from llr_service.codec.errors import ID as IDS
from llr_service.problems import KINDS, MEDIA_TYPE
from llr_service.schemas import Answer, ProblemDocument

REF = "#/components/schemas/"
ONE = {"x": [0.5, -1.2], "y": 1.0}
NAMED_ONE = {"x": {"age": 30, "city": "Rome", "new": True}, "y": 1.0}
VALUE = {"type": ["number", "boolean", "string"]}
ROW: dict[str, Any] = {
    "anyOf": [
        {"type": "array", "items": {"type": "number"}},
        {"type": "object", "additionalProperties": VALUE, "description": "Named features."},
    ]
}
SAMPLE: dict[str, Any] = {
    "type": "object",
    "required": ["y"],
    "properties": {
        "x": ROW,
        "y": {"type": "number"},
    },
    "additionalProperties": False,
}
COLUMNS: dict[str, Any] = {
    "type": "object",
    "required": ["y"],
    "properties": {
        "x": {"type": "array", "items": ROW},
        "y": {"type": "array", "items": {"type": "number"}},
    },
    "additionalProperties": False,
}
BODIES: dict[str, Any] = {
    "application/json": {
        "schema": {"anyOf": [SAMPLE, {"type": "array", "items": SAMPLE}, COLUMNS]},
        "examples": {
            "one sample": {"value": ONE},
            "named features": {"value": NAMED_ONE},
            "without features": {"value": {"y": 4.2}},
            "many": {"value": [ONE, {"x": [0.1, 0.3], "y": 0.0}]},
            "columns": {"value": {"x": [[0.5, -1.2], [0.1, 0.3]], "y": [1.0, 0.0]}},
        },
    },
    "application/x-ndjson": {
        "schema": {"type": "string", "description": "A sample a line, any number of lines."},
        "examples": {"two samples": {"value": '{"x":[0.5,-1.2],"y":1}\n{"x":[0.1,0.3],"y":0}\n'}},
    },
    "application/x-npy": {
        "schema": {
            "type": "string",
            "format": "binary",
            "description": "One float64 or float32 array: n rows of d features, then y.",
        },
        "example": "numpy.save(file, numpy.column_stack([X, y]))",
    },
}
PARAMETERS: list[dict[str, Any]] = [
    {"name": "producer", "in": "query", "schema": {"type": "string"}},
    {"name": "seq", "in": "query", "schema": {"type": "integer", "minimum": 0}},
    {"name": "theta", "in": "query", "schema": {"type": "boolean", "default": True}},
    {"name": "predictions", "in": "query", "schema": {"type": "boolean", "default": False}},
    {"name": "If-Match", "in": "header", "schema": {"type": "string"}},
]
FRESH = {
    "format": 1,
    "name": "demo",
    "t": 0,
    "config": {"model": "linear"},
    "producers": {},
    "state": None,
}
ID: dict[str, Any] = {"type": "string", "pattern": f"^{IDS.pattern}$"}
PREDICT = {
    "required": False,
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {
                    "x": {"anyOf": [ROW, {"type": "array", "items": ROW}]},
                    "id": ID,
                    "ids": {"type": "array", "items": ID, "minItems": 1},
                },
                "additionalProperties": False,
            },
            "examples": {
                "one row": {"value": {"x": [0.5, -1.2]}},
                "many rows": {"value": {"x": [[0.5, -1.2], [0.1, 0.3]]}},
                "named features": {"value": {"x": NAMED_ONE["x"]}},
                "without features": {"value": {}},
                "kept for a label": {"value": {"x": [0.5, -1.2], "id": "order-17"}},
                "many, kept": {"value": {"x": [[0.5, -1.2], [0.1, 0.3]], "ids": ["a", "b"]}},
            },
        }
    },
}
LABEL: dict[str, Any] = {
    "type": "object",
    "required": ["id", "y"],
    "properties": {"id": ID, "y": {"type": "number"}},
    "additionalProperties": False,
}
LABELS = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {"anyOf": [LABEL, {"type": "array", "items": LABEL, "minItems": 1}]},
            "examples": {
                "one label": {"value": {"id": "order-17", "y": 1.0}},
                "many": {"value": [{"id": "a", "y": 1.0}, {"id": "b", "y": 0.0}]},
            },
        },
        "application/x-ndjson": {
            "schema": {"type": "string", "description": "A label a line."},
            "examples": {"two labels": {"value": '{"id":"a","y":1}\n{"id":"b","y":0}\n'}},
        },
    },
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
        _, schemas = models_json_schema(
            [(Answer, "serialization"), (ProblemDocument, "serialization")],
            ref_template=REF + "{model}",
        )
        made.setdefault("components", {}).setdefault("schemas", {}).update(schemas["$defs"])
        made["paths"]["/v1/sessions/{name}/samples"] = {"post": _samples(made)}
        made["paths"]["/v1/sessions/{name}/predict"]["post"]["requestBody"] = PREDICT
        labels = made["paths"]["/v1/sessions/{name}/labels"]["post"]
        labels["requestBody"], labels["parameters"] = LABELS, labels["parameters"] + PARAMETERS[2:]
        made["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"key": []}, {}]
        _add_what_fastapi_leaves_out(made)
        for item in made["paths"].values():
            for operation in item.values():
                _add_problems(operation)
        for unused in ("HTTPValidationError", "ValidationError"):
            made["components"]["schemas"].pop(unused, None)
        app.openapi_schema = made
    return app.openapi_schema


def _add_what_fastapi_leaves_out(made: dict[str, Any]) -> None:
    created = made["paths"]["/v1/sessions/{name}"]["put"]["responses"]
    created["200"] = created["201"] | {"description": "It exists with the same config."}
    restored = made["paths"]["/v1/sessions/{name}/snapshot"]["put"]["requestBody"]["content"]
    restored["application/json"]["examples"] = {"of a fresh session": {"value": FRESH}}
    streams = {"/v1/sessions/{name}/events": "text/event-stream", "/metrics": "text/plain"}
    for path, kind in streams.items():
        answer = made["paths"][path]["get"]["responses"]["200"]
        answer["content"] = {kind: {"schema": {"type": "string"}}}


def _samples(made: dict[str, Any]) -> dict[str, Any]:
    name = made["paths"]["/v1/sessions/{name}"]["get"]["parameters"][0]
    return {
        "tags": ["learning"],
        "summary": "Learn",
        "description": "One sample, many, or a stream. 200: applied exactly once, and on disk. "
        "A WebSocket at `/v1/sessions/{name}/stream` takes the same, an answer a message.",
        "operationId": "learn",
        "parameters": [name, *PARAMETERS],
        "requestBody": {"required": True, "content": BODIES},
        "responses": {
            "200": {
                "description": "Learnt. For NDJSON with that Accept, a line a block.",
                "content": {
                    "application/json": {"schema": {"$ref": REF + "Answer"}},
                    "application/x-ndjson": {"schema": {"type": "string"}},
                },
            }
        },
    }


def _add_problems(operation: dict[str, Any]) -> None:
    """Every status a problem can have, on every operation."""
    for status in sorted({kind.status for kind in KINDS.values()}):
        titles = [kind.title for kind in KINDS.values() if kind.status == status]
        operation["responses"][str(status)] = {
            "description": "; ".join(titles),
            "content": {MEDIA_TYPE: {"schema": {"$ref": REF + "ProblemDocument"}}},
        }
