"""The two distributions: what their wheels contain, and that they agree."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import llr_client
import pytest
from llr_cli import installation
from llr_cli.cli import app
from typer.testing import CliRunner

import llr
from scripts.dist import PACKAGES, Wrong, check, contents

ROOT = Path(__file__).parents[2]
BUILD = "from setuptools import build_meta; print(build_meta.build_wheel('dist'))"
STALE = ("service/__init__.py", "llr_client/old_name.py")
OLD_SITE = "llr_service/guide/site/index.html"
"""A documentation site that is older than a page of docs/."""


def built(folder: Path) -> Path:
    """The wheel of a source folder."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", BUILD], cwd=folder, capture_output=True, text=True, check=True
    )
    return folder / "dist" / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Both wheels, built where earlier builds left files behind."""
    tree = tmp_path_factory.mktemp("tree")
    for name in ("llr", "service", "clients"):
        ignored = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    for folder in (tree, tree / "clients"):
        for name in STALE:
            stale = folder / "build/lib" / name
            stale.parent.mkdir(parents=True, exist_ok=True)
            stale.touch()
    site = tree / "service" / OLD_SITE
    site.parent.mkdir(parents=True, exist_ok=True)
    site.touch()
    os.utime(site, (0, 0))
    (tree / "docs").mkdir()
    (tree / "docs/index.md").touch()
    return built(tree), built(tree / "clients")


def test_a_wheel_has_nothing_of_an_earlier_build(wheels: tuple[Path, Path]) -> None:
    for wheel in wheels:
        assert not {*STALE, OLD_SITE} & set(contents(wheel))


def test_wheels_have_the_packages_they_should_and_agree(wheels: tuple[Path, Path]) -> None:
    check(*wheels)
    own, client = map(contents, wheels)
    assert {name.partition("/")[0] for name in own} == PACKAGES
    assert {name.partition("/")[0] for name in client} == {"llr_client"}
    for path in (*ROOT.glob("service/llr_service/dashboard/*.*"), *ROOT.glob("llr/**/*.py")):
        base = ROOT / "service" if "service" in path.parts else ROOT
        assert path.relative_to(base).as_posix() in own, path


def test_wheels_that_disagree_are_found(wheels: tuple[Path, Path], tmp_path: Path) -> None:
    own, client = wheels
    changed = tmp_path / "clients"
    shutil.copytree(client.parent.parent, changed, ignore=shutil.ignore_patterns("build", "dist"))
    (changed / "llr_client/address.py").write_text("")
    with pytest.raises(Wrong, match="other files of llr_client/"):
        check(own, built(changed))


def test_the_version_stands_in_one_place() -> None:
    assert version("llr") == llr.__version__ == llr_client.__version__
    for name in ("pyproject.toml", "clients/pyproject.toml"):
        assert "version" in tomllib.loads((ROOT / name).read_text())["project"]["dynamic"]
    changelog = (ROOT / "CHANGELOG.md").read_text()
    sections = re.findall(r"^## (Unreleased|\d+\.\d+\.\d+)\b", changelog, re.MULTILINE)
    before_release = llr.__version__.endswith(".dev0")
    assert before_release == (sections[0] == "Unreleased"), "unreleased changes need a .dev0"
    assert before_release or sections[0] == llr.__version__
    assert llr.__version__.removesuffix(".dev0") not in sections[before_release:], "released"
    assert (ROOT / "clients/LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_the_client_depends_on_httpx_alone() -> None:
    project = tomllib.loads((ROOT / "clients/pyproject.toml").read_text())["project"]
    assert [re.split(r"\W", word)[0] for word in project["dependencies"]] == ["httpx"]


@pytest.mark.parametrize("command", [["demo"], ["figures"]])
def test_a_command_that_needs_an_extra_names_it(
    monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setattr(installation, "find_spec", lambda name: None)
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert "figures need matplotlib: pip install 'llr[figures]'" in result.stderr


@pytest.mark.parametrize(
    ("beside", "sdk", "said"),
    [
        (None, "1.0", None),
        ("1.0", "1.0", None),
        ("1.1", "1.1", "llr-client 1.1 is installed over it"),
        ("1.1", "1.0", "llr-client 1.1 is installed over it"),
        (None, "1.1", "an llr_client 1.1 is installed over it"),
    ],
)
def test_an_sdk_of_another_version_is_reported(
    monkeypatch: pytest.MonkeyPatch, beside: str | None, sdk: str, said: str | None
) -> None:
    def versions(name: str) -> str:
        if name == "llr":
            return "1.0"
        if beside is None:
            raise PackageNotFoundError(name)
        return beside

    monkeypatch.setattr(installation, "version", versions)
    monkeypatch.setattr(llr_client, "__version__", sdk)
    warning = installation.mixed()
    assert warning is None if said is None else said in str(warning)
