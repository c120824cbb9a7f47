"""Samples with named features as arrays, and what a feature may be called and contain."""

import math
import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llr.errors import DtypeError, FeatureError, NotFiniteError, ShapeError
from llr.kernels import validation
from llr.types import Counts, Vector

LONGEST = 256
"""Characters in a name."""

MOST = 10_000
"""Features in a sample."""

RESERVED = "#"
"""What the columns begin with that share their names out by a hash."""


def _features_of(sample: Any, index: int) -> Iterator[tuple[str, float]]:
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


OVERHEAD = 64


@dataclass(frozen=True, eq=False)
class NamedRows:
    """Samples whose features have names. Sample i has what stands from starts[i] to starts[i + 1].

    Attributes:
        names: every name once, in the order of first appearance.
        starts: where each sample begins, and at last where the last one ends; n + 1 numbers.
        columns: for each value, which of the names it belongs to.
        values: the values.

    >>> rows = NamedRows.of([{"age": 31, "city": "Rome"}, {"member": True, "age": 7.5}])
    >>> rows.names, rows.n
    (['age', 'city=Rome', 'member'], 2)
    >>> rows.columns.tolist(), rows.values.tolist()
    ([0, 1, 2, 0], [31.0, 1.0, 1.0, 7.5])
    """

    names: list[str]
    starts: Counts
    columns: Counts
    values: Vector

    def __post_init__(self) -> None:
        self._set(self.names, self.starts, self.columns, self.values)
        if len(set(self.names)) != len(self.names):
            raise ShapeError("a name stands twice in names")
        self._check()

    @classmethod
    def of(cls, samples: Iterable[Mapping[str, Any]]) -> "NamedRows":
        """From mappings of names to numbers, booleans or strings.

        A boolean is 1 or 0, and a string is one-hot: {"city": "Rome"} is {"city=Rome": 1}. Raises a
        `SampleError` that names the first bad sample, and the feature.
        """
        starts, names, values = [0], list[str](), list[float]()
        for index, sample in enumerate(samples):
            for name, value in _features_of(sample, index):
                names.append(name)
                values.append(value)
            starts.append(len(names))
        return cls.from_cells(names, np.array(starts), np.array(values, float))

    @classmethod
    def from_cells(cls, names: Sequence[str], starts: Counts, values: Vector) -> "NamedRows":
        """From a name for each value: numbers the names in the order of first appearance.

        >>> NamedRows.from_cells(["b", "a", "b"], np.array([0, 2, 3]), np.ones(3)).names
        ['b', 'a']
        """
        if starts.size == 2 and len(set(names)) == len(names):  # most samples that come alone
            distinct, columns = list(names), np.arange(len(names))
        else:
            distinct, columns = _numbered(names)
        rows = cls.__new__(cls)
        rows._set(distinct, starts, columns, values)
        rows._check()
        return rows

    @classmethod
    def concat(cls, parts: Sequence["NamedRows"]) -> "NamedRows":
        """The samples of all parts, one after the other.

        >>> both = NamedRows.concat([NamedRows.of([{"a": 1}]), NamedRows.of([{"b": 2, "a": 3}])])
        >>> both.names, both.columns.tolist()
        (['a', 'b'], [0, 1, 0])
        """
        names, numbers = _numbered([name for part in parts for name in part.names])
        columns, starts, first, at = [], [np.zeros(1, np.int64)], 0, 0
        for part in parts:
            columns.append(numbers[first : first + len(part.names)][part.columns])
            starts.append(part.starts[1:] + at)
            first += len(part.names)
            at += part.columns.size
        rows = cls.__new__(cls)  # parts that were checked need no check together
        values = np.concatenate([part.values for part in parts])
        rows._set(names, np.concatenate(starts), np.concatenate(columns), values)
        return rows

    @property
    def n(self) -> int:
        """How many samples there are."""
        return self.starts.size - 1

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        arrays = self.starts.nbytes + self.columns.nbytes + self.values.nbytes
        return arrays + sum(map(len, self.names)) + OVERHEAD * len(self.names)

    def after(self, known: int) -> "NamedRows":
        """The samples without the first so many, and without the names that only those had.

        >>> NamedRows.of([{"a": 1}, {"b": 2}]).after(1).names
        ['b']
        """
        first = int(self.starts[known])
        used, at, places = np.unique(self.columns[first:], return_index=True, return_inverse=True)
        order = np.argsort(at)  # of first appearance, not of the old numbers
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        return NamedRows(
            [self.names[column] for column in used[order]],
            self.starts[known:] - first,
            rank[places],
            self.values[first:],
        )

    def _set(self, names: list[str], starts: Counts, columns: Counts, values: Vector) -> None:
        """Set the attributes, the arrays in the form that kernels take and read-only."""
        set_to = object.__setattr__
        set_to(self, "names", names)
        set_to(self, "starts", _read_only(starts, np.int64))
        set_to(self, "columns", _read_only(columns, np.int64))
        set_to(self, "values", _read_only(values, np.float64))

    def _check(self) -> None:
        """Raise unless kernels can trust these numbers; the names are known to differ."""
        starts, columns = self.starts, self.columns
        if not starts.ndim == columns.ndim == self.values.ndim == 1 or not starts.size:
            raise ShapeError("starts, columns and values must be vectors, starts with one more")
        if starts[0] != 0 or columns.size != self.values.size or starts[-1] != columns.size:
            raise ShapeError("starts must go from 0 to the number of columns and of values")
        wrong: int = validation.first_unsound(starts, columns, np.empty(len(self.names), np.int64))
        if wrong >= 0:
            reason = "columns must point into names, each once, new names in the order they come"
            raise ShapeError(reason, wrong if wrong < self.n else None)
        check_names(self)


def _numbered(names: Sequence[str]) -> tuple[list[str], Counts]:
    """Each name once, in the order of first appearance, and the number of every name among them."""
    first: dict[str, int] = {}
    n = len(names)
    places = np.fromiter(map(first.setdefault, names, range(n)), np.int64, n)
    if len(first) == n:
        return list(first), places
    rank = np.empty(n, np.int64)
    rank[np.fromiter(first.values(), np.int64, len(first))] = np.arange(len(first))
    return list(first), rank[places]


def _read_only(given: Any, kind: Any) -> Any:
    """A read-only view of numbers in the form that kernels take."""
    array = np.ascontiguousarray(given, kind)
    array = array.view() if array.flags.aligned else array.copy()
    array.flags.writeable = False
    return array
