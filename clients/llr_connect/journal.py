"""What was left out of a numbered stream, in a file: why, and which numbers it had.

The service numbers what it learns without gaps. So the number of a message in its session is its
own less those left out before it, and whoever starts again needs to know them. A line is on disk
before anything after it is sent.
"""

import fcntl
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any, BinaryIO

from llr_cli.connection import BadData


def data_folder() -> Path:
    """Where journals are kept unless told otherwise."""
    given = Path(os.environ.get("XDG_DATA_HOME", ""))
    base = given if given.is_absolute() else Path.home() / ".local" / "share"
    return base / "llr" / "connect"


class Journal:
    """A file of lines of JSON, for one connector at a time.

    Args:
        path: where it is; made when something is left out.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._left_out: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        self._file: BinaryIO | None = None
        if path.exists():
            self._file = self._opened()
            self._load(self._file)

    def close(self) -> None:
        """Let another have it."""
        if self._file is not None:
            self._file.close()

    def expected(self, session: str, producer: str, acked: int) -> int:
        """The number of the message after the first `acked` that were learnt."""
        number = acked
        for first, last in self._left_out[session, producer]:
            if first > number:
                break
            number += last - first + 1
        return number

    def add(
        self, session: str, producer: str, why: str, numbers: range | None = None, text: str = ""
    ) -> None:
        """Note what is left out; it is on disk when this returns."""
        if self._file is None:
            self._file = self._opened()
        line: dict[str, Any] = {"session": session, "producer": producer, "why": why}
        if numbers is not None:
            line |= {"first": numbers.start, "last": numbers.stop - 1}
        self._file.write(json.dumps(line | ({"message": text} if text else {})).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _opened(self) -> BinaryIO:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("a+b")
            folder = os.open(self.path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        except OSError as error:
            raise BadData(f"the journal cannot be opened: {error}") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise BadData(f"another connector has the journal {self.path} open") from None
        return file

    def _load(self, file: BinaryIO) -> None:
        """Read what is there; a last line that was never finished is cut off."""
        file.seek(0)
        end = 0
        for count, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            end += len(line)
            try:
                self._note(json.loads(line))
            except (ValueError, TypeError, KeyError):
                self.close()
                raise BadData(f"{self.path}, line {count}: not a line of a journal") from None
        file.truncate(end)

    def _note(self, line: dict[str, Any]) -> None:
        if "first" in line:
            numbers = int(line["first"]), int(line["last"])
            self._left_out[line["session"], line["producer"]].append(numbers)
