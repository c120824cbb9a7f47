"""The page of the SDK's classes, from their signatures and docstrings."""

import inspect
import re
from dataclasses import is_dataclass
from typing import Any

from llr_client import Client, Session, answers, errors

HEADER = """# Every class of the SDK

[The Python client](sdk.md) shows how to use them. `AsyncClient` and `AsyncSession` have the same
methods, to be awaited. `make docs` writes this page from the docstrings.
"""
SECTION = re.compile(r"^(Args|Returns|Raises|Attributes):$")
ITEM = re.compile(r"^    (\w[\w.]*): (.*)$")


def sdk() -> str:
    """The page."""
    parts = [HEADER, *(_class(one) for one in (Client, Session))]
    parts += ["## Answers", "", _markdown(inspect.getdoc(answers) or ""), ""]
    parts += [_dataclass(one) for one in _dataclasses()]
    parts += ["## Errors", "", "```text", _tree(), "```", ""]
    return "\n".join(parts)


def _dataclasses() -> list[type]:
    found = (one for one in vars(answers).values() if inspect.isclass(one))
    return [one for one in found if is_dataclass(one)]


def _class(one: type) -> str:
    lines = [f"## `{one.__name__}`", "", _markdown(inspect.getdoc(one) or ""), ""]
    for name, member in vars(one).items():
        if not name.startswith("_") and inspect.isfunction(member):
            lines += [f"### `{one.__name__}.{name}`", "", "```text"]
            lines += [_signature(name, member), "```", ""]
            lines += [_markdown(inspect.getdoc(member) or ""), ""]
    return "\n".join(lines)


def _signature(name: str, member: Any) -> str:
    """The call without annotations, which the argument's text has in words."""
    shown = []
    keywords = False
    for parameter in list(inspect.signature(member).parameters.values())[1:]:
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            keywords = True
            shown.append("*")
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        shown.append(f"{parameter.name}{default}")
    return f"{name}({', '.join(shown)})"


def _dataclass(one: type) -> str:
    return f"### `{one.__name__}`\n\n{_markdown(inspect.getdoc(one) or '')}\n"


def _tree() -> str:
    found = (inspect.getdoc(errors) or "").partition("::\n\n")[2]
    return inspect.cleandoc(found.partition("\n\nTemporary")[0])


def _markdown(text: str) -> str:
    """A docstring with its sections as lists."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if found := SECTION.match(line):
            inside = True
            lines += [f"**{found[1]}**", ""]
        elif inside and (item := ITEM.match(line)):
            lines.append(f"- `{item[1]}`: {item[2]}")
        elif inside and line.startswith("        "):
            lines[-1] += " " + line.strip()
        else:
            inside = inside and not line
            lines.append(line.strip() if inside else line)
    return "\n".join(lines).strip()
