"""Samples as a store's log keeps them: a header, optional columns by name, then every number.

An entry starts with `HEADER`: a mark, the format, how many optional columns follow, the arithmetic
that learnt the samples, and how many samples there are of how many features. In format 2 the time
follows at which they were learnt; entries without it are of format 1. Each optional column has its
type and its name; then come the features, the labels and the columns, bit by bit. Rows of named
features have each name once.

Entries of 0.1.0 have no header: two counts, or the mark `NAME`. They are read as format 0.

A column that this version does not know changes what is learnt, so it is refused like a newer
format. To add one, add a line to `codec.json.OPTIONAL`.
"""

import struct
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from llr import ARITHMETIC, NamedRows
from llr.types import Array, Vector
from llr_service.codec import named
from llr_service.codec.json import OPTIONAL
from llr_service.codec.samples import Samples
from llr_service.problems import Problem, too_new

MARK, FORMAT = b"LLRE", 2
HEADER = struct.Struct("<4sBBHII")
"""Mark, format, optional columns, arithmetic, samples, features: 0 without, `NAMED` with names."""
TIME = struct.Struct("<Q")
"""When the samples were learnt, in milliseconds since 1970; entries of format 1 have none."""
COLUMN = struct.Struct("<cB")
"""The type of an optional column, and how many bytes its name has."""
NAMED = 2**32 - 1

ENTRY = "an entry of the session's log"
"""What a refusal is about."""

COUNTS = struct.Struct("<II")
OLD_NAMED = b"NAME" + struct.pack("<I", 1)
"""How entries of format 0 start: with the counts of samples and features, or with this mark."""

WIRE = np.dtype("<f8")
TYPES = {b"f": WIRE, b"i": np.dtype("<i8")}


class Layout(NamedTuple):
    """What an entry says of itself.

    Attributes:
        format: the format, 0 for an entry without a header.
        arithmetic: the number of the arithmetic that learnt the samples, 0 if it had none.
        n: the number of samples.
        d: the number of features, 0 without, `NAMED` if they have names.
        columns: the optional columns and their types, in order.
        start: where the numbers begin.
        time: when the samples were learnt, in milliseconds since 1970; 0 if it is not known.
    """

    format: int
    arithmetic: int
    n: int
    d: int
    columns: Mapping[str, np.dtype[np.generic]]
    start: int
    time: int = 0


def pack_samples(samples: Samples, arithmetic: int = ARITHMETIC, time: int = 0) -> bytes:
    """The samples as bytes, with the number of the arithmetic that learns them, and the time.

    >>> len(pack_samples(Samples(np.ones((3, 2)), np.zeros(3))))
    88
    """
    X, y, optional = samples.X, _wire(samples.y), samples.optional
    d = 0 if X is None else NAMED if isinstance(X, NamedRows) else X.shape[1]
    number, dated = (FORMAT, TIME.pack(time)) if time else (1, b"")
    head = HEADER.pack(MARK, number, len(optional), arithmetic, samples.n, d) + dated
    rows = named.pack(X) if isinstance(X, NamedRows) else b"" if X is None else _wire(X)
    if not optional:
        return head + rows + y
    titles, columns = b"", b""
    for name, column in optional.items():
        kind = b"i" if column.dtype.kind == "i" else b"f"
        titles += COLUMN.pack(kind, len(name.encode())) + name.encode()
        columns += column.astype(TYPES[kind]).tobytes()
    return head + titles + rows + y + columns


def _wire(numbers: Vector) -> bytes:
    """Numbers as the log has them; on most machines they are so already."""
    return (numbers if numbers.dtype == WIRE else numbers.astype(WIRE)).tobytes()


def unpack_samples(blob: bytes) -> Samples:
    """The samples that were packed.

    Raises a Problem: `damaged` if these bytes cannot be theirs, `unavailable` if a newer version
    wrote them.
    """
    layout = read_layout(blob)
    n, size = layout.n, layout.n * WIRE.itemsize
    X: Vector | NamedRows | None
    if layout.d == NAMED:
        X, at = _named(blob, layout)
        y = _numbers(blob, at, n)
    else:
        cells = n * layout.d
        both, at = _numbers(blob, layout.start, cells + n), layout.start + cells * WIRE.itemsize
        X, y = both[:cells].reshape(n, layout.d) if layout.d else None, both[cells:]
    if len(blob) != at + size * (1 + len(layout.columns)):
        raise _damaged()
    if not layout.columns:
        return Samples(X, y)
    optional: dict[str, Array] = {}
    for name, dtype in layout.columns.items():
        at += size
        optional[name] = _numbers(blob, at, n, dtype)
    return Samples(X, y, optional)


def read_layout(blob: bytes) -> Layout:
    """The layout of an entry. Raises a Problem if this version cannot read it."""
    if not blob.startswith(MARK):
        return _read_old(blob)
    if len(blob) < HEADER.size:
        raise _damaged()
    _, number, count, arithmetic, n, d = HEADER.unpack_from(blob)
    if number > FORMAT:
        raise too_new(
            f"{ENTRY} is of format {number}, and this version reads formats up to {FORMAT}"
        )
    columns: dict[str, np.dtype[np.generic]] = {}
    at, time = HEADER.size, 0
    if number > 1:
        if len(blob) < at + TIME.size:
            raise _damaged()
        [time] = TIME.unpack_from(blob, at)
        at += TIME.size
    for _ in range(count):
        if len(blob) < at + COLUMN.size:
            raise _damaged()
        kind, length = COLUMN.unpack_from(blob, at)
        at += COLUMN.size + length
        if len(blob) < at:
            raise _damaged()
        name = blob[at - length : at].decode(errors="replace")
        if name not in OPTIONAL or kind not in TYPES:
            raise too_new(f"{ENTRY} has a column {name!a}, which this version does not know")
        columns[name] = TYPES[kind]
    if len(columns) != count:
        raise _damaged()
    return Layout(number, arithmetic, n, d, columns, at, time)


def _read_old(blob: bytes) -> Layout:
    if blob.startswith(OLD_NAMED):
        at = len(OLD_NAMED)
        if len(blob) < at + named.COUNTS.size:
            raise _damaged()
        return Layout(0, 0, named.COUNTS.unpack_from(blob, at)[0], NAMED, {}, at)
    if len(blob) < COUNTS.size:
        raise _damaged()
    n, d = COUNTS.unpack_from(blob)
    return Layout(0, 0, n, d, {}, COUNTS.size)


def _named(blob: bytes, layout: Layout) -> tuple[NamedRows, int]:
    """The rows of named features, and where they end."""
    try:
        X, at = named.unpack(blob, layout.start)
    except ValueError:
        raise _damaged() from None
    if X.starts.size - 1 != layout.n:
        raise _damaged()
    return X, at


def _numbers(blob: bytes, start: int, count: int, dtype: np.dtype[np.generic] = WIRE) -> Array:
    if len(blob) < start + count * dtype.itemsize:
        raise _damaged()
    numbers = np.frombuffer(blob, dtype, count, start).astype(dtype.newbyteorder("="))
    if not np.isfinite(numbers).all():
        raise _damaged()
    return numbers


def _damaged() -> Problem:
    return Problem("damaged", "an entry of the session's log does not hold samples")
