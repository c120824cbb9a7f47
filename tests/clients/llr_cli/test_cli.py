"""The command line: what it answers, and how it refuses."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from typing import Any

import pytest
from llr_cli import sessions, tables
from llr_cli.cli import app, main
from llr_cli.options import complete_session
from llr_client import Client
from support.commands import NOWHERE
from support.samples_of import PAIRS
from typer.testing import CliRunner

import llr
from llr.parameter import Parameter

COMMANDS = ("demo", "push", "connect", "watch", "sessions", "catalog", "doctor", "keys")
WRONG = [
    ["nonsense"],
    ["--nonsense"],
    ["catalog", "--nonsense"],
    ["catalog", "surplus"],
    ["demo", "--samples"],
]


@pytest.fixture(autouse=True)
def no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may force colours on them; a pipe has none."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)


def catalog() -> dict[str, dict[str, dict[str, Any]]]:
    """The catalogue's JSON, its entries by kind and name."""
    result = CliRunner().invoke(app, ["catalog", "--json"])
    assert result.exit_code == 0
    printed = json.loads(result.stdout)
    return {kind: {entry["name"]: entry for entry in printed[kind]} for kind in printed}


def shortest(model: str, algorithm: str) -> llr.Config:
    """A config with nothing given but what its model cannot do without."""
    needed = {"classes": 3} if model == "softmax" else {}
    return llr.Config(model, algorithm=algorithm, options=needed)


def test_the_installed_command_is_main() -> None:
    (script,) = entry_points(group="console_scripts", name="llr")
    assert script.load() is main


def test_version_is_the_librarys() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"llr {llr.__version__}\n")


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_names_every_command(flag: str) -> None:
    result = CliRunner().invoke(app, [flag])
    assert result.exit_code == 0
    assert all(command in result.stdout for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert f"llr {command}" in result.stdout


def test_without_a_command_the_help_is_shown() -> None:
    result = CliRunner().invoke(app, [])
    assert all(command in result.output for command in COMMANDS)


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_wrong_use_exits_2_and_says_why(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert arguments[-1].strip("-") in result.output
    assert result.stdout == ""


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["nonsense"], 2)])
def test_main_exits_with_the_commands_code(
    arguments: list[str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["llr", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code


def test_the_catalog_lists_every_registered_model_and_algorithm() -> None:
    printed = catalog()
    assert list(printed["models"]) == list(llr.MODELS)
    assert list(printed["algorithms"]) == list(llr.ALGORITHMS)


def test_the_catalog_says_what_a_model_is() -> None:
    for name, entry in catalog()["models"].items():
        model = llr.MODELS[name]
        assert (entry["summary"], entry["domain"]) == (model.summary, model.domain)
        assert (entry["features"], entry["exact_regret"]) == (
            model.features,
            model.comparator is not None,
        )


def test_the_catalog_says_what_an_algorithm_is() -> None:
    for name, entry in catalog()["algorithms"].items():
        learns, base, rate = (entry[key] for key in ("learns_step_size", "base", "rate"))
        assert base is None or name == (f"{base}/{rate}" if learns else base)
        assert entry["needs_eta0"] == llr.ALGORITHMS[name].uses_eta0
        assert entry["summary"] == llr.ALGORITHMS[name].summary


def test_a_model_and_an_algorithm_take_the_options_the_catalog_gives_them() -> None:
    printed = catalog()
    for model, algorithm in PAIRS:
        entries = (printed["models"][model], printed["algorithms"][algorithm])
        listed = {option["name"]: option for entry in entries for option in entry["options"]}
        taken = shortest(model, algorithm).parameters
        assert listed.keys() == taken.keys()
        for name, option in listed.items():
            assert_describes(option, taken[name])


def assert_describes(option: dict[str, Any], parameter: Parameter) -> None:
    """An option's entry agrees with the library's own description."""
    assert (option["summary"], option["kind"]) == (parameter.summary, parameter.kind)
    assert option["default"] == parameter.default
    assert option["needed"] == (parameter.default is None)
    assert all(choice in option["values"] for choice in parameter.choices)


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_the_catalogs_tables_show_every_name_whole(
    columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "is_terminal", lambda: True)
    result = CliRunner().invoke(app, ["catalog"], env={"COLUMNS": columns})
    assert result.exit_code == 0
    first = {line.split()[0] for line in result.stdout.splitlines() if line.strip()}
    options = {name for model, algorithm in PAIRS for name in shortest(model, algorithm).parameters}
    assert {*llr.MODELS, *llr.ALGORITHMS, *options} <= first
    assert all(len(line) <= int(columns) for line in result.stdout.splitlines())


def test_the_catalog_in_a_pipe_is_tab_separated() -> None:
    models, algorithms, options = CliRunner().invoke(app, ["catalog"]).stdout.split("\n\n")
    assert [line.split("\t")[0] for line in models.splitlines()] == list(llr.MODELS)
    assert [line.split("\t")[0] for line in algorithms.splitlines()] == list(llr.ALGORITHMS)
    assert {len(line.split("\t")) for line in options.splitlines()} == {4}


@pytest.mark.parametrize("width", ["20", "60", "200"])
def test_a_table_on_a_narrow_terminal_cuts_no_number(
    width: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tables, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", width)
    columns = [tables.Column("name"), tables.Column("t"), tables.Column("meaning", wraps=True)]
    name = "a-rather-long-name-of-a-session"
    tables.print_table(columns, [(name, 1_234_567, "some words"), ("b", 2, "x")])
    said = capsys.readouterr().out
    assert re.search(rf"{name} +1,234,567", said)
    assert "…" not in said
    tables.print_table(
        sessions.COLUMNS, [("a" * 30, "linear", "auto", 2, 7, 0.1234, 1.5, 2.5, "idle", None)]
    )
    assert re.search(r"a{30} +linear +auto +2 +7 +0.1234 +1.5 +2.5 +idle", capsys.readouterr().out)


def test_the_shell_completes_names_of_sessions(
    address: str, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("demo", "demo-2", "other"):
        client.session(name, "gaussian")
    monkeypatch.setenv("LLR_URL", address)
    assert complete_session("de") == ["demo", "demo-2"]
    assert complete_session("") == ["demo", "demo-2", "other"]
    monkeypatch.setenv("LLR_URL", NOWHERE)
    assert complete_session("de") == []
    monkeypatch.setenv("LLR_URL", "nonsense:")
    assert complete_session("de") == []


def test_bash_is_given_a_completion_that_completes(address: str, client: Client) -> None:
    client.session("prices", "gaussian")
    typed = {"COMP_WORDS": "llr sessions show pri", "COMP_CWORD": "3"}
    command = [sys.executable, "-c", "from llr_cli.cli import main; main()"]
    environment = os.environ | {"_LLR_COMPLETE": "complete_bash", "LLR_URL": address} | typed
    done = subprocess.run(  # noqa: S603
        command, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["prices"], done.stderr


def test_ctrl_c_while_the_command_is_still_being_loaded_is_130_and_quiet() -> None:
    interrupted = """
import sys

class Interrupted:
    def find_spec(self, name, *_):
        if name == "llr_cli.watch":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
from llr_cli.cli import main
"""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", interrupted], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "llr: stopped\n")
