"""`python -m stress`, in `make torture`: the long forms, with a table of what came of them.

Exits 1 if a promise was broken or something took too long, 2 if it was called wrongly.
"""

import argparse
import logging
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from .rows import ROWS
from .verdict import Harness, Verdict

SAID = 500
"""Characters of a failure that go into the table."""


def asked(words: list[str] | None = None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser("torture", description=__doc__)
    rows = ", ".join(map(str, ROWS))
    parser.add_argument("--rows", help=f"which, separated by commas: {rows}", default="")
    parser.add_argument("--seed", type=int, default=1, help="of everything random")
    parser.add_argument("--scale", type=float, default=1.0, help="0.1 for a tenth of everything")
    parser.add_argument("--report", type=Path, help="a file for the table, as markdown")
    given = parser.parse_args(words)
    try:
        given.rows = [int(row) for row in given.rows.split(",") if row] or [*ROWS]
    except ValueError:
        parser.error("--rows: numbers separated by commas")
    if not set(given.rows) <= set(ROWS):
        parser.error(f"--rows: there are {rows}")
    return given


def tried(row: Harness, seed: int, count: int, progress: Progress) -> Verdict:
    """Run a harness in a folder of its own, with a bar. Whatever it raises is a fault."""
    task = progress.add_task(row.promise, total=count)
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        try:
            return row.run(Path(folder), seed, count, lambda: progress.advance(task))
        except Exception as failure:
            said = f"{failure}"[-SAID:]  # the last of it, for a server's whole log may be in it
            return Verdict({}, row.unit, [f"{type(failure).__name__}: {said}"])


def table() -> Table:
    """An empty one."""
    made = Table("row", "promise", "seed", "counts", "target", "s", "verdict", box=box.SIMPLE_HEAD)
    made.columns[3].overflow = "fold"
    return made


def line(number: int, seed: int, verdict: Verdict, seconds: float) -> tuple[str, ...]:
    """A row of the table."""
    counts = escape("\n".join(f"{name} {value}" for name, value in verdict.counts.items()))
    promise, said = ROWS[number].promise, "[red]BROKEN[/]" if verdict.faults else "[green]holds[/]"
    said = "\n".join(
        [
            said,
            *map(escape, verdict.faults),
            *(f"[yellow]slow:[/] {each}" for each in verdict.slow),
        ]
    )
    return str(number), promise, str(seed), counts, verdict.target, f"{seconds:.0f}", said


def markdown(lines: Sequence[Sequence[str]], seconds: float) -> str:
    """The table for a document, with how long all of it took."""
    heads = ("row", "promise", "seed", "counts", "target", "s", "verdict")
    rows = [heads, ("---",) * len(heads), *lines]
    table = ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join([*table, "", f"{len(lines)} rows in {seconds / 60:.0f} minutes.", ""])


def _cell(text: str) -> str:
    """A cell's text: plain, and on one line."""
    return Text.from_markup(text).plain.replace("|", "\\|").replace("\n", ", ")


def main() -> int:
    """Run the rows, print the table; returns the exit code."""
    given, console, shown = asked(), Console(), table()
    logging.disable(logging.CRITICAL)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    broken, begun, lines = False, time.perf_counter(), list[tuple[str, ...]]()
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        whole = progress.add_task("all rows", total=len(given.rows))
        for number in given.rows:
            row, started = ROWS[number], time.perf_counter()
            count = max(1, round(row.long * given.scale))
            verdict = tried(row, given.seed, count, progress)
            lines.append(line(number, given.seed, verdict, time.perf_counter() - started))
            broken |= bool(verdict.faults or verdict.slow)
            progress.advance(whole)
            if given.report:  # after each, so that what was done is not lost with the rest
                given.report.write_text(markdown(lines, time.perf_counter() - begun))
    for each in lines:
        shown.add_row(*each)
    console.print(shown)
    console.print(f"{(time.perf_counter() - begun) / 60:.1f} minutes")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
