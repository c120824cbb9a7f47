"""What is wrong with a body or a query, in words: pydantic's kinds of errors, and suggestions."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

WORDS = {
    "missing": "is required",
    "string_type": "must be a string",
    "string_pattern_mismatch": "must match {pattern}",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "too_long": "must have at most {max_length} members",
    "too_short": "must have at least {min_length} members",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large a number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "list_type": "must be an array",
    "tuple_type": "must be an array",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be one of {expected}",
    "value_error": "{error}",
}
"""For each of pydantic's types of errors what is said, with the numbers of its context."""


def worded(error: Mapping[str, Any], known: Collection[str] = ()) -> str:
    """What an error of pydantic says; `known` are the names that could have been meant.

    >>> worded({"type": "extra_forbidden", "loc": ("body", "modle")}, {"model", "dim"})
    "is not known here; did you mean 'model'?"
    >>> worded({"type": "less_than_equal", "loc": ("query", "limit"), "ctx": {"le": 9}})
    'must be at most 9'
    """
    kind = error["type"]
    if kind == "extra_forbidden":
        return unknown(str(error["loc"][-1]), known)
    said = WORDS.get(kind)
    if said is None:
        return str(error["msg"])
    return said.format_map({name: _plain(value) for name, value in error.get("ctx", {}).items()})


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def unknown(name: str, known: Collection[str]) -> str:
    """What is said of a name that is not known: the nearest one, else all of a few.

    >>> unknown("prodcer", {"seq", "producer"})
    "is not known here; did you mean 'producer'?"
    >>> unknown("zzz", {"seq", "producer"})
    "is not known here; there are 'producer', 'seq'"
    """
    near = get_close_matches(name, known, 1)
    if near:
        return f"is not known here; did you mean {near[0]!r}?"
    listed = ", ".join(map(repr, sorted(known))) if len(known) <= FEW else ""
    return "is not known here" + (f"; there are {listed}" if listed else "")


FEW = 8
"""Names that are listed where none of them is near."""


@lru_cache(64)
def members_of(model: type[BaseModel]) -> frozenset[str]:
    """The names of all members of a body, nested ones too."""
    schema = model.model_json_schema()
    parts = (schema, *schema.get("$defs", {}).values())
    return frozenset(name for part in parts for name in part.get("properties", ()))
