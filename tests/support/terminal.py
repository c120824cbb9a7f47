"""The command `llr` at a terminal of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LLR = [sys.executable, "-c", "from llr_cli.cli import main; main()"]


@contextmanager
def at_a_terminal(*arguments: str) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """A command with a terminal of its own, whose keys are written to the number."""
    ours, its = os.openpty()
    with subprocess.Popen([*LLR, *arguments], preexec_fn=lambda: os.login_tty(its)) as process:  # noqa: S603, PLW1509
        os.close(its)
        try:
            yield process, ours
        finally:
            process.kill()
            os.close(ours)


def until(terminal: int, words: bytes) -> str:
    """What a terminal shows until these words; fails if the program ends before."""
    seen = b""
    while words not in seen:
        seen += os.read(terminal, 4096)
    return seen.decode(errors="replace")


def to_the_end(terminal: int) -> None:
    """Read a terminal until nobody writes to it any more."""
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:  # that is how the end looks
        return
