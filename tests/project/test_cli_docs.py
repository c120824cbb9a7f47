"""docs/cli.md: every command is there, and what it shows works."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from llr_cli.cli import app
from llr_cli.formats import FORMATS, SUFFIXES
from support.root import ROOT
from support.serving import serving
from typer.testing import CliRunner

DOCS = (ROOT / "docs" / "cli.md").read_text()
COMMANDS = list(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
ALONE = ("catalog", "checkpoint", "doctor", "keys", "migrate", "migrate-store", "restore")
TALKING = ("push", "watch", "sessions", "predict", "label")


def test_the_table_of_commands_is_the_app() -> None:
    assert sorted(re.findall(r"^\| `llr ([\w-]+)` \|", DOCS, re.MULTILINE)) == sorted(COMMANDS)


def test_the_table_of_formats_is_the_code() -> None:
    rows = dict(re.findall(r"^\| (\w+) \| (`\..*?) \|", DOCS, re.MULTILINE))
    assert tuple(rows) == FORMATS
    for suffix, kind in SUFFIXES.items():
        assert f"`{suffix}`" in rows[kind]


@pytest.mark.parametrize(
    "command",
    [
        "push",
        "connect",
        "predict",
        "label",
        "watch",
        "sessions",
        "catalog",
        "doctor",
        "backup",
        "migrate",
        "migrate-store",
        "checkpoint",
        "restore",
        "keys",
    ],
)
def test_help_has_an_example(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "100"})
    assert f"Example: llr {command}" in result.stdout


@pytest.mark.parametrize("command", TALKING)
def test_whoever_talks_to_a_service_is_told_where_it_is_and_with_which_key(command: str) -> None:
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "140"}).stdout
    assert all(word in shown for word in ("--url", "LLR_URL", "--key", "LLR_KEY", "--json"))


def test_the_commands_in_the_docs_work_against_a_fresh_service(tmp_path: Path) -> None:
    commands = "".join(re.findall(r"```bash\n(.*?)```", DOCS, re.DOTALL))
    llr = f'llr() {{ "{sys.executable}" -c "from llr_cli.cli import main; main()" "$@"; }}\n'
    with serving("memory:") as address:
        done = subprocess.run(  # noqa: S603
            ["bash", "-euo", "pipefail", "-c", f"export LLR_URL={address}\n{llr}{commands}"],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stderr
    sent = re.findall(r"^(\w+): (\d+) samples sent", done.stdout, re.MULTILINE)
    flats = [("flats", "3"), ("flats", "0"), ("flats", "1")]
    rest = [
        ("flats", "1"),
        ("towns", "2"),
        ("mail", "2"),
        ("rooms", "2"),
        ("coin", "3"),
        ("shop", "2"),
    ]
    assert sent == [*flats, ("kept", "4"), *rest]
    labelled = re.findall(r"^shop: (\d) learnt, t (\d)$", done.stdout, re.MULTILINE)
    assert labelled == [("1", "3"), ("1", "4")]
