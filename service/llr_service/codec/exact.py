"""The slow reading: takes what is right, and finds what is wrong with the rest, place by place."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pydantic_core import from_json

from llr import NamedRows
from llr.types import Vector
from llr_service.codec.errors import ValidationErrors, name_of, shown
from llr_service.codec.features import NOT_FINITE, Gathered, inspected
from llr_service.codec.samples import Samples

NEGATIVE_ZERO = re.compile(rb"(?<![eE])-0(?![.\deE])")
"""An integer -0, which the parser would read as 0; of an exponent such as e-0 it is no part."""

STRING_OR_ZERO = re.compile(rb'("(?:[^"\\]|\\.)*")|' + NEGATIVE_ZERO.pattern, re.DOTALL)
"""The same beside strings, in which it is a part of the text."""

LIST, OBJECT = "a list of numbers", "an object of named features"
NO_FEATURES = "this model has no features: leave x out"


class Inspector:
    """Reads one body, or the lines of one block.

    Args:
        features: whether the model has features.

    Attributes:
        errors: what was wrong so far.
        single: whether a query was one row without its outer list.
    """

    def __init__(self, features: bool) -> None:
        self.errors = ValidationErrors()
        self.single = False
        self._features = features
        self._rows: list[list[float]] = []
        self._named = Gathered()
        self._labels: list[float] = []
        self._width = 0

    def samples(self) -> Samples:
        """What was read, or the Problem with it."""
        X = self.matrix()
        return Samples(X if self._features else None, np.array(self._labels, np.float64))

    def matrix(self) -> Vector | NamedRows:
        """The rows that were read, or the Problem with them."""
        self.errors.raise_if_any()
        if self._named:
            return self._named.rows()
        return np.array(self._rows, np.float64).reshape(len(self._rows), self._width)

    @property
    def found(self) -> int:
        """How many rows were read."""
        return len(self._rows) + len(self._named)

    def read(self, text: bytes, inspect: Callable[[Any], None]) -> None:
        """Parse a text and hand its value to one of the methods below.

        NaN and infinity are parsed, so that their place can be named. Hidden by a second key of the
        same name they have no place, and are refused all the same.
        """
        before = len(self.errors)
        try:
            value, strict = _parsed(text)
        except ValueError as error:
            self.errors.add_unreadable(str(error))
            return
        inspect(value)
        if not strict and len(self.errors) == before:
            self.errors.add("", "holds NaN or infinity")

    def body(self, value: Any) -> None:
        """One sample, a list of samples, or columns."""
        if type(value) is list:
            self._list(value)
        elif type(value) is dict and type(value.get("y")) is list:
            self._columns(value)
        else:
            self.sample(value)

    def sample(self, value: Any, pointer: str = "") -> None:
        """One sample."""
        if self._object(value, pointer, ("x", "y") if self._features else ("y",)):
            if self._features and "x" in value:
                self._add(value["x"], f"{pointer}/x")
            if "y" in value:
                self._labels.append(self._number(value["y"], f"{pointer}/y"))

    def query(self, value: Any) -> None:
        """One row to predict for, or many."""
        if self._object(value, "", ("x",) if self._features else ()) and "x" in value:
            x = value["x"]
            if type(x) is list and x and type(x[0]) in (list, dict):
                self._table(x)
            else:
                self.single = True
                self._add(x, "/x")

    def _list(self, values: list[Any]) -> None:
        if not values:
            self.errors.add("", "has no samples")
        for i, value in enumerate(values):
            if self.errors.full:
                return
            self.sample(value, f"/{i}")

    def _columns(self, value: dict[str, Any]) -> None:
        self._object(value, "", ("x", "y") if self._features else ("y",))
        labels, rows = value["y"], value.get("x", [])
        if not labels:
            self.errors.add("/y", "has no samples")
        self._labels = self._numbers(labels, "/y")
        if not self._features or "x" not in value:
            return
        if type(rows) is not list:
            self.errors.add("/x", f"must be a list of rows, not {name_of(rows)}, as y is a list")
        elif len(rows) != len(labels):
            self.errors.add("/y", f"has {len(labels)} labels for the {len(rows)} rows of x")
        else:
            self._table(rows)

    def _table(self, rows: list[Any]) -> None:
        for i, row in enumerate(rows):
            if self.errors.full:
                return
            self._add(row, f"/x/{i}")

    def _add(self, value: Any, pointer: str) -> None:
        """A row: a list of numbers, or an object of named features, as the first was."""
        if type(value) is dict and not self._rows:
            self._named.add(inspected(value, pointer, self.errors))
        elif type(value) is list and not self._named:
            self._rows.append(self._row(value, pointer))
        else:
            wanted = LIST if self._rows else OBJECT if self._named else f"{LIST}, or {OBJECT}"
            self.errors.add(pointer, f"must be {wanted}, not {name_of(value)}")

    def _row(self, value: list[Any], pointer: str) -> list[float]:
        if not value:
            self.errors.add(pointer, "has no features")
        elif self._width not in (0, len(value)):
            self.errors.add(pointer, f"has {len(value)} features, the first has {self._width}")
        self._width = self._width or len(value)
        return self._numbers(value, pointer)

    def _numbers(self, values: list[Any], pointer: str) -> list[float]:
        if set(map(type, values)) == {float} and all(map(math.isfinite, values)):
            return values
        numbers: list[float] = []
        for i, value in enumerate(values):
            if self.errors.full:
                break
            numbers.append(self._number(value, f"{pointer}/{i}"))
        return numbers

    def _number(self, value: Any, pointer: str) -> float:
        if type(value) is not float and type(value) is not int:
            self.errors.add(pointer, f"must be a number, not {name_of(value)}")
            return 0.0
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.errors.add(pointer, NOT_FINITE)
        return number

    def _object(self, value: Any, pointer: str, keys: Sequence[str]) -> bool:
        """Whether it is an object. Keys that it lacks or should not have are errors."""
        if type(value) is not dict:
            wanted = f"an object with {' and '.join(keys)}" if keys else "an empty object"
            self.errors.add(pointer, f"must be {wanted}, not {name_of(value)}")
            return False
        for key in keys:
            if key not in value:
                self.errors.add(f"{pointer}/{key}", "is missing")
        for key in value:
            if self.errors.full:
                break
            if key not in keys:
                no_x = key == "x"
                self.errors.add(pointer, NO_FEATURES if no_x else f"unknown key {shown(key)}")
        return True


def _parsed(text: bytes) -> tuple[Any, bool]:
    """The value of a text, and whether it is JSON without NaN and infinity."""
    strict = True
    try:
        value = from_json(text, allow_inf_nan=False, cache_strings="none")
    except ValueError:
        strict = False
        value = from_json(text, allow_inf_nan=True, cache_strings="none")
    if NEGATIVE_ZERO.search(text):
        signed = STRING_OR_ZERO.sub(lambda found: found[1] or b"-0.0", text)
        value = from_json(signed, allow_inf_nan=True, cache_strings="none")
    return value, strict
