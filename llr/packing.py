"""A state as bytes, exact to the last bit.

`LLR1`, a CRC32 of all that follows it, the length of a JSON header, the header (format version,
config, shapes of the arrays), then the arrays as little-endian bytes. No pickle: reading foreign
bytes can fail, it cannot run them.
"""

import contextlib
import json
import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from llr import history
from llr.config import Config
from llr.errors import LLRError, StateError
from llr.state import ARRAYS, State, aligned, shapes
from llr.types import Array

MAGIC = b"LLR1"
VERSION = 1
HEAD = struct.Struct("<4sII")


def pack(config: Config, state: State, scheduled: bool = False) -> bytes:
    """Config and state as bytes; `scheduled` says that a schedule of the caller's belongs to it."""
    arrays = _used(state)
    header = json.dumps(
        {
            "version": VERSION,
            "scheduled": scheduled,
            "config": asdict(config),
            "arrays": {name: array.shape for name, array in arrays.items()},
        }
    ).encode()
    body = [a.astype(a.dtype.newbyteorder("<")).tobytes() for a in arrays.values()]
    checked = b"".join([struct.pack("<I", len(header)), header, *body])
    return MAGIC + struct.pack("<I", zlib.crc32(checked)) + checked


def unpack(data: bytes) -> tuple[Config, State, bool]:
    """What `pack` was given. Raises `StateError` on anything else."""
    header, body = _open(data)
    with _as_state_errors():
        config, state = _checked(header, _arrays(header["arrays"], body))
        return config, state, header["scheduled"] is True


def to_plain(config: Config, state: State, scheduled: bool = False) -> dict[str, Any]:
    """Config and state as JSON values; a float's shortest decimal form is exact."""
    arrays = {
        name: {"shape": list(array.shape), "data": array.ravel().tolist()}
        for name, array in _used(state).items()
    }
    head = {"version": VERSION, "scheduled": scheduled, "config": asdict(config)}
    return head | {"arrays": arrays}


def from_plain(plain: Any) -> tuple[Config, State, bool]:
    """What `to_plain` was given. Raises `StateError` on anything else."""
    with _as_state_errors():
        arrays: dict[str, Any] = {}
        for name in ARRAYS:
            given = plain["arrays"][name]
            dtype = np.int64 if name == "counts" else np.float64
            kinds = {int} if name == "counts" else {int, float}
            if not {type(n) for n in given["data"]} <= kinds:
                raise StateError(f"{name}: not all numbers")
            arrays[name] = np.array(given["data"], dtype).reshape([int(n) for n in given["shape"]])
        arrays["vectors"] = aligned(arrays["vectors"])
        config, state = _checked(plain, arrays)
        return config, state, plain["scheduled"] is True


def _used(state: State) -> dict[str, Array]:
    return {name: getattr(state, name) for name in ARRAYS} | {"history": history.used(state)}


def _checked(header: dict[str, Any], arrays: dict[str, Any]) -> tuple[Config, State]:
    if header["version"] != VERSION:
        raise StateError(f"format {header['version']}: this library reads format {VERSION}")
    config, state = Config(**header["config"]), State(**arrays)
    _check(config, state)
    return config, state


@contextlib.contextmanager
def _as_state_errors() -> Iterator[None]:
    """Whatever is wrong with foreign values is a `StateError`."""
    try:
        yield
    except StateError:
        raise
    except LLRError as wrong:
        raise StateError(f"a config that does not exist: {wrong}") from None
    except (LookupError, TypeError, ValueError, OverflowError, MemoryError) as wrong:
        raise StateError(f"not a packed state: {wrong!r:.200}") from None


def _open(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and arrays, if the checksum is right."""
    if len(data) < HEAD.size or not data.startswith(MAGIC):
        raise StateError("not a packed state")
    _, crc, length = HEAD.unpack_from(data)
    if crc != zlib.crc32(data[len(MAGIC) + 4 :]):
        raise StateError("damaged: the checksum does not match")
    end = HEAD.size + length
    try:
        header = json.loads(data[HEAD.size : end])
    except (ValueError, RecursionError):
        raise StateError("damaged: the header is not JSON") from None
    if not isinstance(header, dict):
        raise StateError("damaged: the header is not an object")
    return header, data[end:]


def _arrays(shapes: dict[str, list[int]], body: bytes) -> dict[str, Any]:
    """The arrays by name; their sizes are checked before anything is allocated."""
    arrays: dict[str, Any] = {}
    at = 0
    for name in ARRAYS:
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
    arrays["vectors"] = aligned(arrays["vectors"])
    return arrays


def _check(config: Config, state: State) -> None:
    """The shapes this config has, finite numbers, and a history that fits its counts."""
    for name, shape in shapes(config, state.vectors.shape[2]).items():
        if getattr(state, name).shape != shape:
            raise StateError(f"{name}: not the shape this config has")
    if not state.finite or not np.isfinite(state.history).all():
        raise StateError("not all numbers are finite")
    if not history.is_sound(state):
        raise StateError("history: does not fit the counts")
