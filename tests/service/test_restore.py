"""`llr restore`: a checked copy in the place of a store, never mixed with files of another."""

import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from llr_service.restore import main
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import AppendSamples, StoreError
from support.sqlite import tampered
from support.stores_contract import created, known


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A backup with t = 1, of a store that went on to t = 2 and was killed."""
    path, copy = tmp_path / "llr.db", tmp_path / "copy.db"
    with closing(SQLite(path)) as store:
        [a] = created(store, "a")
        store.write([AppendSamples(a, 0, 1, b"first")])
        with store.backup() as backup:
            copy.write_bytes(backup.read())
        store.write([AppendSamples(a, 1, 1, b"second")])
        for end in ("", "-wal", "-acked"):
            shutil.copyfile(f"{path}{end}", f"{tmp_path / 'killed.db'}{end}")
    return copy


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("age", ["backup", "older file"])
def test_a_file_beside_the_log_of_another_is_refused_and_left_alone(
    copy: Path, tmp_path: Path, age: str
) -> None:
    killed = tmp_path / "killed.db"
    if age == "older file":
        with closing(SQLite(tmp_path / "llr.db")):
            pass
        shutil.copyfile(tmp_path / "llr.db", killed)
    else:
        shutil.copyfile(copy, killed)
    before = content(tmp_path)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"is not the file that killed\.db-wal .*llr restore"):
            SQLite(killed)
    assert content(tmp_path) == before


def test_a_killed_store_opens_with_its_own_log(copy: Path, tmp_path: Path) -> None:
    for _ in range(3):
        with closing(SQLite(tmp_path / "killed.db")) as store:
            assert known(store, "a").t == 2


def test_leftovers_of_another_store_are_refused_unless_they_are_set_aside(
    copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    killed = tmp_path / "killed.db"
    asked = [str(copy), "--store", f"sqlite:///{killed}"]
    before = content(tmp_path)
    assert main(asked) == 1
    assert "killed.db, killed.db-wal, killed.db-acked of another" in capsys.readouterr().err
    killed.unlink()
    assert main(asked) == 1
    killed.write_bytes(before["killed.db"])
    assert content(tmp_path) == before
    assert main([*asked, "--replace"]) == 0
    said = capsys.readouterr().out
    assert "killed.db-wal is now killed.db-wal-replaced" in said
    assert said.endswith("killed.db is now copy.db, checked: 1 sessions\n")
    with closing(SQLite(killed)) as store:
        assert known(store, "a").t == 1
    assert main([*asked, "--replace"]) == 1
    assert "would be overwritten" in capsys.readouterr().err


def test_a_damaged_copy_is_refused(
    copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tampered(copy, "UPDATE log SET blob = x'00'")
    before = content(tmp_path)
    assert main([str(copy), "--store", f"sqlite:///{tmp_path / 'new.db'}"]) == 1
    assert "session a: its log at 0 does not match" in capsys.readouterr().err
    assert content(tmp_path) == before


def test_what_cannot_be_restored_is_refused(copy: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new.db'}"
    assert main([str(tmp_path / "none.db"), "--store", url]) == 1
    assert main([str(tmp_path / "killed.db"), "--store", url]) == 1
    assert main([str(copy), "--store", "postgresql://db/llr"]) == 1
    assert main([str(copy), "--store", url]) == 0


class Killed(BaseException):
    """The process is gone: nothing that follows happens."""


@pytest.mark.parametrize("at", range(5))
def test_a_restore_that_was_killed_leaves_nothing_that_passes_for_the_store(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    killed, renames = tmp_path / "killed.db", list[Path]()
    asked = [str(copy), "--store", f"sqlite:///{killed}", "--replace"]
    rename = Path.rename

    def renamed(self: Path, target: Path) -> Path:
        renames.append(self)
        if len(renames) == at + 1:
            raise Killed
        return rename(self, target)

    with monkeypatch.context() as patches:
        patches.setattr(Path, "rename", renamed)
        with pytest.raises(Killed):
            main(asked)
    if at:
        before = content(tmp_path)
        with pytest.raises(StoreError, match=r"restore that was interrupted.*--replace.*-replaced"):
            SQLite(killed)
        assert content(tmp_path) == before
    else:
        shutil.copytree(tmp_path, tmp_path / "apart")
        with closing(SQLite(tmp_path / "apart" / "killed.db")) as store:
            assert known(store, "a").t == 2
    assert main(asked) == 0
    with closing(SQLite(killed)) as store:
        assert known(store, "a").t == 1
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(("ing", "ing-wal"))]


def test_a_restore_that_was_killed_can_be_undone(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = tmp_path / "killed.db"
    monkeypatch.setattr("llr_service.restore._sync", lambda folder: _die_if_moved(killed))
    with pytest.raises(Killed):
        main([str(copy), "--store", f"sqlite:///{killed}", "--replace"])
    for path in tmp_path.glob("*-replaced"):
        path.rename(path.with_name(path.name.removesuffix("-replaced")))
    (tmp_path / "killed.db-restoring").unlink()
    with closing(SQLite(killed)) as store:
        assert known(store, "a").t == 2


def _die_if_moved(store: Path) -> None:
    if not store.exists():
        raise Killed


HOLD = """
import sys
from llr_service.stores.sqlite import SQLite
store = SQLite(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


def test_a_store_that_a_service_has_is_refused(
    copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, pipe = tmp_path / "llr.db", subprocess.PIPE
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as service:  # noqa: S603
        assert service.stdout is not None
        assert service.stdout.readline() == b"open\n"
        assert main([str(copy), "--store", f"sqlite:///{path}", "--replace"]) == 1
        assert "in use by another process" in capsys.readouterr().err
        service.communicate()
    assert main([str(copy), "--store", f"sqlite:///{path}", "--replace"]) == 0
