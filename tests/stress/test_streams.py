"""What the harness notes of bodies without an end."""

import asyncio
from pathlib import Path

from support.checker import Seen, check

from stress.journal import history_of
from stress.lanes import Own
from stress.samples import Stream
from stress.streams import LINES, Upload
from stress.tally import Tally
from stress.verdict import Verdict
from stress.wire import HOST

ACKED = 2 * LINES


async def _acknowledge(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A service that takes two pieces of a body, acknowledges them, and ends its answer."""
    said = b""
    while said.count(b'"y"') < ACKED:
        said += await reader.read(1 << 16)
    line = b'{"accepted": %d, "t": %d}\n' % (ACKED, ACKED)
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(line), line))
    await writer.drain()
    writer.close()


def _uploaded(tmp_path: Path) -> list[Seen]:
    """The history of one upload to it."""

    async def upload() -> None:
        async with await asyncio.start_server(_acknowledge, HOST) as server:
            port = server.sockets[0].getsockname()[1]
            await Upload(Own("upload", Stream(1), Tally())).run(port)

    def row(*_: object) -> Verdict:
        asyncio.run(upload())
        return Verdict({}, "", [])

    return history_of(row, tmp_path / "row", 1, 1, lambda: None)[1]


def test_the_journal_knows_what_an_upload_sent_and_what_was_acknowledged(tmp_path: Path) -> None:
    pieces = _uploaded(tmp_path)
    assert [piece.seq for piece in pieces] == [*range(0, LINES * len(pieces), LINES)]
    assert {(piece.kind, piece.n, piece.producer) for piece in pieces} == {
        ("learn", LINES, "upload")
    }
    assert [piece.t for piece in pieces[:2]] == [ACKED, ACKED]
    assert {piece.status for piece in pieces[2:]} <= {None}


def test_a_read_beside_an_upload_is_checked(tmp_path: Path) -> None:
    pieces = _uploaded(tmp_path)
    name, sent = pieces[0].session, LINES * len(pieces)
    made = Seen(name, "make", status=201, t=0, version=0, asked=0.0, told=pieces[0].asked)
    late = max(piece.told for piece in pieces) + 1

    def faults(t: int) -> list[str]:
        read = Seen(name, "read", status=200, t=t, asked=late, told=late + 1)
        return check([made, *pieces, read])[1]

    assert faults(ACKED) == faults(sent) == []
    assert f"after {ACKED} was told" in faults(ACKED - 1)[0]
    assert f"{sent} samples were sent" in faults(sent + 1)[0]
