"""npy bodies: one array, a row a sample, its label in the last column unless `columns` says else.

Only the header is interpreted, and only within its bound; the numbers are taken as they lie. An
array that the header promises and the body does not hold costs nothing.
"""

import io
import math
import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.lib import format as npy

from llr.types import Array
from llr_service.codec.errors import MAX_ERRORS, NO_FEATURES, SEQ_LIMIT, ValidationErrors
from llr_service.codec.json import OPTIONAL
from llr_service.codec.samples import NOTHING, Samples
from llr_service.problems import Problem

MAGIC = npy.MAGIC_PREFIX
LENGTH_BYTES = {b"\x01\x00": 2, b"\x02\x00": 4, b"\x03\x00": 4}
"""How many bytes of each version tell the length of the header."""

MAX_HEADER = 1024
DTYPES = {"<f8", ">f8", "<f4", ">f4"}
PYTHON_2 = re.compile(rb"\dL")
WITH_FEATURES = {("x", "y"): "d features, then y", ("x", "y", "w"): "d features, then y, then w"}


class Header(NamedTuple):
    """What the body says it holds, and at which byte it starts."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[np.generic]
    start: int


Columns = tuple[str, ...]
"""What the columns of an array are, in order: "y", "w", "seq", and "x" for all of the features."""


def parse_columns(given: str) -> Columns:
    """The columns that a query names. Raises ValueError if it cannot.

    >>> parse_columns("x,y,seq")
    ('x', 'y', 'seq')
    """
    names = tuple(given.split(","))
    if len(set(names)) < len(names) or not {"y"} <= set(names) <= {"x", "y", *OPTIONAL}:
        raise ValueError(f"x, y, {' and '.join(OPTIONAL)}, each once, such as x,y,w")
    return names


def decode_npy(body: bytes, features: bool, columns: Columns | None = None) -> Samples:
    """The samples of an `application/x-npy` body: n × (d + 1), or n for models without features.

    Args:
        body: the array as `numpy.save` writes it.
        features: whether the model has features.
        columns: what its columns are; the features, then the label, if left out.

    >>> stream = io.BytesIO()
    >>> np.save(stream, np.array([[1.0, 2.0, 3.0]], np.float32))
    >>> samples = decode_npy(stream.getvalue(), features=True)
    >>> samples.X, samples.y
    (array([[1., 2.]]), array([3.]))
    """
    header = _read_header(_header_bytes(body))
    _check_dtype(header)
    names = columns or (("x", "y") if features else ("y",))
    n, width = _check_shape(header.shape, features, names)
    _check_length(header, len(body))
    array: Array = np.frombuffer(body, header.dtype, offset=header.start)
    array = array.reshape((n, width), order="F" if header.fortran_order else "C")
    _check_finite(array)
    found: dict[str, Array] = {}
    at = 0
    for name in names:
        end = at + (width - len(names) + 1 if name == "x" else 1)
        found[name] = np.array(array[:, at:end], np.float64, order="C")
        at = end
    optional = {name: found[name][:, 0] for name in names if name in OPTIONAL}
    if "seq" in optional:
        optional["seq"] = _sequence_numbers(optional["seq"], header)
    return Samples(found.get("x"), found["y"][:, 0], optional or NOTHING)


def _header_bytes(body: bytes) -> bytes:
    """The body up to its numbers."""
    size = LENGTH_BYTES.get(body[6:8])
    if not body.startswith(MAGIC) or size is None:
        raise Problem("malformed", "the body is not npy: send one array as numpy.save writes it")
    end = 8 + size + int.from_bytes(body[8 : 8 + size], "little")
    if end > MAX_HEADER:
        raise Problem("malformed", f"the npy header does not end within {MAX_HEADER} bytes")
    return body[:end]


@lru_cache(maxsize=128)
def _read_header(data: bytes) -> Header:
    """The fields of a header; kept, as producers repeat theirs and one takes tens of µs."""
    stream = io.BytesIO(data)
    try:
        if PYTHON_2.search(data):
            raise ValueError("numbers as Python 2 wrote them, of which numpy would warn")
        version = npy.read_magic(stream)
        # version 3 differs from 2 only in the names of fields, which no array of numbers has
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        return Header(*read(stream), len(data))
    except Exception:  # whatever a forged header makes of a parser of Python literals
        raise Problem("malformed", "the npy header cannot be read") from None


def _check_dtype(header: Header) -> None:
    if header.dtype.str not in DTYPES:
        raise Problem("invalid", "the npy array must be of float64 or float32")


def _check_shape(shape: tuple[int, ...], features: bool, names: Columns) -> tuple[int, int]:
    """The number of rows and of columns."""
    if features != ("x" in names):
        detail = "this model has features: x is missing" if features else NO_FEATURES
        raise Problem("invalid", f"columns: {detail}", [{"parameter": "columns", "detail": detail}])
    least = len(names)
    wanted = f"n × {least}: {', '.join(names)}" if least > 1 else "n, or n × 1: y alone"
    if features:
        wanted = f"n × (d + {least - 1}): {WITH_FEATURES.get(names, ', '.join(names))}"
    columns = 1 if len(shape) == 1 and not features else shape[1] if len(shape) == 2 else 0
    right = columns >= least if features else columns == least
    if not right or not all(type(size) is int for size in shape):
        raise Problem("invalid", f"the npy array must have the shape {wanted}")
    if not shape[0]:
        raise Problem("invalid", "the npy array has no samples")
    return shape[0], columns


def _check_length(header: Header, length: int) -> None:
    promised = math.prod(header.shape) * header.dtype.itemsize
    if length - header.start != promised:
        raise Problem("malformed", "the npy body is longer or shorter than its header says")


def _sequence_numbers(column: Array, header: Header) -> Array:
    """Sequence numbers as integers; only float64 holds all of them exactly."""
    if header.dtype.itemsize < 8:
        raise Problem("invalid", "an array with a column seq must be of float64")
    wrong = np.flatnonzero((column < 0) | (column >= SEQ_LIMIT) | (column != np.floor(column)))
    if wrong.size:
        errors = ValidationErrors()
        for i in wrong[:MAX_ERRORS]:
            errors.add(f"/{i}/seq", f"must be a whole number from 0, below {SEQ_LIMIT}")
        raise errors.problem()
    return column.astype(np.int64)


def _check_finite(array: Array) -> None:
    finite = np.isfinite(array)
    if finite.all():
        return
    errors = ValidationErrors()
    for i in np.flatnonzero(~finite.all(axis=1))[:MAX_ERRORS]:
        for j in np.flatnonzero(~finite[i])[:MAX_ERRORS]:
            errors.add(f"/{i}/{j}", "must be finite")
    raise errors.problem()
