"""What is kept of an x until its label comes, as bytes: its numbers, or its names and numbers."""

from collections.abc import Sequence

import numpy as np

from llr import NamedRows
from llr.types import Vector
from llr_service.codec import Samples, named
from llr_service.codec.samples import NAMED

NUMBER = np.dtype("<f8")


def rows_of(X: Vector | NamedRows | None, n: int) -> list[bytes]:
    """Each row as it is kept; nothing for models without features, where the id is all there is."""
    if X is None:
        return [b""] * n
    if isinstance(X, NamedRows):
        return [_odd(named.pack(named.slice_rows(X, i, i + 1))) for i in range(n)]
    return [row.astype(NUMBER, copy=False).tobytes() for row in X]


def samples_of(rows: Sequence[bytes], y: Vector) -> Samples:
    """The samples of kept rows, all of one width, and their labels."""
    if width_of(rows[0]) == NAMED:
        return Samples(NamedRows.concat([named.unpack(row)[0] for row in rows]), y)
    numbers = np.frombuffer(b"".join(rows), NUMBER).astype(np.float64)
    return Samples(numbers.reshape(len(rows), -1) if numbers.size else None, y)


def width_of(row: bytes) -> int:
    """How many features a kept row has, none for models without, NAMED if they have names."""
    width, odd = divmod(len(row), NUMBER.itemsize)
    return NAMED if odd else width


def _odd(packed: bytes) -> bytes:
    """A byte more where its length is that of whole numbers, by which such rows are told."""
    return packed if len(packed) % NUMBER.itemsize else packed + b"\0"
