"""Files of samples, one module a format. To add one, write it and give it a line at the end."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from llr_cli.connection import BadData
from llr_cli.formats.csv import Csv
from llr_cli.formats.ndjson import Ndjson
from llr_cli.formats.npy import Npy
from llr_cli.formats.parquet import Parquet
from llr_cli.formats.part import BLOCK, Columns, Part, Source

__all__ = ["BLOCK", "FORMATS", "STDIN", "TEXT", "Columns", "Part", "Source", "format_of", "opened"]

STDIN = Path("-")
SUFFIXES = {".jsonl": "ndjson", ".json": "ndjson", ".tsv": "csv", ".txt": "csv", ".pq": "parquet"}


def format_of(path: Path, given: str | None) -> str:
    """The format that was given, or that the file's name tells."""
    suffix = path.suffix.lower()
    found = given or ("ndjson" if path == STDIN else SUFFIXES.get(suffix, suffix.removeprefix(".")))
    if found not in FORMATS:
        raise BadData(f"{path}: give --format, which is one of {', '.join(FORMATS)}")
    return found


@contextmanager
def opened(
    path: Path, kind: str, columns: Columns, delimiter: str | None = None
) -> Iterator[Source]:
    """A file, for as long as it is read; stdin may only be text."""
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
