"""The commit witness: a small file beside the database that knows what was acknowledged.

A log that is cut short, or has one bad bit, opens as an older state in perfect order: SQLite stops
reading at the first frame it cannot trust and says nothing. So every group counts itself in the
database, and once it is durable the count goes to a file of its own, unsynced. That file may lag
behind the truth and can never be ahead of it: a database that knows of fewer groups has lost some.

Nor does SQLite notice a log of another file: it applies it, and the database is malformed. So each
opening gives the database a new number, its generation, and the witness the same one. A log that
lies beside a database of another generation is not its own. The witness has the number before, too:
it gets the new one before the database does, so a kill between the two leaves a pair that fits.
"""

import os
from contextlib import suppress
from pathlib import Path
from secrets import randbits
from struct import Struct
from typing import NamedTuple

from llr_service.stores.integrity import NotPacked, commit_count_crc
from llr_service.stores.sqlite.connection import DAMAGE, ERRORS, Connection, code, connect
from llr_service.stores.sqlite.schema import version
from llr_service.stores.store import StoreError, StoreInUse, StoreUnavailable

RECORD = Struct("<qI")
GENERATIONS = Struct("<III")
"""The generation before, the generation, and the checksum of both."""
ONE_GENERATION = Struct("<II")
"""The same of a witness that has one number only."""
HEADER = slice(68, 72)
"""Where a file has its `application_id`, which holds the generation."""
NO_GENERATION = 0
"""The generation of a file that was last written by 0.1.0, which knew of none."""
COPY = 2**32 - 1
"""The generation of a backup: it owns no log. No database that was ever opened has it."""
COUNT = "REPLACE INTO groups (one, written, crc) VALUES (1, ?, ?)"
COUNTED = "SELECT written, crc FROM groups"


class Generations(NamedTuple):
    """The generations of a database that fit its log: the one before, and the present one."""

    before: int
    now: int


class CommitWitness:
    """The file beside the database. It is a witness, not a need: if it fails, it is silent."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(database.name + "-acked")
        self._descriptor: int | None = None
        with suppress(OSError):
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def groups(self) -> int:
        """How many groups were acknowledged at least, 0 if the file does not say."""
        return 0 if self._descriptor is None else _groups(_read(self._descriptor))

    def note(self, groups: int) -> None:
        """So many groups are durable."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.pwrite(self._descriptor, RECORD.pack(groups, commit_count_crc(groups)), 0)

    def adopt(self, generations: Generations) -> bool:
        """Note the generations, synced; whether that worked."""
        if self._descriptor is None:
            return False
        try:
            os.pwrite(self._descriptor, _packed(generations), RECORD.size)
            os.fsync(self._descriptor)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _read(descriptor: int) -> bytes:
    with suppress(OSError):
        return os.pread(descriptor, RECORD.size + GENERATIONS.size, 0)
    return b""


def _groups(content: bytes) -> int:
    with suppress(NotPacked):
        groups, crc = RECORD.unpack_from(content)
        return int(groups) if crc == commit_count_crc(groups) else 0
    return 0


def _packed(generations: Generations) -> bytes:
    return GENERATIONS.pack(*generations, _generations_crc(generations))


def _generations(content: bytes) -> Generations | None:
    """The generations that a witness names, None if it names none."""
    with suppress(NotPacked):
        *both, crc = GENERATIONS.unpack_from(content, RECORD.size)
        if crc == _generations_crc(found := Generations(*both)):
            return found
    with suppress(NotPacked):
        one, crc = ONE_GENERATION.unpack_from(content, RECORD.size)
        return Generations(one, one) if crc == commit_count_crc(one) else None
    return None


def _generations_crc(generations: Generations) -> int:
    return commit_count_crc(generations.before << 31 ^ generations.now)


def connect_to_own_files(database: Path) -> Connection:
    """Connect to a database on this machine. Raises `StoreError` if the files do not fit."""
    refuse_foreign_files(database)
    return connect(database)


def refuse_foreign_files(database: Path) -> None:
    """Raise `StoreError` unless the files beside a database are its own.

    Call it before SQLite opens the database: it applies the log of another file, and it deletes the
    log of a file that is missing or empty.
    """
    restoring, log, witness = (
        database.with_name(database.name + end) for end in ("-restoring", "-wal", "-acked")
    )
    if restoring.exists():
        raise StoreError(
            f"{restoring.name} is left of a restore that was interrupted. Nothing was changed."
            " Restore again: `llr restore COPY --store URL --replace`. Or go back: rename the files"
            f" that end in -replaced to their old names, then remove {restoring}"
        )
    content = _content(witness)
    logged = log.exists() and log.stat().st_size > 0
    if not database.exists():
        if logged or _groups(content or b""):
            raise _lost(database, [each for each in (log, witness) if each.exists()])
        return
    if not logged:
        return
    with database.open("rb") as file:
        header = file.read(HEADER.stop)
    if not header:
        raise _lost(database, [log])
    found = int.from_bytes(header[HEADER])
    if not _fits(found, content):
        raise StoreError(
            f"{database} is not the file that {log.name} and {witness.name} belong to."
            " Nothing was changed. Put a copy in its place with `llr restore COPY --store URL`"
        )


def _fits(found: int, witness: bytes | None) -> bool:
    """Whether the log beside a database of this generation is its own.

    A witness that is there but does not say is damaged: that is no evidence against the log.
    """
    known = _generations(witness or b"")
    if known is not None:
        return found in known
    return found != COPY and (witness is not None or found == NO_GENERATION)


def _content(witness: Path) -> bytes | None:
    """What a witness says, None if there is none."""
    try:
        return witness.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreUnavailable(f"{witness} cannot be read: {error.strerror}") from error


def _lost(database: Path, left: list[Path]) -> StoreError:
    names = " and ".join(path.name for path in left)
    return StoreError(
        f"{database} is missing or empty, but its {names} is there. Nothing was changed. Put the"
        " file back, or a copy with `llr restore COPY --store URL --replace`. To start with an"
        f" empty store, move {names} away"
    )


def announce_generation(db: Connection, witness: CommitWitness) -> int:
    """Draw the next generation and let the witness accept it beside the present one.

    Call it with an empty log, before it gets its first frame. If the witness cannot be written, the
    database keeps the generation it has.
    """
    [(signed,)] = db.execute("PRAGMA application_id").fetchall()
    now, drawn = signed % 2**32, randbits(31) or 1
    if witness.adopt(Generations(now, drawn)):
        return drawn
    return NO_GENERATION if now == COPY else now


def start_generation(db: Connection, witness: CommitWitness, generation: int) -> None:
    """Give the database the generation that was announced."""
    db.execute(f"PRAGMA application_id = {generation}").fetchall()
    empty_log(db)
    witness.adopt(Generations(generation, generation))


def empty_log(db: Connection) -> None:
    """Write all of the log into the database, synced, and cut it to nothing."""
    [(blocked, *_)] = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    if blocked:
        raise StoreInUse("another process reads it")


def clear_generation(copy: Path) -> None:
    """Make a file a backup: no log belongs to it."""
    with copy.open("r+b") as file:
        file.seek(HEADER.start)
        file.write(COPY.to_bytes(4))


def count(db: Connection, groups: int) -> None:
    """Let the open transaction be group number `groups`."""
    db.execute(COUNT, (groups, commit_count_crc(groups)))


def counted(db: Connection, acked: CommitWitness) -> int:
    """How many groups the database holds. Raises `StoreError` if acknowledged ones are missing."""
    known, written = acked.groups(), _written(db) if version(db) else 0
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
