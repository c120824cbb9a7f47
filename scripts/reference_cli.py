"""The page of all commands and their options, from the command's own help."""

import inspect
from enum import Enum
from typing import Any

import typer
from llr_cli.cli import app

HEADER = """# Every command and option

[The command llr](cli.md) shows how to use them. `make docs` writes this page from the commands.
"""
WORDS = {str: "TEXT", float: "NUMBER", int: "NUMBER"}


def commands() -> str:
    """The page."""
    root = typer.main.get_command(app)
    sections = [_section(name, command) for name, command in _walk("llr", root)]
    return "\n".join([HEADER, *sections])


def _walk(name: str, command: Any) -> list[tuple[str, Any]]:
    """A command and its subcommands, with their whole names."""
    found = [(name, command)]
    for child, one in getattr(command, "commands", {}).items():
        found += _walk(f"{name} {child}", one)
    return found


def _section(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    usage = " ".join([name, *(_usage(each) for each in arguments)])
    lines = [f"## `{name}`", "", inspect.cleandoc(command.help or "").replace("\b\n", ""), ""]
    lines += ["```text", usage + (" [options]" if options else ""), "```", ""]
    rows = [_row(each) for each in [*arguments, *options] if not getattr(each, "hidden", False)]
    if rows:
        lines += ["| option | meaning | default |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _usage(argument: Any) -> str:
    shown = argument.metavar or argument.name.upper()
    return str(shown if argument.required else f"[{shown}]")


def _row(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    if parameter.param_type_name == "argument":
        names = f"`{parameter.metavar or parameter.name.upper()}`"
    elif not (parameter.is_flag or parameter.count):
        names += f" {_values(parameter)}"
    text = " ".join((parameter.help or "").split())
    variable = f" (`{parameter.envvar}`)" if parameter.envvar else ""
    return f"| {names} | {_cell(text)}{variable} | {_default(parameter)} |"


def _values(parameter: Any) -> str:
    if parameter.metavar:
        return _cell(parameter.metavar)
    kind: type = parameter.type_descriptor.annotation
    if issubclass(kind, Enum):
        return _cell("|".join(str(each.value) for each in kind))
    return WORDS.get(kind, kind.__name__.upper())


def _default(parameter: Any) -> str:
    value = getattr(parameter.default, "value", parameter.default)
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return f"`{value}`" if plain and value != "" else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
