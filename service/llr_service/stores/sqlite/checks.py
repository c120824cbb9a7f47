"""Checks every session of a store's file: `llr doctor`."""

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from llr_service.stores.integrity import SessionCheck
from llr_service.stores.sqlite import read
from llr_service.stores.sqlite.commit_witness import connect_to_own_files
from llr_service.stores.sqlite.connection import ERRORS, Connection
from llr_service.stores.sqlite.database import File
from llr_service.stores.store import Damaged, StoredSession

TRACES = (
    "SELECT CAST(name AS BLOB) FROM sessions NOT INDEXED",
    "SELECT CAST(name AS BLOB) FROM sessions INDEXED BY sessions_name",
)

PAGE = 2**20
"""Bytes of a log that are read at a time."""


def check_all(path: str | Path) -> list[SessionCheck]:
    """Load every session that a file mentions. The file must not be open elsewhere.

    Raises `StoreError` if the file cannot be opened at all.
    """
    with closing(File(Path(path).resolve(), connect_to_own_files)) as file:
        sessions = [SessionCheck(name, _damage(file.db, name)) for name in _names(file.db)]
        return sessions + [SessionCheck("", fault) for fault in _faults(file.db)]


def _names(db: Connection) -> list[str]:
    """Names from the table and from the index, as far as either can be read."""
    names: set[bytes] = set()
    for trace in TRACES:
        with suppress(*ERRORS):
            for (name,) in db.execute(trace):
                names.add(name)
    return sorted(name.decode(errors="replace") for name in names)


def _damage(db: Connection, name: str) -> str | None:
    try:
        stored = read.load(db, name)
        if stored is None:
            return "it is in one place and not in another"
        _read_retained(db, stored)
    except (Damaged, *ERRORS) as error:
        return str(error)
    return None


def _read_retained(db: Connection, stored: StoredSession) -> None:
    """Go through what the log had to keep, page by page."""
    at, end = 0, stored.retained.samples
    while at < end and (entries := read.read_log(db, stored.id, at, end, PAGE)):
        at = entries[-1].t + entries[-1].n


def _faults(db: Connection) -> Iterator[str]:
    """What SQLite itself finds."""
    try:
        for (line,) in db.execute("PRAGMA integrity_check").fetchall():
            if line != "ok":
                yield str(line)
    except ERRORS as error:
        yield str(error)
