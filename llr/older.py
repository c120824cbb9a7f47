"""States that an older format packed, as the present one has them.

Format 1 kept n² where n is kept now, the second moment of g where its variance is, let log η fall
below its floor (R24), and had no ranges in its history: those of its rows are the rows themselves.
"""

import math
from typing import Any

import numpy as np

from llr.algorithms import MEMORY
from llr.config import Config
from llr.layout import ETA, LOG_ETA, RATE_A, TAU, T
from llr.memory import FIRST, LEAST, ROWS
from llr.rates.rate import FLOOR
from llr.recorder import NUMBERS, RANGED
from llr.types import Vector


def renew(config: Config, arrays: dict[str, Any], vectors: Vector) -> None:
    """Bring the arrays of format 1 to those of the present one; `vectors` are row × score × i."""
    algorithm, scalars = config.of_algorithm, arrays["scalars"]
    arrays["history"], arrays["since"] = _with_ranges(arrays["history"])
    if algorithm.rate is None or not algorithm.learns:
        return
    if algorithm.rate == "ag":
        scalars[RATE_A] = math.sqrt(max(scalars[RATE_A], 0.0))
    if scalars[LOG_ETA] < FLOOR:
        scalars[LOG_ETA], scalars[ETA] = FLOOR, math.exp(FLOOR)
    if MEMORY.number(config.options) != 0.0:
        vectors[-1] = np.maximum(vectors[-1] - vectors[-ROWS] ** 2, 0.0)
        if arrays["counts"][T] >= FIRST:
            scalars[TAU] = max(scalars[TAU], LEAST)


def _with_ranges(past: Vector) -> tuple[Vector, Vector]:
    """The rows with a range each, and the range since the last."""
    values = np.delete(past, (0, 1, 4), axis=1)[:, : NUMBERS + RANGED]
    before = np.vstack((values[:1], values[:-1]))
    sides = np.minimum(before, values), np.maximum(before, values)
    return np.hstack((past, *sides)), np.repeat(values[-1:], 2, axis=0)
