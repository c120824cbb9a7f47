"""The promises of docs/reliability.md, in the short form of each harness. Seeds are fixed."""

import re
from pathlib import Path

import pytest
from support.root import ROOT

from stress.__main__ import line, markdown
from stress.rows import ROWS
from stress.verdict import Verdict

SEED = 1
SHORT = [number for number, row in ROWS.items() if row.short]
DOCS = ROOT / "docs" / "reliability.md"


@pytest.mark.filterwarnings("ignore:open_binary is deprecated")
@pytest.mark.parametrize("number", SHORT, ids=lambda number: ROWS[number].promise)
def test_the_promise_holds(number: int, tmp_path: Path) -> None:
    row = ROWS[number]
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1

    verdict = row.run(tmp_path, SEED, row.short, tick)
    assert verdict.faults == [], verdict.counts
    assert done


def test_a_report_has_a_line_for_every_row_that_ran_and_no_markup() -> None:
    bad = Verdict({"acks": 7}, "lost 0", ["lost [1] | 2"], ["it stops"])
    text = markdown([line(1, 7, bad, 61.0), line(2, 7, Verdict({}, "", []), 59.0)], 120.0)
    rows = text.splitlines()
    assert rows[2].startswith(f"| 1 | {ROWS[1].promise} | 7 | acks 7 | lost 0 | 61 | BROKEN, ")
    assert rows[2].endswith("lost [1] \\| 2, slow: it stops |")
    assert rows[3].endswith("| holds |")
    assert rows[-1] == "2 rows in 2 minutes."


def test_every_promise_has_a_harness() -> None:
    assert set(range(1, 21)) <= set(ROWS)
    assert [*ROWS] == sorted(ROWS)


def test_every_harness_has_a_row_in_the_documentation_with_its_promise_and_its_count() -> None:
    documented = [
        line.strip("| ").split(" | ")
        for line in DOCS.read_text().splitlines()
        if re.match(r"\| \d+ \|", line)
    ]
    assert [int(line[0]) for line in documented] == [*ROWS]
    for number, promise, _, _, long, short in documented:
        row = ROWS[int(number)]
        assert promise == row.promise
        assert int(long.split()[0].replace(",", "")) in {row.long, row.long // 60}, number
        assert not row.short or int(short.split()[0]) == row.short, number
