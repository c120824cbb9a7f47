"""The claims table, recomputed on all of its seeds: what the documentation says of it holds."""

import math
import re

import pytest
from llr_cli.replay import claims
from llr_cli.replay.claims import Claim, clearly_more, counted, quartile_range, reached
from llr_cli.replay.experiments import Experiment
from llr_cli.replay.runs import PLAIN, course_of, plan
from rich.console import Console
from support.root import ROOT

SEEDS = 20
NUMBER = re.compile(r"-?(?:inf|\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


@pytest.fixture(scope="module")
def judged() -> list[Claim]:
    return claims.judge(claims.measure(SEEDS, Console(quiet=True)))


def documented() -> list[list[str]]:
    """The rows of the table in docs/paper.md."""
    text = (ROOT / "docs" / "paper.md").read_text()
    table = text.split("## Section 3, claim by claim")[1].split("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    cells = [re.split(r"(?<!\\)\|", row.strip("|")) for row in rows]
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in cells]


def alike(ours: str, theirs: str) -> bool:
    """Whether two cells say the same, but for what another processor's rounding may change.

    A count of runs may be 5 % off; a measured number, perhaps that of a chaotic run, 1.5 times.
    """
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return False
    for part, other in zip(ours.split("; "), theirs.split("; "), strict=True):
        pairs = [*zip(*(map(float, NUMBER.findall(one)) for one in (part, other)), strict=True)]
        if " of " in other:
            most = max(0.05 * max(y for _, y in pairs), 1.0)
            near = all(abs(x - y) <= most for x, y in pairs)
        else:
            near = all(x == y or 1.0 / 1.5 < ratio(x, y) < 1.5 for x, y in pairs)
        if not near:
            return False
    return True


def ratio(x: float, y: float) -> float:
    """x/y; of what is too large or too small to matter, of the logarithms."""
    if not 1e-12 < min(abs(x), abs(y)) <= max(abs(x), abs(y)) < 1e30:
        x, y = (math.log(max(abs(z), 1e-300)) if math.isfinite(z) else math.inf for z in (x, y))
    return x / y


@pytest.mark.slow
def test_the_documentation_has_every_claim_in_its_order(judged: list[Claim]) -> None:
    assert [row[:2] for row in documented()] == [[c.says, c.measured] for c in judged]


@pytest.mark.slow
def test_the_documentation_has_the_numbers_that_were_found(judged: list[Claim]) -> None:
    differ = [
        (row, claim.found)
        for row, claim in zip(documented(), judged, strict=True)
        if not alike(claim.found, row[2])
    ]
    assert differ == []


@pytest.mark.slow
def test_the_verdicts_are_those_of_the_documentation(judged: list[Claim]) -> None:
    rows = documented()
    differ = [c for c, row in zip(judged, rows, strict=True) if c.verdict != row[3]]
    assert len(differ) <= 1  # a count at the edge of a verdict


def test_cells_are_alike_within_rounding_and_no_further() -> None:
    assert alike("96 of 140 (a seed 3 to 6 of 7)", "98 of 140 (a seed 4 to 6 of 7)")
    assert not alike("96 of 140", "110 of 140")
    assert not alike("t = 17", "t = 28")
    assert not alike("1.35", "2.35")
    assert not alike("2 of 2", "2 of 2; 0.5")


@pytest.mark.slow
def test_on_the_quadratic_the_numbers_are_those_of_the_paper_s_ruling(judged: list[Claim]) -> None:
    found = [c.found for c in judged if c.measured.startswith("quadratic") and "t = " in c.found]
    sizes = [c.found for c in judged if c.says.startswith("θ takes very large values")]
    assert found == ["t = 17", "t = 28"]
    assert sizes == ["5.6e+28, 3.5e-57", "9e+49, 4.5e-90"]


@pytest.mark.slow
def test_the_quadratic_shrinks_at_every_sample_just_where_it_is_stable(
    judged: list[Claim],
) -> None:
    found = [c.found.split(" of ") for c in judged if c.says.startswith("SG is stable if, and")]
    assert len(found) == 2
    for holds, total in found:
        assert holds == total
        assert int(total) > 1900


def test_the_claims_do_without_what_only_the_figures_show() -> None:
    few, every = plan(2), plan(2, figures=True)
    assert set(few) < set(every)
    assert not any(e.algorithm in (*PLAIN, "auto") for e in few)
    assert {e.algorithm for e in set(every) - set(few)} == {*PLAIN, "auto"}


def test_a_run_that_diverged_widens_the_range_of_the_ends() -> None:
    assert quartile_range([1.0, 2.0, 3.0, 4.0, 5.0]) == 2.0
    assert quartile_range([1.0, 2.0, math.inf, math.inf]) == math.inf
    assert quartile_range([math.inf] * 3) == math.inf


def test_one_run_more_is_not_clearly_more() -> None:
    assert clearly_more(61, 60, 120) == "partly"
    assert clearly_more(72, 60, 120) == "holds"
    assert clearly_more(60, 60, 120) == clearly_more(59, 60, 120) == "not"


def test_a_count_has_its_range_over_the_seeds() -> None:
    cases = [(0, True), (0, False), (0, True), (1, False), (1, False), (1, True)]
    assert counted(cases) == "3 of 6 (a seed 1 to 2 of 3)"
    assert counted(cases[:3]) == "2 of 3"


def test_the_regret_is_reached_where_it_stays_above_nine_tenths_of_its_end() -> None:
    course = course_of(Experiment("gaussian", "sg/ag", 1e-2, 400))
    t = reached(course)
    at = int((course.t == t).argmax())
    assert (course.regret[at:] >= 0.9 * course.regret[-1]).all()
    assert course.regret[at - 1] < 0.9 * course.regret[-1]
