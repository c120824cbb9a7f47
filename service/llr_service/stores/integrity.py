"""Integrity of stored rows: a checksum for each, logs without holes, the result of a check.

A checksum covers what a row says and the session it belongs to: a row that turns up in another's
place has to be noticed like a flipped bit. Each table starts from a number of its own, so that no
row passes for one of another table.
"""

from collections.abc import Iterable, Iterator
from struct import Struct
from struct import error as NotPacked  # noqa: N812
from typing import NamedTuple
from zlib import crc32

from llr_service.stores.store import Damaged, Entry

__all__ = [
    "WHOLE_LOG",
    "NotPacked",
    "SessionCheck",
    "commit_count_crc",
    "contiguous_entries",
    "entry_crc",
    "name_hash",
    "pending_crc",
    "position_crc",
    "producer_crc",
    "session_crc",
    "snapshot_crc",
]

WHOLE_LOG = 2**63 - 1
"""Bytes of a page that holds the whole log."""
_ONE, _TWO, _THREE = Struct("<q").pack, Struct("<qq").pack, Struct("<qqq").pack
_FOUR = Struct("<qqqq").pack


class SessionCheck(NamedTuple):
    """A session and its damage, None if it is intact. The name is empty for stray rows."""

    name: str
    damage: str | None


def name_hash(name: str) -> int:
    """Hash a name, for an index beside that of the names."""
    return crc32(name.encode())


def session_crc(session: int, name: str, config: bytes) -> int:
    """Checksum of what never changes about a session."""
    text = name.encode()
    return crc32(config, crc32(text, crc32(_TWO(session, len(text)), 1)))


def position_crc(session: int, t: int) -> int:
    """Checksum of a session's t."""
    return crc32(_TWO(session, t), 2)


def entry_crc(session: int, t: int, n: int, blob: bytes) -> int:
    """Checksum of a log entry."""
    return crc32(blob, crc32(_THREE(session, t, n), 3))


def snapshot_crc(session: int, t: int, blob: bytes, retained: tuple[int, int] = (0, 0)) -> int:
    """Checksum of a snapshot, with what its log retains if that is anything."""
    crc = crc32(blob, crc32(_TWO(session, t), 4))
    return crc32(_TWO(*retained), crc) if any(retained) else crc


def producer_crc(session: int, producer: str, number: int) -> int:
    """Checksum of the number of a producer's next sample."""
    return crc32(producer.encode(), crc32(_TWO(session, number), 5))


def commit_count_crc(commits: int) -> int:
    """Checksum of the number of commits."""
    return crc32(_ONE(commits), 6)


def pending_crc(session: int, name: str, expires: int, learnt: int, blob: bytes) -> int:
    """Checksum of a pending example."""
    text = name.encode()
    return crc32(blob, crc32(text, crc32(_FOUR(session, expires, learnt, len(text)), 7)))


def contiguous_entries(
    entries: Iterable[Entry], start: int, end: int, nbytes: int, whose: str
) -> Iterator[Entry]:
    """The first of these entries, until they make up `nbytes` bytes.

    Raises `Damaged` unless they lead from start to end without a hole.
    """
    for entry in entries:
        if entry.t != start:
            raise Damaged(f"{whose}: its log goes on at {entry.t}, not at {start}")
        start += entry.n
        nbytes -= len(entry.blob)
        yield entry
        if nbytes <= 0:
            break
    if start > end or (nbytes > 0 and start < end):
        raise Damaged(f"{whose}: its log ends at {start}, not at {end}")
