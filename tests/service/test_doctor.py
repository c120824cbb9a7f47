"""`llr doctor`: all is well, something is damaged, or there is nothing to check."""

import json
import subprocess
from pathlib import Path
from typing import Any, NoReturn

import pytest
from llr_service.doctor import main
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import AppendSamples, CreateSession, Written
from support.commands import run
from support.sqlite import tampered


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of two sessions."""
    path = tmp_path / "llr.db"
    store = SQLite(path)
    for name in ("good", "other"):
        (made,) = store.write([CreateSession(name, b"{}")])
        assert isinstance(made, Written)
        store.write([AppendSamples(made.session, 0, 1, b"sample")])
    store.close()
    return path


def test_a_whole_file_is_well(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: 2 sessions, all is well\n"


def test_a_damaged_session_is_named(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tampered(path, "UPDATE log SET blob = x'00' WHERE session = 1")
    assert main([str(path)]) == 1
    *damage, summary = capsys.readouterr().out.splitlines()
    assert all(line.startswith("good: ") for line in damage)
    assert summary == f"{path}: 2 sessions, 1 of 2 sessions damaged"


def test_programs_are_told_as_json(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tampered(path, "UPDATE log SET blob = x'00' WHERE session = 1")
    assert main([str(path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["file"], told["well"], told["sessions"]) == (str(path), False, 2)
    assert [each["session"] for each in told["damaged"]] == ["good"]


def test_a_file_that_is_no_store_is_not_well(tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("hello, this is not a database\n" * 100)
    assert main([str(tmp_path / "no.db")]) == 1


def test_a_file_that_is_not_there_is_2_and_is_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "no.db")]) == 2
    assert "there is no file" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_use_is_2_and_says_so(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = SQLite(path)
    assert main([str(path)]) == 2
    store.close()
    assert "in use by another process" in capsys.readouterr().err


def test_without_a_path_it_is_the_settings_store(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLR_STORE", f"sqlite:///{path}")
    assert main([]) == 0
    monkeypatch.setenv("LLR_STORE", "memory:")
    assert main([]) == 2


def test_the_command_is_the_module(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("doctor", str(path), "--json").exit_code == 0
    assert json.loads(capfd.readouterr().out)["well"]
    assert run("doctor", str(path) + ".none").exit_code == 2
    assert "llr doctor: there is no file" in capfd.readouterr().err


def test_ctrl_c_ends_it_and_its_child_quietly(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, start_new_session: bool, **__: Any) -> NoReturn:
        assert start_new_session  # the terminal's Ctrl-C does not reach the child, which would talk
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "run", interrupted)
    result = run("doctor", str(path))
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "llr: stopped\n")
