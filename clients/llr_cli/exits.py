"""Exit codes of the command, and the one line on stderr that says why it failed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

REFUSED, USAGE, UNREACHABLE, STOPPED = 1, 2, 3, 130
"""The service refused or the data is bad, called wrongly, no answer, Ctrl-C; 0 is success."""


def fail(code: int, why: str) -> NoReturn:
    """Print the reason in one line on stderr, and exit."""
    sys.stderr.write(f"llr: {' '.join(why.split())}\n")
    raise typer.Exit(code)


@contextmanager
def quiet() -> Iterator[None]:
    """Exit without a traceback if Ctrl-C interrupts this block, such as one of slow imports."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("llr: stopped\n")
        sys.exit(STOPPED)
