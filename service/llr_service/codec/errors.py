"""What is wrong with a body and where: collected, explained, and raised as one `Problem`.

`Explainer` walks a value that the types of `codec.reader` refused. It accepts nothing: whether a
body is right was decided before, and here are the words for it.
"""

import math
import re
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from llr.classes import Classes
from llr.named.feature_rows import LONGEST, MOST, refusal
from llr_service.problems import Problem, pointer

MAX_ERRORS = 10
"""How many errors an answer names."""

SEQ_LIMIT = 2**53
"""Sequence numbers are smaller: JSON numbers are exact up to here."""

MAX_SHOWN = 40
"""How many characters of a producer's own text an answer repeats."""

NAMES = {bool: "a boolean", str: "a string", list: "a list", dict: "an object", type(None): "null"}
LIST, OBJECT = "a list of numbers", "an object of named features"
NOT_FINITE = "must be finite: less than 1.8e308 in size"
NO_FEATURES = "this model has no features: leave x out"
ID = re.compile(r"[\x21-\x7e]{1,128}")
X_IS_KEPT = "x was kept with its prediction: send id and y"


class ValidationErrors:
    """The first ten errors of a body; the very first decides between 400 and 422.

    Attributes:
        line: the line that is being read, None for a body that is not read by lines.
    """

    def __init__(self) -> None:
        self.line: int | None = None
        self._errors: list[dict[str, Any]] = []
        self._kind = "invalid"

    def __len__(self) -> int:
        return len(self._errors)

    @property
    def full(self) -> bool:
        """Whether there is no room for another error."""
        return len(self._errors) >= MAX_ERRORS

    def add(self, pointer: str, detail: str) -> None:
        """Something that is JSON but not what is asked for, at a JSON pointer."""
        place = {} if self.line is None else {"line": self.line}
        if not self.full:
            self._errors.append({**place, "pointer": pointer, "detail": detail})

    def add_malformed(self, text: bytes, reason: str, offset: int, json: bool) -> None:
        """A text that cannot be parsed from this offset on; it may be JSON if `json` is True."""
        if not self._errors and not json:
            self._kind = "malformed"
        detail = reason if json else f"not JSON: {reason}"
        line = self.line or text.count(b"\n", 0, offset) + 1
        column = offset - text.rfind(b"\n", 0, offset)
        if not self.full:
            self._errors.append({"line": line, "detail": f"{detail}, at column {column}"})

    def problem(self) -> Problem:
        """All of them; there must be one."""
        first = self._errors[0]
        line = f"line {first['line']}" if "line" in first else ""
        where = " ".join(filter(None, (line, first.get("pointer")))) or "the body"
        return Problem(self._kind, f"{where}: {first['detail']}", self._errors)


class Explainer:
    """Says what is wrong with the values of one body, or of the lines of one block.

    Args:
        features: whether the model has features.
        optional: members that a sample may have beside x and y.
        classes: the names that labels have; None if they are numbers.
    """

    def __init__(
        self, features: bool, optional: Collection[str] = (), classes: Classes | None = None
    ) -> None:
        self.errors = ValidationErrors()
        self._features = features
        self._optional, self._classes = optional, classes
        self._row_type: type | None = None
        self._width = 0

    def body(self, value: Any) -> None:
        """One sample, a list of samples, or columns."""
        if type(value) is list:
            self._each(value, self.sample, "", "has no samples")
        elif type(value) is dict and type(value.get("y")) is list:
            self._columns(value)
        else:
            self.sample(value)

    def sample(self, value: Any, place: str = "") -> None:
        """One sample."""
        if self._object(value, place, self._members):
            if self._features and "x" in value:
                self._row(value["x"], f"{place}/x")
            if "y" in value:
                self._label(value["y"], f"{place}/y")
            for key in self._optional:
                if key in value:
                    self._member(key, value[key], f"{place}/{key}")

    def label(self, value: Any, place: str = "") -> None:
        """One label with its id."""
        if type(value) is dict and "x" in value:
            self.errors.add(f"{place}/x", X_IS_KEPT)
        elif self._object(value, place, ("id", "y")) and {"id", "y"} <= value.keys():
            self._id(value["id"], f"{place}/id")
            self._label(value["y"], f"{place}/y")
            if "w" in value:
                self._number(value["w"], f"{place}/w")

    def labels(self, value: Any) -> None:
        """One label, or a list of them."""
        if type(value) is list:
            self._each(value, self.label, "", "has no labels")
        else:
            self.label(value)

    def query(self, value: Any) -> None:
        """One row to predict for with its id, or many with their ids."""
        members = value if type(value) is dict else {}
        bare = {key: each for key, each in members.items() if key not in ("id", "ids")}
        keys = ("x",) if self._features else ()
        if not self._object(bare if members else value, "", keys):
            return
        if self._features and "x" not in value:
            return
        x = value.get("x") if self._features else None
        several = type(x) is list and bool(x) and type(x[0]) in (list, dict)
        if self._features and several:
            self._each(value["x"], self._row, "/x")
        elif self._features:
            self._row(x, "/x")
        single = not several if self._features else "ids" not in value
        rows = len(value["x"]) if several else None
        self._ids(value, single, rows)

    @property
    def _members(self) -> tuple[str, ...]:
        return ("x", "y") if self._features else ("y",)

    def _each(self, values: list[Any], explain: Any, place: str, empty: str = "") -> None:
        if not values and empty:
            self.errors.add(place, empty)
        for i, value in enumerate(values):
            if self.errors.full:
                return
            explain(value, f"{place}/{i}")

    def _columns(self, value: dict[str, Any]) -> None:
        self._object(value, "", self._members)
        labels, rows = value["y"], value.get("x", [])
        self._each(labels, self._label, "/y", "has no samples")
        for key in self._optional:
            if key in value:
                self._column(key, value[key], len(labels))
        if not self._features or "x" not in value:
            return
        if type(rows) is not list:
            self.errors.add("/x", f"must be a list of rows, not {name_of(rows)}, as y is a list")
        elif len(rows) != len(labels):
            self.errors.add("/y", f"has {len(labels)} labels for the {len(rows)} rows of x")
        else:
            self._each(rows, self._row, "/x")

    def _column(self, key: str, value: Any, n: int) -> None:
        """An optional column."""
        place = f"/{key}"
        if type(value) is not list:
            self.errors.add(place, f"must be a list, not {name_of(value)}")
        elif len(value) != n:
            self.errors.add(place, f"has {len(value)} values for {n} labels")
        else:
            self._each(value, partial(self._member, key), place)

    def _member(self, key: str, value: Any, place: str) -> None:
        """The value of an optional member."""
        if key == "seq" and (type(value) is not int or not 0 <= value < SEQ_LIMIT):
            self.errors.add(place, f"must be a whole number from 0, below {SEQ_LIMIT}")
        else:
            self._number(value, place)

    def _row(self, value: Any, place: str) -> None:
        """A row: a list of numbers, or an object of named features, as the first was."""
        kind = self._row_type
        if type(value) not in ((list, dict) if kind is None else (kind,)):
            wanted = LIST if kind is list else OBJECT if kind is dict else f"{LIST}, or {OBJECT}"
            self.errors.add(place, f"must be {wanted}, not {name_of(value)}")
            return
        self._row_type = type(value)
        if type(value) is dict:
            self._named(value, place)
            return
        if not value:
            self.errors.add(place, "has no features")
        elif self._width not in (0, len(value)):
            self.errors.add(place, f"has {len(value)} features, the first has {self._width}")
        self._width = self._width or len(value)
        self._each(value, self._number, place)

    def _named(self, row: dict[str, Any], place: str) -> None:
        if len(row) > MOST:
            self.errors.add(place, f"has {len(row)} features, at most {MOST} may be there at once")
            return
        found = set[str]()
        for key, value in row.items():
            if self.errors.full:
                return
            at = place + pointer(key[:LONGEST])
            name = f"{key}={value}" if type(value) is str else key
            if wrong := refusal(key) or refusal(name):
                self.errors.add(place if len(key) > LONGEST else at, f"{shown(name)}: {wrong}")
            elif name in found:
                twice = f"is there twice: {shown(name)} is also the name of another feature"
                self.errors.add(at, twice)
            elif type(value) not in (bool, str):
                self._number(value, at, "a number, a boolean or a string")
            found.add(name)

    def _label(self, value: Any, place: str) -> None:
        """A number, or the name of a class where they have names."""
        if self._classes is None:
            self._number(value, place)
        elif type(value) is not str:
            names = self._classes.shown
            self.errors.add(place, f"must be the name of a class, not {name_of(value)}: {names}")
        elif value not in self._classes:
            self.errors.add(place, self._classes.refusal(value))

    def _number(self, value: Any, place: str, wanted: str = "a number") -> None:
        if type(value) is not float and type(value) is not int:
            self.errors.add(place, f"must be {wanted}, not {name_of(value)}")
        elif not _finite(value):
            self.errors.add(place, NOT_FINITE)

    def _id(self, value: Any, place: str) -> None:
        if type(value) is not str:
            self.errors.add(place, f"must be a string, not {name_of(value)}")
        elif not ID.fullmatch(value):
            self.errors.add(place, "must be 1 to 128 visible ASCII characters")

    def _ids(self, value: dict[str, Any], single: bool, rows: int | None) -> None:
        wanted, other = ("id", "ids") if single else ("ids", "id")
        if other in value:
            self.errors.add(f"/{other}", "one row has an id, a list of rows has ids")
        elif single and wanted in value:
            self._id(value["id"], "/id")
        elif wanted in value:
            ids = value["ids"]
            if type(ids) is not list:
                self.errors.add("/ids", f"must be a list of ids, not {name_of(ids)}")
            elif not ids or rows not in (None, len(ids)):
                self.errors.add("/ids", f"has {len(ids)} ids, there has to be one a row")
            else:
                self._each(ids, self._id, "/ids")

    def _object(self, value: Any, place: str, keys: Sequence[str]) -> bool:
        """Whether it is an object. Keys that it lacks or should not have are errors."""
        if type(value) is not dict:
            wanted = f"an object with {' and '.join(keys)}" if keys else "an empty object"
            self.errors.add(place, f"must be {wanted}, not {name_of(value)}")
            return False
        for key in keys:
            if key not in value:
                self.errors.add(f"{place}/{key}", "is missing")
        for key in value:
            if self.errors.full:
                break
            if key not in keys and not ("y" in keys and key in self._optional):
                detail = NO_FEATURES if key == "x" else f"unknown key {shown(key)}"
                self.errors.add(place, detail)
        return True


def _finite(number: float) -> bool:
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def name_of(value: Any) -> str:
    """What a JSON value is, for people."""
    return NAMES.get(type(value), "a number")


def shown(text: str) -> str:
    """A producer's own text, cut short and with its control characters escaped."""
    return repr(text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…")
