"""Contests: entries take turns, the best turn counts, the report has medians and a winner.

Turns go A B C A B C, so that a machine which is busy for a while slows them all alike. `bench.race`
times what it calls; here a turn brings its own figure, such as requests a second.
"""

import statistics
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bench.race import yes

HEADINGS = ("what", "unit", "best", "median", "CPU/request", "ratio", "target", "reached")
NUMBERS = {"best", "median", "CPU/request", "ratio"}


class Turn(NamedTuple):
    """What a turn came to, and the server's seconds of processor time a request."""

    figure: float
    cpu: float | None = None


class Score(NamedTuple):
    """The turns of an entry."""

    best: float
    median: float
    cpu: float | None


Scores = dict[str, Score]


class Line(NamedTuple):
    """A line of the table."""

    what: str
    unit: str
    best: str
    median: str
    cpu: str = ""
    ratio: str = ""
    target: str = ""
    reached: str = ""


class Contest(NamedTuple):
    """Entries that take turns.

    Attributes:
        entries: a turn of each, by name.
        rounds: how many turns each has.
        verdict: what the scores amount to.
        best: which of the figures is the best one: `max`, or `min` for seconds.
    """

    entries: dict[str, Callable[[], Turn]]
    rounds: int
    verdict: Callable[[Scores], list[Line]]
    best: Callable[[Sequence[float]], float] = max


def plain(what: str, unit: str, score: Score) -> Line:
    """A line without a target."""
    cpu = "" if score.cpu is None else f"{1e6 * score.cpu:,.0f} µs"
    return Line(what, unit, shown(score.best), shown(score.median), cpu)


def at_least(line: Line, score: Score, rival: str, other: Score, least: float) -> Line:
    """The line with what it has to reach: so many times its rival."""
    ratio, usual = score.best / other.best, score.median / other.median
    target = f"≥ {least:g} × {rival}"
    shown_ratio = f"{ratio:.2f} ({usual:.2f})"
    return line._replace(ratio=shown_ratio, target=target, reached=yes(ratio >= least))


def at_most(line: Line, score: Score, rival: str, other: Score, most: float) -> Line:
    """The line with what it may not exceed: so many times its rival."""
    bounded = at_least(line, score, rival, other, 0.0)
    reached = yes(score.best / other.best < most)
    return bounded._replace(target=f"< {most:g} × {rival}", reached=reached)


def shown(number: float) -> str:
    """Three digits at least."""
    return f"{number:,.0f}" if number >= 100.0 else f"{number:.3g}"


def score(turns: list[Turn], best: Callable[[Sequence[float]], float]) -> Score:
    figures = [turn.figure for turn in turns]
    cpu = min((turn.cpu for turn in turns if turn.cpu is not None), default=None)
    return Score(best(figures), statistics.median(figures), cpu)


def scores(contest: Contest, tick: Callable[[], None]) -> Scores:
    turns: dict[str, list[Turn]] = {name: [] for name in contest.entries}
    for _ in range(contest.rounds):
        for name, take in contest.entries.items():
            turns[name].append(take())
            tick()
    return {name: score(taken, contest.best) for name, taken in turns.items()}


def hold(contest: Contest, tick: Callable[[], None]) -> list[Line]:
    return contest.verdict(scores(contest, tick))


def measure(contests: Sequence[Contest]) -> list[Line]:
    """The lines of all contests. The bar on stderr is drawn between turns, never during one."""
    with Progress(console=Console(stderr=True), auto_refresh=False) as progress:
        total = sum(contest.rounds * len(contest.entries) for contest in contests)
        task = progress.add_task("measuring", total=total)

        def tick() -> None:
            progress.update(task, advance=1, refresh=True)

        progress.refresh()
        return [line for contest in contests for line in hold(contest, tick)]


def table(lines: list[Line]) -> Table:
    drawn = Table(box=box.MARKDOWN)
    for heading in HEADINGS:
        drawn.add_column(heading, justify="right" if heading in NUMBERS else "left")
    for line in lines:
        drawn.add_row(*line)
    return drawn
