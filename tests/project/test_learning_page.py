"""docs/learning.md does what it says: its base is added to a copy of the library, and tested."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.root import ROOT

import llr
from llr.algorithms import BASES

PAGE = (ROOT / "docs" / "learning.md").read_text()
SNIPPETS = re.findall(r"```pycon\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_its_snippets_show_what_they_say(snippet: str) -> None:
    test = doctest.DocTestParser().get_doctest(snippet, {}, "learning.md", None, 0)
    assert doctest.DocTestRunner().run(test) == (0, len(test.examples))
    assert test.examples


def with_the_pages_base(folder: Path) -> None:
    """A copy of the library with the page's file and line in it."""
    shutil.copytree(ROOT / "llr", folder / "llr", ignore=shutil.ignore_patterns("__pycache__"))
    (source,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (line,) = re.findall(r'^ {4}"nesterov": nesterov.BASE,\n', PAGE, re.MULTILINE)
    (folder / "llr" / "algorithms" / "nesterov.py").write_text(source)
    registry = folder / "llr" / "algorithms" / "__init__.py"
    text = registry.read_text().replace(
        "from llr.algorithms import ", "from llr.algorithms import nesterov, "
    )
    head, brace, rest = text.partition("BASES: dict[str, Base] = {\n")
    registry.write_text(head + brace + line + rest)


def test_the_base_of_the_page_passes_the_conformance_suite(tmp_path: Path) -> None:
    with_the_pages_base(tmp_path)
    chosen = "nesterov and (tangent or (softmax and ag) or (linear and sg))"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen]
    done = subprocess.run(  # noqa: S603
        [*command, "--rootdir", str(ROOT), str(ROOT / "tests" / "llr" / "test_conformance.py")],
        env=os.environ | {"PYTHONPATH": str(tmp_path), "LLR_KERNELS": str(tmp_path / "kernels")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert (tmp_path / "kernels").exists(), "another library was tested"
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed
    assert int(passed[1]) >= 11


def test_every_base_has_its_row() -> None:
    rows = re.findall(r"^\| `(\w+)` \| along", PAGE, re.MULTILINE)
    assert rows == list(BASES)


def test_every_algorithm_of_another_kind_is_mentioned() -> None:
    for name, algorithm in llr.ALGORITHMS.items():
        assert algorithm.base or f"`{name}`" in PAGE, name
