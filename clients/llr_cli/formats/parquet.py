"""Parquet, where pyarrow is installed: a sample a row."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from llr_cli.connection import BadData
from llr_cli.formats.part import TRY_NAMED, Columns, Part, named_sample


class Parquet:
    """A table in a file."""

    def __init__(self, path: Path, columns: Columns) -> None:
        try:
            from pyarrow import ArrowException, parquet  # noqa: PLC0415 - not everybody has it
        except ImportError:
            raise BadData("parquet needs pyarrow: pip install 'llr[parquet]'") from None
        try:
            self._file = parquet.ParquetFile(path)
        except (ArrowException, OSError) as error:
            raise BadData(f"{path} is not a parquet file: {error}") from None
        self.total: int | None = self._file.metadata.num_rows
        self._columns = columns

    def parts(self, skip: int, block: int) -> Iterator[Part]:
        """The samples after the first `skip`."""
        names = self._file.schema_arrow.names
        features, label = self._columns.among(names)
        kept = [names[place] for place in (*features, label)]
        start = 0
        for rows in self._file.iter_batches(block, columns=list(dict.fromkeys(kept))):
            end = start + rows.num_rows
            if end > skip:
                fresh = rows.slice(max(0, skip - start))
                if self._columns.named and features:
                    yield _named_part(fresh, kept, end)
                else:
                    yield _part([_column(fresh, name, start) for name in kept], end)
            start = end


def _named_part(rows: Any, kept: list[str], end: int) -> Part:
    """Cells under the names of their columns; those without a value not."""
    *features, label = kept
    y = _column(rows, label, end - rows.num_rows)
    columns = [rows.column(name).to_pylist() for name in features]
    for name, column in zip(features, columns, strict=True):
        if not {type(value) for value in column} <= {int, float, bool, str, type(None)}:
            raise BadData(f"column {name!r} holds neither numbers nor text")
    cells = zip(*columns, strict=True)
    samples = [named_sample(features, x, v) for x, v in zip(cells, y.tolist(), strict=True)]
    return Part(samples, len(samples), end, range(end - len(samples), end), "row")


def _column(rows: Any, name: str, start: int) -> Any:
    column = rows.column(name)
    if column.null_count:
        raise BadData(f"column {name!r}: there are cells without a value after row {start}")
    found = column.to_numpy(zero_copy_only=False)
    if found.dtype.kind not in "fiub":
        raise BadData(f"column {name!r} does not hold numbers; {TRY_NAMED}")
    return found


def _part(columns: list[Any], end: int) -> Part:
    *features, y = columns
    samples = (np.column_stack(features), y) if features else (y,)
    return Part(samples, len(y), end, range(end - len(y), end), "row")
