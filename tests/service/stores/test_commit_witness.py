"""The files beside a database: a log is applied to the file that it belongs to, and to no other.

A store is killed at every point of its opening, and its files are mixed with others. It opens with
all that was acknowledged, or it is refused and nothing is changed.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from llr_service.stores.integrity import commit_count_crc
from llr_service.stores.sqlite import SQLite
from llr_service.stores.sqlite.commit_witness import (
    HEADER,
    ONE_GENERATION,
    RECORD,
    connect_to_own_files,
)
from llr_service.stores.sqlite.connection import Connection
from llr_service.stores.store import AppendSamples, StoreError
from support.stores_contract import created, known

ENDS = ("", "-wal", "-acked")


def copied(path: Path, to: Path) -> None:
    """What a process that is killed now leaves."""
    for end in ENDS:
        if Path(f"{path}{end}").exists():
            shutil.copyfile(f"{path}{end}", f"{to}{end}")


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A store whose last change, to t = 2, is in its log; and a backup of it at t = 1."""
    path, killed = tmp_path / "llr.db", tmp_path / "killed" / "llr.db"
    killed.parent.mkdir()
    with closing(SQLite(path)) as store:
        [a] = created(store, "a")
        store.write([AppendSamples(a, 0, 1, b"first")])
        with store.backup() as backup:
            (tmp_path / "copy.db").write_bytes(backup.read())
        store.write([AppendSamples(a, 1, 1, b"second")])
        copied(path, killed)
    return killed


@pytest.mark.parametrize("emptied", [False, True])
@pytest.mark.parametrize("left", [["-wal"], ["-acked"], ["-wal", "-acked"]])
def test_a_file_that_is_gone_is_not_an_empty_store(
    killed: Path, left: list[str], emptied: bool
) -> None:
    for end in {"-wal", "-acked"} - {*left}:
        Path(f"{killed}{end}").unlink()
    if emptied:
        os.truncate(killed, 0)
    else:
        killed.unlink()
    before = content(killed.parent)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"missing"):
            SQLite(killed)
    if not emptied:
        assert content(killed.parent) == before
    assert {f"llr.db{end}" for end in left} <= content(killed.parent).keys()
    for end in left:
        Path(f"{killed}{end}").unlink()
    with closing(SQLite(killed)) as store:
        assert store.count() == 0


def test_a_backup_beside_a_stale_log_is_refused_though_the_witness_is_gone(
    killed: Path, tmp_path: Path
) -> None:
    shutil.copyfile(tmp_path / "copy.db", killed)
    Path(f"{killed}-acked").unlink()
    before = content(killed.parent)
    with pytest.raises(StoreError, match=r"is not the file that llr\.db-wal"):
        SQLite(killed)
    assert content(killed.parent) == before


def test_a_log_without_its_witness_is_refused(killed: Path) -> None:
    Path(f"{killed}-acked").unlink()
    with pytest.raises(StoreError, match=r"is not the file that llr\.db-wal"):
        SQLite(killed)


def test_a_file_of_0_1_0_opens_with_its_log_and_no_generation(killed: Path, tmp_path: Path) -> None:
    db = connect_to_own_files(tmp_path / "copy.db")
    db.execute("PRAGMA journal_mode = WAL").fetchall()
    db.execute("PRAGMA application_id = 0").fetchall()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    db.execute("CREATE TABLE other (one)")
    copied(tmp_path / "copy.db", old := tmp_path / "old.db")
    db.close()
    assert Path(f"{old}-wal").stat().st_size
    with closing(SQLite(old)) as store:
        assert known(store, "a").t == 1


def test_a_witness_with_one_generation_is_read(killed: Path) -> None:
    witness = Path(f"{killed}-acked")
    number = int.from_bytes(killed.read_bytes()[HEADER])
    groups = witness.read_bytes()[: RECORD.size]
    witness.write_bytes(groups + ONE_GENERATION.pack(number, commit_count_crc(number)))
    with closing(SQLite(killed)) as store:
        assert known(store, "a").t == 2
    shutil.copyfile(killed, other := killed.with_name("other.db"))
    shutil.copyfile(witness, f"{other}-acked")
    Path(f"{other}-wal").write_bytes(b"not empty")
    other.write_bytes(killed.read_bytes()[: HEADER.start] + bytes(4) + bytes(24))
    with pytest.raises(StoreError, match="is not the file"):
        SQLite(other)


class Killed(Exception):
    """The process is gone: nothing that follows happens."""


class KilledConnection:
    """A connection whose process is killed before or in the middle of a statement."""

    def __init__(self, path: Path, at: int, to: Path) -> None:
        self._db, self._path, self._at, self._to = connect_to_own_files(path), path, at, to
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Any:
        """Run a statement, unless it is the last moment: two of them lie in a checkpoint."""
        moments = 2 if "wal_checkpoint" in sql else 1
        first = self.calls
        self.calls += moments
        if first == self._at:
            self._die()
        if self._at == first + 1 < self.calls:
            self._db.execute("PRAGMA wal_checkpoint(FULL)").fetchall()
            self._die()
        return self._db.execute(sql, values)

    def _die(self) -> None:
        copied(self._path, self._to)
        raise Killed


def openings(path: Path, folder: Path) -> Iterator[Path]:
    """The files that a kill leaves at each moment of an opening."""
    for at in range(200):
        work, left = folder / f"{at}-work.db", folder / f"{at}.db"
        copied(path, work)
        opened = list[KilledConnection]()

        def connect(
            path: Path, at: int = at, left: Path = left, opened: list[KilledConnection] = opened
        ) -> Connection:
            opened.append(KilledConnection(path, at, left))
            return opened[-1]

        try:
            SQLite(work, connect).close()
        except Killed:
            opened[-1].close()
            yield left
        else:
            return


def from_backup(killed: Path) -> Path:
    return killed.parent.parent / "copy.db"


@pytest.mark.parametrize(("start", "t"), [(lambda killed: killed, 2), (from_backup, 1)])
def test_a_kill_at_any_moment_of_an_opening_leaves_a_store_that_opens(
    killed: Path, tmp_path: Path, start: Callable[[Path], Path], t: int
) -> None:
    (folder := tmp_path / "kills").mkdir()
    logs = moments = 0
    for left in openings(start(killed), folder):
        moments += 1
        if Path(f"{left}-wal").exists() and Path(f"{left}-wal").stat().st_size:
            logs += 1
            for again in openings(left, again_in(left)):
                with closing(SQLite(again)) as store:
                    assert known(store, "a").t == t
        with closing(SQLite(left)) as store:
            assert known(store, "a").t == t
    assert moments > 12
    assert logs > 1


def again_in(left: Path) -> Path:
    (folder := left.with_name(f"{left.name}-again")).mkdir()
    return folder
