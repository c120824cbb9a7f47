"""Installing system programs for the tests without starting servers, and running without them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.root import ROOT

from scripts import system_programs
from scripts.system_programs import PROGRAMS, Apt, Missing, Program, install, need

TESTS = """
import pytest
from scripts.system_programs import need

def test_other() -> None:
    pass

@pytest.mark.parametrize("k", range(2))
def test_program(k: int) -> None:
    need("no-such-program")

@pytest.fixture
def browser() -> str:
    return need("no-such-browser")

def test_page(browser: str) -> None:
    pass
"""


class Recorder(Apt):
    """An apt that only notes what it would run; `failing` is what it cannot install."""

    def __init__(self, failing: str = "") -> None:
        self.commands: list[str] = []
        self._failing = failing
        super().__init__()
        self.reason = None

    def run(self, *command: str, quiet: bool = False, cwd: str | None = None) -> bool:
        self.commands.append(" ".join(command))
        return not (self._failing and self._failing in command)


def installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *programs: Program, failing: str = ""
) -> list[str]:
    """The commands that an installation runs on a machine without any policy for servers."""
    apt = Recorder(failing)
    monkeypatch.setattr(system_programs, "Apt", lambda: apt)
    monkeypatch.setattr(system_programs, "POLICY", tmp_path / "policy-rc.d")
    monkeypatch.setattr(system_programs, "CLUSTERS", tmp_path / "createcluster.conf")
    monkeypatch.setattr(system_programs, "find", lambda name: None)
    install(programs)
    return apt.commands


def position(commands: list[str], part: str) -> int:
    return next(k for k, command in enumerate(commands) if part in command)


def test_packages_are_installed_while_no_server_may_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broker = Program("broker", ("broker-package",), "a connector")
    commands = installed(monkeypatch, tmp_path, broker)
    assert (
        position(commands, "-m755")
        < position(commands, "install --yes --no-install-recommends broker-package")
        < position(commands, f"rm -f {tmp_path / 'policy-rc.d'} {tmp_path / 'createcluster.conf'}")
    )
    assert position(commands, "createcluster.conf") < position(commands, "broker-package")


def test_a_policy_that_was_there_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "policy-rc.d").touch()
    commands = installed(monkeypatch, tmp_path, Program("broker", ("broker-package",), "it"))
    assert not any("policy-rc.d" in command for command in commands)


def test_a_server_of_which_one_program_is_enough_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool = Program("tool", ("server",), "alerts", unpacked=True)
    commands = installed(monkeypatch, tmp_path, tool)
    assert any("download server" in command for command in commands)
    assert any(command.endswith("usr/bin/tool /usr/local/bin/") for command in commands)
    assert not any("--yes" in command for command in commands)


def test_a_package_that_is_not_there_keeps_no_other_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    programs = [Program("a", ("gone",), "it"), Program("b", ("here",), "it")]
    commands = installed(monkeypatch, tmp_path, *programs, failing="gone")
    assert any(command.endswith("--no-install-recommends here") for command in commands)


def test_without_apt_nothing_is_installed_and_the_reason_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    install([Program("tool", ("package",), "it")])
    assert "nothing is installed: this machine has no apt-get" in capsys.readouterr().err


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(Missing, match="no-such-program is missing"):
        need("no-such-program")


def test_every_program_is_in_the_table_once() -> None:
    names = [program.name for program in PROGRAMS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_without_programs_runs_the_rest_and_ends_with_a_paragraph(
    tmp_path: Path, workers: str
) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "support.missing_programs", "-n", workers]
    done = subprocess.run(  # noqa: S603
        [*command, "--rootdir", str(tmp_path), "-c", os.devnull, "test_some.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "2 failed, 1 passed, 1 error" in done.stdout
    assert "no-such-program (2 in test_some.py)" in done.stdout
    assert "no-such-browser (1 in test_some.py)" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_program_is_copied_out_of_the_first_package_that_has_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool = Program("tool", ("of-new-release", "of-old-release"), "alerts", unpacked=True)
    commands = installed(monkeypatch, tmp_path, tool, failing="of-new-release")
    assert position(commands, "download of-new-release") < position(commands, "of-old-release")
    assert sum("/usr/local/bin/" in command for command in commands) == 1
    assert tool.by_hand == "of-old-release"
