"""Text formats: CSV, and NDJSON with one sample or one flat record per line."""

import csv
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO

import numpy as np

from llr_cli.formats.batch import TRY_NAMED, Batch, Columns, named_sample
from llr_cli.options import BadData

DELIMITERS = ",;\t|"
Row = tuple[int, list[str]]


class Csv:
    """A CSV file.

    Args:
        file: the open file.
        total: its size in bytes, if known.
        columns: the roles of columns.
        delimiter: the delimiter; if omitted, the most frequent candidate in the first line.
    """

    def __init__(
        self, file: BinaryIO, total: int | None, columns: Columns, delimiter: str | None = None
    ) -> None:
        self.total = total
        self._file, self._columns, self._delimiter = file, columns, delimiter
        self._bytes = 0

    def batches(self, skip: int, block: int) -> Iterator[Batch]:
        """The samples after the first `skip`."""
        rows = self._rows()
        first = next(rows, None)
        if first is None:
            return
        cells = first[1]
        named = is_header(cells)
        names = [cell.strip() for cell in cells] if named else [str(i) for i in range(len(cells))]
        places = (*self._columns.indexes(names), self._columns.weight_index(names))
        if not named:
            rows = _after(first, rows)
        for _ in islice(rows, skip):
            pass
        while found := list(islice(rows, block)):
            yield self._batch(found, names, *places)

    def _batch(
        self,
        rows: list[Row],
        names: list[str],
        features: list[int],
        label: int,
        weight: int | None,
    ) -> Batch:
        for line, cells in rows:
            if len(cells) != len(names):
                raise BadData(f"line {line}: {len(cells)} cells, where the first has {len(names)}")
        if self._columns.named and self._columns.wanted:
            return self._named_batch(rows, names, features, label, weight)
        y, w = self._labels(rows, label), _weights(rows, weight)
        samples = (_numbers(rows, features), y) if features else (y,)
        return Batch(samples, len(rows), self._bytes, [line for line, _ in rows], w=w)

    def _labels(self, rows: list[Row], label: int) -> Any:
        if self._columns.words:
            return [cells[label].strip() for _, cells in rows]
        return _numbers(rows, [label])[:, 0]

    def _named_batch(
        self,
        rows: list[Row],
        names: list[str],
        features: list[int],
        label: int,
        weight: int | None,
    ) -> Batch:
        """Samples with named features; empty cells are omitted."""
        labels, w = self._labels(rows, label), _weights(rows, weight)
        weights = [None] * len(rows) if w is None else w.tolist()
        chosen = [names[place] for place in features]
        samples = [
            named_sample(chosen, [_value(line, cells[place]) for place in features], y, w)
            for (line, cells), y, w in zip(rows, [*labels], weights, strict=True)
        ]
        return Batch(samples, len(rows), self._bytes, [line for line, _ in rows])

    def _rows(self) -> Iterator[Row]:
        """The rows that are not blank, with their line numbers."""
        lines = self._lines()
        first = next(lines, "")
        delimiter = self._delimiter or max(DELIMITERS, key=first.count)
        reader = csv.reader(_after(first, lines), delimiter=delimiter)
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield reader.line_num, cells
        except csv.Error as error:
            raise BadData(f"line {reader.line_num}: {error}") from None

    def _lines(self) -> Iterator[str]:
        for number, line in enumerate(self._file, 1):
            self._bytes += len(line)
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise BadData(f"line {number}: not UTF-8") from None


def _numbers(rows: list[Row], kept: list[int]) -> Any:
    try:
        table = np.array([[float(cells[place]) for place in kept] for _, cells in rows])
    except ValueError:
        table = np.array(np.nan)
    if np.isfinite(table).all():
        return table
    line, cell = next(
        (line, cells[place])
        for line, cells in rows
        for place in kept
        if not _is_number(cells[place]) or not np.isfinite(float(cells[place]))
    )
    why = f"line {line}: {cell!r} is not a finite number"
    raise BadData(why if _is_number(cell) or len(kept) == 1 else f"{why}; {TRY_NAMED}")


def _weights(rows: list[Row], weight: int | None) -> Any:
    return None if weight is None else _numbers(rows, [weight])[:, 0]


def _value(line: int, cell: str) -> float | str | None:
    """The number or text in a cell; None if it is empty."""
    text = cell.strip()
    if not text or not _is_number(text):
        return text or None
    if not np.isfinite(float(text)):
        raise BadData(f"line {line}: {cell!r} is not a finite number")
    return float(text)


def is_header(cells: list[str]) -> bool:
    """Whether a first row names the columns: it has a cell that is no number and not empty.

    >>> is_header(["", "rooms", "price"]), is_header(["1", "", "3"])
    (True, False)
    """
    return any(cell.strip() and not _is_number(cell) for cell in cells)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _after(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


READ = 1024 * 1024
Line = tuple[int, dict[str, Any]]


class Ndjson:
    """An NDJSON file or pipe. Lines that have arrived are sent at once, so a pipe may be slow.

    Args:
        file: the open file.
        total: its size in bytes, if known.
        columns: the roles of a record's members; without any, lines are samples.
    """

    def __init__(self, file: BinaryIO, total: int | None, columns: Columns) -> None:
        self.total = total
        self._file, self._columns = file, columns
        self._bytes = 0

    def batches(self, skip: int, block: int) -> Iterator[Batch]:
        """The samples after the first `skip`."""
        for lines in self._arrivals():
            fresh, skip = lines[skip:], max(0, skip - len(lines))
            for start in range(0, len(fresh), block):
                yield self._batch(fresh[start : start + block])

    def _batch(self, lines: list[tuple[int, bytes]]) -> Batch:
        samples = [self._sample(number, line) for number, line in lines]
        return Batch(samples, len(samples), self._bytes, [number for number, _ in lines])

    def _arrivals(self) -> Iterator[list[tuple[int, bytes]]]:
        """The complete lines that are not blank, with their numbers, as they arrive."""
        number, begun = 0, b""
        while chunk := self._file.read1(READ):  # type: ignore[attr-defined]
            self._bytes += len(chunk)
            *whole, begun = (begun + chunk).split(b"\n")
            yield [(number + i, line) for i, line in enumerate(whole, 1) if line.strip()]
            number += len(whole)
        if begun.strip():
            yield [(number + 1, begun)]

    def _sample(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            found = json.loads(line)
        except ValueError as error:
            raise BadData(f"line {number}: not JSON: {error}") from None
        if not isinstance(found, dict):
            raise BadData(f'line {number}: an object is needed, such as {{"x": [1, 2], "y": 3}}')
        try:
            return sample_of(found, self._columns)
        except BadData as error:
            raise BadData(f"line {number}: {error}") from None


def sample_of(record: dict[str, Any], columns: Columns) -> dict[str, Any]:
    """The sample in a record: the record itself, or the members that `columns` choose.

    >>> sample_of({"rooms": 3, "area": 70, "price": 210}, Columns("price", ("area",)))
    {'x': [70], 'y': 210}
    >>> sample_of({"town": "Rome", "area": None, "price": 210}, Columns("price", named=True))
    {'x': {'town': 'Rome'}, 'y': 210}
    """
    flat = (columns.named or columns.weight is not None) and "x" not in record
    if columns.label is None and columns.features is None and not flat:
        return record if columns.wanted else {k: record[k] for k in record if k != "x"}
    names = list(record)
    if columns.named and columns.features is not None:  # a record may lack some features
        there = tuple(name for name in columns.features if name in record)
        columns = columns._replace(features=there)
    features, label = columns.indexes(names)
    weight = columns.weight_index(names)
    w = None if weight is None else record[names[weight]]
    x, y = [record[names[place]] for place in features], record[names[label]]
    if columns.named and columns.wanted:
        return named_sample([names[place] for place in features], x, y, w)
    for place, value in zip(features, x, strict=True):
        if isinstance(value, str | bool):
            raise BadData(f"{names[place]!r} is not a number; {TRY_NAMED}")
    sample = {"x": x, "y": y} if x else {"y": y}
    return sample if w is None else sample | {"w": w}
