"""CSV: a sample a row. A first row with a word in it names the columns."""

import csv
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO

import numpy as np

from llr_cli.connection import BadData
from llr_cli.formats.part import TRY_NAMED, Columns, Part, named_sample

DELIMITERS = ",;\t|"
Row = tuple[int, list[str]]


class Csv:
    """A table as text.

    Args:
        file: where it is read from.
        total: its bytes, if known.
        columns: which columns are what.
        delimiter: what stands between cells; the one that the first line has most of if left out.
    """

    def __init__(
        self, file: BinaryIO, total: int | None, columns: Columns, delimiter: str | None = None
    ) -> None:
        self.total = total
        self._file, self._columns, self._delimiter = file, columns, delimiter
        self._bytes = 0

    def parts(self, skip: int, block: int) -> Iterator[Part]:
        """The samples after the first `skip`."""
        rows = self._rows()
        first = next(rows, None)
        if first is None:
            return
        cells = first[1]
        named = is_header(cells)
        names = [cell.strip() for cell in cells] if named else [str(i) for i in range(len(cells))]
        places = self._columns.among(names)
        if not named:
            rows = _after(first, rows)
        for _ in islice(rows, skip):
            pass
        while found := list(islice(rows, block)):
            yield self._part(found, names, *places)

    def _part(self, rows: list[Row], names: list[str], features: list[int], label: int) -> Part:
        for line, cells in rows:
            if len(cells) != len(names):
                raise BadData(f"line {line}: {len(cells)} cells, where the first has {len(names)}")
        if self._columns.named and self._columns.wanted:
            return self._named_part(rows, names, features, label)
        kept = [*features, label]
        table = _numbers(rows, kept)
        y = table[:, -1]
        samples = (table[:, :-1], y) if features else (y,)
        return Part(samples, len(rows), self._bytes, [line for line, _ in rows])

    def _named_part(
        self, rows: list[Row], names: list[str], features: list[int], label: int
    ) -> Part:
        """Cells under the names of their columns: numbers, or text; empty ones are left out."""
        labels = _numbers(rows, [label])[:, 0].tolist()
        chosen = [names[place] for place in features]
        samples = [
            named_sample(chosen, [_value(line, cells[place]) for place in features], y)
            for (line, cells), y in zip(rows, labels, strict=True)
        ]
        return Part(samples, len(rows), self._bytes, [line for line, _ in rows])

    def _rows(self) -> Iterator[Row]:
        """Rows that are not blank, with their lines."""
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


def _value(line: int, cell: str) -> float | str | None:
    """What a cell holds; None for nothing."""
    text = cell.strip()
    if not text or not _is_number(text):
        return text or None
    if not np.isfinite(float(text)):
        raise BadData(f"line {line}: {cell!r} is not a finite number")
    return float(text)


def is_header(cells: list[str]) -> bool:
    """Whether a first row names the columns; a number or an empty cell is no name.

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
