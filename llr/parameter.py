"""A setting of a model, a base, a rate or the tangent: its name, its kind and what it may be."""

import math
import numbers
from dataclasses import dataclass
from typing import Any, Literal

from llr.errors import ConfigError

MOST = 2**31


@dataclass(frozen=True)
class Parameter:
    """One entry of a learner's options. Kernels get it as a float64.

    Attributes:
        name: the word in `options`.
        summary: one line for the catalogue.
        kind: "real", "whole", "flag" (true or false), or "choice".
        default: its value when not given; None if it has to be given.
        low: for a real, what it must be above; for a whole number, the least.
        high: for a real, what it must be below; for a whole number, the most.
        choices: the words of a choice; a kernel sees the position.
        example: a value to try it with; the default if left out.
        dense_only: whether it has every coordinate move at every sample; not for named features.

    >>> Parameter("level", "which quantile", "real", 0.5, 0.0, 1.0).number({"level": 0.9})
    0.9
    """

    name: str
    summary: str
    kind: Literal["real", "whole", "flag", "choice"]
    default: Any = None
    low: float = 0.0
    high: float = math.inf
    choices: tuple[str, ...] = ()
    example: Any = None
    dense_only: bool = False

    def number(self, options: dict[str, Any]) -> float:
        """The value in `options`, checked, as a kernel sees it."""
        value = options.get(self.name, self.default)
        if value is None:
            raise ConfigError(f"options.{self.name}", f"is needed: {self.summary}")
        if self.name in options and not self._admits(value):
            raise ConfigError(f"options.{self.name}", f"must be {self.domain}")
        return float(self.choices.index(value) if self.kind == "choice" else value)

    def _admits(self, value: Any) -> bool:
        if self.kind == "flag":
            return isinstance(value, bool)
        if self.kind == "choice":
            return isinstance(value, str) and value in self.choices
        if self.kind == "whole":
            return is_whole(value, int(self.low)) and value <= self.high
        return is_real(value) and self.low < value < self.high

    @property
    def domain(self) -> str:
        """What it may be, in words."""
        if self.kind == "flag":
            return "true or false"
        if self.kind == "choice":
            return "one of " + ", ".join(self.choices)
        if self.kind == "whole" and math.isfinite(self.high):
            return f"a whole number from {self.low:g} to {self.high:g}"
        if self.kind == "whole":
            return f"a whole number, {self.low:g} or more"
        return f"a number above {self.low:g}" + (
            f" and below {self.high:g}" if math.isfinite(self.high) else ""
        )


def is_real(value: Any) -> bool:
    """A number, not a truth value, that is finite as a float."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def is_whole(value: Any, least: int) -> bool:
    """A whole number from `least` up, small enough to count something with."""
    return (
        isinstance(value, numbers.Integral)
        and not isinstance(value, bool)
        and least <= int(value) <= MOST
    )
