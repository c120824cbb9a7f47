"""Batches: samples encoded as request bodies, and their sequence numbers.

One sample is a JSON object, a block a JSON array, many samples npy, or JSON if features or
classes have names. The service learns a body whole or not at all.
"""

import io
import secrets
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any

from llr_client._frames import frame_samples, is_frame
from llr_client._protocol import JSON, to_json

NPY, NDJSON = "application/x-npy", "application/x-ndjson"
CHUNK = 2 * 1024 * 1024
"""Approximate size of a body of many samples, in bytes."""


@dataclass(frozen=True)
class Batch:
    """A request body, its number of samples, and the columns of an array if not `x,y`."""

    body: bytes
    n: int
    kind: str = JSON
    columns: str | None = None
    seq: tuple[int, ...] | None = None
    """The samples' own sequence numbers, if they have some."""
    next: int | None = None
    """The producer's next number after this batch, if more is known to be skipped."""

    def fresh(self, number: int) -> int:
        """How many samples are new to a service whose next number for the producer is this."""
        return self.n if self.seq is None else sum(each >= number for each in self.seq)

    def end(self, number: int) -> int:
        """The producer's next number after this batch, if it is this one before."""
        end = number + self.n if self.seq is None else max(number, self.seq[-1] + 1)
        return end if self.next is None else max(end, self.next)


def no_samples(until: int) -> Batch:
    """A body without samples, which moves the producer's next number."""
    return Batch(b"", 0, NDJSON, next=until)


def one_sample(
    x: Any,
    y: Any,
    w: float | None = None,
    seq: int | None = None,
    next: int | None = None,  # noqa: A002
) -> Batch:
    """Encode one sample. For models without features it is `y` alone, as either argument.

    >>> one_sample([0.5, -1.2], 1.0).body, one_sample(4.2, None).body
    (b'{"x":[0.5,-1.2],"y":1.0}', b'{"y":4.2}')
    >>> one_sample({"age": 30, "city": "Rome"}, 1).body
    b'{"x":{"age":30,"city":"Rome"},"y":1}'
    >>> one_sample([0.5], "spam", w=2).body
    b'{"x":[0.5],"y":"spam","w":2}'
    """
    if y is None:
        x, y = None, x
    if isinstance(y, Mapping):
        raise ValueError("y is missing: learn(x, y)")
    if getattr(y, "shape", ()) or isinstance(y, list | tuple):
        raise ValueError("y is one number here; learn_many takes many samples")
    sample = {"y": y} if x is None else {"x": x, "y": y}
    sample |= {name: each for name, each in (("w", w), ("seq", seq)) if each is not None}
    return Batch(to_json(sample), 1, seq=None if seq is None else (seq,), next=next)


def to_record(sample: Any) -> dict[str, Any]:
    """Convert `(x, y)`, `(x, y, w)` or `y` to the JSON of a sample; a dict is returned as it is.

    >>> to_record(([1, 2], 3)), to_record(4.2), to_record({"y": 1})
    ({'x': [1, 2], 'y': 3}, {'y': 4.2}, {'y': 1})
    >>> to_record(([1, 2], 3, 0.5))
    {'x': [1, 2], 'y': 3, 'w': 0.5}
    """
    if isinstance(sample, dict):
        return sample
    if isinstance(sample, tuple | list):
        if len(sample) not in (2, 3):
            raise ValueError(
                f"a sample is (x, y), (x, y, w), y or a dict, not {len(sample)} things"
            )
        return dict(zip(("x", "y", "w"), sample, strict=False))
    return {"y": sample}


class BlockBuilder:
    """Collects samples into a body, up to a number of samples and of bytes."""

    def __init__(self, samples: int, size: int = CHUNK // 2) -> None:
        if samples < 1:
            raise ValueError("a block has at least one sample")
        self._samples, self._size = samples, size
        self._parts: list[bytes] = []
        self._seq: list[int] = []
        self._bytes = 0

    def add(self, sample: Any) -> Batch | None:
        """Add a sample; returns the block if it is complete."""
        record = to_record(sample)
        part = to_json(record)
        self._parts.append(part)
        if "seq" in record:
            self._seq.append(record["seq"])
        self._bytes += len(part)
        full = len(self._parts) >= self._samples or self._bytes >= self._size
        return self.flush() if full else None

    def flush(self) -> Batch | None:
        """The incomplete block, if there is one."""
        parts, self._parts, self._bytes = self._parts, [], 0
        seq, self._seq = tuple(self._seq) or None, []
        return Batch(b"[" + b",".join(parts) + b"]", len(parts), seq=seq) if parts else None


def blocks(samples: Iterable[Any], size: int, nbytes: int = CHUNK // 2) -> Iterator[Batch]:
    """Group samples into blocks of `size`, or of so many bytes; the last may be smaller."""
    block = BlockBuilder(size, nbytes)
    for sample in samples:
        if (batch := block.add(sample)) is not None:
            yield batch
    if (batch := block.flush()) is not None:
        yield batch


async def async_blocks(
    samples: AsyncIterable[Any] | Iterable[Any], size: int
) -> AsyncIterator[Batch]:
    """Group samples of an iterable or async iterable, as `blocks`."""
    if not isinstance(samples, AsyncIterable):
        for whole in blocks(samples, size):
            yield whole
        return
    block = BlockBuilder(size)
    async for sample in samples:
        if (batch := block.add(sample)) is not None:
            yield batch
    if (batch := block.flush()) is not None:
        yield batch


def chunks(
    X: Any,
    y: Any,
    size: int = CHUNK,
    w: Any = None,
    seq: Any = None,
    next: int | None = None,  # noqa: A002
) -> Iterator[Batch]:
    """Encode many samples in bodies of about `size` bytes: npy, or JSON for dicts and names.

    Args:
        X: one row or dict per sample, or a frame; the labels if `y` is None.
        y: one label per row, or a column of the frame; None for models without features.
        size: approximate size of a body, in bytes.
        w: one weight per sample, or one for all; None if all are 1.
        seq: one sequence number per sample, strictly increasing; None to number them in order.
        next: the producer's next number after all of them, if more is skipped.
    """
    if is_frame(X):
        X, y, w = frame_samples(X, y, w)
    if seq is not None:
        seq = [int(number) for number in seq]
        if any(after <= before for before, after in pairwise(seq)):
            raise ValueError("seq increases from sample to sample")
    encode = _json_chunks if _has(X, Mapping) or _has(X if y is None else y, str) else _npy_chunks
    batches = encode(X, y, size, w, seq)
    return batches if next is None else _skipping(batches, next)


def _skipping(batches: Iterator[Batch], until: int) -> Iterator[Batch]:
    """Batches whose last one skips the numbers below `until`."""
    for batch, after in pairwise(chain(batches, (None,))):
        if batch is not None:
            yield replace(batch, next=until) if after is None else batch


def _has(values: Any, kind: type) -> bool:
    """Whether the first of some values is of this type."""
    several = hasattr(values, "__len__") and not isinstance(values, Mapping)
    return several and len(values) > 0 and isinstance(values[0], kind)


def _json_chunks(
    X: Sequence[Any], y: Any, size: int, w: Any, seq: Sequence[int] | None
) -> Iterator[Batch]:
    columns = {"y": X} if y is None else {"x": X, "y": y}
    if w is not None:
        columns["w"] = w if hasattr(w, "__len__") else [w] * len(X)
    if seq is not None:
        columns["seq"] = seq
    unlabelled = y is None and isinstance(X[0], Mapping)
    if unlabelled or any(len(column) != len(X) for column in columns.values()):
        raise ValueError("X has a dict or a row and y a number for each sample, or a class")
    records = (
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    )
    yield from blocks(records, len(X), size)


def _npy_chunks(X: Any, y: Any, size: int, w: Any, seq: Sequence[int] | None) -> Iterator[Batch]:
    import numpy as np  # noqa: PLC0415 - slow to import, and needed for arrays only

    columns = [np.asarray(part) for part in ((X,) if y is None else (X, y))]
    if not all(column.dtype.kind in "fiub" for column in columns):
        raise ValueError("samples are numbers")
    labels, features = columns[-1], columns[:-1]
    if labels.ndim != 1 or any(X.ndim != 2 or len(X) != len(labels) for X in features):
        raise ValueError("X has a row and y a number for each sample")
    if not len(labels):
        raise ValueError("there are no samples")
    names = None
    if w is not None:
        weights = np.asarray(w)
        if weights.dtype.kind not in "fiu" or weights.shape not in ((), labels.shape):
            raise ValueError("w is a number for each sample, or one for all")
        columns.append(np.broadcast_to(weights, labels.shape))
        names = "x,y,w" if features else "y,w"
    if seq is not None:
        if len(seq) != len(labels):
            raise ValueError("seq is a number for each sample")
        columns.append(np.asarray(seq, np.float64))
        names = f"{names or ('x,y' if features else 'y')},seq"
    small = all(column.dtype == np.float32 for column in columns)
    kind = np.dtype(np.float32 if small else np.float64)
    width = len(columns) + sum(X.shape[1] - 1 for X in features)
    rows = max(1, size // (width * kind.itemsize))
    for start in range(0, len(labels), rows):
        part = [column[start : start + rows] for column in columns]
        stream = io.BytesIO()
        np.save(stream, np.column_stack(part).astype(kind, copy=False), allow_pickle=False)
        own = None if seq is None else tuple(seq[start : start + rows])
        yield Batch(stream.getvalue(), len(part[-1]), NPY, names, own)


class SequenceNumbers:
    """The sequence numbers of one producer's samples.

    A batch without an answer keeps its number, so that sending the same batch again is a retry.
    Before any other batch the service is asked for the next number.

    Attributes:
        producer: the producer's name.
        acked: samples the service has acknowledged; None if the service must be asked.
    """

    def __init__(self, producer: str | None) -> None:
        self.producer = producer or secrets.token_urlsafe(9)
        self.acked: int | None = None if producer else 0
        self._unanswered: Batch | None = None
        self._number = 0

    def number_for(self, batch: Batch) -> int | None:
        """The sequence number of a batch; None if the service must be asked first."""
        if self._unanswered is None:
            return self.acked
        return self._number if batch == self._unanswered else None

    def mark_sent(self, batch: Batch, number: int) -> bool:
        """Record that a batch is sent; returns True if it was sent before without an answer."""
        again = self._unanswered is not None and batch == self._unanswered
        self._unanswered, self._number = batch, number
        return again

    def mark_answered(self, acked: int | None) -> None:
        """Record the acknowledged count after an answer; None if it is unknown."""
        self._unanswered, self.acked = None, acked
