"""Tables in markdown, numbers as people read them."""

import math
from collections.abc import Sequence


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is words and whose others are numbers."""
    rule = ["---"] + ["---:"] * (len(headings) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in (headings, rule, *rows))


def number(value: float) -> str:
    """Three digits at least; words for what is not finite or as good as, a dash for NaN.

    >>> number(1234.5), number(0.01234), number(-0.03), number(0.0), number(float("inf"))
    ('1,234', '0.0123', '−0.03', '0', 'diverges')
    >>> number(float("nan"))
    '–'
    """
    if math.isnan(value):
        return "–"
    if not abs(value) < 1e9:
        return "diverges"
    shown = f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:.3g}"
    return shown.replace("-", "−")


def bold(shown: str, is_best: bool) -> str:
    """The best of a column."""
    return f"**{shown}**" if is_best else shown


def power(rate: float) -> str:
    """A step size as a power of ten, in quarters.

    >>> power(1.0), power(10**-1.75)
    ('10^0', '10^−1.75')
    """
    return f"10^{round(math.log10(rate), 2):g}".replace("-", "−")


def yes(reached: bool) -> str:
    return "yes" if reached else "**no**"
