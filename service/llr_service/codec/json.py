"""JSON bodies: one sample, a list of samples, or columns; and the rows to predict for."""

from typing import Any

from pydantic_core import from_json

from llr import NamedRows
from llr.types import Vector
from llr_service.codec.exact import Inspector
from llr_service.codec.features import plain
from llr_service.codec.quick import DOUBTS, DoubtError, labels_of, many, matrix, one
from llr_service.codec.samples import Samples


def decode_json(body: bytes, features: bool) -> Samples:
    """The samples of an `application/json` body.

    >>> decode_json(b'{"x": [1, 2.5], "y": 3}', features=True)
    Samples(X=array([[1. , 2.5]]), y=array([3.]))
    >>> decode_json(b'[{"y": 1.5}, {"y": 2}]', features=False)
    Samples(X=None, y=array([1.5, 2. ]))
    >>> decode_json(b'{"x": {"age": 30, "city": "Rome"}, "y": 1}', features=True).names
    ['age', 'city=Rome']
    """
    try:
        value = from_json(body, allow_inf_nan=False, cache_strings="none")
        if type(value) is list:
            return samples_of(value, features, body)
        return _sample_or_columns(value, features, body)
    except DOUBTS:
        return _decode_exactly(body, features)


def samples_of(values: list[Any], features: bool, text: bytes) -> Samples:
    """Parsed samples, if they are plainly right."""
    if set(map(len, values)) != {2 if features else 1}:
        raise DoubtError
    rows = [value["x"] for value in values] if features else []
    return _many(rows, [value["y"] for value in values], text)


def _sample_or_columns(value: Any, features: bool, text: bytes) -> Samples:
    y = value["y"]
    x = value["x"] if features else []
    if len(value) != (2 if features else 1):
        raise DoubtError
    if type(x) is dict:
        return Samples(plain([x]), labels_of([y], text))
    if type(x) is not list or bool(x) != features:
        raise DoubtError
    return _many(x, y, text) if type(y) is list else one([*x, y], text)


def _many(rows: list[Any], labels: list[Any], text: bytes) -> Samples:
    """Samples as columns, the rows lists or objects."""
    if not rows or type(rows[0]) is not dict:
        return many(rows, labels, text)
    if len(rows) != len(labels):
        raise DoubtError
    return Samples(plain(rows), labels_of(labels, text))


def _decode_exactly(body: bytes, features: bool) -> Samples:
    inspector = Inspector(features)
    inspector.read(body, inspector.body)
    return inspector.samples()


def decode_rows(body: bytes, features: bool) -> tuple[Vector | NamedRows | None, bool]:
    """The rows of a predict body, and whether it was a single row without its outer list.

    Models without features have no rows: their body is empty or `{}`.

    >>> decode_rows(b'{"x": [[1, 2], [3, 4]]}', features=True)
    (array([[1., 2.],
           [3., 4.]]), False)
    >>> decode_rows(b"", features=False)
    (None, True)
    """
    if not features and not body.strip():
        return None, True
    try:
        value = from_json(body, allow_inf_nan=False, cache_strings="none")
        x = value["x"]
        if len(value) != 1 or not features:
            raise DoubtError
        if type(x) is dict or type(x[0]) is dict:
            return plain([x] if type(x) is dict else x), type(x) is dict
        single = type(x[0]) is not list
        return matrix([x] if single else x, body), single
    except DOUBTS:
        return _decode_rows_exactly(body, features)


def _decode_rows_exactly(body: bytes, features: bool) -> tuple[Vector | NamedRows | None, bool]:
    inspector = Inspector(features)
    inspector.read(body, inspector.query)
    rows = inspector.matrix()
    return (rows, inspector.single) if features else (None, True)
