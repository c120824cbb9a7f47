"""A checksum for every row, over what it says and whose it is.

Whose it is matters: a row that turns up in another's place has to be noticed like a flipped bit.
Each table starts from a number of its own, so that no row passes for one of another table.
"""

from struct import Struct
from struct import error as NotPacked  # noqa: N812
from zlib import crc32

__all__ = [
    "NotPacked",
    "of_entry",
    "of_groups",
    "of_head",
    "of_kept",
    "of_name",
    "of_producer",
    "of_session",
    "of_snapshot",
]

_ONE, _TWO, _THREE = Struct("<q").pack, Struct("<qq").pack, Struct("<qqq").pack
_FOUR = Struct("<qqqq").pack


def of_name(name: str) -> int:
    """A number to find a name by, besides the name itself."""
    return crc32(name.encode())


def of_session(session: int, name: str, config: bytes) -> int:
    """What never changes about a session."""
    text = name.encode()
    return crc32(config, crc32(text, crc32(_TWO(session, len(text)), 1)))


def of_head(session: int, t: int) -> int:
    """How far a session is."""
    return crc32(_TWO(session, t), 2)


def of_entry(session: int, t: int, n: int, blob: bytes) -> int:
    """An entry of a session's log."""
    return crc32(blob, crc32(_THREE(session, t, n), 3))


def of_snapshot(session: int, t: int, blob: bytes, retained: tuple[int, int] = (0, 0)) -> int:
    """A session's snapshot, and what its log has to keep if it has to keep anything."""
    crc = crc32(blob, crc32(_TWO(session, t), 4))
    return crc32(_TWO(*retained), crc) if any(retained) else crc


def of_producer(session: int, producer: str, number: int) -> int:
    """The number of a producer's next sample."""
    return crc32(producer.encode(), crc32(_TWO(session, number), 5))


def of_groups(groups: int) -> int:
    """How many groups were written."""
    return crc32(_ONE(groups), 6)


def of_kept(session: int, name: str, expires: int, learnt: int, blob: bytes) -> int:
    """What is kept under an id."""
    text = name.encode()
    return crc32(blob, crc32(text, crc32(_FOUR(session, expires, learnt, len(text)), 7)))
