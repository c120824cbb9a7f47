"""Named features: the objects that x may be, as rows of numbers under names.

A number is a feature's value, true and false are 1 and 0, and a string makes a feature of its own:
`{"city": "Rome"}` is 1 under `city=Rome`. A name that is not there counts 0.
"""

import math
import struct
from array import array
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from llr import NamedRows
from llr.named.features import LONGEST, MOST, refusal
from llr_service.codec.errors import ValidationErrors, name_of, shown
from llr_service.codec.quick import DoubtError
from llr_service.problems import pointer

NUMBERS = {float, int, bool}
TEXTS = NUMBERS | {str}
NOT_FINITE = "must be finite: less than 1.8e308 in size"


class Gathered:
    """Rows as they are read: each name gets a number when it first appears."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._columns, self._starts = array("q"), array("q", [0])
        self._values: list[Any] = []

    def __len__(self) -> int:
        return len(self._starts) - 1

    def add(self, row: dict[str, Any]) -> None:
        """One row, of names that are right and numbers that may not be finite."""
        self._columns.extend(map(self._numbers.__getitem__, row))
        self._values.extend(row.values())
        self._starts.append(len(self._columns))

    @property
    def finite(self) -> bool:
        """Whether all values surely are: so is their sum, if it does not overflow."""
        return math.isfinite(sum(self._values))

    def rows(self) -> NamedRows:
        """What was added. A zero has no sign: it is as if its name were not there."""
        raw = struct.pack(f"{len(self._values)}d", *self._values)
        values = np.frombuffer(raw) + 0.0
        starts, columns = (np.frombuffer(a, np.int64) for a in (self._starts, self._columns))
        return NamedRows(list(self._numbers), starts, columns, values)


def plain(rows: Iterable[Any]) -> NamedRows:
    """Parsed objects, if they are plainly right; an error that is a doubt otherwise."""
    gathered = Gathered()
    for row in rows:
        if type(row) is not dict or len(row) > MOST:
            raise DoubtError
        gathered.add(row if NUMBERS.issuperset(map(type, row.values())) else _one_hot(row))
    if not gathered.finite:
        raise DoubtError
    return gathered.rows()


def inspected(row: dict[str, Any], place: str, errors: ValidationErrors) -> dict[str, float]:
    """One object; what is wrong with it is a fault at its place."""
    if len(row) > MOST:
        errors.add(place, f"has {len(row)} features, at most {MOST} may be there at once")
        return {}
    found: dict[str, float] = {}
    for key, value in row.items():
        if errors.full:
            break
        at = place + pointer(key[:LONGEST])
        name = f"{key}={value}" if type(value) is str else key
        if wrong := refusal(key) or refusal(name):
            errors.add(place if len(key) > LONGEST else at, f"{shown(name)}: {wrong}")
        elif name in found:
            errors.add(at, f"is there twice: {shown(name)} is also the name of another feature")
        else:
            found[name] = 1.0 if type(value) is str else _number(value, at, errors)
    return found


def _one_hot(row: dict[str, Any]) -> dict[str, Any]:
    """The row with a feature of its own for each string."""
    if "" in row or not TEXTS.issuperset(map(type, row.values())):
        raise DoubtError
    found = {
        f"{name}={value}" if type(value) is str else name: 1.0 if type(value) is str else value
        for name, value in row.items()
    }
    if len(found) != len(row):
        raise DoubtError
    return found


def _number(value: Any, place: str, errors: ValidationErrors) -> float:
    if type(value) not in NUMBERS:
        what = f"must be a number, a boolean or a string, not {name_of(value)}"
        errors.add(place, what)
        return 0.0
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        errors.add(place, NOT_FINITE)
    return number
