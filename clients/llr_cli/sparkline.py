"""Numbers as a row of bars, for a terminal."""

import math
from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float | None], width: int) -> str:
    """The last values, scaled between their least and their greatest; a gap for None.

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
