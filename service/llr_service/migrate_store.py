"""`python -m llr_service.migrate_store`, which is `llr migrate-store`: all sessions elsewhere.

The source stays as it is. What was moved is read again and compared. A move that was stopped goes
on where it was when it is started again.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from llr_service.sessions.relearner import unfinished
from llr_service.stores import open_stores
from llr_service.stores.moving import Move
from llr_service.stores.places import shown, urls
from llr_service.stores.postgres.address import told
from llr_service.stores.store import Listed, Store, StoreError

COLUMNS = (
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeRemainingColumn(),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Move; returns the exit code."""
    parser = argparse.ArgumentParser(prog="llr migrate-store", description=__doc__)
    parser.add_argument("source", help="the URL of the store that has the sessions")
    parser.add_argument("destination", help="that of the store that shall have them")
    given = parser.parse_args(arguments)
    try:
        with ExitStack() as stack:
            source = _opened(stack, given.source)
            moved, all_of_them = move(source, _opened(stack, given.destination, "migrate"))
    except StoreError as failure:
        sys.stderr.write(f"llr migrate-store: {failure}\n")
        return 1
    to = ", ".join(map(shown, urls(given.destination)))
    sys.stdout.write(f"{all_of_them} sessions are in {to}, {moved} of them moved now\n")
    return 0


def move(source: Sequence[Store], destination: Sequence[Store]) -> tuple[int, int]:
    """Move all sessions; returns how many had to be, and how many there are."""
    work = Move(source, destination)
    rows = work.listed()
    _settled(rows)
    names = [row.name for row in rows]
    with Progress(*COLUMNS, console=Console(stderr=True)) as progress:
        moved = sum(progress.track(work.move(names), total=len(names)))
    return moved, len(names)


def _settled(rows: Sequence[Listed]) -> None:
    """See that no session is about to learn another's samples, which it knows by their number."""
    for row in filter(unfinished, rows):
        raise StoreError(
            f"session {row.name} has not learnt all samples it was forked for: let it finish first"
        )


def _opened(stack: ExitStack, store: str, *options: str) -> list[Store]:
    """The stores of a list, for nobody else meanwhile."""
    if "memory:" in urls(store):
        raise StoreError("memory: is nowhere, sessions cannot be moved there or from there")
    wanted = []
    for url in urls(store):
        for option in ("alone", *options):
            url = told(url, option)  # noqa: PLW2901
        wanted.append(url)
    return [stack.enter_context(closing(each)) for each in open_stores(",".join(wanted))]


if __name__ == "__main__":
    sys.exit(main())
