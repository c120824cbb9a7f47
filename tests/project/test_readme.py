"""The README's promises: its code runs, its files exist, its commands are the Makefile's."""

import re
import subprocess
from pathlib import Path

import pytest
from support.root import ROOT
from support.serving import serving

from scripts.system_programs import need

README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("snippet", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_every_snippet_runs(snippet: str) -> None:
    exec(compile(snippet, "README.md", "exec"), {})  # noqa: S102


def test_the_curl_commands_work_against_a_fresh_service(tmp_path: Path) -> None:
    need("curl")
    (commands,) = re.findall(r"```bash\n(.*?)```", README, re.DOTALL)
    with serving(f"sqlite:///{tmp_path / 'llr.db'}") as address:
        script = "set -e\n" + commands.replace("localhost:8080", address).replace(
            "curl ", "curl -sf "
        )
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)  # noqa: S603, S607
    assert done.stdout.count('"name":"demo"') == 3


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
