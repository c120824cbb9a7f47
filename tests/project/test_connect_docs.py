"""docs/connect*.md: every source and option is there, and what they show works."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from llr_client import Client
from llr_connect import SOURCES, app
from support.brokers import mosquitto, redis_server
from support.kafka import mock_kafka
from support.root import ROOT
from support.serving import serving
from typer.testing import CliRunner

PAGES = [ROOT / "docs" / "connect.md", *sorted((ROOT / "docs").glob("connect-*.md"))]
DOCS = "\n".join(page.read_text() for page in PAGES)
ELSEWHERE = {"--url", "--key", "--delimiter", "--help"}
"""Options that all commands have, or that speak for themselves."""


def test_the_table_of_sources_is_the_code() -> None:
    assert re.findall(r"^\| `llr connect (\w+)", DOCS, re.MULTILINE) == list(SOURCES)


@pytest.mark.parametrize("source", SOURCES)
def test_every_option_is_documented(source: str) -> None:
    command = typer.main.get_command(app).commands[source]  # type: ignore[attr-defined]
    options = {name for param in command.params for name in param.opts if name.startswith("--")}
    assert {name for name in options - ELSEWHERE if f"`{name}" not in DOCS} == set()


@pytest.mark.parametrize("source", SOURCES)
def test_help_has_an_example_and_the_shared_options(source: str) -> None:
    shown = CliRunner().invoke(app, [source, "--help"], env={"COLUMNS": "140"}).stdout
    assert "Example: " in shown
    assert f"llr connect {source}" in shown
    assert all(word in shown for word in ("--session", "--bad", "--missing", "LLR_URL", "LLR_KEY"))
    assert inspect.getdoc(SOURCES[source])


@pytest.mark.parametrize(
    ("source", "module"),
    [("kafka", "confluent_kafka"), ("mqtt", "paho.mqtt.client"), ("redis", "redis")],
)
def test_who_has_not_what_a_source_needs_is_told_what_to_install(
    source: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    result = CliRunner().invoke(app, [source, "a", "--session", "demo"])
    assert result.exit_code == 1
    assert "pip install 'llr[connect]'" in result.stderr


def test_the_commands_in_the_docs_work_against_fresh_brokers(tmp_path: Path) -> None:
    commands = "".join(re.findall(r"```bash\n(.*?)```", DOCS, re.DOTALL))
    llr = f'llr() {{ "{sys.executable}" -c "from llr_connect import app; app()" "${{@:2}}"; }}\n'
    llr += f'python() {{ "{sys.executable}" "$@"; }}\nexport XDG_DATA_HOME="{tmp_path}"\n'
    with (
        serving("memory:") as address,
        mosquitto(tmp_path) as broker,
        redis_server(tmp_path) as redis,
        mock_kafka() as kafka,
    ):
        commands = commands.replace("127.0.0.1:6379", f"127.0.0.1:{redis.port}")
        commands = commands.replace("127.0.0.1:9092", kafka.servers)
        commands = commands.replace("127.0.0.1:1883", f"127.0.0.1:{broker.port}")
        llr += f"export LLR_URL={address}\n"
        commands = commands.replace("port=1883", f"port={broker.port}")
        done = subprocess.run(  # noqa: S603
            ["timeout", "120", "bash", "-euo", "pipefail", "-c", f"{llr}{commands}"],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        with Client(address) as client:
            learnt = {row.name: row.t for row in client.sessions()}
    assert learnt == {
        "sales": 3,
        "load": 3,
        "readings": 2,
        "flats": 1,
        "orders-ada": 2,
        "orders-bob": 1,
    }
