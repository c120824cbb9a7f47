"""Races: contestants take turns, the best turn of each counts, and a table tells who won.

Turns go A B C A B C, so that a machine which is busy for a while slows them all alike.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

Run = Callable[[], object]
Times = dict[str, float]


class Contestant(NamedTuple):
    """Something to time: `prepare` is not timed, the run it returns is."""

    name: str
    samples: int
    prepare: Callable[[], Run]


class Row(NamedTuple):
    """A line of the table."""

    what: str
    cost: str
    ratio: str = ""
    target: str = ""
    reached: str = ""


class Race(NamedTuple):
    """Contestants that take turns, and what their best times, in ns a sample, amount to."""

    contestants: list[Contestant]
    rounds: int
    verdict: Callable[[Times], list[Row]]


def plain(what: str, ns: float) -> Row:
    return Row(what, f"{ns:,.1f}")


def below(what: str, ns: float, limit: float) -> Row:
    return Row(what, f"{ns:,.1f}", "", f"≤ {limit:,.0f} ns", yes(ns <= limit))


def beaten(what: str, ns: float, winner: str, best: float, least: float) -> Row:
    """A row for what should take at least so many times as long as the winner."""
    target = f"≥ {least:g} × {winner}"
    return Row(what, f"{ns:,.1f}", f"{ns / best:.2f}", target, yes(ns / best >= least))


def within(what: str, ns: float, rival: str, other: float, most: float) -> Row:
    """A row for what may take at most so many times as long as its rival."""
    target = f"≤ {most:g} × {rival}"
    return Row(what, f"{ns:,.1f}", f"{ns / other:.2f}", target, yes(ns / other <= most))


def yes(reached: bool) -> str:
    return "yes" if reached else "no"


def turn(contestant: Contestant) -> float:
    """One timed run, in ns a sample."""
    run = contestant.prepare()
    begin = time.perf_counter_ns()
    run()
    return (time.perf_counter_ns() - begin) / contestant.samples


def hold(race: Race, tick: Callable[[], None]) -> list[Row]:
    best = {contestant.name: float("inf") for contestant in race.contestants}
    for _ in range(race.rounds):
        for contestant in race.contestants:
            best[contestant.name] = min(best[contestant.name], turn(contestant))
            tick()
    return race.verdict(best)


def measure(prepare: Callable[[], list[Race]]) -> list[Row]:
    """The rows of all races. The bar on stderr is drawn between turns, never during one."""
    with Progress(console=Console(stderr=True), auto_refresh=False) as progress:
        task = progress.add_task("racing", total=None)
        todo = prepare()
        progress.update(task, total=sum(r.rounds * len(r.contestants) for r in todo))

        def tick() -> None:
            progress.update(task, advance=1, refresh=True)

        return [row for race in todo for row in hold(race, tick)]


def table(rows: list[Row]) -> Table:
    shown = Table("what", box=box.MARKDOWN)
    for column in ("ns/sample", "ratio"):
        shown.add_column(column, justify="right")
    for column in ("target", "reached"):
        shown.add_column(column)
    for row in rows:
        shown.add_row(*row)
    return shown
