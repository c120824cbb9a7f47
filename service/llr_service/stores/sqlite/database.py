"""An open SQLite file: transactions that are atomic, and whose outcome is known."""

import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from llr_service.stores.sqlite.commit_witness import (
    CommitWitness,
    announce_generation,
    count,
    counted,
    empty_log,
    start_generation,
)
from llr_service.stores.sqlite.connection import ERRORS, Connect, Connection, at_opening, code
from llr_service.stores.sqlite.schema import migrate, version
from llr_service.stores.sqlite.write import (
    UNFIT,
    DamageError,
    apply_batch,
    apply_individually,
    collect_logs,
    of_one_change,
)
from llr_service.stores.store import (
    Change,
    Conflict,
    Damaged,
    DeleteSession,
    Result,
    StoreError,
    StoreUnavailable,
    Written,
)

FEW = 8


class File:
    """The database, its witness, and whether the last commit is in doubt.

    Attributes:
        db: the connection.
        certain: False after a write that failed so that its group might come back after a crash.
    """

    def __init__(self, path: Path, connect: Connect) -> None:
        self.db: Connection = opened(path, connect)
        self.certain, self._untidy, self._unerased = True, True, True
        self._witness = CommitWitness(path)
        self._groups = 0
        try:
            self._start(path)
        except BaseException:
            self.close()
            raise

    def write(self, group: Sequence[Change]) -> list[Result]:
        """Apply a group and make it durable. Raises what SQLite raises, the group undone."""
        try:
            results = self._apply(group)
            self._untidy = self._untidy or any(
                isinstance(change, DeleteSession) for change in group
            )
            if any(isinstance(result, Written) for result in results):
                self._commit()
            return results
        except BaseException as error:
            # Without room the mark of a commit cannot have been written: no doubt.
            self.certain = code(error) == sqlite3.SQLITE_FULL
            raise
        finally:
            self._rollback()

    def run_maintenance(self) -> bool:
        """Delete a part of what was put off, durably; whether there may be more.

        Finally SQLite's log is truncated, because it still contains what was deleted.
        """
        if self._untidy and self._collect():
            return True
        if self._unerased:
            empty_log(self.db)
            self._unerased = False
        return False

    def _collect(self) -> bool:
        """Delete a part of the logs that deleted sessions left; whether there was anything."""
        self._unerased = True
        try:
            self.db.execute("BEGIN IMMEDIATE")
            self._untidy = collect_logs(self.db)
            if self._untidy:
                self._commit()
            return self._untidy
        except BaseException as error:
            self.certain = code(error) == sqlite3.SQLITE_FULL
            raise
        finally:
            self._rollback()

    def overwrite_uncertain(self) -> None:
        """Write over what a failed commit left in the log, so that it can never come back."""
        try:
            self.db.execute("BEGIN IMMEDIATE")
            self._commit()
            self.certain = True
        finally:
            self._rollback()

    def close(self) -> None:
        """Close the files."""
        self._witness.close()
        with suppress(*ERRORS):
            self.db.close()

    def _apply(self, group: Sequence[Change]) -> list[Result]:
        try:
            self.db.execute("BEGIN IMMEDIATE")
            return apply_batch(self.db, group)
        except UNFIT as error:
            if not of_one_change(error):
                raise
        return self._apply_without_damaged(group)

    def _apply_without_damaged(self, group: Sequence[Change]) -> list[Result]:
        """Start again without each session that turns out to be damaged, while they are few."""
        refused: dict[int | str, Conflict] = {}
        while len(refused) < FEW:
            self._rollback()
            self.db.execute("BEGIN IMMEDIATE")
            try:
                return apply_individually(self.db, group, refused)
            except DamageError as damage:
                refused[damage.whose] = Conflict(f"it is damaged: {damage}")
        raise Damaged(f"{FEW} sessions of one group are damaged")

    def _commit(self) -> None:
        count(self.db, self._groups + 1)
        self.db.execute("COMMIT")
        self._groups += 1
        self._witness.note(self._groups)

    def _rollback(self) -> None:
        if self.db.in_transaction:
            with suppress(*ERRORS):
                self.db.execute("ROLLBACK")

    def _start(self, path: Path) -> None:
        """See that all is there, make it as durable as it looks, and bring it to this version.

        After a crash the log may show a group that was written and not yet synced.
        """
        try:
            self._groups = counted(self.db, self._witness)
            empty_log(self.db)
            generation = announce_generation(self.db, self._witness)
            migrate(self.db)
            start_generation(self.db, self._witness, generation)
        except ERRORS as error:
            raise at_opening(error, path) from error
        except StoreError:
            _set_aside(path)
            raise


def _set_aside(path: Path) -> None:
    """Keep a copy of a log that lacks commits, so that it can be examined."""
    log = path.with_name(path.name + "-wal")
    with suppress(OSError):
        shutil.copyfile(log, log.with_name(log.name + "-damaged"))


PAGES_IN_WAL = 4000
BYTES_OF_WAL = 32 * 2**20
SETTINGS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",
    f"PRAGMA wal_autocheckpoint = {PAGES_IN_WAL}",
    f"PRAGMA journal_size_limit = {BYTES_OF_WAL}",
    "PRAGMA cache_size = -32768",
    "PRAGMA cell_size_check = ON",
    "PRAGMA secure_delete = ON",
)


def opened(path: Path, connect: Connect) -> Connection:
    """A connection that has the file for itself, of a version that this service knows."""
    make_folder(path.parent)
    try:
        db = connect(path)
    except ERRORS as error:
        raise at_opening(error, path) from error
    try:
        _prepare(db)
    except ERRORS as error:
        db.close()
        raise at_opening(error, path) from error
    except StoreError as error:
        db.close()
        raise type(error)(f"{path} cannot be used: {error}") from None
    return db


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, and sync them, so that they survive a power cut."""
    try:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for made in missing:
            _sync(made.parent)
    except OSError as error:
        raise StoreUnavailable(f"the folder {folder} cannot be made: {error.strerror}") from error


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _prepare(db: Connection) -> None:
    """Lock the file, check it, then apply the settings that SQLite does not store."""
    db.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    version(db)
    [(mode,)] = db.execute("PRAGMA journal_mode = WAL").fetchall()
    if mode != "wal":
        raise StoreUnavailable(f"its journal mode is {mode}, not wal")
    for setting in SETTINGS:
        db.execute(setting).fetchall()
