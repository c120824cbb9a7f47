"""NDJSON: a sample a line, as the service takes them, or a record whose columns are named."""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from llr_cli.connection import BadData
from llr_cli.formats.part import TRY_NAMED, Columns, Part, named_sample

READ = 1024 * 1024
Line = tuple[int, dict[str, Any]]


class Ndjson:
    """Lines of JSON. What has come is sent, however few, so a pipe may be slow.

    Args:
        file: where they are read from.
        total: its bytes, if known.
        columns: which members of a record are what; lines are samples already if it names none.
    """

    def __init__(self, file: BinaryIO, total: int | None, columns: Columns) -> None:
        self.total = total
        self._file, self._columns = file, columns
        self._bytes = 0

    def parts(self, skip: int, block: int) -> Iterator[Part]:
        """The samples after the first `skip`."""
        for lines in self._arrivals():
            fresh, skip = lines[skip:], max(0, skip - len(lines))
            for start in range(0, len(fresh), block):
                yield self._part(fresh[start : start + block])

    def _part(self, lines: list[tuple[int, bytes]]) -> Part:
        samples = [self._sample(number, line) for number, line in lines]
        return Part(samples, len(samples), self._bytes, [number for number, _ in lines])

    def _arrivals(self) -> Iterator[list[tuple[int, bytes]]]:
        """Whole lines that are not blank, numbered, as they arrive."""
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
    """The sample in a record: all of it, or what the columns choose.

    >>> sample_of({"rooms": 3, "area": 70, "price": 210}, Columns("price", ("area",)))
    {'x': [70], 'y': 210}
    >>> sample_of({"town": "Rome", "area": None, "price": 210}, Columns("price", named=True))
    {'x': {'town': 'Rome'}, 'y': 210}
    """
    flat = columns.named and "x" not in record
    if columns.label is None and columns.features is None and not flat:
        return record if columns.wanted else {k: record[k] for k in record if k != "x"}
    names = list(record)
    if columns.named and columns.features is not None:  # what a record does not have is not there
        there = tuple(name for name in columns.features if name in record)
        columns = columns._replace(features=there)
    features, label = columns.among(names)
    x, y = [record[names[place]] for place in features], record[names[label]]
    if columns.named and columns.wanted:
        return named_sample([names[place] for place in features], x, y)
    for place, value in zip(features, x, strict=True):
        if isinstance(value, str | bool):
            raise BadData(f"{names[place]!r} is not a number; {TRY_NAMED}")
    return {"x": x, "y": y} if x else {"y": y}
