"""A learner's state as bytes or as plain JSON, exact to the last bit."""

from dataclasses import replace
from typing import Any

import numpy as np

from llr import auto, history
from llr.config import Config
from llr.errors import StateError
from llr.layout import THETA
from llr.older import renew
from llr.sealed import (
    VERSION,
    arrays_of_plain,
    as_state_errors,
    check_version,
    head,
    opened,
    plain_arrays,
    seal,
)
from llr.state import ARRAYS, State, aligned, shapes
from llr.types import Array

MAGIC = b"LLR1"


def pack(config: Config, state: State, scheduled: bool = False) -> bytes:
    """Config and state as bytes; `scheduled` says that a schedule of the caller's belongs to it."""
    return seal(MAGIC, head(config, scheduled), _used(state))


def unpack(data: bytes) -> tuple[Config, State, bool]:
    """What `pack` was given. Raises `StateError` on anything else."""
    with as_state_errors():
        header, arrays = opened(MAGIC, data, ARRAYS)
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
    """What the arrays have to look like; `auto` from before it had a bank goes on without."""
    dim = state.vectors.shape[2]
    expected = shapes(config, dim)
    if config.algorithm == "auto" and state.scalars.shape != expected["scalars"]:
        first_order = config.options | {auto.SECOND_ORDER.name: False}
        return shapes(replace(config, options=first_order), dim)
    return expected


def _checked(header: dict[str, Any], arrays: dict[str, Any]) -> tuple[Config, State]:
    check_version(header)
    if not all(np.isfinite(one).all() for one in arrays.values()):
        raise StateError("not all numbers are finite")
    config = Config(**header["config"])
    if header["version"] < VERSION:
        renew(config, arrays, arrays["vectors"])
    arrays["vectors"] = aligned(arrays["vectors"])
    state = State(**arrays)
    for name, shape in _shapes(config, state).items():
        if getattr(state, name).shape != shape:
            raise StateError(f"{name}: not the shape this config has")
    if not history.is_sound(state, history.width(state.vectors[THETA].size)):
        raise StateError("history: does not fit the counts")
    return config, state
