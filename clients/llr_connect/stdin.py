"""Stdin source: a sample per line, as NDJSON or CSV; a line's number is its index in the input."""

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
from llr_cli.options import BadData

from llr_connect.channels import Channels, Journal, ProducerChannel, data_folder
from llr_connect.messages import CsvLines, Lines, Message, NdjsonLines, producer_name, session_name
from llr_connect.options import Options
from llr_connect.source import Source
from llr_connect.status import Status

CHUNK = 64 * 1024
MAX_LENGTH = 16 * 1024 * 1024
"""The longest line, in bytes."""


class Format(StrEnum):
    """The format of a line."""

    NDJSON = "ndjson"
    CSV = "csv"


class StdinSource:
    """The lines of stdin.

    Args:
        producer: the name under which samples are numbered.
        lines: the parser of lines.
        first: the number of the first sample; None to continue after those learnt.
        journal: the journal of skipped messages.
    """

    name, notice, sparse = "stdin", "", False
    batch: int | None = None

    def __init__(self, producer: str, lines: Lines, first: int | None, journal: Journal) -> None:
        self.journal: Journal | None = journal
        self._kept, self._producer, self._lines = journal, producer, lines
        self._first, self._number, self._line, self._expected = first, 0, 0, 0
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue(4)
        self._begun, self._waiting, self._ended = b"", list[Message](), False

    async def start(self, channels: Channels, status: Status) -> None:
        """Ask the service for the next number, and start reading."""
        channel = await channels.of("stdin", self._producer)
        self._expected = channel.expected
        self._number = channel.expected if self._first is None else self._first
        self._status = status
        if self._number < channel.expected:
            count = channel.expected - self._number
            status.say(f"{count:,} samples came before: they are skipped")
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), daemon=True).start()

    async def take(self, most: int) -> list[Message]:
        """Wait for lines."""
        while not self._waiting and not self._ended:
            self._split(await self._chunks.get())
        taken, self._waiting = self._waiting[:most], self._waiting[most:]
        return taken

    async def acknowledge(self, channel: ProducerChannel, messages: list[Message]) -> None:
        """Do nothing: stdin needs no acknowledgement."""

    async def skip(
        self, channel: ProducerChannel, why: str, numbers: range | None, message: Message | None
    ) -> None:
        """Record the skipped line in the journal."""
        text = message.text if message else ""
        self._kept.add(channel.name, channel.producer, why, numbers, text)

    def lag(self) -> int | None:
        """None: the length of a pipe is unknown."""
        return None

    async def close(self) -> None:
        """Do nothing: the thread ends with the process."""

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read chunks in a thread, since a pipe may block for hours; the last chunk is empty."""
        chunk = b"\n"
        with suppress(CancelledError):  # the event loop has ended
            while chunk and not loop.is_closed():
                chunk = os.read(0, CHUNK)
                asyncio.run_coroutine_threadsafe(self._chunks.put(chunk), loop).result()

    def _split(self, chunk: bytes) -> None:
        """Convert complete lines to messages; keep an incomplete one for the next chunk."""
        *whole, self._begun = (self._begun + chunk).split(b"\n")
        if not chunk:
            self._ended, whole, self._begun = True, [*whole, self._begun], b""
        if len(self._begun) > MAX_LENGTH:
            raise BadData(f"line {self._line + len(whole) + 1} has more than {MAX_LENGTH} bytes")
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
    kind: Annotated[Format, typer.Option("--format", help="The format of a line.")] = (
        Format.NDJSON
    ),
    delimiter: Annotated[str, typer.Option(help="Between the cells of a csv.")] = ",",
    first: Annotated[
        int, typer.Option("--from", min=0, help="The number of the first sample of the input.")
    ] = 0,
    continuing: Annotated[
        bool, typer.Option("--continue", help="The input was never sent before: learn all of it.")
    ] = False,
    journal: Annotated[
        Path | None, typer.Option(help="File of skipped lines. (Default: see the docs.)")
    ] = None,
) -> Source:
    """Learn from the lines of stdin, each exactly once.

    The same command with the same input continues where it stopped: lines that were learnt before
    are skipped. If the input does not repeat itself, give --continue, or --from with the number of
    its first sample.

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
    return StdinSource(name, lines, None if continuing else first, kept)
