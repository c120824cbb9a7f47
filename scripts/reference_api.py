"""The page of all routes and schemas, from the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

from scripts.typescript import type_of

HEADER = """# Every route and schema

[The API](api.md) explains them. `make docs` writes this page from the OpenAPI document, which the
service has at `/openapi.json`. Types are written as in TypeScript, with `or` for a bar; `?`
marks a member that may be missing. Every route may answer one of the [errors](errors.md).
"""


def routes(document: Mapping[str, Any]) -> str:
    """The page."""
    lines = [HEADER, "## Routes", ""]
    for path, item in document["paths"].items():
        for method, operation in item.items():
            lines.append(_operation(f"{method.upper()} {path}", operation))
    lines += ["## Schemas", ""]
    lines += [_schema(name, one) for name, one in sorted(document["components"]["schemas"].items())]
    return "\n".join(lines)


def _operation(name: str, operation: Mapping[str, Any]) -> str:
    text = operation.get("description") or operation.get("summary", "")
    lines = [f"### `{name}`", "", " ".join(text.split()), ""]
    rows = [
        _row(each["name"], each["schema"], each.get("description", ""), each["in"])
        for each in operation.get("parameters", ())
        if each["in"] != "path"
    ]
    if rows:
        lines += ["| parameter | in | type | meaning |", "|---|---|---|---|", *rows, ""]
    body = operation.get("requestBody", {}).get("content", {})
    lines += [f"Body: {_contents(body)}.", ""] if body else []
    good = {code: one for code, one in operation["responses"].items() if code < "3"}
    answers = (f"{code}{_of(one)}" for code, one in sorted(good.items()))
    return "\n".join([*lines, f"Answer: {'; '.join(answers)}.", ""])


def _of(response: Mapping[str, Any]) -> str:
    content = response.get("content", {})
    return f" {_contents(content)}" if content else ""


def _contents(content: Mapping[str, Any]) -> str:
    return ", ".join(f"`{kind}`{_kind(one.get('schema', {}))}" for kind, one in content.items())


def _kind(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f" [{name}](#{name.lower()})"
    return f" {schema['title']}" if "title" in schema and "anyOf" in schema else ""


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    lines = [f"### {name}", "", " ".join(schema.get("description", "").split()), ""]
    required = schema.get("required", ())
    rows = [
        _row(f"{key}{'' if key in required else '?'}", one, one.get("description", ""))
        for key, one in schema.get("properties", {}).items()
    ]
    if not rows:
        lines += [f"`{type_of(schema).replace(' | ', ' or ')}`", ""]
    else:
        lines += ["| member | type | meaning |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _row(name: str, schema: Mapping[str, Any], text: str, place: str | None = None) -> str:
    cells = [
        f"`{name}`",
        *([place] if place else []),
        f"`{type_of(schema)}`",
        " ".join(text.split()),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
