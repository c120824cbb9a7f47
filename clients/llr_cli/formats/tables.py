"""Table formats: npy arrays, memory-mapped, and parquet, which needs pyarrow."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from llr_cli.formats.batch import (
    TRY_NAMED,
    Batch,
    Columns,
    batch_of,
    named_sample,
    try_classes,
)
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
            places = range(start, start + len(y))
            row = partial(_listed, rows)
            yield Batch(samples, len(y), start + len(y), places, "row", w, row)


def _listed(rows: Any, index: int) -> Any:
    return rows[index].tolist()


class Parquet:
    """A parquet file.

    Args:
        path: the file.
        columns: the roles of columns.
        tolerant: whether rows that cannot be read become bad rows of their batch.
    """

    def __init__(self, path: Path, columns: Columns, tolerant: bool = False) -> None:
        try:
            from pyarrow import ArrowException, parquet  # noqa: PLC0415 - pyarrow is an extra
        except ImportError:
            raise BadData("parquet needs pyarrow: pip install 'llr[parquet]'") from None
        try:
            self._file = parquet.ParquetFile(path)
        except (ArrowException, OSError) as error:
            raise BadData(f"{path} is not a parquet file: {error}") from None
        self.total: int | None = self._file.metadata.num_rows
        self._columns, self._tolerant = columns, tolerant

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
                first = max(skip, start)
                fresh = rows.slice(first - start)
                yield self._read(fresh, first, kept, weights)
            start = end

    def _read(self, rows: Any, first: int, kept: list[str], weights: str | None) -> Batch:
        """The samples of a record batch, whose first row in the file is `first`."""

        def parse(indexes: Sequence[int]) -> Batch:
            some = rows if len(indexes) == rows.num_rows else rows.take(list(indexes))
            places = [first + index for index in indexes]
            w = None if weights is None else _column(some, weights, places)
            y = _labels(some, kept[-1], places, self._columns.words)
            samples: tuple[Any, ...] | list[Any]
            if self._columns.named and features:
                samples, w = _named_samples(some, features, y, w), None
            elif features:
                samples = (np.column_stack(_features(some, features, places)), y)
            else:
                samples = (y,)
            end = first + rows.num_rows
            return Batch(samples, len(indexes), end, places, "row", w, partial(_row, some))

        def describe(index: int) -> tuple[int, Any]:
            return first + index, _row(rows, index)

        features = kept[:-1]
        end = first + rows.num_rows
        tell = describe if self._tolerant else None
        return batch_of(range(rows.num_rows), parse, tell, end, "row")


def _row(rows: Any, index: int) -> Any:
    return rows.slice(index, 1).to_pylist()[0]


def _labels(rows: Any, name: str, places: Sequence[int], words: bool) -> Any:
    if words:
        return rows.column(name).to_pylist()
    try:
        return _column(rows, name, places)
    except NotNumbers as error:
        raise BadData(error.why, try_classes(rows.column(name).to_pylist())) from None


def _named_samples(rows: Any, features: list[str], y: Any, w: Any) -> list[dict[str, Any]]:
    """Samples with named features; empty cells are omitted."""
    columns = [rows.column(name).to_pylist() for name in features]
    for name, column in zip(features, columns, strict=True):
        if not {type(value) for value in column} <= {int, float, bool, str, type(None)}:
            raise BadData(f"column {name!r} holds neither numbers nor text")
    cells = zip(*columns, strict=True)
    labels = y if isinstance(y, list) else y.tolist()
    weights = [None] * len(labels) if w is None else w.tolist()
    return [named_sample(features, *sample) for sample in zip(cells, labels, weights, strict=True)]


class NotNumbers(BadData):
    """A column of another type than numbers."""


def _features(rows: Any, names: list[str], places: Sequence[int]) -> list[Any]:
    try:
        return [_column(rows, name, places) for name in names]
    except NotNumbers as error:
        raise BadData(error.why, TRY_NAMED) from None


def _column(rows: Any, name: str, places: Sequence[int]) -> Any:
    column = rows.column(name)
    if column.null_count:
        place = places[column.to_pylist().index(None)]
        raise BadData(f"row {place}: column {name!r} has no value")
    found = column.to_numpy(zero_copy_only=False)
    if found.dtype.kind not in "fiub":
        raise NotNumbers(f"column {name!r} does not hold numbers")
    return found
