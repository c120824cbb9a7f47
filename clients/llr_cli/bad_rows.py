"""What `llr push` does with rows that are no samples: stop, skip them, or write them to a file."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer

from llr_cli.formats import BadRow
from llr_cli.options import BadData

STOP, SKIP = "stop", "skip"
SHOWN = 5
"""The most bad rows that are shown on stderr."""


def parse_choice(given: str) -> str:
    """Check the value of --bad: `stop`, `skip`, or a file that can be written."""
    if given not in (STOP, SKIP) and (Path(given).is_dir() or not Path(given).parent.is_dir()):
        raise typer.BadParameter(f"stop, skip or a file: {given!r} cannot be written")
    return given


class BadRows:
    """Counts bad rows, shows the first of them, and appends them to a file if asked for.

    Args:
        choice: `stop`, `skip` or the file's path.
        say: prints a line.

    Attributes:
        tolerant: whether a push goes on after a bad row.
        count: the bad rows so far.
    """

    def __init__(self, choice: str, say: Callable[[str], None]) -> None:
        self.tolerant, self.count = choice != STOP, 0
        self._file = None if choice in (STOP, SKIP) else Path(choice)
        self._say = say

    def add(self, rows: Iterable[BadRow]) -> None:
        """Write rows to the file, before what follows them is learnt."""
        lines = []
        for row in rows:
            self.count += 1
            if self.count <= SHOWN:
                self._say(f"skipped {row.unit} {row.place}: {row.why}")
            elif self.count == SHOWN + 1:
                self._say("more bad rows are skipped without a line here")
            lines.append(
                json.dumps({row.unit: row.place, "error": row.why, "content": row.content})
            )
        if self._file is not None and lines:
            self._append("".join(f"{line}\n" for line in lines))

    def summary(self) -> str:
        """The number of bad rows in words; empty if there are none."""
        if not self.count:
            return ""
        kept = f", see {self._file}" if self._file is not None else ""
        return f", {self.count:,} bad {'row' if self.count == 1 else 'rows'} skipped{kept}"

    def members(self) -> dict[str, Any]:
        """The number of bad rows for --json; nothing if a push stops at the first."""
        return {"bad": self.count} if self.tolerant else {}

    def _append(self, text: str) -> None:
        assert self._file is not None  # noqa: S101
        try:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise BadData(f"{self._file}: {error.strerror}") from None
