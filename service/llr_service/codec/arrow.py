"""Arrow IPC bodies: a column a feature, beside `y` and, if they are there, `w` and `seq`.

Where features have names, a column is the feature of its name, and a null is a feature that is not
there. Where they have none, the columns are the features in the order of the schema.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from llr import NamedRows, SampleError
from llr.classes import Classes
from llr.errors import FeatureError
from llr.named.feature_rows import LONGEST, refusal
from llr.types import Array, Vector
from llr_service.codec.arrow_ipc import not_arrow, read_batches, validate
from llr_service.codec.errors import (
    MAX_ERRORS,
    NOT_FINITE,
    SEQ_LIMIT,
    ValidationErrors,
    shown,
)
from llr_service.codec.json import OPTIONAL
from llr_service.codec.samples import DEFAULTS, NOTHING, Samples
from llr_service.problems import Problem, pointer

NUMBERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
NUMBERS |= {"float", "double"}
TEXTS = {"string", "large_string"}
LONGEST_TEXT = 4 * LONGEST
"""Bytes of a text; a longer one cannot be in the name of a feature or of a class."""

VALUES = {"number": "numbers", "boolean": "booleans", "text": "strings"}


class Texts(NamedTuple):
    """A column of strings: those that are in it, which of them each row has, and where none is."""

    values: list[str]
    codes: Array
    missing: Array


def decode_arrow(
    body: bytes, features: bool, named: bool = False, classes: Classes | None = None
) -> Samples:
    """The samples of an `application/vnd.apache.arrow.stream` body.

    Args:
        body: an Arrow IPC stream, or an Arrow file.
        features: whether the model has features.
        named: whether they have names.
        classes: the names that labels have; None if they are numbers.

    >>> import pyarrow
    >>> batch = pyarrow.record_batch({"age": [30, None], "city": ["Rome", "Oslo"], "y": [1.0, 0.5]})
    >>> sink = pyarrow.BufferOutputStream()
    >>> with pyarrow.ipc.new_stream(sink, batch.schema) as stream:
    ...     stream.write_batch(batch)
    >>> samples = decode_arrow(sink.getvalue().to_pybytes(), features=True, named=True)
    >>> samples.names, samples.y
    (['age', 'city=Rome', 'city=Oslo'], array([1. , 0.5]))
    """
    reader, parts, n = _Reader(features, named, classes), list[Samples](), 0
    for batch in read_batches(body, reader.check_schema):
        if batch.num_rows:
            parts.append(reader.samples(batch, n))
            n += batch.num_rows
    if not n:
        raise Problem("invalid", "the Arrow stream has no samples")
    return Samples.joined(parts)


class _Reader:
    """Reads the batches of one stream."""

    def __init__(self, features: bool, named: bool, classes: Classes | None) -> None:
        self._has_features, self._named, self._classes = features, named, classes
        self._features: list[str] = []
        self._kinds: list[str | None] = []
        self._places: dict[str, int] = {}
        self._first = 0
        self._checked: dict[tuple[Any, ...], Any] = {}
        self._errors = ValidationErrors()

    def check_schema(self, schema: Any) -> None:
        """Learn what the columns are. Raises a Problem that names those that cannot be read."""
        names = list(schema.names)
        for name, kind in zip(names, schema.types, strict=True):
            if name in self._places:
                self._refuse(name, "is there twice")
            self._places.setdefault(name, len(self._places))
            self._kinds.append(_kind(kind))
            if wrong := self._wrong_column(name, self._kinds[-1], kind):
                self._refuse(name, wrong)
        self._features = [name for name in names if name not in ("y", *OPTIONAL)]
        if "y" not in self._places:
            self._refuse("y", "is missing")
        elif self._has_features and not self._named and not self._features:
            self._errors.add("", "there is no column of features")
        self._raise_errors()

    def samples(self, batch: Any, first: int) -> Samples:
        """The samples of a batch whose first row is this row of the body."""
        self._first = first
        y = self._label(batch)
        optional = self._optional(batch)
        X: Vector | NamedRows | None = None
        if self._has_features:
            X = self._rows_by_name(batch) if self._named else self._rows(batch)
        self._raise_errors()
        return Samples(X, y, optional)

    def _wrong_column(self, name: str, kind: str | None, given: Any) -> str | None:
        """Why a column cannot be what its name says it is."""
        wanted = ["number"]
        if name == "y":
            wanted = ["number" if self._classes is None else "text"]
        elif name not in OPTIONAL and not self._has_features:
            return "cannot be there: this model has no features"
        elif name not in OPTIONAL and self._named:
            wanted = list(VALUES)
        if kind not in wanted or (name == "seq" and "int" not in str(given)):
            allowed = "integers" if name == "seq" else " or ".join(VALUES[each] for each in wanted)
            return f"must be of {allowed}, not {str(given)[:40]}"
        wrong = refusal(name) if self._named else None
        return wrong and f"cannot be a feature: {wrong}"

    def _refuse(self, name: str, detail: str) -> None:
        self._errors.add(pointer(name[:LONGEST]), f"column {shown(name)} {detail}")

    def _raise_errors(self) -> None:
        if len(self._errors):
            raise self._errors.problem()

    def _check(self, wrong: Array, name: str, detail: str) -> None:
        """Add an error for each row, of this batch, in which a column is wrong."""
        for row in np.flatnonzero(wrong)[:MAX_ERRORS]:
            self._errors.add(pointer(self._first + int(row), name[:LONGEST]), detail)

    def _label(self, batch: Any) -> Vector:
        if self._classes is None:
            return self._complete(batch, "y")
        texts = self._texts(batch.column(self._places["y"]), "y")
        self._check(texts.missing, "y", "must be the name of a class, not null")
        indexes = np.zeros(max(1, len(texts.values)))
        for code, value in enumerate(texts.values):
            if value in self._classes:
                indexes[code] = self._classes.index(value)
            elif not self._errors.full:
                none = (texts.codes == code) & ~texts.missing
                self._check(none, "y", self._classes.refusal(value))
        return np.asarray(indexes[texts.codes])

    def _optional(self, batch: Any) -> Mapping[str, Array]:
        found: dict[str, Array] = {}
        for name in OPTIONAL:
            if name not in self._places:
                continue
            if name == "seq":
                values, missing = _values(batch.column(self._places[name]))
                wrong = missing | (values < 0) | (values >= SEQ_LIMIT)
                self._check(wrong, name, f"must be a whole number from 0, below {SEQ_LIMIT}")
                found[name] = values.astype(np.int64)
            else:
                values, missing = self._numbers(batch, name)
                found[name] = np.where(missing, DEFAULTS[name], values)
        return found or NOTHING

    def _numbers(self, batch: Any, name: str) -> tuple[Vector, Array]:
        """A column as float64, and where it has no value."""
        given, missing = _values(batch.column(self._places[name]))
        values = given.astype(np.float64)
        self._check(~np.isfinite(values), name, NOT_FINITE)
        return values, missing

    def _complete(self, batch: Any, name: str) -> Vector:
        """A column of numbers without nulls."""
        values, missing = self._numbers(batch, name)
        self._check(missing, name, "must be a number, not null")
        return values

    def _rows(self, batch: Any) -> Vector:
        """The features by their position."""
        X = np.empty((batch.num_rows, len(self._features)))
        for j, name in enumerate(self._features):
            X[:, j] = self._complete(batch, name)
        return X

    def _rows_by_name(self, batch: Any) -> NamedRows:
        """The features by name, as rows of JSON objects with the same values would have them."""
        shape = (batch.num_rows, len(self._features))
        values, present = np.ones(shape), np.empty(shape, np.bool_)
        columns, numbers = np.empty(shape, np.int64), dict[str, int]()
        for j, name in enumerate(self._features):
            if self._kinds[self._places[name]] == "text":
                texts = self._texts(batch.column(self._places[name]), name)
                one_hot = self._one_hot(name, texts)
                codes = [numbers.setdefault(each, len(numbers)) for each in one_hot]
                columns[:, j] = np.array(codes or [0])[texts.codes]
                present[:, j] = ~texts.missing
            else:
                values[:, j], missing = self._numbers(batch, name)
                columns[:, j] = numbers.setdefault(name, len(numbers))
                present[:, j] = ~missing
        self._raise_errors()
        starts = np.concatenate(([0], np.cumsum(present.sum(axis=1))))
        names, ordered = _in_order(list(numbers), columns[present])
        try:
            return NamedRows(names, starts, ordered, values[present] + 0.0)
        except SampleError as wrong:
            row = self._first + (wrong.index or 0)
            twice = "has a feature twice: a string makes one that is a column too"
            too_many = isinstance(wrong, FeatureError)
            self._errors.add(pointer(row), wrong.reason if too_many else twice)
            raise self._errors.problem() from None

    def _one_hot(self, name: str, texts: Texts) -> list[str]:
        """The features that a column of strings has."""
        made = [f"{name}={value}" for value in texts.values]
        for code, each in enumerate(made):
            if not self._errors.full and (wrong := refusal(each)):
                place = (texts.codes == code) & ~texts.missing
                self._check(place, name, f"{shown(each)}: {wrong}")
        return made

    def _texts(self, column: Any, name: str) -> Texts:
        """A column of strings, with those values of its dictionary that it uses."""
        if str(column.type) in TEXTS:
            validate(column)
            column = column.dictionary_encode()
            self._check_lengths(column.dictionary, name)
        else:
            self._check_dictionary(column.dictionary, name)
        indices, dictionary = column.indices, column.dictionary
        given, missing = _values(indices)
        if missing.all():
            return Texts([], np.zeros(missing.size, np.int64), missing)
        codes = np.where(missing, given[np.argmin(missing)], given).astype(np.int64)
        if codes.min() < 0 or codes.max() >= len(dictionary):
            raise not_arrow()
        used, codes = np.unique(codes, return_inverse=True)
        values = dictionary.take(used).to_pylist()
        missing = missing | np.array([value is None for value in values])[codes]
        return Texts([value or "" for value in values], codes, missing)

    def _check_dictionary(self, dictionary: Any, name: str) -> None:
        """Check what is in a dictionary, once where batches and columns have it in common."""
        parts = [(each.address, each.size) for each in dictionary.buffers() if each is not None]
        key = (len(dictionary), dictionary.offset, *parts)
        if key not in self._checked:
            validate(dictionary)
            self._check_lengths(dictionary, name)
            self._checked[key] = dictionary  # kept, so that no other gets its address

    def _check_lengths(self, texts: Any, name: str) -> None:
        if len(texts) and _longest(texts) > LONGEST_TEXT:
            self._refuse(name, f"has a string that is longer than {LONGEST_TEXT} bytes")
            self._raise_errors()


def _kind(given: Any) -> str | None:
    """What the values of a type are; None for a type that is not read."""
    text = str(given)
    if text in NUMBERS:
        return "number"
    if text == "bool":
        return "boolean"
    value = getattr(given, "value_type", None)
    is_dictionary = text.startswith("dictionary<") and value is not None
    return "text" if text in TEXTS or (is_dictionary and str(value) in TEXTS) else None


def _values(column: Any) -> tuple[Array, Array]:
    """The numbers or booleans of a column, 0 where there are none, and where that is."""
    validate(column)
    missing = np.zeros(len(column), np.bool_)
    if column.null_count:
        missing = column.is_null().to_numpy(zero_copy_only=False)
        column = column.fill_null(False if str(column.type) == "bool" else 0)
    return column.to_numpy(zero_copy_only=False), missing


def _longest(texts: Any) -> int:
    """The bytes of the longest string."""
    from pyarrow import compute  # noqa: PLC0415 - an extra

    return int(compute.max(compute.binary_length(texts)).as_py() or 0)


def _in_order(names: Sequence[str], columns: Array) -> tuple[list[str], Array]:
    """Names in the order of their first appearance, without those that never appear.

    >>> _in_order(["a", "b", "c"], np.array([2, 0, 2]))
    (['c', 'a'], array([0, 1, 0]))
    """
    n = columns.size
    first = np.full(len(names), n)
    first[columns[::-1]] = np.arange(n - 1, -1, -1)
    order = np.argsort(first, kind="stable")[: int((first < n).sum())]
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(order.size)
    return [names[column] for column in order], rank[columns]
