"""θ of named features in a line: the largest first, and no more than asked for."""

import heapq
from collections.abc import Mapping
from typing import Any


def told(theta: Mapping[str, Any], most: int) -> str:
    """The features whose numbers are largest, with those; for softmax the largest of each.

    >>> told({"age": 0.5, "city=Rome": -2.0, "new": 0.0}, 2)
    'city=Rome -2, age 0.5, … 1 more'
    """
    numbers = {name: _largest(value) for name, value in theta.items()}
    shown = heapq.nlargest(most, numbers, key=lambda name: abs(numbers[name]))
    parts = [f"{_printable(name)} {numbers[name]:.4g}" for name in shown]
    left = len(theta) - len(shown)
    return ", ".join(parts + ([f"… {left:,} more"] if left else []))


def _largest(value: Any) -> float:
    return float(max(value, key=abs) if isinstance(value, list) else value)


def _printable(name: str) -> str:
    """A name that cannot write elsewhere on the screen."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
