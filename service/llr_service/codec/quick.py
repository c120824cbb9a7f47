"""The fast reading: takes parsed JSON that is plainly right, in bulk; `DoubtError` otherwise.

It never judges: what it doubts, `codec.exact` takes or refuses. It leans on `struct`, which
packs floats, integers and booleans and, unlike numpy, takes neither strings nor None nor lists for
numbers, nor fewer of them or more than it was told.
"""

import math
import re
import struct
from functools import lru_cache
from typing import Any

import numpy as np

from llr.types import Vector
from llr_service.codec.samples import Samples, samples_in

NEGATIVE_ZERO = re.compile(rb"-0(?![.\deE])")
"""Where an integer -0 may stand: some producers write it for -0.0, and the parser reads it as 0."""


class DoubtError(Exception):
    """This is not plainly right."""


DOUBTS = (DoubtError, LookupError, TypeError, ValueError, OverflowError, struct.error)
"""How the fast reading of anything else ends; the parser raises ValueError."""


def one(numbers: list[Any], text: bytes) -> Samples:
    """One sample, its features before its label: the hottest path of the service."""
    count = len(numbers)
    raw = _packing(count).pack(*numbers)
    if not math.isfinite(sum(numbers)):  # finite only if all are; infinite may be an overflow
        raise DoubtError
    _check_text(text, all(numbers))
    return samples_in(raw, 1, count - 1)


def many(rows: list[Any], labels: list[Any], text: bytes) -> Samples:
    """Samples as columns; there are no rows for models without features."""
    n, d = len(labels), len(rows[0]) if rows else 0
    if not n or (rows and not d) or len(rows) not in (0, n):
        raise DoubtError
    raw = _pack_rows(rows, d) + _packing(n).pack(*labels)
    _check_numbers(raw, text)
    return samples_in(raw, n, d)


def labels_of(labels: list[Any], text: bytes) -> Vector:
    """Labels alone. Booleans are told by their type: beside names the text tells nothing."""
    if not labels or not {int, float}.issuperset(map(type, labels)):
        raise DoubtError
    signed = all(labels) or NEGATIVE_ZERO.search(text) is None
    if not signed or not math.isfinite(sum(labels)):
        raise DoubtError
    return np.frombuffer(_packing(len(labels)).pack(*labels))


def matrix(rows: list[Any], text: bytes) -> Vector:
    """Rows without labels."""
    d = len(rows[0])
    if not d:
        raise DoubtError
    raw = _pack_rows(rows, d)
    return _check_numbers(raw, text).reshape(len(rows), d)


def _pack_rows(rows: list[Any], d: int) -> bytes:
    pack = _packing(d).pack
    return b"".join([pack(*row) for row in rows])


@lru_cache(maxsize=64)
def _packing(count: int) -> struct.Struct:
    return struct.Struct(f"{count}d")


def _check_numbers(raw: bytes, text: bytes) -> Vector:
    numbers = np.frombuffer(raw)
    if not np.isfinite(numbers).all():
        raise DoubtError
    _check_text(text, np.count_nonzero(numbers) == numbers.size)
    return numbers


def _check_text(text: bytes, no_zeros: bool) -> None:
    """Doubt what `struct` does not: true and false, and the sign of an integer zero."""
    booleans = b"u" in text or b"s" in text
    if booleans or not (no_zeros or NEGATIVE_ZERO.search(text) is None):
        raise DoubtError
