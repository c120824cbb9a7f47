"""OpenAPI schemas and examples of the bodies and parameters that direct routes read."""

from typing import Any

from llr.intervals import LEVELS
from llr_service.codec.arrow_ipc import ARROW
from llr_service.codec.errors import ID as IDS
from llr_service.sessions.batch import MAX_SEQUENCE, PRODUCER

ONE = {"x": [0.5, -1.2], "y": 1.0}
NAMED_ONE = {"x": {"age": 30, "city": "Rome", "new": True}, "y": 1.0}
VALUE = {"anyOf": [{"type": "number"}, {"type": "boolean"}, {"type": "string"}]}
COMPONENTS: dict[str, dict[str, Any]] = {}
"""Schemas that several bodies have in common, by name."""


def component(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Name a schema; returns a reference to it."""
    COMPONENTS[name] = {"title": name} | schema
    return {"$ref": f"#/components/schemas/{name}"}


ROW_SCHEMA: dict[str, Any] = {
    "description": "The features of a sample.",
    "anyOf": [
        {"type": "array", "items": {"type": "number"}},
        {"type": "object", "additionalProperties": VALUE, "description": "Named features."},
    ],
}
ROW = component("Row", ROW_SCHEMA)
Y_SCHEMA: dict[str, Any] = {
    "anyOf": [{"type": "number"}, {"type": "string"}],
    "description": "A number, or the name of a class where classes have names.",
}
Y = component("Label", Y_SCHEMA)
WEIGHT: dict[str, Any] = {
    "type": "number",
    "minimum": 0,
    "default": 1,
    "description": "The weight of the sample, which multiplies its loss.",
}
SEQ: dict[str, Any] = {
    "type": "integer",
    "minimum": 0,
    "maximum": MAX_SEQUENCE - 1,
    "description": "The sample's own number, larger than the one before; with `producer`.",
}
SAMPLE_SCHEMA: dict[str, Any] = {
    "description": "One (x, y): the features and the label of one event.",
    "type": "object",
    "required": ["y"],
    "properties": {
        "x": ROW,
        "y": Y,
        "w": WEIGHT,
        "seq": SEQ,
    },
    "additionalProperties": False,
}
SAMPLE = component("Sample", SAMPLE_SCHEMA)
COLUMNS_SCHEMA: dict[str, Any] = {
    "description": "Many samples as columns.",
    "type": "object",
    "required": ["y"],
    "properties": {
        "x": {"type": "array", "items": ROW},
        "y": {"type": "array", "items": Y},
        "w": {"type": "array", "items": WEIGHT},
        "seq": {"type": "array", "items": SEQ},
    },
    "additionalProperties": False,
}
COLUMNS = component("SampleColumns", COLUMNS_SCHEMA)
SAMPLES: dict[str, Any] = {
    "application/json": {
        "schema": {
            "title": "Samples",
            "anyOf": [SAMPLE, {"type": "array", "items": SAMPLE}, COLUMNS],
        },
        "examples": {
            "one sample": {"value": ONE},
            "named features": {"value": NAMED_ONE},
            "without features": {"value": {"y": 4.2}},
            "many": {"value": [ONE, {"x": [0.1, 0.3], "y": 0.0}]},
            "with a weight": {"value": {"x": [0.1, 0.3], "y": 0.0, "w": 2.5}},
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
            "description": "One float64 or float32 array: n rows of d features, then y; or what "
            "`columns` says.",
        },
        "example": "numpy.save(file, numpy.column_stack([X, y]))",
    },
    ARROW: {
        "schema": {
            "type": "string",
            "format": "binary",
            "description": "An Arrow IPC stream or file, uncompressed: the columns y, w and seq,"
            " and a column for each feature.",
        },
        "example": "pyarrow.ipc.new_stream(file, table.schema).write_table(table)",
    },
}
LEARN_PARAMETERS: list[dict[str, Any]] = [
    {"name": "producer", "in": "query", "schema": {"type": "string"}},
    {
        "name": "seq",
        "in": "query",
        "schema": {"type": "integer", "minimum": 0},
        "description": "The number of the first sample. Where samples have their own, the first"
        " number that the body covers.",
    },
    {
        "name": "next",
        "in": "query",
        "schema": {"type": "integer", "minimum": 0},
        "description": "The producer's next number after this body, where it skips some.",
    },
    {"name": "theta", "in": "query", "schema": {"type": "boolean", "default": True}},
    {"name": "predictions", "in": "query", "schema": {"type": "boolean", "default": False}},
    {"name": "If-Match", "in": "header", "schema": {"type": "string"}},
]
COLUMN_NAMES: dict[str, Any] = {
    "name": "columns",
    "in": "query",
    "schema": {"type": "string"},
    "description": "What the columns of an npy array are, as `x,y,w,seq`; x are all that is left.",
}
INTERVAL: dict[str, Any] = {
    "name": "interval",
    "in": "query",
    "schema": {"type": "number", "enum": list(LEVELS)},
    "description": "Adds `lower` and `upper`, between which labels are as often as this; for a"
    " model of classes `set`, the classes it may be.",
}
ID: dict[str, Any] = {"type": "string", "pattern": f"^{IDS.pattern}$"}
PREDICT: dict[str, Any] = {
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
}
LABEL: dict[str, Any] = {
    "type": "object",
    "required": ["id", "y"],
    "properties": {"id": ID, "y": Y, "w": WEIGHT},
    "additionalProperties": False,
}
LABELS: dict[str, Any] = {
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
}

NEXT_SEQ: dict[str, Any] = {
    "name": "producer",
    "in": "query",
    "schema": {"type": "string", "pattern": f"^{PRODUCER.pattern}$"},
    "description": "Adds `next_seq` of this producer.",
}
