"""The promises of docs/reliability.md, in the short form of each harness. Seeds are fixed."""

import re
from pathlib import Path

import pytest
from torture.rows import ROWS

SEED = 1
SHORT = [number for number, row in ROWS.items() if row.short]
DOCS = Path(__file__).parent.parent / "docs" / "reliability.md"


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


def test_every_harness_has_a_row_in_the_documentation() -> None:
    documented = re.findall(r"^\| (\d+) \|", DOCS.read_text(), re.MULTILINE)
    assert set(ROWS) <= {int(number) for number in documented}
