"""Samples as bytes: one as JSON, a block as a JSON list, many as npy, or as JSON if x has names.

All are bodies that the service takes whole or not at all, so a batch is learnt or it is not.
"""

import io
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llr_client.wire import JSON, to_json

NPY = "application/x-npy"
CHUNK = 2 * 1024 * 1024
"""Bytes of one body of many samples, roughly."""


@dataclass(frozen=True)
class Batch:
    """A body and how many samples it holds."""

    body: bytes
    n: int
    kind: str = JSON


def single(x: Any, y: Any) -> Batch:
    """One sample. For models without features it is `y` alone, given as either argument.

    >>> single([0.5, -1.2], 1.0).body, single(4.2, None).body
    (b'{"x":[0.5,-1.2],"y":1.0}', b'{"y":4.2}')
    >>> single({"age": 30, "city": "Rome"}, 1).body
    b'{"x":{"age":30,"city":"Rome"},"y":1}'
    """
    if y is None:
        x, y = None, x
    if isinstance(y, Mapping):
        raise ValueError("y is missing: learn(x, y)")
    if getattr(y, "shape", ()) or isinstance(y, list | tuple):
        raise ValueError("y is one number here; learn_many takes many samples")
    return Batch(to_json({"y": y} if x is None else {"x": x, "y": y}), 1)


def member(sample: Any) -> dict[str, Any]:
    """A sample of a stream as the service reads it: from `(x, y)`, `y`, or itself.

    >>> member(([1, 2], 3)), member(4.2), member({"y": 1})
    ({'x': [1, 2], 'y': 3}, {'y': 4.2}, {'y': 1})
    """
    if isinstance(sample, dict):
        return sample
    if isinstance(sample, tuple | list):
        if len(sample) != 2:
            raise ValueError(f"a sample is (x, y), y or a dict, not {len(sample)} things")
        return {"x": sample[0], "y": sample[1]}
    return {"y": sample}


class Block:
    """Samples gathered into a body, until it has its number or its size."""

    def __init__(self, samples: int, size: int = CHUNK // 2) -> None:
        if samples < 1:
            raise ValueError("a block has at least one sample")
        self._samples, self._size = samples, size
        self._parts: list[bytes] = []
        self._bytes = 0

    def add(self, sample: Any) -> Batch | None:
        """Take a sample; returns the block if that completes it."""
        part = to_json(member(sample))
        self._parts.append(part)
        self._bytes += len(part)
        full = len(self._parts) >= self._samples or self._bytes >= self._size
        return self.rest() if full else None

    def rest(self) -> Batch | None:
        """What is left, if anything."""
        parts, self._parts, self._bytes = self._parts, [], 0
        return Batch(b"[" + b",".join(parts) + b"]", len(parts)) if parts else None


def blocks(samples: Iterable[Any], size: int) -> Iterator[Batch]:
    """Samples in blocks of so many, the last of what is left."""
    block = Block(size)
    for sample in samples:
        if (batch := block.add(sample)) is not None:
            yield batch
    if (batch := block.rest()) is not None:
        yield batch


async def blocks_as_they_come(
    samples: AsyncIterable[Any] | Iterable[Any], size: int
) -> AsyncIterator[Batch]:
    """The same of samples that may have to be awaited."""
    if not isinstance(samples, AsyncIterable):
        for whole in blocks(samples, size):
            yield whole
        return
    block = Block(size)
    async for sample in samples:
        if (batch := block.add(sample)) is not None:
            yield batch
    if (batch := block.rest()) is not None:
        yield batch


def chunks(X: Any, y: Any, size: int = CHUNK) -> Iterator[Batch]:
    """Many samples as bodies of about so many bytes, at least a sample each: npy; JSON for dicts.

    Args:
        X: a row a sample, or a dict of named features; the labels themselves if `y` is None.
        y: a label a row, None for models without features.
        size: bytes of a body, roughly.
    """
    if isinstance(X, Sequence) and X and isinstance(X[0], Mapping):
        return _named_chunks(X, y, size)
    return _array_chunks(X, y, size)


def _named_chunks(X: Sequence[Any], y: Any, size: int) -> Iterator[Batch]:
    if y is None or len(X) != len(y):
        raise ValueError("X has a dict and y a number for each sample")
    block = Block(len(X), size)
    for sample in zip(X, y, strict=True):
        if (batch := block.add(sample)) is not None:
            yield batch
    if (batch := block.rest()) is not None:
        yield batch


def _array_chunks(X: Any, y: Any, size: int) -> Iterator[Batch]:
    import numpy as np  # noqa: PLC0415 - only who sends arrays waits for its import

    columns = [np.asarray(part) for part in ((X,) if y is None else (X, y))]
    if not all(column.dtype.kind in "fiub" for column in columns):
        raise ValueError("samples are numbers")
    labels, features = columns[-1], columns[:-1]
    if labels.ndim != 1 or any(X.ndim != 2 or len(X) != len(labels) for X in features):
        raise ValueError("X has a row and y a number for each sample")
    if not len(labels):
        raise ValueError("there are no samples")
    small = all(column.dtype == np.float32 for column in columns)
    kind = np.dtype(np.float32 if small else np.float64)
    width = 1 + sum(X.shape[1] for X in features)
    rows = max(1, size // (width * kind.itemsize))
    for start in range(0, len(labels), rows):
        part = [column[start : start + rows] for column in columns]
        stream = io.BytesIO()
        np.save(stream, np.column_stack(part).astype(kind, copy=False), allow_pickle=False)
        yield Batch(stream.getvalue(), len(part[-1]), NPY)
