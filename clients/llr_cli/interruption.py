"""Ctrl-C before a command has begun."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

STOPPED = 130


@contextmanager
def quiet() -> Iterator[None]:
    """End without a traceback where this block, such as one of slow imports, is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("llr: stopped\n")
        sys.exit(STOPPED)
