"""f(t) = μ_t = √(t + 2)·log(t + 3), the one damping of the paper, for θ and for log η (R1)."""

import math

from llr.compiled import part


@part
def damping(t: int) -> float:
    """f(t), with the natural logarithm and t from 0."""
    return math.sqrt(t + 2.0) * math.log(t + 3.0)
