"""HTTP/1.1 by hand: a connection that stays open, can be slow, and can be left hanging."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from .journal import current

HOST = "127.0.0.1"
NOTHING: Mapping[str, str] = {}
LOST = (OSError, EOFError)
"""What a request ends with when the other side is gone: whether it was taken is not known."""


class Answer(NamedTuple):
    """A status, a body, and headers by their names in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = NOTHING

    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)


def head(method: str, path: str, headers: Mapping[str, str] = NOTHING) -> bytes:
    """The first lines of a request."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {HOST}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


class Wire:
    """One connection, one request at a time. `async with` closes it."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, place: str = ""
    ) -> None:
        self.reader, self.writer, self._place = reader, writer, place

    @classmethod
    async def open(cls, port: int, host: str = HOST) -> "Wire":
        """Connect to a service, on loopback unless it has a host of its own."""
        return cls(*await asyncio.open_connection(host, port), f"{host}:{port}")

    async def ask(self, method: str, path: str, body: bytes = b"", kind: str = "") -> Answer:
        """Send a request and read its answer. Raises one of `LOST`."""
        headers = {"Content-Length": str(len(body))} | ({"Content-Type": kind} if kind else {})
        journal, answer = current(), Answer(0, b"")
        seen = journal.asked(self._place, method, path, body, kind) if journal else None
        try:
            self.writer.write(head(method, path, headers) + body)
            answer = await self.answer()
        finally:
            if journal is not None:
                journal.answered(seen, answer.status or None, answer.body)
        return answer

    async def answer(self) -> Answer:
        """Read an answer that says its length."""
        status, headers = await self.begun()
        body = await self.reader.readexactly(int(headers["content-length"]))
        return Answer(status, body, headers)

    async def begun(self) -> tuple[int, dict[str, str]]:
        """Read the first lines of an answer."""
        first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().splitlines()
        pairs = (line.partition(":") for line in lines if line)
        return int(first.split()[1]), {name.lower(): value.strip() for name, _, value in pairs}

    async def chunk(self) -> bytes:
        """Read the next piece of an answer in chunks, empty at its end."""
        size = int(await self.reader.readuntil(b"\r\n"), 16)
        return (await self.reader.readexactly(size + 2))[:-2]

    async def send_chunk(self, data: bytes) -> None:
        """Send a piece of a body in chunks, and wait until there is room for more."""
        self.writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await self.writer.drain()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()
