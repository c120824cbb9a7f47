"""Ways to damage the files of a store."""

import random
from collections.abc import Callable
from pathlib import Path

PAGE = 4096


def _bit(data: bytearray, lot: random.Random) -> bytearray:
    data[lot.randrange(len(data))] ^= 1 << lot.randrange(8)
    return data


def _bytes(data: bytearray, lot: random.Random) -> bytearray:
    at = lot.randrange(len(data))
    garbage = lot.randbytes(min(lot.randrange(1, 200), len(data) - at))
    data[at : at + len(garbage)] = garbage
    return data


def _page(data: bytearray, lot: random.Random) -> bytearray:
    at = lot.randrange(len(data)) // PAGE * PAGE
    data[at : at + PAGE] = bytes(len(data[at : at + PAGE]))
    return data


def _swap(data: bytearray, lot: random.Random) -> bytearray:
    """A page where another should be."""
    one, two = (lot.randrange(len(data)) // PAGE * PAGE for _ in range(2))
    size = min(len(data) - one, len(data) - two, PAGE)
    data[one : one + size] = data[two : two + size]
    return data


def _cut(data: bytearray, lot: random.Random) -> bytearray:
    return data[: lot.randrange(len(data))]


KINDS: dict[str, Callable[[bytearray, random.Random], bytearray]] = {
    "bit": _bit,
    "bytes": _bytes,
    "page": _page,
    "swap": _swap,
    "cut": _cut,
}
OFTEN = {"bit": 6, "bytes": 2, "page": 1, "swap": 1, "cut": 2}


def damage(folder: Path, lot: random.Random) -> str:
    """Damage one of the files of a store, the large ones most often; returns how."""
    files = sorted(path for path in folder.iterdir() if path.stat().st_size)
    [path] = lot.choices(files, [1000 + path.stat().st_size for path in files])
    [kind] = lot.choices([*OFTEN], [*OFTEN.values()])
    path.write_bytes(KINDS[kind](bytearray(path.read_bytes()), lot))
    return kind
