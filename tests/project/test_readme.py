"""The README: its code runs, its files exist, its commands are the Makefile's."""

import re
from pathlib import Path

import pytest
from support.root import ROOT
from support.serving import serving
from support.transcript import exchanges, shell

import llr

README = (ROOT / "README.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("snippet", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_every_snippet_runs(snippet: str) -> None:
    exec(compile(snippet, "README.md", "exec"), {})  # noqa: S102


def test_the_curl_commands_give_these_answers(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path / 'llr.db'}") as address, shell(tmp_path, 60) as typed:
        found = exchanges(README.replace("localhost:8080", address))
        assert len(found) == 3
        for exchange in found:
            said = typed.run(exchange)
            assert exchange.fits(said), said


def test_the_table_lists_every_model() -> None:
    table = README.split("| model |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` ", table, re.MULTILINE)) == set(llr.MODELS)


def test_every_file_of_the_map_exists() -> None:
    for name in re.findall(r"`((?:llr|service|clients|docs|tests)/[\w./]*)`", README):
        assert name.endswith("yours.py") or (ROOT / name).exists(), name


def test_every_make_target_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`?make (\w+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_ruling_has_its_line_in_the_code() -> None:
    rulings = re.findall(r"^\| (R\d+) ", (ROOT / "docs" / "paper.md").read_text(), re.MULTILINE)
    assert len(rulings) > 22
    assert rulings == sorted(set(rulings), key=lambda ruling: int(ruling[1:]))
    code = "\n".join(path.read_text() for path in (ROOT / "llr").rglob("*.py"))
    for ruling in rulings:
        assert re.search(rf"\b{ruling}\b", code), ruling
