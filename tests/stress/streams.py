"""What stays open for long: event streams that are read, or not, and uploads without an end."""

import asyncio
import json
import socket
from contextlib import suppress

from support.checker import Seen

from .journal import Journal, current
from .lanes import Own
from .samples import NDJSON, as_ndjson
from .wire import HOST, LOST, Wire, head

WINDOW = 2000
"""Lines an upload sends ahead of what is acknowledged."""
LINES = 50


class Watcher:
    """An event stream, read to its end.

    Attributes:
        open: set once the first event is there, or it is clear that none will be.
        events: how many came.
        ended: whether the service ended the stream, and did not just go away.
    """

    def __init__(self, session: str) -> None:
        self._request = head("GET", f"/v1/sessions/{session}/events")
        self.open = asyncio.Event()
        self.events = 0
        self.ended = False

    async def run(self, port: int) -> None:
        """Read until the service ends the stream, or is gone."""
        with suppress(*LOST):
            async with await Wire.open(port) as wire:
                wire.writer.write(self._request)
                await wire.begun()
                while await wire.chunk():
                    self.events += 1
                    self.open.set()
                self.ended = True
        self.open.set()


def frozen(port: int, session: str) -> socket.socket:
    """An event stream that is asked for and never read."""
    stream = socket.socket()
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stream.connect((HOST, port))
    stream.sendall(head("GET", f"/v1/sessions/{session}/events"))
    return stream


class Upload:
    """An NDJSON body without an end, acknowledged block by block, begun anew where it broke off.

    The journal is told of each piece of the body as of a request: it is sent when it is written,
    and answered when an acknowledgement shows that all of it is there, or when none will.

    Attributes:
        lane: what is sent.
        open: set while the present body has acknowledgements, or can have none any more.
    """

    def __init__(self, lane: Own) -> None:
        self.lane = lane
        self.open = asyncio.Event()
        self._place = ""
        self._pieces = list[Seen]()

    async def run(self, port: int) -> None:
        """Send and read acknowledgements until the service ends the answer, or is gone."""
        self.open.clear()
        self._place = f"{HOST}:{port}"
        headers = {"Content-Type": NDJSON, "Accept": NDJSON, "Transfer-Encoding": "chunked"}
        with suppress(*LOST):
            async with await Wire.open(port) as wire:
                wire.writer.write(head("POST", self.lane.path, headers))
                await self._exchange(wire)
        if journal := current():
            self._answered(journal, len(self._pieces), None)
        self.open.set()

    async def _exchange(self, wire: Wire) -> None:
        more = asyncio.Event()
        sending = asyncio.create_task(self._send(wire, more))
        try:
            await self._read(wire, more)
        finally:
            sending.cancel()
            await asyncio.wait([sending])

    async def _send(self, wire: Wire, more: asyncio.Event) -> None:
        at = self.lane.acked
        while True:
            if at - self.lane.acked > WINDOW:
                more.clear()
                await more.wait()
            self.lane.sent = max(self.lane.sent, at + LINES)
            body, kind = as_ndjson(self.lane.stream.rows(at, at + LINES))
            if journal := current():
                piece = journal.asked(self._place, "POST", self.lane.path_of(at), body, kind)
                self._pieces += [piece] if piece else []
            await wire.send_chunk(body)
            at += LINES

    async def _read(self, wire: Wire, more: asyncio.Event) -> None:
        await wire.begun()
        while chunk := await wire.chunk():
            for line in chunk.splitlines():
                self._note(json.loads(line))
            self.open.set()
            more.set()

    def _note(self, ack: dict[str, int]) -> None:
        """A block is durable; alone in its session, t is how many of its samples are there."""
        if "accepted" in ack and "status" not in ack:
            self.lane.acked = max(self.lane.acked, ack["t"])
            self.lane.tally.acks += 1
            if journal := current():
                there = sum(piece.seq + piece.n <= ack["t"] for piece in self._pieces)
                self._answered(journal, there, ack["t"])
        elif ack.get("status") != 503:
            self.lane.tally.faults.append(str(ack))

    def _answered(self, journal: Journal, pieces: int, t: int | None) -> None:
        """The first pieces are there at t, or there will be no answer to them."""
        answer = (None, b"") if t is None else (200, json.dumps({"t": t}).encode())
        for piece in self._pieces[:pieces]:
            journal.answered(piece, *answer)
        del self._pieces[:pieces]


class Snapshots:
    """Looks at a session's snapshot again and again: t has to be what its producers sent."""

    def __init__(self, session: str) -> None:
        self._path = f"/v1/sessions/{session}/snapshot"
        self.taken = self.torn = 0

    async def run(self, port: int) -> None:
        """Look until the service is gone."""
        with suppress(*LOST):
            async with await Wire.open(port) as wire:
                while (answer := await wire.ask("GET", self._path)).status == 200:
                    shown = answer.json()
                    self.taken += 1
                    self.torn += sum(shown["producers"].values()) != shown["t"]


class Unfinished:
    """A JSON body whose rest never comes."""

    def __init__(self, session: str) -> None:
        headers = {"Content-Type": "application/json", "Content-Length": "1000"}
        self._request = head("POST", f"/v1/sessions/{session}/samples", headers) + b"{"
        self.answers: list[str] = []

    async def run(self, port: int) -> None:
        """Send what there is, and note how it is answered."""
        async with await Wire.open(port) as wire:
            wire.writer.write(self._request)
            try:
                status, headers = await wire.begun()
                self.answers.append(f"{status} {headers['content-type']}")
            except LOST:
                self.answers.append("closed")
