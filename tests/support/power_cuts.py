"""A disk that loses what was not synced when the power goes, and fails when it is told to.

The store runs on it unchanged: `Disk.connect` takes the place of the store's own `connect`. Files
live in memory. What was written since a file's last sync is kept apart; a power cut decides by lot,
for every sector of it, whether its old or its new bytes are found afterwards, or some of each. A
name that was never synced may be gone, a deleted one may be back.
"""

import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import apsw

SECTOR = 512
NUMBERS = count()
FAILURES = {
    "open": apsw.SQLITE_CANTOPEN,
    "delete": apsw.SQLITE_IOERR_DELETE,
    "size": apsw.SQLITE_IOERR_FSTAT,
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
}
LASTING = ("delete", "write", "truncate", "sync")


class PowerCut(BaseException):
    """The power is gone: nothing that follows happens."""


class Content:
    """A file: what programs see, what the disk keeps, and the writes between the two."""

    def __init__(self, kept: bytes | None = None) -> None:
        self.seen = bytearray(kept or b"")
        self.kept = kept
        self.since: list[tuple[int, bytes | None]] = []

    def write(self, offset: int, data: bytes | None) -> None:
        """Write at an offset; None cuts the file there."""
        self.since.append((offset, data))
        _put(self.seen, offset, data)

    def sync(self) -> None:
        self.kept = bytes(self.seen)
        self.since.clear()

    def after_cut(self, lot: random.Random) -> bytes | None:
        """What is found of the file when the power is back, None if not even its name."""
        if self.kept is None and lot.random() < 0.5:
            return None
        stage = bytearray(self.kept or b"")
        sizes, versions = [len(stage)], dict[int, list[bytes]]()
        for offset, data in self.since:
            end = max(len(stage), offset) if data is None else offset + len(data)
            touched = range(min(offset, len(stage)) // SECTOR, -(-end // SECTOR))
            for number in touched:
                versions.setdefault(number, [_sector(stage, number)])
            _put(stage, offset, data)
            sizes.append(len(stage))
            for number in touched:
                versions[number].append(_sector(stage, number))
        return _mixed(self.kept or b"", lot.choice(sizes), versions, lot)


def _put(where: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del where[offset:]
        return
    where.extend(bytes(max(0, offset - len(where))))
    where[offset : offset + len(data)] = data


def _sector(where: bytes | bytearray, number: int) -> bytes:
    return bytes(where[number * SECTOR : (number + 1) * SECTOR]).ljust(SECTOR, b"\0")


def _mixed(kept: bytes, size: int, versions: dict[int, list[bytes]], lot: random.Random) -> bytes:
    """The kept bytes with, for each sector touched since, one of its versions or a torn one."""
    image = bytearray(kept.ljust(size, b"\0"))
    for number, choices in versions.items():
        torn = lot.randrange(SECTOR) if lot.random() < 0.1 else SECTOR
        _put(image, number * SECTOR, lot.choice(choices)[:torn] + lot.choice(choices)[torn:])
    return bytes(image[:size])


@dataclass
class Disk:
    """Files, and what shall happen to them.

    Attributes:
        cut_at: the power goes before this call that would last, None if never.
        failing: the numbers of the calls that fail.
        full: whether a failing write says that there is no room.
        pragmas: settings to give in place of the store's own.
    """

    files: dict[str, Content] = field(default_factory=dict)
    cut_at: int | None = None
    failing: range = range(0)
    full: bool = False
    pragmas: dict[str, str] = field(default_factory=dict)
    lasting: int = 0
    calls: int = 0
    dead: bool = False
    deleted: dict[str, Content] = field(default_factory=dict)

    def call(self, kind: str) -> None:
        """Count a call; let it fail, or cut the power, if it is its turn."""
        self.calls += 1
        self.lasting += kind in LASTING
        self.dead = self.dead or (kind in LASTING and self.lasting == self.cut_at)
        if not self.dead and self.calls in self.failing:
            code = FAILURES[kind]
            raise apsw.exception_for(apsw.SQLITE_FULL if self.full and kind == "write" else code)

    def after_cut(self, lot: random.Random) -> "Disk":
        """The disk as it is found when the power is back."""
        found = {name: content.after_cut(lot) for name, content in self.files.items()}
        for name, content in self.deleted.items():
            if found.get(name) is None and lot.random() < 0.5:
                found[name] = content.after_cut(lot)
        kept = {name: Content(bytes_) for name, bytes_ in found.items() if bytes_ is not None}
        return Disk(kept, full=self.full, pragmas=self.pragmas)

    def after_kill(self) -> "Disk":
        """The disk as the next process finds it when this one was killed and the power stayed."""
        return Disk(self.files, full=self.full, pragmas=self.pragmas, deleted=self.deleted)

    def connect(self, path: Path) -> "Connection":
        """A connection to a file on this disk."""
        return Connection(self, path)


class File:
    """An open file, as SQLite uses it."""

    def __init__(self, disk: Disk, content: Content) -> None:
        self._disk, self._content = disk, content

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self._disk.call("read")
        return bytes(self._content.seen[offset : offset + amount])

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.call("write")
        self._write(offset, bytes(data))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._disk.call("truncate")
        self._write(size, None)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.call("sync")
        if not self._disk.dead:
            if self._content.kept is None:
                self._disk.deleted.clear()
            self._content.sync()

    def xFileSize(self) -> int:  # noqa: N802
        self._disk.call("size")
        return len(self._content.seen)

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        return apsw.SQLITE_IOCAP_POWERSAFE_OVERWRITE

    def xSectorSize(self) -> int:  # noqa: N802
        return 4096

    def xCheckReservedLock(self) -> bool:  # noqa: N802
        return False

    def xFileControl(self, op: int, pointer: int) -> bool:  # noqa: N802
        return False

    def xLock(self, level: int) -> None:  # noqa: N802
        """Nobody else is there."""

    xUnlock = xLock  # noqa: N815

    def xClose(self) -> None:  # noqa: N802
        """Nothing to let go of."""

    def _write(self, offset: int, data: bytes | None) -> None:
        if not self._disk.dead:
            self._content.write(offset, data)


class System(apsw.VFS):
    """The disk, as SQLite finds files on it."""

    def __init__(self, disk: Disk) -> None:
        self.name = f"disk-{next(NUMBERS)}"
        self._disk = disk
        super().__init__(self.name, base="")

    def xFullPathname(self, name: str) -> str:  # noqa: N802
        return name

    def xAccess(self, name: str, flags: int) -> bool:  # noqa: N802
        return name in self._disk.files

    def xOpen(self, name: Any, flags: list[int]) -> Any:  # noqa: N802
        self._disk.call("open")
        flags[1] = flags[0]
        if name is None:
            return File(self._disk, Content())
        path = name if isinstance(name, str) else name.filename()
        return File(self._disk, self._disk.files.setdefault(path, Content()))

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802
        self._disk.call("delete")
        if self._disk.dead:
            return
        content = self._disk.files.pop(name)
        self._disk.deleted.pop(name, None)
        if not sync and content.kept is not None:
            self._disk.deleted[name] = content


class Rows(list[tuple[Any, ...]]):
    """An answer, read to its end."""

    def fetchall(self) -> "Rows":
        return self

    def close(self) -> None:
        """Everything was read."""


class Connection:
    """A connection through apsw that behaves like one of `sqlite3`."""

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._system = System(disk)
        with self._errors():
            self._db = apsw.Connection(str(path), vfs=self._system.name)

    @property
    def in_transaction(self) -> bool:
        return self._db.in_transaction

    @property
    def total_changes(self) -> int:
        return self._db.total_changes()

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Rows:
        with self._errors():
            return Rows(self._db.execute(self._pragma(sql), values).fetchall())

    def close(self) -> None:
        with suppress(apsw.Error):
            self._db.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except apsw.Error as error:
            if not self._disk.dead:
                known = sqlite3.DatabaseError(str(error))
                known.sqlite_errorcode = getattr(error, "extendedresult", apsw.SQLITE_ERROR)
                raise known from error
        if self._disk.dead:
            raise PowerCut

    def _pragma(self, sql: str) -> str:
        for name, value in self._disk.pragmas.items():
            if sql.startswith(f"PRAGMA {name} ="):
                return f"PRAGMA {name} = {value}"
        return sql
