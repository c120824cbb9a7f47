import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from llr_cli.cli import app as cli
from llr_service.http.auth import Role, hash_key
from llr_service.settings import MIN_RATE, Settings, described
from pydantic import ValidationError
from typer.testing import CliRunner

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "settings.md"
TABLE = re.compile(r"(<!-- table:[^\n]*-->\n)(.*?)(<!-- end -->)", re.DOTALL)
KEYS = f"alice:admin:{hash_key('a')},bob:read:{hash_key('b')}"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.upper().startswith("LLR_")]:
        monkeypatch.delenv(name)


def table() -> str:
    rows = [f"| `{s.name}` | `{s.variable}` | `{s.default}` | {s.meaning} |" for s in described()]
    return "\n".join(["| setting | variable | default | meaning |", "|---|---|---|---|", *rows, ""])


def test_the_documented_table_is_the_code() -> None:
    written = TABLE.search(DOCS.read_text())
    assert written is not None
    assert written[2] == table(), "run: python tests/service/test_settings.py"


def test_the_documented_way_to_make_a_key_works() -> None:
    command = re.search(r"^llr (keys .*)$", DOCS.read_text(), re.MULTILINE)
    assert command is not None
    made = CliRunner().invoke(cli, command[1].split())
    key, entry = (line.split()[-1] for line in made.stdout.splitlines())
    assert entry == f"alice:write:{hash_key(key)}"
    assert Settings.from_cli(["--api-keys", entry]).api_keys[0].role is Role.WRITE


def test_every_setting_has_a_meaning_and_every_number_has_bounds() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, name
        if field.annotation in {int, float}:
            bounds = {type(limit).__name__ for limit in field.metadata}
            assert bounds & {"Ge", "Gt"}, name
            assert "Le" in bounds, name


def test_an_option_goes_before_its_variable_and_that_before_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Settings.from_cli([]).port == 8080
    monkeypatch.setenv("LLR_PORT", "9000")
    assert Settings.from_cli([]).port == 9000
    assert Settings.from_cli(["--port", "9001"]).port == 9001


def test_a_switch_can_be_turned_off_against_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLR_INSECURE", "true")
    assert Settings.from_cli(["--host", "::", "--no-docs"]).docs is False
    with pytest.raises(SystemExit):
        Settings.from_cli(["--host", "::", "--no-insecure"])


def test_every_default_can_be_said_as_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [s for s in described() if s.default not in {"none", "true", "false"}]
    by_option = Settings.from_cli([word for s in said for word in (s.option, s.default)])
    assert by_option == Settings(store=by_option.store)
    for setting in said:
        monkeypatch.setenv(setting.variable, setting.default)
    assert by_option == Settings()


def test_variables_of_others_and_empty_ones_are_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLR_KERNELS", "/somewhere")
    monkeypatch.setenv("LLR_PORT", "")
    monkeypatch.setenv("LLR_API_KEYS", "")
    assert Settings().port == 8080
    assert Settings().api_keys == ()


@pytest.mark.parametrize(
    ("data_home", "expected"),
    [
        ("/data", "sqlite:////data/llr/llr.db"),
        ("relative", "sqlite:////home/u/.local/share/llr/llr.db"),
        (None, "sqlite:////home/u/.local/share/llr/llr.db"),
    ],
)
def test_the_store_is_a_file_in_the_users_data_folder(
    data_home: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/u")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    if data_home:
        monkeypatch.setenv("XDG_DATA_HOME", data_home)
    assert Settings().store == expected


def test_a_user_without_a_home_has_to_say_where(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError

    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    assert Settings(store="memory:").store == "memory:"
    with pytest.raises(ValidationError, match="say where"):
        Settings()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_no_keys(host: str) -> None:
    assert Settings(host=host).host == host


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "10.0.0.1", "example.org", "localhost.org", "127.1", "0"],  # noqa: S104
)
def test_beyond_loopback_there_have_to_be_keys_or_the_word_insecure(host: str) -> None:
    with pytest.raises(ValidationError, match="LLR_INSECURE=true"):
        Settings(host=host)
    assert Settings(host=host, insecure=True).host == host
    assert Settings.from_cli(["--host", host, "--api-keys", KEYS]).host == host


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--port", "65536"),
        ("--port", "http"),
        ("--store", "llr.db"),
        ("--api-keys", "alice:write"),
        ("--cors-origins", "https://example.org/"),
        ("--cors-origins", '["https://example.org"]'),
        ("--log-level", "loud"),
        ("--max-body", "1,000,000"),
        ("--max-body", "5 apples"),
        ("--max-body", "9" * 5000),
        ("--max-body", "1"),
        ("--body-timeout", "nan"),
        ("--body-timeout", "inf"),
        ("--body-timeout", "0"),
        ("--max-queue", "0"),
    ],
)
def test_a_wrong_value_is_named_and_ends_with_2(
    option: str, value: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = "LLR_" + option[2:].replace("-", "_").upper()
    with pytest.raises(SystemExit) as by_option:
        Settings.from_cli([option, value])
    monkeypatch.setenv(variable, value)
    with pytest.raises(SystemExit) as by_variable:
        Settings.from_cli([])
    assert by_option.value.code == by_variable.value.code == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == second
    assert first.startswith(f"python -m llr_service: {option} or {variable}: ")


def test_an_unknown_option_ends_with_2_and_help_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as unknown:
        Settings.from_cli(["--prot", "8080"])
    assert unknown.value.code == 2
    assert "--prot" in capsys.readouterr().err
    with pytest.raises(SystemExit) as helped:
        Settings.from_cli(["--help"], prog="llr serve")
    assert helped.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("usage: llr serve")
    for setting in described():
        assert f"{setting.option} " in text or f"{setting.option}, " in text
        assert setting.meaning in text
        assert f"[{setting.variable}, default {setting.default}]" in text


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:p@ss/w0rd@host/db",
        "postgresql://me:p?ssw0rd@host/db",
        "postgresql://host/db?password=p@ssw0rd",
    ],
)
def test_secrets_are_never_shown(url: str) -> None:
    made = Settings.from_cli(["--api-keys", KEYS, "--store", url])
    assert made.store == url
    for text in (repr(made), str(made), str(made.shown())):
        assert hash_key("a") not in text
        assert "w0rd" not in text
        assert "me:p" not in text
        assert "alice:admin" in text
        assert "postgresql:***" in text


@settings(deadline=None)
@seed(1)
@given(entry=st.text(min_size=1).filter(lambda text: not set(text) <= set(", \t\r\n\v\f")))
def test_a_wrong_key_is_not_repeated_in_the_message(entry: str) -> None:
    secret = "llr_" + "s3cret"
    with pytest.raises(ValidationError) as caught:
        Settings(api_keys=f"{secret}:{entry}")  # type: ignore[arg-type]
    assert "s3cret" not in str(caught.value)


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().port = 1


@settings(deadline=None)
@seed(1)
@given(number=st.integers(1, 4095), unit=st.sampled_from(["KiB", "MiB"]), space=st.booleans())
def test_sizes_are_read_with_their_unit(number: int, unit: str, space: bool) -> None:
    arguments: dict[str, Any] = {"max_body": f"{number}{' ' * space}{unit}"}
    assert Settings(**arguments).max_body == number * {"KiB": 1024, "MiB": 1024**2}[unit]


def test_origins_are_separated_by_commas() -> None:
    origins = Settings.from_cli(["--cors-origins", "http://a:1, https://b"]).cors_origins
    assert origins == ("http://a:1", "https://b")


def test_the_rate_of_a_body_is_the_one_it_is_read_with() -> None:
    assert Settings().min_rate == MIN_RATE


if __name__ == "__main__":
    DOCS.write_text(TABLE.sub(lambda found: found[1] + table() + found[3], DOCS.read_text()))
