"""Samples as a store's log keeps them: two counts, then every number bit by bit."""

import struct

import numpy as np

from service.codec.samples import Samples
from service.problems import Problem

COUNTS = struct.Struct("<II")
"""How many samples, and how many features each, 0 for models without."""

WIRE = np.dtype("<f8")


def pack_samples(samples: Samples) -> bytes:
    """The samples as bytes.

    >>> len(pack_samples(Samples(np.ones((3, 2)), np.zeros(3))))
    80
    """
    X, y = samples.X, samples.y
    head = COUNTS.pack(len(y), 0 if X is None else X.shape[1])
    features = b"" if X is None else X.astype(WIRE, copy=False).tobytes()
    return head + features + y.astype(WIRE, copy=False).tobytes()


def unpack_samples(blob: bytes) -> Samples:
    """The samples that were packed; a Problem if these bytes cannot be theirs."""
    if len(blob) < COUNTS.size:
        raise _damaged()
    n, d = COUNTS.unpack_from(blob)
    if len(blob) != COUNTS.size + n * (d + 1) * WIRE.itemsize:
        raise _damaged()
    numbers = np.frombuffer(blob, WIRE, offset=COUNTS.size).astype(np.float64)
    if not np.isfinite(numbers).all():
        raise _damaged()
    X = numbers[: n * d].reshape(n, d) if d else None
    return Samples(X, numbers[n * d :])


def _damaged() -> Problem:
    return Problem("damaged", "an entry of the session's log does not hold samples")
