"""A learner's state as bytes or as plain JSON, exact to the last bit, and states of older formats.

Bytes: four letters, a CRC32 of all that follows it, the length of a JSON header, the header (format
version, config, shapes of the arrays), then the arrays as little-endian bytes. No pickle: reading
foreign bytes can fail, it cannot run them.

Older formats are converted when they are read. Format 1 kept n² where n is kept now, the second
moment of g where its variance is, let log η fall below its floor (R24), and had no ranges in its
history: those of its rows are the rows themselves. Format 2 had no weights: all samples weighed 1.
Format 3 did not track errors, so intervals start there. Format 4 had no metrics, so they start
there; the recent loss of its rows is the mean since the row before.
"""

import contextlib
import json
import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from llr import auto, history, intervals, metrics
from llr.algorithms import MEMORY
from llr.algorithms.algorithm import FLOOR
from llr.algorithms.step import MEMORY_ROWS, MIN_TAU, WARM_UP
from llr.arithmetic import ARITHMETIC
from llr.auto.bank_layout import START
from llr.auto.layout import NAMED_NUMBERS
from llr.auto.layout import numbers as first_order
from llr.config import Config
from llr.errors import LLRError, StateError, StateTooNew
from llr.history import NUMBERS, RANGED, UNKNOWN
from llr.kernels.layout import ETA, LOG_ETA, OF_BASE, RATE_A, SCALARS, TAU, THETA, T
from llr.state import ARRAYS, State, aligned, shapes
from llr.types import Array, Vector

VERSION = 5
OLDEST = 1
HEAD = struct.Struct("<4sII")


def head(config: Config, scheduled: bool) -> dict[str, Any]:
    """What stands before the arrays: the version and the arithmetic, the schedule, the config."""
    made_by = {"version": VERSION, "arithmetic": ARITHMETIC}
    return made_by | {"scheduled": scheduled, "config": asdict(config)}


def check_version(header: dict[str, Any]) -> None:
    """Raise `StateError` for a format that this library does not read, or a newer arithmetic.

    The states of an older arithmetic are read: whatever led there, learning goes on from them.
    """
    version, arithmetic = header["version"], header.get("arithmetic", 0)
    if type(version) is not int or version < OLDEST or type(arithmetic) is not int:
        raise StateError(f"format {version}: this library reads formats {OLDEST} to {VERSION}")
    if version > VERSION:
        raise StateTooNew(f"format {version}: this library reads formats {OLDEST} to {VERSION}")
    if arithmetic > ARITHMETIC:
        raise StateTooNew(f"arithmetic {arithmetic}: this library has {ARITHMETIC}")


def dump(magic: bytes, header: dict[str, Any], arrays: dict[str, Array]) -> bytes:
    """Header and arrays as bytes."""
    shapes = {name: array.shape for name, array in arrays.items()}
    text = json.dumps(header | {"arrays": shapes}).encode()
    body = [a.astype(a.dtype.newbyteorder("<")).tobytes() for a in arrays.values()]
    checked = b"".join([struct.pack("<I", len(text)), text, *body])
    return magic + struct.pack("<I", zlib.crc32(checked)) + checked


def load(magic: bytes, data: bytes, names: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
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
    check_version(header)  # a newer format may have other arrays
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


MAGIC = b"LLR1"


def pack(config: Config, state: State, scheduled: bool = False, past: bool = True) -> bytes:
    """Config and state as bytes, with or without the past.

    `scheduled` says that a schedule of the caller's belongs to it.
    """
    arrays = _used(state)
    return dump(
        MAGIC, head(config, scheduled), arrays if past else arrays | history.forgotten(arrays)
    )


def unpack(data: bytes) -> tuple[Config, State, bool]:
    """What `pack` was given. Raises `StateError` on anything else."""
    with as_state_errors():
        header, arrays = load(MAGIC, data, ARRAYS)
        config, state = _checked(header, arrays)
        return config, state, header["scheduled"] is True


def to_plain(config: Config, state: State, scheduled: bool = False) -> dict[str, Any]:
    """Config and state as JSON values; a float's shortest decimal form is exact."""
    return head(config, scheduled) | {"arrays": plain_arrays(_used(state))}


def from_plain(plain: Any) -> tuple[Config, State, bool]:
    """What `to_plain` was given. Raises `StateError` on anything else."""
    with as_state_errors():
        config, state = _checked(plain, arrays_of_plain(plain["arrays"], ARRAYS))
        return config, state, plain["scheduled"] is True


def _used(state: State) -> dict[str, Array]:
    return {name: getattr(state, name) for name in ARRAYS} | {"history": history.used(state)}


def _shapes(config: Config, state: State) -> dict[str, tuple[int, ...]]:
    """What the arrays have to look like.

    `auto` from before it had a bank goes on without, and from before its comparator had an
    intercept (R23) with the one it has.
    """
    dim, options = state.vectors.shape[2], config.options
    expected = shapes(config, dim)
    if config.algorithm != "auto":
        return expected
    if state.scalars.shape != expected["scalars"]:
        options = config.options | {auto.SECOND_ORDER.name: False}
        expected = shapes(replace(config, options=options), dim)
    plain = config.comparator.size(dim) if config.comparator else 0
    if state.statistics.shape == (plain,):
        expected["statistics"] = (plain,)
    return expected


def _checked(header: dict[str, Any], arrays: dict[str, Any]) -> tuple[Config, State]:
    check_version(header)
    if not all(np.isfinite(one).all() for one in arrays.values()):
        raise StateError("not all numbers are finite")
    config = Config(**header["config"])
    if header["version"] < VERSION:
        renew(config, header["version"], arrays, arrays["vectors"])
    arrays["vectors"] = aligned(arrays["vectors"])
    state = State(**arrays)
    for name, shape in _shapes(config, state).items():
        if getattr(state, name).shape != shape:
            raise StateError(f"{name}: not the shape this config has")
    if not history.is_sound(state, history.width(state.vectors[THETA].size)):
        raise StateError("history: does not fit the counts")
    if not metrics.is_sound(config.of_model, state.metrics, state.t):
        raise StateError("metrics: do not fit the counts")
    return config, state


def renew(config: Config, version: int, arrays: dict[str, Any], vectors: Vector) -> None:
    """Bring the arrays of an older format to the present one; `vectors` are row × score × i."""
    if version < 2:
        _with_variances(config, arrays, vectors)
    if version < 3:
        _with_weights(config, arrays)
    if version < 4:
        arrays["calibration"] = np.zeros(intervals.SIZE)
    arrays["metrics"] = metrics.initial(config.of_model, config.scores)
    arrays["history"] = _with_metrics(arrays["history"])


def _with_weights(config: Config, arrays: dict[str, Any]) -> None:
    """What is kept of weights since format 3, where all of them were 1."""
    t, scalars = float(arrays["counts"][T]), arrays["scalars"]
    arrays["counts"] = np.append(arrays["counts"], 0)
    if config.comparator is not None and not config.of_model.features:
        arrays["statistics"] = np.append(arrays["statistics"], t)
    kept, small = 0, SCALARS + first_order(config.scores) + NAMED_NUMBERS
    if config.of_algorithm.base == "saga":
        kept = int(config.own[OF_BASE])
    elif config.algorithm == "auto" and scalars.size > small:
        kept = START
    arrays["scalars"] = np.append(scalars, np.ones(kept))


def _with_variances(config: Config, arrays: dict[str, Any], vectors: Vector) -> None:
    """Format 2 of what format 1 had."""
    algorithm, scalars = config.of_algorithm, arrays["scalars"]
    arrays["history"], arrays["since"] = _with_ranges(arrays["history"])
    if algorithm.rate is None or not algorithm.learns:
        return
    if algorithm.rate == "ag":
        scalars[RATE_A] = math.sqrt(max(scalars[RATE_A], 0.0))
    if scalars[LOG_ETA] < FLOOR:
        scalars[LOG_ETA], scalars[ETA] = FLOOR, math.exp(FLOOR)
    if MEMORY.number(config.options) != 0.0:
        vectors[-1] = np.maximum(vectors[-1] - vectors[-MEMORY_ROWS] ** 2, 0.0)
        if arrays["counts"][T] >= WARM_UP:
            scalars[TAU] = max(scalars[TAU], MIN_TAU)


def _with_ranges(past: Vector) -> tuple[Vector, Vector]:
    """The rows with a range each, and the range since the last."""
    values = np.delete(past, (0, 1, 4), axis=1)[:, : NUMBERS + RANGED]
    before = np.vstack((values[:1], values[:-1]))
    sides = np.minimum(before, values), np.maximum(before, values)
    return np.hstack((past, *sides)), np.repeat(values[-1:], 2, axis=0)


def _with_metrics(past: Vector) -> Vector:
    """The rows with the recent loss, and without metrics."""
    t, loss = past[:, 0], past[:, 3]
    recent = np.zeros(len(past))
    recent[1:] = np.diff(loss) / np.diff(t)
    unknown = np.full(len(past), UNKNOWN)
    return np.hstack((past[:, :5], np.stack((recent, unknown, unknown), axis=1), past[:, 5:]))
