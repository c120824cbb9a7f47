"""A connector's position in a Redis stream, and detection of lost entries.

Redis counts the entries ever added to a stream and trims the oldest first. The number of entries
after a checkpoint is therefore known; those that are gone were trimmed or deleted. A stream with
fewer entries than before is not the same stream.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from llr_cli.options import BadData

NONE = "no such key"
START, DELETED = "0-0", "max-deleted-entry-id"
Entry = tuple[str, int, int, dict[bytes, bytes]]
"""An entry's id, the count of entries added up to it, the number lost before it, and its fields."""


class Checkpoint(NamedTuple):
    """A position in a stream that is stored in Redis.

    Attributes:
        id: the id of the last entry.
        offset: entries ever added up to it.
        seq: samples of this producer that the service had at this entry.
    """

    id: str
    offset: int
    seq: int

    def fields(self) -> dict[Any, Any]:
        """The hash that Redis stores."""
        return self._asdict()

    @staticmethod
    def of(kept: dict[bytes, bytes]) -> "Checkpoint":
        """Parse the hash that Redis stores."""
        try:
            return Checkpoint(kept[b"id"].decode(), int(kept[b"offset"]), int(kept[b"seq"]))
        except (KeyError, ValueError):
            raise BadData(f"{kept!r} is no checkpoint of a connector") from None


class StreamState(NamedTuple):
    """A consistent read of a stream.

    Attributes:
        added: entries ever added; 0 if the stream does not exist.
        length: entries that exist.
        last: the id of the last entry added.
        deleted: the greatest id that was deleted by XDEL.
        older: whether an entry exists at or before the checkpoint.
        newer: the entries after the checkpoint, up to the requested number.
    """

    added: int
    length: int
    last: str
    deleted: str
    older: bool
    newer: list[tuple[bytes, dict[bytes, bytes]]]

    @staticmethod
    def of(info: Any, older: Any, newer: Any) -> "StreamState":
        """Parse the replies of Redis."""
        if isinstance(info, Exception):
            if NONE not in str(info):
                raise info
            return StreamState(0, 0, START, START, False, [])
        if "entries-added" not in info:
            raise BadData("this Redis does not count a stream's entries: version 7 is needed")
        last, deleted = (info[name].decode() for name in ("last-generated-id", DELETED))
        return StreamState(info["entries-added"], info["length"], last, deleted, bool(older), newer)


@dataclass
class StreamPosition:
    """A stream and the position up to which it was taken.

    Attributes:
        name: the stream's key in Redis.
        producer: the name under which its samples are numbered.
        key: the checkpoint's key in Redis.
        checkpoint: the last entry taken.
        behind: entries after it, at the last read.
    """

    name: str
    producer: str
    key: str = ""
    checkpoint: Checkpoint = Checkpoint(START, 0, 0)  # noqa: RUF009 - it cannot change
    behind: int = 0
    _learnt: int = 0

    def begin(self, reading: StreamState, acked: int) -> None:
        """Start without a checkpoint, at the oldest entry that exists."""
        if acked:
            raise BadData(
                f"the service has {acked:,} samples of {self.producer!r}, of which this Redis knows"
                " nothing: it lost its checkpoint, or is another; --producer NAME starts over"
            )
        self.checkpoint = Checkpoint(START, reading.added - reading.length, 0)

    def resume(self, checkpoint: Checkpoint, acked: int) -> None:
        """Continue from a checkpoint, past the entries that the service has learnt since."""
        if acked < checkpoint.seq:
            raise BadData(
                f"the service has {acked:,} samples of {self.producer!r}, but had"
                f" {checkpoint.seq:,}: the session was replaced, or its store restored;"
                " --producer NAME starts over"
            )
        self.checkpoint, self._learnt = checkpoint, acked - checkpoint.seq

    def take(self, reading: StreamState, most: int) -> list[Entry]:
        """Take the entries that are not learnt yet, and move the checkpoint past them."""
        gone = self._count_missing(reading, most)
        self.behind = max(0, reading.added - self.checkpoint.offset)
        if not reading.newer:
            return []
        known = min(gone, self._learnt) if not reading.older else 0
        self._learnt -= known  # learnt, then trimmed
        offset, lost, found = self.checkpoint.offset + gone, gone - known, list[Entry]()
        if self._learnt and reading.older and _order(reading.deleted) > _order(self.checkpoint.id):
            lost = max(lost, 1)  # an entry was deleted among those to pass over
        for id_, fields in reading.newer:
            offset += 1
            if self._learnt:
                self._learnt -= 1
            else:
                found.append((id_.decode(), offset, lost, fields))
                lost = 0
        self.checkpoint = Checkpoint(reading.newer[-1][0].decode(), offset, 0)
        self.behind = max(0, reading.added - offset)
        return found

    def _count_missing(self, reading: StreamState, most: int) -> int:
        """The number of entries after the checkpoint that are gone."""
        added = reading.added - self.checkpoint.offset
        back = added < 0 or _order(reading.last) < _order(self.checkpoint.id)
        if back or added < self._learnt:
            raise BadData(
                f"the stream {self.name!r} has fewer entries than it had: it was deleted, or Redis"
                " lost its last writes; --producer NAME starts over"
            )
        if len(reading.newer) < most:
            return added - len(reading.newer)
        return 0 if reading.older else added - reading.length


def _order(id_: str) -> tuple[int, ...]:
    return tuple(map(int, id_.split("-")))
