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

from llr_service.sessions.replay import is_unfinished
from llr_service.stores import open_store, split_urls
from llr_service.stores.postgres.url import display_url, with_option
from llr_service.stores.store import SessionSummary, Store, StoreError
from llr_service.stores.transfer import StoreTransfer

COLUMNS = (
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeRemainingColumn(),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Move; returns the exit code."""
    parser = argparse.ArgumentParser(prog="llr migrate-store", description=__doc__)
    parser.add_argument("source", nargs="+", help="the URLs of the stores that have the sessions")
    parser.add_argument("destination", help="the URL of the store that shall have them")
    given = parser.parse_args(arguments)
    try:
        with ExitStack() as stack:
            sources = [
                _opened(stack, url, "migrate")
                for given_urls in given.source
                for url in split_urls(given_urls)
            ]
            destination = _opened(stack, given.destination, "migrate")
            moved, all_of_them = move(sources, destination)
    except StoreError as failure:
        sys.stderr.write(f"llr migrate-store: {failure}\n")
        return 1
    to = display_url(given.destination)
    sys.stdout.write(f"{all_of_them} sessions are in {to}, {moved} of them moved now\n")
    return 0


def move(sources: Sequence[Store], destination: Store) -> tuple[int, int]:
    """Move all sessions; returns how many had to be, and how many there are."""
    work = StoreTransfer(sources, destination)
    rows = work.listed()
    _settled(rows)
    names = [row.name for row in rows]
    with Progress(*COLUMNS, console=Console(stderr=True)) as progress:
        moved = sum(progress.track(work.move(names), total=len(names)))
    return moved, len(names)


def _settled(rows: Sequence[SessionSummary]) -> None:
    """See that no session is about to learn another's samples, which it knows by their number."""
    for row in filter(is_unfinished, rows):
        raise StoreError(
            f"session {row.name} has not learnt all samples it was forked for: let it finish first"
        )


def _opened(stack: ExitStack, url: str, *options: str) -> Store:
    """Open a store that no other process uses meanwhile."""
    if url == "memory:":
        raise StoreError("memory: is nowhere, sessions cannot be moved there or from there")
    for option in ("alone", *options):
        url = with_option(url, option)
    return stack.enter_context(closing(open_store(url)))


if __name__ == "__main__":
    sys.exit(main())
