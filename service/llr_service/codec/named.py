"""Rows of named features: from objects, sliced, and as bytes, each name once.

A number is a feature's value, true and false are 1 and 0, and a string makes a feature of its own:
`{"city": "Rome"}` is 1 under `city=Rome`. A name that is not there counts 0.
"""

import struct
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any

import numpy as np

from llr import NamedRows
from llr.types import Array

COUNTS = struct.Struct("<4I")
"""How many rows, names, features in all rows, and bytes of the names."""

REAL, SIZE, LENGTH = np.dtype("<f8"), np.dtype("<u4"), np.dtype("<u2")


def from_objects(objects: Sequence[dict[str, Any]]) -> NamedRows:
    """The rows of typed objects: values are finite numbers, booleans or strings.

    Raises ValueError for what cannot be a row. A zero loses its sign: it is as if its name were
    not there.

    >>> from_objects([{"age": 31, "city": "Rome"}, {"new": True}]).names
    ['age', 'city=Rome', 'new']
    """
    names = list(objects[0]) if objects else []
    values = list(chain.from_iterable(map(dict.values, objects)))
    same = len(objects) > 1 and bool(names) and all(list(each) == names for each in objects)
    if not same:
        names = list(chain.from_iterable(objects))
    try:
        numbers = _packed(values)
    except struct.error:  # there are strings
        if same:
            names *= len(objects)
        names, numbers = _one_hot(names, values)
        same = False
    if same:  # a table of records: its names are numbered once, not a row at a time
        n, k = len(objects), len(names)
        starts = np.arange(0, n * k + 1, k)
        return NamedRows(names, starts, np.tile(np.arange(k), n), np.frombuffer(numbers) + 0.0)
    starts = np.fromiter(accumulate(map(len, objects), initial=0), np.int64, len(objects) + 1)
    return NamedRows.from_cells(names, starts, np.frombuffer(numbers) + 0.0)


def _one_hot(names: list[str], values: list[Any]) -> tuple[list[str], bytes]:
    """The names and numbers with a feature of its own for each string."""
    if "" in names:
        raise ValueError("a name is empty")
    cells = list(zip(names, values, strict=True))
    of_strings = [f"{name}={value}" if type(value) is str else name for name, value in cells]
    return of_strings, _packed([1.0 if type(value) is str else value for value in values])


def _packed(values: Sequence[float]) -> bytes:
    return struct.pack(f"{len(values)}d", *values)


def nbytes(rows: NamedRows) -> int:
    """How many bytes they take, packed; a character counts one."""
    names, features = len(rows.names), rows.columns.size
    each = REAL.itemsize + _small(names).itemsize
    fixed = COUNTS.size + LENGTH.itemsize * names + SIZE.itemsize * (rows.starts.size - 1)
    return int(fixed + len("".join(rows.names)) + each * features)


def slice_rows(rows: NamedRows, start: int, end: int) -> NamedRows:
    """Some of the rows, with the names that are in them."""
    first, last = rows.starts[start], rows.starts[end]
    columns = rows.columns[first:last]
    used, places = np.unique(columns, return_index=True)
    order = np.argsort(places)
    number = np.empty(len(rows.names), np.int64)
    number[used[order]] = np.arange(used.size)
    names = [rows.names[column] for column in used[order].tolist()]
    starts = rows.starts[start : end + 1] - first
    return NamedRows(names, starts, number[columns], rows.values[first:last])


def pack(rows: NamedRows) -> bytes:
    """Rows as bytes."""
    names, whole, counts = rows.names, "".join(rows.names), rows.starts[1:] - rows.starts[:-1]
    sized = names if whole.isascii() else [name.encode() for name in names]
    text, lengths = whole.encode(), np.fromiter(map(len, sized), LENGTH, len(names))
    arrays: tuple[Array, ...] = (
        lengths,
        counts.astype(SIZE),
        rows.columns.astype(_small(len(names))),
        rows.values.astype(REAL, copy=False),
    )
    head = COUNTS.pack(counts.size, len(names), rows.columns.size, len(text))
    return b"".join((head, text, *(a.tobytes() for a in arrays)))


def unpack(blob: bytes, start: int = 0) -> tuple[NamedRows, int]:
    """The rows that were packed from this place on, and where they end. ValueError if none were."""
    if len(blob) - start < COUNTS.size:
        raise ValueError("cut short")
    n, k, features, text = COUNTS.unpack_from(blob, start)
    at = start + COUNTS.size + text
    found = []
    for dtype, size in ((LENGTH, k), (SIZE, n), (_small(k), features), (REAL, features)):
        found.append(np.frombuffer(blob, dtype, size, at) if size else np.empty(0, dtype))
        at += size * dtype.itemsize
    lengths, counts, columns, values = found
    names = _names(blob[start + COUNTS.size :][:text], lengths)
    starts = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    if at > len(blob) or not np.isfinite(values).all():
        raise ValueError("not rows of named features")
    return NamedRows(names, starts, columns.astype(np.int64), values.astype(np.float64)), at


def _names(text: bytes, lengths: Array) -> list[str]:
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    if (ends[-1] if ends else 0) != len(text):
        raise ValueError("not the names of features")
    return [text[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)]


def _small(names: int) -> np.dtype[np.unsignedinteger]:
    """The smallest numbers that tell so many names apart."""
    return np.dtype("<u1" if names <= 2**8 else "<u2" if names <= 2**16 else "<u4")
