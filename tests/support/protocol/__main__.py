"""`python -m support.protocol`, in `make model`: all that can happen, and what precautions do."""

import sys
import time

from rich.console import Console
from rich.table import Table

from . import kinds
from .model import search
from .promises import PROMISES, BrokenError
from .rules import MUTANTS, Bounds, Rules

BOUNDS = (
    Bounds(),
    Bounds(samples=(2,)),
    Bounds(samples=(2, 1), sends=1),
    Bounds(samples=(1, 1, 1), sends=1),
    Bounds(samples=(1,), deletes=1),
    Bounds(sends=1, crashes=0, breaks=0, deletes=1),
    Bounds(samples=(1,), crashes=0, losses=1),
    Bounds(sends=1, crashes=0, breaks=0, losses=1),
)
COLUMNS = ("replicas", "samples", "sends", "crashes", "breaks", "deletes", "losses")


def main() -> int:
    """Search, print what is promised and a table; returns 1 if something is not as it should be."""
    table = Table("protocol", *COLUMNS, "states", "s", "what came of it", box=None)
    kept = [_tried(table, "as it is", Rules(), bounds) for bounds in BOUNDS]
    broken = [_tried(table, name, *mutant) for name, mutant in MUTANTS.items()]
    console = Console(width=140)
    console.print(f"In each of {sum(kept):,} states:", *PROMISES, sep="\n- ", highlight=False)
    console.print(table)
    every = Table("all kinds of changes", "states", "s", "what came of it", box=None)
    kept += [_searched(every, name, case) for name, case in kinds.CASES.items()]
    broken += [_searched(every, name, case) for name, case in kinds.BROKEN.items()]
    console.print(every)
    return int(not all(kept) or any(broken))


def _searched(table: Table, name: str, case: kinds.Case) -> int:
    """The same with all kinds of changes."""
    started, states, came = time.perf_counter(), 0, "every promise kept"
    try:
        states = kinds.search(case)
    except BrokenError as error:
        came = str(error)
    seconds = f"{time.perf_counter() - started:.1f}"
    table.add_row(name, f"{states:,}" if states else "", seconds, came)
    return states


def _tried(table: Table, name: str, rules: Rules, bounds: Bounds) -> int:
    """Search with some rules; returns how many states there are, 0 if a promise was broken."""
    started, states, came = time.perf_counter(), 0, "every promise kept"
    try:
        states = search(rules, bounds)
    except BrokenError as error:
        came = str(error)
    seconds = f"{time.perf_counter() - started:.1f}"
    counts = [str(getattr(bounds, column)) for column in COLUMNS]
    table.add_row(name, *counts, f"{states:,}" if states else "", seconds, came)
    return states


if __name__ == "__main__":
    sys.exit(main())
