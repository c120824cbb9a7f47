"""Under which name a file is pushed, so that the same command goes on where it stopped.

A table is known by all it holds. Text is known by its first 16 lines, which stay when it grows;
while it has fewer, by as many of them as are a power of two. So a file that began small has another
name today than it had then, and is looked for under all the names it may have had.
"""

import hashlib
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from llr_client import Client

from llr_cli.formats import STDIN, TEXT, Columns

HEADS = (16, 8, 4, 2, 1)


def producer_of(
    client: Client, session: str, path: Path, kind: str, columns: Columns
) -> str | None:
    """The name the service knows a file by, or today's; None for a pipe, which has none."""
    names = names_of(path, kind, columns)
    known = (name for name in names if client.session(session, producer=name).acked())
    return next(known, names[0] if names else None)


def names_of(path: Path, kind: str, columns: Columns) -> list[str]:
    """The names a file may be known by, today's first. Other columns make another name."""
    if path == STDIN:
        return []
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", path.name)[:64]
    how = repr(columns).replace(", named=False", "").encode()  # as it was before names were
    heads = _heads(path) if kind in TEXT else [_digest(path)]
    return [f"push:{plain}:{hashlib.sha256(how + head).hexdigest()[:16]}" for head in heads]


def _heads(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        lines = [line.rstrip() for line in islice(file, HEADS[0])]
    for head in HEADS:
        if head <= max(1, len(lines)):
            yield b"\n".join(lines[:head])


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
