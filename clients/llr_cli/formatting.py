"""Text for terminals: theta of named features in a line, and sparklines."""

import heapq
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any


def format_theta(theta: Mapping[str, Any], most: int) -> str:
    """The features with the largest parameters; for softmax the largest of each feature's.

    >>> format_theta({"age": 0.5, "city=Rome": -2.0, "new": 0.0}, 2)
    'city=Rome -2, age 0.5, … 1 more'
    """
    numbers = {name: _largest(value) for name, value in theta.items()}
    shown = heapq.nlargest(most, numbers, key=lambda name: abs(numbers[name]))
    parts = [f"{printable(name)} {numbers[name]:.4g}" for name in shown]
    left = len(theta) - len(shown)
    return ", ".join(parts + ([f"… {left:,} more"] if left else []))


def _largest(value: Any) -> float:
    return float(max(value, key=abs) if isinstance(value, list) else value)


def printable(name: str) -> str:
    """A text with its control characters escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)


def ago(time: str | None, now: datetime | None = None) -> str:
    """How long ago a time of the service was; empty if it is not known.

    >>> now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    >>> ago("2026-03-01T11:59:48.200Z", now), ago("2026-02-27T12:00:00.000Z", now), ago(None, now)
    ('12 s ago', '2 d ago', '')
    """
    if time is None:
        return ""
    seconds = max(0.0, ((now or datetime.now(UTC)) - datetime.fromisoformat(time)).total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"


BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float | None], width: int) -> str:
    """Draw the last values as bars between their minimum and maximum; a gap for None.

    >>> sparkline([0, 1, None, 7], 10), sparkline([3, 3], 10), sparkline(range(100), 3)
    ('▁▂ █', '▁▁', '▁▅█')
    """
    shown = values[-width:] if width > 0 else []
    known = [value for value in shown if value is not None and math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return "".join(_bar(value, low, high) for value in shown)


def _bar(value: float | None, low: float, high: float) -> str:
    if value is None or not math.isfinite(value):
        return " "
    height = (value - low) / (high - low) if high > low else 0.0
    return BARS[min(int(height * len(BARS)), len(BARS) - 1)]
