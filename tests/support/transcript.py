"""Transcripts in the docs: what stands after `$ ` is typed into a shell, the rest is what it said.

Where the text has `…` the shell may have said anything; how lines are broken does not matter.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import NamedTuple

from scripts.system_programs import need

MARK = "that was"
LLR = f'#!/bin/sh\nexec "{sys.executable}" -c "from llr_cli.cli import main; main()" "$@"\n'


class Exchange(NamedTuple):
    """A command, and what is to be said to it."""

    command: str
    said: str

    def fits(self, said: str) -> bool:
        """Whether the shell said it."""
        pattern = ".*".join(re.escape(_joined(part)) for part in self.said.split("…"))
        return re.fullmatch(pattern, _joined(said), re.DOTALL) is not None


def exchanges(page: str) -> list[Exchange]:
    """All that is typed and said on a page, in order."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines(keepends=True)
            length = next(k for k, line in enumerate(lines, 1) if not line.endswith("\\\n"))
            command, said = "".join(lines[:length]), "".join(lines[length:])
            found.append(Exchange(command.strip(), said))
    return found


def _joined(text: str) -> str:
    return "".join(text.split())


class Shell:
    """A bash that is typed into."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def run(self, exchange: Exchange) -> str:
        """What is said to a command, and its exit code unless it is 0.

        Of one in the background it is the first line.
        """
        assert self._process.stdin is not None
        waits = exchange.command.endswith("&")
        self._process.stdin.write(f"{exchange.command}\n")
        if not waits:
            self._process.stdin.write(f"printf '\\n{MARK} %s\\n' $?\n")
        self._process.stdin.flush()
        return self._line() if waits else self._until_mark()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def _until_mark(self) -> str:
        said = ""
        while line := self._line():
            if line.startswith(MARK):
                code = line.split()[-1]
                return said if code == "0" else f"{said}exit {code}\n"
            said += line
        raise AssertionError(f"the shell ended: {said}")


@contextmanager
def shell(folder: Path, seconds: float, **variables: str) -> Iterator[Shell]:
    """A bash in a folder with `llr` on its path; it and what it started end after some seconds."""
    need("curl")
    (folder / "bin").mkdir()
    (folder / "bin" / "llr").write_text(LLR)
    (folder / "bin" / "llr").chmod(0o755)
    path = f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    known = {name: value for name, value in os.environ.items() if not name.startswith("LLR_")}
    with subprocess.Popen(
        ["bash", "--norc"],  # noqa: S607
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        env=known | {"PATH": path} | variables,
        text=True,
        start_new_session=True,
    ) as process:
        watchdog = Timer(seconds, lambda: os.killpg(process.pid, 9))
        watchdog.start()
        try:
            yield Shell(process)
        finally:
            watchdog.cancel()
            os.killpg(process.pid, 15)
            process.wait(timeout=20)
