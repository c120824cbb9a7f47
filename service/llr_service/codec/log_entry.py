"""Samples as a store's log keeps them: two counts, then every number bit by bit.

Where features are named a mark stands in the place of the counts, as no entry has so many samples;
then a version, the rows with each name once, and the labels.
"""

import struct

import numpy as np

from llr import NamedRows
from llr.types import Vector
from llr_service.codec import named
from llr_service.codec.samples import Samples
from llr_service.problems import Problem

COUNTS = struct.Struct("<II")
"""How many samples, and how many features each, 0 for models without."""

MARK, VERSION = b"NAME", 1
NAMED = MARK + struct.pack("<I", VERSION)
WIRE = np.dtype("<f8")


def pack_samples(samples: Samples) -> bytes:
    """The samples as bytes.

    >>> len(pack_samples(Samples(np.ones((3, 2)), np.zeros(3))))
    80
    """
    X, y = samples.X, _wire(samples.y)
    if isinstance(X, NamedRows):
        return NAMED + named.pack(X) + y
    head = COUNTS.pack(samples.n, 0 if X is None else X.shape[1])
    return head + y if X is None else head + _wire(X) + y


def _wire(numbers: Vector) -> bytes:
    """Numbers as the log has them; on most machines they are so already."""
    return (numbers if numbers.dtype == WIRE else numbers.astype(WIRE)).tobytes()


def unpack_samples(blob: bytes) -> Samples:
    """The samples that were packed; a Problem if these bytes cannot be theirs."""
    if blob.startswith(MARK):
        return _unpack_named(blob)
    if len(blob) < COUNTS.size:
        raise _damaged()
    n, d = COUNTS.unpack_from(blob)
    if len(blob) != COUNTS.size + n * (d + 1) * WIRE.itemsize:
        raise _damaged()
    numbers = _numbers(blob, COUNTS.size)
    X = numbers[: n * d].reshape(n, d) if d else None
    return Samples(X, numbers[n * d :])


def _unpack_named(blob: bytes) -> Samples:
    if not blob.startswith(NAMED):
        raise _damaged()
    try:
        X, end = named.unpack(blob, len(NAMED))
    except ValueError:
        raise _damaged() from None
    n = X.starts.size - 1
    if len(blob) != end + n * WIRE.itemsize:
        raise _damaged()
    return Samples(X, _numbers(blob, end))


def _numbers(blob: bytes, start: int) -> np.ndarray:
    numbers = np.frombuffer(blob, WIRE, offset=start).astype(np.float64)
    if not np.isfinite(numbers).all():
        raise _damaged()
    return numbers


def _damaged() -> Problem:
    return Problem("damaged", "an entry of the session's log does not hold samples")
