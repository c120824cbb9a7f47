"""JSON bodies: one sample, a list of samples, or columns; and the rows to predict for."""

import struct
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from llr import NamedRows
from llr.classes import Classes
from llr.types import Array, Vector
from llr_service.codec import named
from llr_service.codec.errors import ID, SEQ_LIMIT, Explainer
from llr_service.codec.reader import REFUSED, BodyType, Text, check_signs, decode_again
from llr_service.codec.samples import DEFAULTS, NOTHING, Samples, samples_in

Seq = Annotated[int, msgspec.Meta(ge=0, lt=SEQ_LIMIT)]
OPTIONAL: Mapping[str, Any] = {"w": float, "seq": Seq}
"""Members that a sample may have beside x and y; columns likewise.

The decoders and `Samples` handle whatever is here: a new one takes a line, and one in
`codec.samples.DEFAULTS` unless all samples of a body have it or none.
"""

Row = list[float] | dict[str, float | bool | str]
Id = Annotated[str, msgspec.Meta(pattern=rf"\A{ID.pattern}\Z")]


def _struct(name: str, *fields: tuple[str, Any] | tuple[str, Any, Any]) -> Any:
    """A type of objects that have these members and no others."""
    return msgspec.defstruct(name, fields, forbid_unknown_fields=True, gc=False)


class SampleSchema:
    """The types of samples, and how typed values become `Samples`.

    Args:
        features: whether the model has features.
        optional: further members and their types.
        label: the type of a label: `str` where classes have names.
    """

    def __init__(
        self,
        features: bool,
        optional: Mapping[str, Any] = OPTIONAL,
        label: type[float] | type[str] = float,
    ) -> None:
        self.features, self.optional = features, optional
        x, rows = ([("x", Row)], [("x", list[Row])]) if features else ([], [])
        one = [(name, each | UnsetType, UNSET) for name, each in optional.items()]
        many = [(name, list[each] | UnsetType, UNSET) for name, each in optional.items()]  # type: ignore[valid-type]
        sample = _struct("Sample", *x, ("y", label), *one)
        self._columns = _struct("Columns", *rows, ("y", list[label]), *many)  # type: ignore[valid-type]
        self.body = BodyType(sample | list[sample], self._columns)  # type: ignore[valid-type]
        self.line = BodyType(sample)

    def build(self, value: Any, text: bytes, classes: Classes | None = None) -> Samples:
        """The samples of a typed value: one sample, a list of them, or columns.

        Raises an error of `REFUSED` if they do not fit together, if a label is none of the classes,
        or if one of their zeros may have been written -0 in the text.
        """
        if type(value) is list:
            return self.build_many(value, text, classes)
        if type(value) is self._columns:
            columns = {name: getattr(value, name) for name in self._present(text)}
            labels = indexed(value.y, classes)
            rows = value.x if self.features else []
            return self._many(rows, labels, columns, text)._replace(form="columns")
        y, optional = value.y, NOTHING
        if classes is not None:
            (y,) = indexed([y], classes)
        for name in self.optional:
            if getattr(value, name) is not UNSET:
                columns = {each: [getattr(value, each)] for each in self.optional}
                optional = self._optional(columns, 1)
                break
        if not self.features:
            return _one([y], text, optional)
        x = value.x
        if type(x) is dict:
            return Samples(named.from_objects([x]), _labels([y], text), optional, "single")
        if not x:
            raise ValueError("a row is empty")
        return _one([*x, y], text, optional)

    def build_many(
        self, samples: list[Any], text: bytes, classes: Classes | None = None
    ) -> Samples:
        """The same for a list of samples."""
        rows = [sample.x for sample in samples] if self.features else []
        columns = {name: [getattr(each, name) for each in samples] for name in self._present(text)}
        y = indexed([sample.y for sample in samples], classes)
        return self._many(rows, y, columns, text)

    def _present(self, text: bytes) -> list[str]:
        """The optional members that may be in a text, by a search that is cheaper than a look."""
        if not text or b"\\" in text:  # an escape may spell any name
            return list(self.optional)
        return [name for name in self.optional if b'"%b"' % name.encode() in text]

    def _many(
        self, rows: list[Any], labels: list[float], columns: dict[str, Any], text: bytes
    ) -> Samples:
        n = len(labels)
        if not n or len(rows) != (n if self.features else 0):
            raise ValueError("there is not a row for each label")
        optional = self._optional(columns, n)
        if rows and type(rows[0]) is dict:
            return Samples(_rows(rows, b""), _labels(labels, text), optional)
        d = len(rows[0]) if rows else 0
        if rows and not d:
            raise ValueError("a row is empty")
        raw = _pack_rows(rows, d) + _packing(n).pack(*labels)
        check_signs(_no_zeros(np.frombuffer(raw)), text)
        return samples_in(raw, n, d, optional)

    def _optional(self, columns: dict[str, Any], n: int) -> Mapping[str, Array]:
        """The optional columns that are there; a ValueError if samples lack one without default."""
        found: dict[str, Array] = {}
        for name, column in columns.items():
            if column is UNSET or all(value is UNSET for value in column):
                continue
            if len(column) != n:
                raise ValueError(f"{name} has not a value for each label")
            default = DEFAULTS.get(name, UNSET)
            values = [default if value is UNSET else value for value in column]
            if default is UNSET and UNSET in values:
                raise ValueError(f"some samples have {name}, others do not")
            found[name] = np.array(values, np.float64 if self.optional[name] is float else np.int64)
        return found or NOTHING


SCHEMAS = {features: SampleSchema(features) for features in (True, False)}
CLASS_SCHEMAS = {features: SampleSchema(features, label=str) for features in (True, False)}
"""The types where classes have names."""


def schema_of(features: bool, classes: Classes | None) -> SampleSchema:
    """The types of a session's samples."""
    return SCHEMAS[features] if classes is None else CLASS_SCHEMAS[features]


def indexed(labels: list[Any], classes: Classes | None) -> list[float]:
    """Labels as numbers; a ValueError if one is none of the classes."""
    if classes is None:
        return labels
    try:
        return [classes.index(name) for name in labels]
    except KeyError:
        raise ValueError("a label is none of the classes") from None


def decode_json(body: bytes, features: bool, classes: Classes | None = None) -> Samples:
    """The samples of an `application/json` body.

    Args:
        body: the text.
        features: whether the model has features.
        classes: the names that labels have; None if they are numbers.

    >>> decode_json(b'{"x": [1, 2.5], "y": 3}', features=True)[:2]
    (array([[1. , 2.5]]), array([3.]))
    >>> decode_json(b'[{"y": 1.5}, {"y": 2}]', features=False).y
    array([1.5, 2. ])
    >>> decode_json(b'{"x": {"age": 30, "city": "Rome"}, "y": 1}', features=True).names
    ['age', 'city=Rome']
    """
    schema = schema_of(features, classes)
    try:
        return schema.build(schema.body.decode(body), body, classes)
    except REFUSED:
        return _decode_again(body, features, classes)


def _decode_again(body: bytes, features: bool, classes: Classes | None = None) -> Samples:
    schema, explainer = schema_of(features, classes), Explainer(features, OPTIONAL, classes)

    def build(values: list[Any]) -> Samples:
        return schema.build(schema.body.convert(values[0]), b"", classes)

    return decode_again([Text(body)], build, explainer, explainer.body)


class Query(NamedTuple):
    """What a prediction is asked for.

    Attributes:
        rows: a row each; None for models without features.
        single: whether it was a single row without its outer list.
        ids: an id a row, empty if nothing is to be kept.
    """

    rows: Vector | NamedRows | None
    single: bool
    ids: list[str]


_QueryRow = _struct("QueryRow", ("x", Row), ("id", Id | UnsetType, UNSET))
_QueryRows = _struct("QueryRows", ("x", list[Row]), ("ids", list[Id] | UnsetType, UNSET))
_QueryId = _struct("QueryId", ("id", Id | UnsetType, UNSET))
_QueryIds = _struct("QueryIds", ("ids", list[Id]))
QUERIES = {True: BodyType(_QueryRow, _QueryRows), False: BodyType(_QueryId, _QueryIds)}


def decode_query(body: bytes, features: bool) -> Query:
    """The rows and ids of a predict body. For models without features it may be empty.

    >>> decode_query(b'{"x": [1, 2], "id": "a"}', features=True)
    Query(rows=array([[1., 2.]]), single=True, ids=['a'])
    >>> decode_query(b'{"ids": ["a", "b"]}', features=False)
    Query(rows=None, single=False, ids=['a', 'b'])
    """
    kind = QUERIES[features]
    if not features and not body.strip():
        return Query(None, True, [])
    try:
        return _query(kind.decode(body), body)
    except REFUSED:
        explainer = Explainer(features)
        build = partial(_query_of, kind)
        return decode_again([Text(body)], build, explainer, explainer.query)


def _query_of(kind: BodyType, values: list[Any]) -> Query:
    return _query(kind.convert(values[0]), b"")


def _query(value: Any, text: bytes) -> Query:
    kind = type(value)
    single = kind in (_QueryRow, _QueryId)
    ids = ([] if value.id is UNSET else [value.id]) if single else value.ids
    if kind in (_QueryId, _QueryIds):
        if not single and not ids:
            raise ValueError("ids is empty")
        return Query(None, single, ids)
    if ids is not UNSET and not single and len(ids) != len(value.x):
        raise ValueError("there is not an id for each row")
    rows = _rows([value.x] if single else value.x, text)
    return Query(rows, single, [] if ids is UNSET else ids)


def _rows(rows: list[Any], text: bytes) -> Vector | NamedRows:
    """Rows without labels: objects, or lists of numbers."""
    if rows and type(rows[0]) is dict:
        if not all(type(row) is dict for row in rows):
            raise ValueError("some rows are objects, others lists")
        return named.from_objects(rows)
    d = len(rows[0]) if rows else 0
    if not d:
        raise ValueError("a row is empty")
    numbers = np.frombuffer(_pack_rows(rows, d))
    check_signs(_no_zeros(numbers), text)
    return numbers.reshape(len(rows), d)


def _one(numbers: list[float], text: bytes, optional: Mapping[str, Array]) -> Samples:
    """One sample, its features before its label: the hottest path of the service."""
    check_signs(all(numbers), text)
    count = len(numbers)
    return samples_in(_packing(count).pack(*numbers), 1, count - 1, optional, "single")


def _labels(labels: list[float], text: bytes) -> Vector:
    check_signs(all(labels), text)
    return np.array(labels)


def _pack_rows(rows: list[Any], d: int) -> bytes:
    """Rows of numbers as float64; `struct` refuses an object, and any other number of them."""
    pack = _packing(d).pack
    return b"".join([pack(*row) for row in rows])


@lru_cache(maxsize=64)
def _packing(count: int) -> struct.Struct:
    return struct.Struct(f"{count}d")


def _no_zeros(numbers: Vector) -> bool:
    return bool(np.count_nonzero(numbers) == numbers.size)
