"""When an x was predicted for and when it was learnt, kept beside it as bytes.

What waits is kept as a mark, the moment of its prediction, and x; what is learnt as a digest of x
and both moments. The mark is no finite number, so no x of a store from before it begins like that.
"""

from hashlib import blake2b
from struct import Struct
from typing import NamedTuple

MARK = bytes.fromhex("0141544c4c52f87f")
_WAITING, _LEARNT = Struct("<8sqq"), Struct("<16sqqqq")
DIGEST = 16


class Moment(NamedTuple):
    """How many samples the session had learnt, and the time in milliseconds since 1970."""

    t: int
    at: int


class Passed(NamedTuple):
    """A label that came: when its x was predicted for, and when it was learnt."""

    predicted: Moment
    learnt: Moment


def waiting(x: bytes, predicted: Moment) -> bytes:
    """An x as it is kept until its label comes.

    >>> x_of(waiting(b"12345678", Moment(7, 99)))
    b'12345678'
    """
    return _WAITING.pack(MARK, *predicted) + x


def x_of(blob: bytes) -> bytes:
    """The x of one that waits."""
    return blob[_WAITING.size :] if blob.startswith(MARK) else blob


def digest(x: bytes) -> bytes:
    """What is left of an x once it is learnt: enough to tell it from another."""
    return blake2b(x, digest_size=DIGEST).digest()


def learnt(blob: bytes, when: Moment) -> bytes:
    """What is kept of one that waited and is learnt now; no moments if it was kept without."""
    found = digest(x_of(blob))
    if not blob.startswith(MARK):
        return found
    _, t, at = _WAITING.unpack_from(blob)
    return _LEARNT.pack(found, t, at, *when)


def passed(blob: bytes) -> Passed | None:
    """Both moments of one that is learnt, None if they are not known."""
    if len(blob) != _LEARNT.size:
        return None
    _, t, at, *when = _LEARNT.unpack(blob)
    return Passed(Moment(t, at), Moment(*when))
