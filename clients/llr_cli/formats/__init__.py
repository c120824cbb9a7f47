"""File formats of samples, one module each. To add one, write it and add a line at the end."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from llr_cli.formats.batch import BLOCK, BadRow, Batch, Columns, Source, try_classes
from llr_cli.formats.tables import Npy, Parquet
from llr_cli.formats.text import Csv, Ndjson
from llr_cli.options import BadData

__all__ = [
    "BLOCK",
    "FORMATS",
    "STDIN",
    "TEXT",
    "BadRow",
    "Batch",
    "Columns",
    "Source",
    "format_of",
    "open_source",
    "try_classes",
]

STDIN = Path("-")
SUFFIXES = {".jsonl": "ndjson", ".json": "ndjson", ".tsv": "csv", ".txt": "csv", ".pq": "parquet"}


def format_of(path: Path, given: str | None) -> str:
    """The given format, or that of the file's name."""
    suffix = path.suffix.lower()
    found = given or ("ndjson" if path == STDIN else SUFFIXES.get(suffix, suffix.removeprefix(".")))
    if found not in FORMATS:
        raise BadData(f"{path}: give --format, which is one of {', '.join(FORMATS)}")
    return found


@contextmanager
def open_source(
    path: Path,
    kind: str,
    columns: Columns,
    delimiter: str | None = None,
    tolerant: bool = False,
) -> Iterator[Source]:
    """Open a file of samples; stdin must be a text format.

    With `tolerant`, rows that cannot be read become bad rows of their batch instead of an error.
    """
    if kind in TEXT and path != STDIN:
        with path.open("rb") as file:
            yield TEXT[kind](file, path.stat().st_size, columns, delimiter, tolerant)
    elif kind in TEXT:
        yield TEXT[kind](sys.stdin.buffer, None, columns, delimiter, tolerant)
    elif path == STDIN:
        raise BadData(f"{kind} cannot be read from a pipe: give a file")
    else:
        yield TABLES[kind](path, columns, tolerant)


TEXT: dict[str, Callable[[BinaryIO, int | None, Columns, str | None, bool], Source]] = {
    "csv": Csv,
    "ndjson": lambda file, total, columns, _, tolerant: Ndjson(file, total, columns, tolerant),
}
TABLES: dict[str, Callable[[Path, Columns, bool], Source]] = {
    "npy": lambda path, columns, _: Npy(path, columns),
    "parquet": Parquet,
}
FORMATS = (*TEXT, *TABLES)
