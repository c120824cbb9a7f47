"""Table formats: npy arrays, memory-mapped, and parquet, which needs pyarrow."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from llr_cli.formats.batch import TRY_NAMED, Batch, Columns, named_sample
from llr_cli.options import BadData


class Npy:
    """An npy file."""

    def __init__(self, path: Path, columns: Columns) -> None:
        try:
            self._array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise BadData(f"{path} is not an npy file: {error}") from None
        if not isinstance(self._array, np.ndarray) or self._array.dtype.kind not in "fiub":
            raise BadData(f"{path} does not hold one array of numbers")
        if self._array.ndim not in (1, 2):
            raise BadData(f"{path}: the array has {self._array.ndim} dimensions, not 1 or 2")
        if columns.named:
            raise BadData(f"{path}: the columns of npy have no names, leave --named out")
        self.total: int | None = len(self._array)
        self._columns = columns

    def batches(self, skip: int, block: int) -> Iterator[Batch]:
        """The samples after the first `skip`."""
        table = self._array if self._array.ndim == 2 else self._array[:, None]
        names = [str(i) for i in range(table.shape[1])]
        (features, label), weight = self._columns.indexes(names), self._columns.weight_index(names)
        for start in range(skip, len(table), block):
            rows = table[start : start + block]
            y = rows[:, label]
            samples = (rows[:, features], y) if features else (y,)
            w = None if weight is None else rows[:, weight]
            yield Batch(samples, len(y), start + len(y), range(start, start + len(y)), "row", w)


class Parquet:
    """A parquet file."""

    def __init__(self, path: Path, columns: Columns) -> None:
        try:
            from pyarrow import ArrowException, parquet  # noqa: PLC0415 - pyarrow is an extra
        except ImportError:
            raise BadData("parquet needs pyarrow: pip install 'llr[parquet]'") from None
        try:
            self._file = parquet.ParquetFile(path)
        except (ArrowException, OSError) as error:
            raise BadData(f"{path} is not a parquet file: {error}") from None
        self.total: int | None = self._file.metadata.num_rows
        self._columns = columns

    def batches(self, skip: int, block: int) -> Iterator[Batch]:
        """The samples after the first `skip`."""
        names = self._file.schema_arrow.names
        features, label = self._columns.indexes(names)
        weight = self._columns.weight_index(names)
        kept = [names[place] for place in (*features, label)]
        weights = None if weight is None else names[weight]
        read = kept if weights is None else [*kept, weights]
        start = 0
        for rows in self._file.iter_batches(block, columns=list(dict.fromkeys(read))):
            end = start + rows.num_rows
            if end > skip:
                fresh = rows.slice(max(0, skip - start))
                w = None if weights is None else _column(fresh, weights, start)
                y = _labels(fresh, kept[-1], start, self._columns.words)
                if self._columns.named and features:
                    yield _named_batch(fresh, kept[:-1], y, w, end)
                else:
                    yield _batch([_column(fresh, name, start) for name in kept[:-1]], y, w, end)
            start = end


def _labels(rows: Any, name: str, start: int, words: bool) -> Any:
    return rows.column(name).to_pylist() if words else _column(rows, name, start)


def _named_batch(rows: Any, features: list[str], y: Any, w: Any, end: int) -> Batch:
    """Samples with named features; empty cells are omitted."""
    columns = [rows.column(name).to_pylist() for name in features]
    for name, column in zip(features, columns, strict=True):
        if not {type(value) for value in column} <= {int, float, bool, str, type(None)}:
            raise BadData(f"column {name!r} holds neither numbers nor text")
    cells = zip(*columns, strict=True)
    labels = y if isinstance(y, list) else y.tolist()
    weights = [None] * len(labels) if w is None else w.tolist()
    samples = [
        named_sample(features, *sample) for sample in zip(cells, labels, weights, strict=True)
    ]
    return Batch(samples, len(samples), end, range(end - len(samples), end), "row")


def _column(rows: Any, name: str, start: int) -> Any:
    column = rows.column(name)
    if column.null_count:
        raise BadData(f"column {name!r}: there are cells without a value after row {start}")
    found = column.to_numpy(zero_copy_only=False)
    if found.dtype.kind not in "fiub":
        raise BadData(f"column {name!r} does not hold numbers; {TRY_NAMED}")
    return found


def _batch(features: list[Any], y: Any, w: Any, end: int) -> Batch:
    samples = (np.column_stack(features), y) if features else (y,)
    return Batch(samples, len(y), end, range(end - len(y), end), "row", w)
