"""Lines of stdin: a sample each, as NDJSON or csv. A line's number is its place in the input."""

import asyncio
import os
import threading
from collections.abc import Iterable
from concurrent.futures import CancelledError
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from llr_cli.connection import BadData

from llr_connect.journal import Journal, data_folder
from llr_connect.lane import Lane, Lanes
from llr_connect.lines import CsvLines, Lines, NdjsonLines
from llr_connect.message import Message, producer_name, session_name
from llr_connect.options import Options
from llr_connect.source import Source
from llr_connect.status import Status

CHUNK = 64 * 1024
LONGEST = 16 * 1024 * 1024
"""Bytes of a line: beyond it the input is no text of samples."""


class Format(StrEnum):
    """How a line is written."""

    NDJSON = "ndjson"
    CSV = "csv"


class Stdin:
    """Lines as they come.

    Args:
        producer: under which name they are numbered.
        lines: reads them.
        first: the number of the first sample; None for the one after those learnt.
        journal: where what is left out is kept.
    """

    name, notice = "stdin", ""
    batch: int | None = None

    def __init__(self, producer: str, lines: Lines, first: int | None, journal: Journal) -> None:
        self.journal: Journal | None = journal
        self._kept, self._producer, self._lines = journal, producer, lines
        self._first, self._number, self._line, self._expected = first, 0, 0, 0
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue(4)
        self._begun, self._waiting, self._ended = b"", list[Message](), False

    async def start(self, lanes: Lanes, status: Status) -> None:
        """Find out how far the service is, and begin to read."""
        lane = await lanes.of("stdin", self._producer)
        self._expected = lane.expected
        self._number = lane.expected if self._first is None else self._first
        self._status = status
        if self._number < lane.expected:
            count = lane.expected - self._number
            status.say(f"{count:,} samples came before: they are skipped")
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), daemon=True).start()

    async def take(self, most: int) -> list[Message]:
        """The lines that have come."""
        while not self._waiting and not self._ended:
            self._split(await self._chunks.get())
        taken, self._waiting = self._waiting[:most], self._waiting[most:]
        return taken

    async def settle(self, lane: Lane, messages: list[Message]) -> None:
        """Nobody waits for a word."""

    async def leave_out(
        self, lane: Lane, why: str, numbers: range | None, message: Message | None
    ) -> None:
        """Write it to the journal."""
        text = message.text if message else ""
        self._kept.add(lane.name, lane.producer, why, numbers, text)

    def lag(self) -> int | None:
        """What waits in a pipe nobody knows."""
        return None

    async def close(self) -> None:
        """Nobody is left to be told."""

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """In a thread of its own, since a pipe may say nothing for hours; empty at the end."""
        chunk = b"\n"
        with suppress(CancelledError):  # nobody listens any more
            while chunk and not loop.is_closed():
                chunk = os.read(0, CHUNK)
                asyncio.run_coroutine_threadsafe(self._chunks.put(chunk), loop).result()

    def _split(self, chunk: bytes) -> None:
        """Whole lines become messages; the rest waits for what follows it."""
        *whole, self._begun = (self._begun + chunk).split(b"\n")
        if not chunk:
            self._ended, whole, self._begun = True, [*whole, self._begun], b""
        if len(self._begun) > LONGEST:
            raise BadData(f"line {self._line + len(whole) + 1} has more than {LONGEST} bytes")
        self._waiting += self._messages(whole)

    def _messages(self, lines: list[bytes]) -> Iterable[Message]:
        for line in lines:
            self._line += 1
            if not line.strip() or (found := self._lines.read(line)) is None:
                continue
            number, self._number = self._number, self._number + 1
            if number < self._expected:
                self._status.repeated += 1
                continue
            text = line.decode(errors="replace").rstrip()
            place = f"line {self._line}"
            yield Message("stdin", self._producer, place, text, number=number, **found)


def from_stdin(
    options: Options,
    producer: Annotated[
        str | None, typer.Option(help="Number samples under this name. (Default: stdin:SESSION.)")
    ] = None,
    kind: Annotated[Format, typer.Option("--format", help="How a line is written.")] = (
        Format.NDJSON
    ),
    delimiter: Annotated[str, typer.Option(help="Between the cells of a csv.")] = ",",
    first: Annotated[
        int, typer.Option("--from", min=0, help="The number of the first sample that comes.")
    ] = 0,
    continuing: Annotated[
        bool, typer.Option("--continue", help="What comes was never sent before: learn all of it.")
    ] = False,
    journal: Annotated[
        Path | None, typer.Option(help="Where what is left out is kept. (Default: see the docs.)")
    ] = None,
) -> Source:
    """Learn from the lines of stdin, each once.

    The same command with the same input goes on where it stopped: lines that were learnt before are
    skipped. Where the input does not repeat itself say --continue, or --from with the number of the
    first sample it has.

    Example: tail -n +1 -F sales.ndjson | llr connect stdin --session sales --model linear
    """
    if "{topic}" in options.session:
        raise typer.BadParameter("stdin is one stream: {topic} has no meaning in --session")
    if continuing and first:
        raise typer.BadParameter("give --from or --continue, not both")
    if len(delimiter) != 1:
        raise typer.BadParameter("--delimiter is one character")
    name = producer_name(producer) if producer else producer_name("stdin", options.session)
    lines = (
        CsvLines(options.chosen, delimiter) if kind == Format.CSV else NdjsonLines(options.chosen)
    )
    plain = session_name("stdin-{topic}.ndjson", f"{options.session}-{name}")
    kept = Journal(journal or data_folder() / plain)
    return Stdin(name, lines, None if continuing else first, kept)
