"""Text formats: CSV, and NDJSON with one sample or one flat record per line."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

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

DELIMITERS = ",;\t|"


class Row(NamedTuple):
    """A row of a CSV: its last line's number, its cells, and why it cannot be read, if so."""

    line: int
    cells: list[str]
    why: str = ""


class Csv:
    """A CSV file.

    Args:
        file: the open file.
        total: its size in bytes, if known.
        columns: the roles of columns.
        delimiter: the delimiter; if omitted, the most frequent candidate in the first line.
        tolerant: whether rows that cannot be read become bad rows of their batch.
    """

    def __init__(
        self,
        file: BinaryIO,
        total: int | None,
        columns: Columns,
        delimiter: str | None = None,
        tolerant: bool = False,
    ) -> None:
        self.total = total
        self._file, self._columns, self._delimiter = file, columns, delimiter
        self._describe = self._place if tolerant else None
        self._bytes = 0

    def batches(self, skip: int, block: int) -> Iterator[Batch]:
        """The samples after the first `skip`."""
        rows = self._rows()
        first = next(rows, None)
        if first is None:
            return
        if first.why:
            raise BadData(f"line {first.line}: {first.why}")
        cells = first.cells
        named = is_header(cells)
        names = [cell.strip() for cell in cells] if named else [str(i) for i in range(len(cells))]
        places = (*self._columns.indexes(names), self._columns.weight_index(names))
        if not named:
            rows = _after(first, rows)
        for _ in islice(rows, skip):
            pass
        while found := list(islice(rows, block)):
            yield batch_of(
                found, lambda rows: self._batch(rows, names, *places), self._describe, self._bytes
            )

    def _place(self, row: Row) -> tuple[int, str]:
        """A row's line, and its text."""
        text = io.StringIO()
        csv.writer(text, delimiter=self._delimiter or ",").writerow(row.cells)
        return row.line, text.getvalue().rstrip("\r\n")

    def _batch(
        self,
        rows: Sequence[Row],
        names: list[str],
        features: list[int],
        label: int,
        weight: int | None,
    ) -> Batch:
        for line, cells, why in rows:
            if why:
                raise BadData(f"line {line}: {why}")
            if len(cells) != len(names):
                raise BadData(f"line {line}: {len(cells)} cells, where the first has {len(names)}")
        if self._columns.named and self._columns.wanted:
            return self._named_batch(rows, names, features, label, weight)
        y, w = self._labels(rows, label), _weights(rows, weight)
        samples = (_numbers(rows, features, TRY_NAMED), y) if features else (y,)
        return self._made(samples, rows, w)

    def _made(self, samples: Any, rows: Sequence[Row], w: Any = None) -> Batch:
        lines = [row.line for row in rows]
        return Batch(
            samples, len(rows), self._bytes, lines, w=w, row=lambda k: self._place(rows[k])[1]
        )

    def _labels(self, rows: Sequence[Row], label: int) -> Any:
        words = [row.cells[label].strip() for row in rows]
        if self._columns.words:
            return words
        try:
            return _numbers(rows, [label])[:, 0]
        except BadData as error:
            if 2 * sum(map(_is_number, words)) > len(words):  # a typo, not a column of text
                raise
            raise BadData(error.why, try_classes(words)) from None

    def _named_batch(
        self,
        rows: Sequence[Row],
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
            for (line, cells, _), y, w in zip(rows, [*labels], weights, strict=True)
        ]
        return self._made(samples, rows)

    def _rows(self) -> Iterator[Row]:
        """The rows that are not blank, with their line numbers."""
        lines = self._lines()
        first = next(lines, "")
        self._delimiter = self._delimiter or max(DELIMITERS, key=first.count)
        reader = csv.reader(_after(first, lines), delimiter=self._delimiter)
        while True:
            try:
                cells = next(reader, None)
            except csv.Error as error:
                yield Row(reader.line_num, [], str(error))
                continue
            if cells is None:
                return
            if any(cell.strip() for cell in cells):
                yield Row(reader.line_num, cells, "" if _is_text(cells) else "not UTF-8")

    def _lines(self) -> Iterator[str]:
        for number, line in enumerate(self._file, 1):
            self._bytes += len(line)
            yield line.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape")


def _is_text(cells: list[str]) -> bool:
    """Whether all cells were UTF-8: bytes that were not are surrogates in them."""
    text = "".join(cells)
    return text.isascii() or not any("\udc80" <= letter <= "\udcff" for letter in text)


def _numbers(rows: Sequence[Row], kept: list[int], hint: str = "") -> Any:
    try:
        table = np.array([[float(row.cells[place]) for place in kept] for row in rows])
    except ValueError:
        table = np.array(np.nan)
    if np.isfinite(table).all():
        return table
    line, cell = next(
        (line, cells[place])
        for line, cells, _ in rows
        for place in kept
        if not _is_number(cells[place]) or not np.isfinite(float(cells[place]))
    )
    raise BadData(f"line {line}: {cell!r} is not a finite number", "" if _is_number(cell) else hint)


def _weights(rows: Sequence[Row], weight: int | None) -> Any:
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
Line = tuple[int, bytes]


class Ndjson:
    """An NDJSON file or pipe. Lines that have arrived are sent at once, so a pipe may be slow.

    Args:
        file: the open file.
        total: its size in bytes, if known.
        columns: the roles of a record's members; without any, lines are samples.
        tolerant: whether lines that cannot be read become bad rows of their batch.
    """

    def __init__(
        self, file: BinaryIO, total: int | None, columns: Columns, tolerant: bool = False
    ) -> None:
        self.total = total
        self._file, self._columns = file, columns
        self._describe = _line_text if tolerant else None
        self._bytes = 0

    def batches(self, skip: int, block: int) -> Iterator[Batch]:
        """The samples after the first `skip`."""
        for lines in self._arrivals():
            fresh, skip = lines[skip:], max(0, skip - len(lines))
            for start in range(0, len(fresh), block):
                rows = fresh[start : start + block]
                yield batch_of(rows, self._batch, self._describe, self._bytes)

    def _batch(self, lines: Sequence[Line]) -> Batch:
        samples = [self._sample(number, line) for number, line in lines]
        numbers = [number for number, _ in lines]
        return Batch(
            samples, len(samples), self._bytes, numbers, row=lambda k: _line_text(lines[k])[1]
        )

    def _arrivals(self) -> Iterator[list[Line]]:
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
            raise BadData(f"line {number}: {error.why}", error.hint) from None


def _line_text(line: Line) -> tuple[int, str]:
    """A line's number, and its text."""
    return line[0], line[1].decode(errors="surrogateescape").strip()


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
            raise BadData(f"{names[place]!r} is not a number", TRY_NAMED)
    sample = {"x": x, "y": y} if x else {"y": y}
    return sample if w is None else sample | {"w": w}
