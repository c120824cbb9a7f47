"""The commit witness: a small file beside the database that knows what was acknowledged.

A log that is cut short, or has one bad bit, opens as an older state in perfect order: SQLite stops
reading at the first frame it cannot trust and says nothing. So every group counts itself in the
database, and once it is durable the count goes to a file of its own, unsynced. That file may lag
behind the truth and can never be ahead of it: a database that knows of fewer groups has lost some.

Nor does SQLite notice a log of another file: it applies it, and the database is malformed. So each
opening gives the database a new number, its generation, and the witness the same one. A log that
lies beside a database of another generation is not its own.
"""

import os
from contextlib import suppress
from pathlib import Path
from secrets import randbits
from struct import Struct

from llr_service.stores.integrity import NotPacked, commit_count_crc
from llr_service.stores.sqlite.connection import DAMAGE, ERRORS, Connection, code
from llr_service.stores.store import StoreError

RECORD = Struct("<qI")
GENERATION = Struct("<II")
HEADER = slice(68, 72)
"""Where a file has its `application_id`, which holds the generation."""
COUNT = "REPLACE INTO groups (one, written, crc) VALUES (1, ?, ?)"
COUNTED = "SELECT written, crc FROM groups"


class CommitWitness:
    """The file beside the database. It is a witness, not a need: if it fails, it is silent."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(database.name + "-acked")
        self._descriptor: int | None = None
        with suppress(OSError):
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def groups(self) -> int:
        """How many groups were acknowledged at least, 0 if the file does not say."""
        if self._descriptor is not None:
            with suppress(OSError, NotPacked):
                groups, crc = RECORD.unpack(os.pread(self._descriptor, RECORD.size, 0))
                return groups if crc == commit_count_crc(groups) else 0
        return 0

    def note(self, groups: int) -> None:
        """So many groups are durable."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.pwrite(self._descriptor, RECORD.pack(groups, commit_count_crc(groups)), 0)

    def generation(self) -> int | None:
        """The generation of the database whose commits were noted, None if the file has none."""
        if self._descriptor is not None:
            with suppress(OSError, NotPacked):
                found = os.pread(self._descriptor, GENERATION.size, RECORD.size)
                number, crc = GENERATION.unpack(found)
                return number if crc == commit_count_crc(number) else None
        return None

    def adopt(self, generation: int) -> None:
        """Note the generation, synced: a log has it before it has its first frame."""
        if self._descriptor is not None:
            with suppress(OSError):
                record = GENERATION.pack(generation, commit_count_crc(generation))
                os.pwrite(self._descriptor, record, RECORD.size)
                os.fsync(self._descriptor)

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def refuse_foreign_log(database: Path) -> None:
    """Raise `StoreError` if the log beside a database belongs to another file.

    Call it before SQLite opens the database: it applies any log it finds.
    """
    log = database.with_name(database.name + "-wal")
    if not (log.exists() and log.stat().st_size and database.exists()):
        return
    witness = CommitWitness(database)
    expected = witness.generation()
    witness.close()
    with database.open("rb") as file:
        found = int.from_bytes(file.read(HEADER.stop)[HEADER])
    if expected is not None and expected != found:
        raise StoreError(
            f"{database} is not the file that {log.name} and {witness.path.name} belong to."
            " Nothing was changed. Put a copy in its place with `llr restore COPY --store URL`"
        )


def start_generation(db: Connection, witness: CommitWitness) -> None:
    """Give the database and its witness a new number, and empty the log."""
    generation = randbits(31) or 1
    db.execute(f"PRAGMA application_id = {generation}").fetchall()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    witness.adopt(generation)


def clear_generation(copy: Path) -> None:
    """Make a backup a file without a generation: no log belongs to it."""
    with copy.open("r+b") as file:
        file.seek(HEADER.start)
        file.write(bytes(4))


def count(db: Connection, groups: int) -> None:
    """Let the open transaction be group number `groups`."""
    db.execute(COUNT, (groups, commit_count_crc(groups)))


def counted(db: Connection, acked: CommitWitness) -> int:
    """How many groups the database holds. Raises `StoreError` if acknowledged ones are missing."""
    known, written = acked.groups(), _written(db)
    if written is not None and written < known:
        raise StoreError(
            f"acknowledged writes are missing, there are {written} groups of {known}: the -wal file"
            f" was lost, cut or damaged. To go on with what there is, remove {acked.path}"
        )
    return known if written is None else written


def _written(db: Connection) -> int | None:
    """The database's own count, None if it cannot be trusted."""
    try:
        rows = db.execute(COUNTED).fetchall()
        return next((int(n) for n, crc in rows if crc == commit_count_crc(n)), None)
    except NotPacked:
        return None
    except ERRORS as error:
        if code(error) in DAMAGE:
            return None
        raise
