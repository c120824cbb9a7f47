"""How settings are written: sizes and lists as text, a field as an option and as a variable."""

import argparse
import re
from collections.abc import Iterator
from typing import Annotated, NamedTuple

from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import NoDecode

PREFIX = "LLR_"
KIB, MIB, GIB = 1024, 1024**2, 1024**3
_UNITS = {"GiB": GIB, "MiB": MIB, "KiB": KIB, "B": 1, "": 1}
_SIZE = re.compile(r"(\d{1,15})\s*([A-Za-z]*)")
_BYTES = "bytes"  # marks a field that is a number of bytes


def _size(value: object) -> object:
    """A number of bytes, which may be written as 256MiB."""
    if not isinstance(value, str):
        return value
    written = _SIZE.fullmatch(value.strip())
    if written is None or written[2] not in _UNITS:
        raise ValueError("write a number of bytes, or a number with KiB, MiB or GiB")
    return int(written[1]) * _UNITS[written[2]]


def _words(value: object) -> object:
    return tuple(filter(None, re.split(r"[,\s]+", value))) if isinstance(value, str) else value


Size = Annotated[int, BeforeValidator(_size), _BYTES]
Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)]


class Described(NamedTuple):
    """A setting as `--help` and docs/settings.md show it."""

    name: str
    option: str
    variable: str
    default: str
    meaning: str


def described(settings: type[BaseModel]) -> list[Described]:
    """All settings of a class, in order."""
    return [
        Described(name, _option(name), _variable(name), _default(field), field.description or "")
        for name, field in settings.model_fields.items()
    ]


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _variable(name: str) -> str:
    return PREFIX + name.upper()


def _default(field: FieldInfo) -> str:
    value = field.default
    if field.default_factory is not None:
        return "sqlite:///<data folder>/llr/llr.db"
    if _BYTES in field.metadata:
        return next(f"{value // size}{unit}" for unit, size in _UNITS.items() if value % size == 0)
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value or "none")


def parser_of(settings: type[BaseModel], prog: str) -> argparse.ArgumentParser:
    """A parser with an option for every setting, which knows only those that were given."""
    parser = argparse.ArgumentParser(
        prog=prog,
        usage="%(prog)s [--option value]...",
        description="Serve named learners over HTTP. An option goes before its variable.",
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    for setting in described(settings):
        help_ = f"{setting.meaning} [{setting.variable}, default {setting.default}]"
        if settings.model_fields[setting.name].annotation is bool:
            parser.add_argument(setting.option, action=argparse.BooleanOptionalAction, help=help_)
        else:
            parser.add_argument(setting.option, metavar="VALUE", help=help_)
    return parser


def reasons(error: ValidationError) -> Iterator[str]:
    """What is wrong with which setting, without the values: they may be secret."""
    for item in error.errors(include_url=False, include_input=False):
        name = str(item["loc"][0]) if item["loc"] else ""
        reason = item["msg"].removeprefix("Value error, ")
        yield f"{_option(name)} or {_variable(name)}: {reason}" if name else reason
