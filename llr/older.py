"""States that an older format packed, as the present one has them.

Format 1 kept n² where n is kept now, the second moment of g where its variance is, and let log η
fall below its floor (R24).
"""

import math

import numpy as np

from llr.algorithms import MEMORY
from llr.config import Config
from llr.layout import ETA, LOG_ETA, RATE_A, TAU, T
from llr.memory import FIRST, LEAST, ROWS
from llr.rates.rate import FLOOR
from llr.types import Counts, Vector


def renew(config: Config, vectors: Vector, scalars: Vector, counts: Counts) -> None:
    """Bring the numbers of format 1 to those of the present one, in place."""
    algorithm = config.of_algorithm
    if algorithm.rate is None:
        return
    if algorithm.rate == "ag":
        scalars[RATE_A] = math.sqrt(max(scalars[RATE_A], 0.0))
    if algorithm.learns and scalars[LOG_ETA] < FLOOR:
        scalars[LOG_ETA], scalars[ETA] = FLOOR, math.exp(FLOOR)
    if algorithm.learns and MEMORY.number(config.options) != 0.0:
        vectors[-1] = np.maximum(vectors[-1] - vectors[-ROWS] ** 2, 0.0)
        if counts[T] >= FIRST:
            scalars[TAU] = max(scalars[TAU], LEAST)
