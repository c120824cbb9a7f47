"""A log read in pages: entries that follow each other, and no more bytes of them than asked for."""

from collections.abc import Iterable, Iterator

from llr_service.stores.store import Damaged, Entry

ALL = 2**63 - 1
"""Bytes of a page that shall be the whole log."""


def page(
    entries: Iterable[Entry], start: int, end: int, nbytes: int, whose: str
) -> Iterator[Entry]:
    """The first of these entries, until they make up `nbytes` bytes.

    Raises `Damaged` unless they lead from start to end without a hole.
    """
    for entry in entries:
        if entry.t != start:
            raise Damaged(f"{whose}: its log goes on at {entry.t}, not at {start}")
        start += entry.n
        nbytes -= len(entry.blob)
        yield entry
        if nbytes <= 0:
            break
    if start > end or (nbytes > 0 and start < end):
        raise Damaged(f"{whose}: its log ends at {start}, not at {end}")
