"""Write the types of `clients/typescript` from the OpenAPI document: `make docs` runs this."""

import json
from collections.abc import Mapping
from typing import Any

HEADER = """/**
 * The service's requests and answers, generated from its OpenAPI document by
 * `make docs` (scripts/typescript.py).
 */
"""
PLAIN = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean"}


def schemas(document: Mapping[str, Any]) -> str:
    """The declarations of all schemas."""
    found = document["components"]["schemas"]
    declared = [_declaration(name, found[name]) for name in sorted(found)]
    return "\n".join([HEADER.rstrip(), *declared]) + "\n"


def type_of(schema: Mapping[str, Any]) -> str:
    """The type of the values that a schema allows.

    >>> type_of({"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "null"}]})
    'number[] | null'
    >>> type_of({"type": "object", "additionalProperties": {"type": "string"}})
    'Record<string, string>'
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(type_of(each) for each in schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        return " | ".join(json.dumps(each) for each in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type")
    if kind in ("array", "object"):
        return _array(schema) if kind == "array" else _object(schema)
    return "null" if kind == "null" else PLAIN.get(str(kind), "unknown")


def _array(schema: Mapping[str, Any]) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(map(type_of, schema['prefixItems']))}]"
    item = type_of(schema.get("items", {}))
    return f"({item})[]" if "|" in item else f"{item}[]"


def _object(schema: Mapping[str, Any]) -> str:
    if "properties" in schema:
        return "{ " + " ".join(_members(schema)) + " }"
    values = schema.get("additionalProperties") or schema.get("patternProperties")
    if "patternProperties" in schema:
        (values,) = schema["patternProperties"].values()
    return f"Record<string, {type_of(values) if isinstance(values, Mapping) else 'unknown'}>"


def _declaration(name: str, schema: Mapping[str, Any]) -> str:
    text = schema.get("description", "").split("\n")[0]
    lines = [f"/** {text} */"] if text else []
    if "properties" not in schema:
        return "\n".join([*lines, f"export type {name} = {type_of(schema)};"])
    lines.append(f"export interface {name} {{")
    required = schema.get("required", ())
    for key, value in schema["properties"].items():
        if value.get("description"):
            lines.append(f"    /** {value['description']} */")
        lines.append(f"    {_member(key, value, key in required)}")
    return "\n".join([*lines, "}"])


def _members(schema: Mapping[str, Any]) -> list[str]:
    required = schema.get("required", ())
    return [_member(key, value, key in required) for key, value in schema["properties"].items()]


def _member(key: str, schema: Mapping[str, Any], required: bool) -> str:
    return f"{key}{'' if required else '?'}: {type_of(schema)};"
