"""The state of a learner of named features as bytes or as plain JSON, exact to the last bit."""

from typing import Any

import numpy as np

from llr import history, intervals, metrics
from llr.errors import StateError
from llr.kernels.layout import COUNTS
from llr.named.column_names import Names
from llr.named.column_store import VersionedColumns
from llr.named.config import NamedConfig
from llr.named.feature_rows import refusal
from llr.named.state import NamedState, column_shape, history_coordinates, scalar_counts
from llr.serialization import (
    VERSION,
    arrays_of_plain,
    as_state_errors,
    check_version,
    dump,
    head,
    load,
    plain_arrays,
    renew,
)
from llr.types import Array

MAGIC = b"LLRN"
ARRAYS = ("columns", "scalars", "counts", "history", "since", "calibration", "metrics")


def pack(
    config: NamedConfig, state: NamedState, scheduled: bool = False, past: bool = True
) -> bytes:
    """Config and state as bytes, with or without the past.

    `scheduled` says that a schedule of the caller's belongs to it.
    """
    arrays = _arrays(state)
    return dump(
        MAGIC,
        _head(config, state, scheduled),
        arrays if past else arrays | history.forgotten(arrays),
    )


def unpack(data: bytes) -> tuple[NamedConfig, NamedState, bool]:
    """What `pack` was given. Raises `StateError` on anything else."""
    with as_state_errors():
        header, arrays = load(MAGIC, data, ARRAYS)
        return _checked(header, arrays)


def to_plain(config: NamedConfig, state: NamedState, scheduled: bool = False) -> dict[str, Any]:
    """Config and state as JSON values; a float's shortest decimal form is exact."""
    return _head(config, state, scheduled) | {"arrays": plain_arrays(_arrays(state))}


def from_plain(plain: Any) -> tuple[NamedConfig, NamedState, bool]:
    """What `to_plain` was given. Raises `StateError` on anything else."""
    with as_state_errors():
        return _checked(plain, arrays_of_plain(plain["arrays"], ARRAYS))


def _head(config: NamedConfig, state: NamedState, scheduled: bool) -> dict[str, Any]:
    return head(config, scheduled) | {"names": state.version.names}


def _arrays(state: NamedState) -> dict[str, Array]:
    return {
        "columns": state.version.whole(),
        "scalars": state.scalars,
        "counts": state.counts,
        "history": history.used(state),
        "since": state.since,
        "calibration": state.calibration,
        "metrics": state.metrics,
    }


def _checked(
    header: dict[str, Any], arrays: dict[str, Any]
) -> tuple[NamedConfig, NamedState, bool]:
    check_version(header)
    config, names = NamedConfig(**header["config"]), header["names"]
    _check_names(config, names)
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise StateError("not all numbers are finite")
    if header["version"] < VERSION:
        renew(config, header["version"], arrays, arrays["columns"].transpose(1, 2, 0))
    shapes = {
        "columns": (len(names), *column_shape(config)),
        "counts": (COUNTS,),
        "since": history.range_shape(history_coordinates(config)),
        "calibration": (intervals.SIZE,),
        "metrics": (metrics.size(config.of_model, config.scores),),
    }
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise StateError(f"{name}: not the shape this config has")
    if arrays["scalars"].shape not in [(n,) for n in scalar_counts(config, len(names))]:
        raise StateError("scalars: not the shape this config has")
    known = Names(config.max_features, config.hash_bits, names)
    version = VersionedColumns.of(known, arrays["columns"])
    numbers = (arrays[name] for name in ARRAYS[1:])
    state = NamedState(version, *numbers)
    if not history.is_sound(state, history.width(history_coordinates(config))):
        raise StateError("history: does not fit the counts")
    if not metrics.is_sound(config.of_model, state.metrics, state.t):
        raise StateError("metrics: do not fit the counts")
    return config, state, header["scheduled"] is True


def _check_names(config: NamedConfig, names: Any) -> None:
    """Names as learning gives them: each once, first those with a column of their own."""
    if not isinstance(names, list) or len(set(names)) != len(names):
        raise StateError("names: not each once")
    own, shared = names[: config.max_features], names[config.max_features :]
    if any(map(refusal, own)) or not all(map(config.is_shared, shared)):
        raise StateError("names: not those of features")
