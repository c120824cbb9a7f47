"""What a feature may be called, and what value it may have."""

import math
import numbers
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from llr.errors import DtypeError, FeatureError, NotFiniteError

if TYPE_CHECKING:
    from llr.named.rows import NamedRows

LONGEST = 256
"""Characters in a name."""

MOST = 10_000
"""Features in a sample."""

RESERVED = "#"
"""What the columns begin with that share their names out by a hash."""


def of(sample: Any, index: int) -> Iterator[tuple[str, float]]:
    """The names and values of one sample, one-hot where it has strings."""
    if not isinstance(sample, Mapping):
        raise DtypeError("must be an object of named features", index)
    seen = set()
    for given, value in sample.items():
        name, number = _feature(given, value, index)
        if name in seen:
            raise FeatureError("stands twice in the sample", index, feature=name)
        seen.add(name)
        yield name, number


def _feature(name: Any, value: Any, index: int) -> tuple[str, float]:
    if not isinstance(name, str):
        raise DtypeError(f"a name must be a string, not {name!r:.50}", index)
    if type(value) is float or type(value) is int:
        return name, _finite(value, index, name)
    if isinstance(value, str):
        return f"{name}={value}", 1.0
    if isinstance(value, bool | np.bool_):
        return name, float(value)
    if isinstance(value, numbers.Real):
        return name, _finite(value, index, name)
    reason = "must be a number, true or false, or a string"
    raise DtypeError(reason, index, feature=name)


def _finite(value: Any, index: int, name: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise NotFiniteError("is not finite", index, feature=name)
    return number


def check_names(rows: "NamedRows") -> None:
    """Raise for the first sample with a name that cannot be one, or with too many features."""
    if not _plainly_right(rows.names):
        for column, name in enumerate(rows.names):
            reason = refusal(name)
            if reason:
                raise FeatureError(reason, _first(rows, column), feature=name)
    if rows.columns.size <= MOST:
        return
    present = rows.starts[1:] - rows.starts[:-1]
    if present.max() > MOST:
        index = int(np.argmax(present > MOST))
        raise FeatureError(f"has {present[index]} features, the most is {MOST}", index)


def _plainly_right(names: list[str]) -> bool:
    """Whether a look at all names at once finds nothing to doubt, as it seldom does."""
    if not names:
        return True
    try:
        text = "\n".join(["", *names])
    except TypeError:
        return False
    sizes = set(map(len, names))
    within = min(sizes) > 0 and max(sizes) <= LONGEST
    return within and text.isascii() and f"\n{RESERVED}" not in text


def refusal(name: Any) -> str | None:
    """Why this cannot be a feature's name, None if it can."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST:
        return f"a name has 1 to {LONGEST} characters"
    if name.startswith(RESERVED):
        return f"a name does not begin with {RESERVED}"
    if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
        return "a name is Unicode without lone surrogates"
    return None


def _first(rows: "NamedRows", column: int) -> int:
    """The first sample that has this column."""
    at = int(np.argmax(rows.columns == column))
    return int(np.searchsorted(rows.starts, at, side="right")) - 1
