"""Cases that hypothesis draws, in turns: the same for the same seed, the first bad one is told."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from .verdict import Tick

C = TypeVar("C")
TURN = 500
"""Cases of a turn; the next has a seed and an app of its own."""
WORDS = 400
"""Letters of a failure that are told."""


def turns(seed: int, cases: int) -> Iterator[tuple[int, int]]:
    """The seed of each turn, and how many cases it has."""
    for number, done in enumerate(range(0, cases, TURN)):
        yield seed + number, min(TURN, cases - done)


def drawn(
    cases: SearchStrategy[C], number: int, most: int, check: Callable[[C], object], tick: Tick
) -> list[str]:
    """Check so many cases; returns what became of the one that failed, if one did."""

    @seed(number)
    @settings(
        max_examples=most,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def each(case: C) -> None:
        check(case)
        tick()

    try:
        each()
    except Exception as failure:
        return [f"seed {number}: {type(failure).__name__}: {failure}"[:WORDS]]
    return []
