"""docs/auto.md: its example runs, and its figures are those that bench/regret.py wrote."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "auto.md").read_text()
REPORT = (ROOT / "bench" / "REGRET.md").read_text()


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(example, {})  # noqa: S102 - the page's own
    assert capsys.readouterr().out.startswith("[")


def test_every_line_of_figures_is_one_that_was_measured() -> None:
    section = PAGE.split("## What each part is worth")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    assert len(lines) > 10
    assert [line for line in lines if line not in REPORT.splitlines()] == []
