"""What a rate is: a rule that moves log η along λ, its derivative."""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

from llr.parameter import Parameter

FLOOR = math.log(sys.float_info.min)
"""R24: the least log η, about −708: below it η loses digits, and then is 0."""


@dataclass(frozen=True)
class Rate:
    """A registered rate.

    Attributes:
        name: the word after the slash of an algorithm's name.
        summary: one line for the catalogue.
        advance: compiled; (log η, λ, w, a, b, own) → (log η', a', b').
        parameter: the rate's own number, if it has one.
        learns: whether log η ever moves; if not, no tangent h is carried.
    """

    name: str
    summary: str
    advance: Callable[..., tuple[float, float, float]]
    parameter: Parameter | None = None
    learns: bool = True
