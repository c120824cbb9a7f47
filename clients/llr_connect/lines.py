"""Lines of text as samples, one at a time."""

import csv
from math import isfinite
from typing import Any, Protocol

from llr_cli.connection import BadData
from llr_cli.formats import Columns
from llr_cli.formats.csv import is_header

from llr_connect.message import read, record_of


class Lines(Protocol):
    """Reads lines one after the other."""

    def read(self, line: bytes) -> dict[str, Any] | None:
        """The `sample` in a line, or what is `wrong` with it; None if it is not to hold one."""


class NdjsonLines:
    """A line of JSON each."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def read(self, line: bytes) -> dict[str, Any] | None:
        """The sample in a line, or what is wrong with it."""
        return read(lambda: record_of(line), self._columns)


class CsvLines:
    """A row each, without line breaks in its cells. A first row with a word names the columns."""

    def __init__(self, columns: Columns, delimiter: str) -> None:
        self._columns, self._delimiter = columns, delimiter
        self._names: list[str] = []

    def read(self, line: bytes) -> dict[str, Any] | None:
        """The sample in a row, or what is wrong with it; None for the names of the columns."""
        try:
            (cells,) = csv.reader([line.decode("utf-8-sig")], delimiter=self._delimiter)
            if not self._names:
                named = is_header(cells)
                self._names = [c.strip() for c in cells] if named else list(map(str, _count(cells)))
                self._features, self._label = self._columns.among(self._names)
                if named:
                    return None
            return {"sample": self._sample(cells)}
        except (BadData, ValueError, csv.Error) as error:
            return {"wrong": str(error)}

    def _sample(self, cells: list[str]) -> dict[str, Any]:
        if len(cells) != len(self._names):
            raise BadData(f"{len(cells)} cells, where the first row has {len(self._names)}")
        x = [_number(cells[place]) for place in self._features]
        y = _number(cells[self._label])
        return {"x": x, "y": y} if x else {"y": y}


def _count(cells: list[str]) -> range:
    return range(len(cells))


def _number(cell: str) -> float:
    try:
        found = float(cell)
    except ValueError:
        found = float("nan")
    if not isfinite(found):
        raise BadData(f"{cell!r} is not a finite number")
    return found
