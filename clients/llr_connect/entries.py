"""Where a connector is in a Redis stream, and what became of the entries it has not read.

Redis counts the entries ever added to a stream, and trims the oldest first. So what is behind a
place is known: all that was added after it. Entries that are not there any more were trimmed or
deleted; a stream that has fewer than it had is not the one it was.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from llr_cli.connection import BadData

NONE = "no such key"
START, DELETED = "0-0", "max-deleted-entry-id"
Entry = tuple[str, int, int, dict[bytes, bytes]]
"""An id, how many were ever added up to it, how many vanished just before it, and its fields."""


class Place(NamedTuple):
    """A checkpoint.

    Attributes:
        id: an entry's.
        offset: entries ever added up to it.
        seq: samples of this producer that the service had with it.
    """

    id: str
    offset: int
    seq: int

    def fields(self) -> dict[Any, Any]:
        """As it is kept in Redis."""
        return self._asdict()

    @staticmethod
    def of(kept: dict[bytes, bytes]) -> "Place":
        """As it was kept."""
        try:
            return Place(kept[b"id"].decode(), int(kept[b"offset"]), int(kept[b"seq"]))
        except (KeyError, ValueError):
            raise BadData(f"{kept!r} is no checkpoint of a connector") from None


class Reading(NamedTuple):
    """A stream at one moment.

    Attributes:
        added: entries ever added; 0 if there is no stream.
        length: how many are there.
        last: the id of the last one that was added.
        deleted: the greatest id that was deleted by its id.
        older: whether any of them is at the place or before it.
        newer: those after the place, as many as were asked for.
    """

    added: int
    length: int
    last: str
    deleted: str
    older: bool
    newer: list[tuple[bytes, dict[bytes, bytes]]]

    @staticmethod
    def of(info: Any, older: Any, newer: Any) -> "Reading":
        """From what Redis answers."""
        if isinstance(info, Exception):
            if NONE not in str(info):
                raise info
            return Reading(0, 0, START, START, False, [])
        if "entries-added" not in info:
            raise BadData("this Redis does not count a stream's entries: version 7 is needed")
        last, deleted = (info[name].decode() for name in ("last-generated-id", DELETED))
        return Reading(info["entries-added"], info["length"], last, deleted, bool(older), newer)


@dataclass
class Stream:
    """A stream, and how far it was taken.

    Attributes:
        name: its key in Redis.
        producer: under which name its samples are numbered.
        key: that of its checkpoint.
        place: the last entry that was taken.
        behind: entries after it, when it was last looked at.
    """

    name: str
    producer: str
    key: str = ""
    place: Place = Place(START, 0, 0)  # noqa: RUF009 - it cannot change
    behind: int = 0
    _learnt: int = 0

    def begin(self, reading: Reading, acked: int) -> None:
        """Nothing was ever taken: begin with the oldest entry there is."""
        if acked:
            raise BadData(
                f"the service has {acked:,} samples of {self.producer!r}, of which this Redis knows"
                " nothing: it lost its checkpoint, or is another; --producer NAME begins anew"
            )
        self.place = Place(START, reading.added - reading.length, 0)

    def go_on(self, place: Place, acked: int) -> None:
        """A checkpoint is known, and the service has learnt at least as much."""
        if acked < place.seq:
            raise BadData(
                f"the service has {acked:,} samples of {self.producer!r}, but had {place.seq:,}:"
                " the session was replaced, or its store restored; --producer NAME begins anew"
            )
        self.place, self._learnt = place, acked - place.seq

    def fresh(self, reading: Reading, most: int) -> list[Entry]:
        """The entries of a reading that are not learnt; those are taken with it."""
        gone = self._vanished(reading, most)
        self.behind = max(0, reading.added - self.place.offset)
        if not reading.newer:
            return []
        known = min(gone, self._learnt) if not reading.older else 0
        self._learnt -= known  # what was learnt and then trimmed
        offset, lost, found = self.place.offset + gone, gone - known, list[Entry]()
        if self._learnt and reading.older and _order(reading.deleted) > _order(self.place.id):
            lost = max(lost, 1)  # one of those that are passed over may be another than was learnt
        for id_, fields in reading.newer:
            offset += 1
            if self._learnt:
                self._learnt -= 1
            else:
                found.append((id_.decode(), offset, lost, fields))
                lost = 0
        self.place = Place(reading.newer[-1][0].decode(), offset, 0)
        self.behind = max(0, reading.added - offset)
        return found

    def _vanished(self, reading: Reading, most: int) -> int:
        """How many entries after the place are gone."""
        added = reading.added - self.place.offset
        back = added < 0 or _order(reading.last) < _order(self.place.id)
        if back or added < self._learnt:
            raise BadData(
                f"the stream {self.name!r} has fewer entries than it had: it was deleted, or Redis"
                " lost what it was told last; --producer NAME begins anew"
            )
        if len(reading.newer) < most:
            return added - len(reading.newer)
        return 0 if reading.older else added - reading.length


def _order(id_: str) -> tuple[int, ...]:
    return tuple(map(int, id_.split("-")))
