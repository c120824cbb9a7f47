"""A setting of a model, a base, a rate or the tangent: its name, its kind and what it may be."""

import math
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
        high: for a real, what it must be below.
        choices: the words of a choice; a kernel sees the position.

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

    def number(self, options: dict[str, Any]) -> float:
        """The value in `options`, checked, as a kernel sees it."""
        value = options.get(self.name, self.default)
        if value is None:
            raise ConfigError(f"options.{self.name}", f"is needed: {self.summary}")
        if self.name in options and not self._admits(value):
            raise ConfigError(f"options.{self.name}", f"must be {self._domain()}")
        return float(self.choices.index(value) if self.kind == "choice" else value)

    def _admits(self, value: Any) -> bool:
        if self.kind == "flag":
            return isinstance(value, bool)
        if self.kind == "choice":
            return isinstance(value, str) and value in self.choices
        if self.kind == "whole":
            return is_whole(value, int(self.low))
        return is_real(value) and self.low < value < self.high

    def _domain(self) -> str:
        if self.kind == "flag":
            return "true or false"
        if self.kind == "choice":
            return "one of " + ", ".join(self.choices)
        if self.kind == "whole":
            return f"a whole number, {self.low:g} or more"
        return f"a number above {self.low:g}" + (
            f" and below {self.high:g}" if math.isfinite(self.high) else ""
        )


def is_real(value: Any) -> bool:
    """A finite number that is not a truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_whole(value: Any, least: int) -> bool:
    """A whole number from `least` up, small enough to count something with."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= MOST
