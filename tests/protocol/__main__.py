"""`python -m protocol`, in `make model`: all that can happen, and what a precaution is for."""

import sys
import time

from rich.console import Console
from rich.table import Table

from .model import BrokenError, search
from .rules import MUTANTS, Bounds, Rules

BOUNDS = (
    Bounds(),
    Bounds(samples=(2,)),
    Bounds(samples=(2, 1), sends=1),
    Bounds(samples=(1, 1, 1), sends=1),
)


def main() -> int:
    """Search, print a table; returns 1 if something is not as it should be."""
    table = Table("protocol", "bounds", "states", "s", "what came of it")
    wrong = False
    for bounds in BOUNDS:
        wrong |= _tried(table, "as it is", Rules(), bounds) is not None
    for name, rules in MUTANTS.items():
        wrong |= _tried(table, name, rules, Bounds(crashes=0, breaks=0)) is None
    Console().print(table)
    return int(wrong)


def _tried(table: Table, name: str, rules: Rules, bounds: Bounds) -> str | None:
    """Search with some rules; returns how they were broken, None if they were not."""
    started, states, broken = time.perf_counter(), "", None
    try:
        states = f"{search(rules, bounds):,}"
    except BrokenError as error:
        broken = str(error)
    seconds = f"{time.perf_counter() - started:.1f}"
    said = f"{bounds.replicas} replicas, {bounds.samples} samples, {bounds.sends} sends"
    said += f", {bounds.crashes} crashes, {bounds.breaks} breaks"
    table.add_row(name, said, states, seconds, broken or "every promise kept")
    return broken


if __name__ == "__main__":
    sys.exit(main())
