"""Named arrays and a header as bytes that can be trusted, or as plain JSON.

Four letters, a CRC32 of all that follows it, the length of a JSON header, the header (format
version, config, shapes of the arrays), then the arrays as little-endian bytes. No pickle: reading
foreign bytes can fail, it cannot run them.
"""

import contextlib
import json
import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from llr.config import Config
from llr.errors import LLRError, StateError
from llr.types import Array

VERSION = 2
OLDEST = 1
HEAD = struct.Struct("<4sII")


def head(config: Config, scheduled: bool) -> dict[str, Any]:
    """What stands before the arrays: the version, the config, whether a schedule belongs to it."""
    return {"version": VERSION, "scheduled": scheduled, "config": asdict(config)}


def check_version(header: dict[str, Any]) -> None:
    """Raise `StateError` for a format that this library does not read."""
    version = header["version"]
    if type(version) is not int or not OLDEST <= version <= VERSION:
        raise StateError(f"format {version}: this library reads formats {OLDEST} to {VERSION}")


def seal(magic: bytes, header: dict[str, Any], arrays: dict[str, Array]) -> bytes:
    """Header and arrays as bytes."""
    shapes = {name: array.shape for name, array in arrays.items()}
    text = json.dumps(header | {"arrays": shapes}).encode()
    body = [a.astype(a.dtype.newbyteorder("<")).tobytes() for a in arrays.values()]
    checked = b"".join([struct.pack("<I", len(text)), text, *body])
    return magic + struct.pack("<I", zlib.crc32(checked)) + checked


def opened(
    magic: bytes, data: bytes, names: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays, if the checksum is right; older formats have not all of them."""
    if len(data) < HEAD.size or not data.startswith(magic):
        raise StateError("not a packed state")
    _, crc, length = HEAD.unpack_from(data)
    if crc != zlib.crc32(data[len(magic) + 4 :]):
        raise StateError("damaged: the checksum does not match")
    end = HEAD.size + length
    try:
        header = json.loads(data[HEAD.size : end])
    except (ValueError, RecursionError):
        raise StateError("damaged: the header is not JSON") from None
    if not isinstance(header, dict):
        raise StateError("damaged: the header is not an object")
    there = [name for name in names if name in header["arrays"]]
    return header, _arrays(header["arrays"], data[end:], there)


def plain_arrays(arrays: dict[str, Array]) -> dict[str, Any]:
    """Arrays as JSON values."""
    return {
        name: {"shape": list(array.shape), "data": array.ravel().tolist()}
        for name, array in arrays.items()
    }


def arrays_of_plain(plain: Any, names: Sequence[str]) -> dict[str, Any]:
    """The arrays that `plain_arrays` wrote."""
    arrays: dict[str, Any] = {}
    for name in (one for one in names if one in plain):
        given = plain[name]
        dtype = np.int64 if name == "counts" else np.float64
        kinds = {int} if name == "counts" else {int, float}
        if not {type(n) for n in given["data"]} <= kinds:
            raise StateError(f"{name}: not all numbers")
        arrays[name] = np.array(given["data"], dtype).reshape([int(n) for n in given["shape"]])
    return arrays


@contextlib.contextmanager
def as_state_errors() -> Iterator[None]:
    """Whatever is wrong with foreign values is a `StateError`."""
    try:
        yield
    except StateError:
        raise
    except LLRError as wrong:
        raise StateError(f"a config that does not exist: {wrong}") from None
    except (LookupError, TypeError, ValueError, OverflowError, MemoryError) as wrong:
        raise StateError(f"not a packed state: {wrong!r:.200}") from None


def _arrays(shapes: dict[str, list[int]], body: bytes, names: Sequence[str]) -> dict[str, Any]:
    """The arrays by name; their sizes are checked before anything is allocated."""
    arrays: dict[str, Any] = {}
    at = 0
    for name in names:
        dtype = np.dtype("<i8" if name == "counts" else "<f8")
        shape = tuple(int(n) for n in shapes[name])
        count = math.prod(shape)
        if min(shape) < 0 or at + count * dtype.itemsize > len(body):
            raise StateError(f"{name}: cut short")
        flat = np.frombuffer(body, dtype, count, at)
        arrays[name] = flat.astype(dtype.newbyteorder("=")).reshape(shape)
        at += count * dtype.itemsize
    if at != len(body):
        raise StateError("more bytes than the header names")
    return arrays
