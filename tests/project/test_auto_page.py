"""docs/auto.md: its example runs, and its figures are those that bench/regret.py wrote."""

import re

import numpy as np
import pytest
from support.root import ROOT

import llr

PAGE = (ROOT / "docs" / "auto.md").read_text()
REPORT = (ROOT / "bench" / "REGRET.md").read_text()


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(example, {})  # noqa: S102 - the page's own
    assert capsys.readouterr().out.startswith("[")


def off(algorithm: str, mixed: bool) -> float:
    """How far the probabilities of clicks are off in the second half of 6000 late labels."""
    rng = np.random.default_rng(11)
    page, evening = rng.integers(0, 3, 6000), rng.integers(0, 24, 6000) >= 18
    truth = 1 / (1 + np.exp(-(np.array([-3.0, -2.0, -0.5])[page] + evening)))
    clicked = rng.random(6000) < truth
    X = np.column_stack([np.ones(6000), page == 1, page == 2, evening]).astype(float)
    learner = llr.Learner("logistic", dim=4, algorithm=algorithm)
    errors = []
    for k in range(0, 6000, 100):
        block = np.arange(k, k + 100)
        order = block if mixed else block[np.argsort(~clicked[block], kind="stable")]
        errors.append(abs(learner.predict(X[block]) - truth[block]).mean())
        learner.learn(X[order], clicked[order].astype(float))
    return float(np.mean(errors[30:]))


def test_runs_of_equal_labels_do_what_the_page_says_they_do() -> None:
    assert off("auto", mixed=True) == pytest.approx(0.01, abs=0.01)
    assert off("auto", mixed=False) == pytest.approx(0.22, abs=0.02)
    assert off("svrg/ag", mixed=False) == pytest.approx(0.02, abs=0.01)


def test_every_line_of_figures_is_one_that_was_measured() -> None:
    section = PAGE.split("## What each part of the first order is worth")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    assert len(lines) > 10
    assert [line for line in lines if line not in REPORT.splitlines()] == []
