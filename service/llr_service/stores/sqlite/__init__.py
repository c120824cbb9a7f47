"""The store of one machine: an SQLite file that one process has for itself.

A group is one transaction, synced once. `docs/store.md` tells what is promised and how it is kept.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from llr_service.stores.sqlite import read
from llr_service.stores.sqlite.commit_witness import clear_generation, connect_to_own_files
from llr_service.stores.sqlite.connection import ERRORS, Connect, meaning
from llr_service.stores.sqlite.database import File
from llr_service.stores.store import (
    Change,
    Conflict,
    Entry,
    SessionSummary,
    StoredSession,
    StoreError,
    StoreUnavailable,
    Written,
)

PREFIX = "sqlite:///"


class SQLite:
    """A store in one file. Its URL is `sqlite:///relative/path` or `sqlite:////absolute/path`.

    After a failure the store looks after itself: the next call first makes sure that the failed
    group is gone, and opens the file again if needed.

    Args:
        path: the file; it and its folder are made if missing.
        connect: how to open a connection.
    """

    def __init__(self, path: str | Path, connect: Connect = connect_to_own_files) -> None:
        self.path = Path(path).resolve()
        self._connect = connect
        self._closed = False
        self._file: File | None = File(self.path, connect)

    @classmethod
    def at(cls, url: str) -> "SQLite":
        """The store a URL names."""
        path = url.removeprefix(PREFIX)
        if path == url or not path or "\0" in path:
            raise StoreError(f"{url!a}: the URL of a file is sqlite:///path or sqlite:////path")
        return cls(path)

    def write(self, group: Sequence[Change]) -> list[Written | Conflict]:
        """Store a group of changes, durably, each for itself."""
        with self._ready(self.path) as file:
            return file.write(group) if group else []

    def load(self, name: str) -> StoredSession | None:
        """All that is known of a session, None if there is none. Raises `Damaged`."""
        with self._ready(f"session {name!a}") as file:
            return read.load(file.db, name)

    def read_log(self, session: int, start: int, end: int, nbytes: int) -> Sequence[Entry] | None:
        """The log from t = start up to t = end, None if there is no such session."""
        with self._ready(f"session number {session}") as file:
            return read.read_log(file.db, session, start, end, nbytes)

    def list(self, after: str, limit: int) -> list[SessionSummary]:
        """At most `limit` sessions whose names follow `after`, in order.

        A session is left out if its name, config or t is damaged: `load` and `check` tell.
        """
        with self._ready(self.path) as file:
            return [*islice(read.listed(file.db, after), limit)]

    def list_replays(self, after: str, limit: int) -> Sequence[SessionSummary]:
        """Those of the list whose configs have the `MARK`, by their own index."""
        with self._ready(self.path) as file:
            return [*islice(read.listed(file.db, after, read.LIST_REPLAYS), limit)]

    def count(self) -> int:
        """How many sessions there are."""
        with self._ready(self.path) as file:
            [(sessions,)] = file.db.execute("SELECT count(*) FROM sessions").fetchall()
            return int(sessions)

    def size(self) -> int:
        """The bytes of the file and of its log."""
        files = self.path, self.path.with_name(f"{self.path.name}-wal")
        return sum(file.stat().st_size for file in files if file.exists())

    def run_maintenance(self) -> bool:
        """Delete a part of the long logs of deleted sessions; whether there may be more."""
        with self._ready(self.path) as file:
            return file.run_maintenance()

    def backup(self) -> BinaryIO:
        """All that is stored at this moment, in a file that is gone once it is closed.

        Only the connection that has the file can read it, so nothing is written meanwhile.
        """
        path = self.path.with_name(f"{self.path.name}-copy")
        path.unlink(missing_ok=True)
        try:
            with self._ready(path) as file:
                file.db.execute("VACUUM INTO ?", (str(path),)).fetchall()
            clear_generation(path)
            return path.open("rb")
        finally:
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        self._abandon()

    @contextmanager
    def _ready(self, where: object) -> Iterator[File]:
        """The file, open and in no doubt; errors inside become the store's."""
        file = self._certain_file()
        try:
            yield file
        except ERRORS as error:
            raise meaning(error, where) from error

    def _certain_file(self) -> File:
        if self._closed:
            raise StoreUnavailable(f"{self.path} was closed")
        if self._file and not self._file.certain:
            try:
                self._file.overwrite_uncertain()
            except ERRORS:
                self._abandon()
        self._file = self._file or File(self.path, self._connect)
        return self._file

    def _abandon(self) -> None:
        if self._file:
            self._file.close()
        self._file = None
