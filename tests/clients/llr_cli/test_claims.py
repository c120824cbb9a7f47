"""The claims table, recomputed on a few seeds: what the documentation says of it still holds."""

import re

import pytest
from llr_cli.replay import claims
from llr_cli.replay.claims import Claim
from llr_cli.replay.runs import learn
from support.root import ROOT

SEEDS = 6

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def judged() -> list[Claim]:
    return claims.judge(learn(SEEDS))


def documented() -> list[list[str]]:
    """The rows of the table in docs/paper.md."""
    text = (ROOT / "docs" / "paper.md").read_text()
    table = text.split("## Section 3, claim by claim")[1].split("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    cells = [re.split(r"(?<!\\)\|", row.strip("|")) for row in rows]
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in cells]


def test_the_documentation_has_every_claim_in_its_order(judged: list[Claim]) -> None:
    assert [row[:2] for row in documented()] == [[c.says, c.measured] for c in judged]


def test_a_few_seeds_come_to_the_same_verdicts_nearly_everywhere(judged: list[Claim]) -> None:
    rows = documented()
    differ = [c for c, row in zip(judged, rows, strict=True) if c.verdict != row[3]]
    assert len(differ) <= 3


@pytest.mark.parametrize(
    ("says", "measured", "verdict"),
    [
        ("almost every trajectory gets close to the ML", "Gaussian", "holds"),
        ("almost every trajectory gets close to the ML", "regression", "partly"),
        ("SVRG/AG damps the oscillations overwhelmingly", "coin", "holds"),
        ("much more efficient at small η₀ than at large", "coin", "not"),
        ("much more efficient at small η₀ than at large", "regression", "holds"),
        ("the ratio η/2f converges quickly towards 1/α", "quadratic of 10⁸, SG/AG", "holds"),
    ],
)
def test_what_is_plain_shows_on_a_few_seeds(
    judged: list[Claim], says: str, measured: str, verdict: str
) -> None:
    (claim,) = [c for c in judged if c.says == says and c.measured.startswith(measured)]
    assert claim.verdict == verdict


def test_on_the_quadratic_the_numbers_are_those_of_the_paper_s_ruling(judged: list[Claim]) -> None:
    found = [claim.found for claim in judged if claim.measured.startswith("quadratic")]
    assert found == [
        "2 of 2",
        *("t = 17", "1.35", "5.6e+28, 3.5e-57"),
        *("t = 28", "1.14", "9e+49, 4.5e-90"),
    ]
