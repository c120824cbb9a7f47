"""File formats of samples, one module each. To add one, write it and add a line at the end."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from llr_cli.formats.batch import BLOCK, Batch, Columns, Source
from llr_cli.formats.tables import Npy, Parquet
from llr_cli.formats.text import Csv, Ndjson
from llr_cli.options import BadData

__all__ = [
    "BLOCK",
    "FORMATS",
    "STDIN",
    "TEXT",
    "Batch",
    "Columns",
    "Source",
    "format_of",
    "open_source",
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
    path: Path, kind: str, columns: Columns, delimiter: str | None = None
) -> Iterator[Source]:
    """Open a file of samples; stdin must be a text format."""
    if kind in TEXT and path != STDIN:
        with path.open("rb") as file:
            yield TEXT[kind](file, path.stat().st_size, columns, delimiter)
    elif kind in TEXT:
        yield TEXT[kind](sys.stdin.buffer, None, columns, delimiter)
    elif path == STDIN:
        raise BadData(f"{kind} cannot be read from a pipe: give a file")
    else:
        yield TABLES[kind](path, columns)


TEXT: dict[str, Callable[[BinaryIO, int | None, Columns, str | None], Source]] = {
    "csv": Csv,
    "ndjson": lambda file, total, columns, _: Ndjson(file, total, columns),
}
TABLES: dict[str, Callable[[Path, Columns], Source]] = {"npy": Npy, "parquet": Parquet}
FORMATS = (*TEXT, *TABLES)
