"""What every encoding becomes: rows of features and a vector of labels."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from llr import NamedRows
from llr.types import Array, Vector
from llr_service.codec import named

NOTHING: Mapping[str, Array] = MappingProxyType({})
DEFAULTS: Mapping[str, float] = MappingProxyType({"w": 1.0})
"""What samples have in an optional column that others of them bring; a column that is not here is
brought by all samples or by none."""
REAL = np.dtype(np.float64)
NAMED = -1
"""In place of a number of features, where they have names."""
Form = Literal["rows", "columns", "single"]
"""A list of samples or an array of rows; an object of columns; an object that is one sample."""


class Samples(NamedTuple):
    """Samples in the order they came: finite float64, C-contiguous, aligned, to be read only.

    Attributes:
        X: n × d, one row of features a sample; n rows of named ones; None for models without.
        y: the n labels.
        optional: what else samples may carry, n values each; see `codec.json.OPTIONAL`.
        form: how the body had them, which tells where each of them stands in it.
    """

    X: Vector | NamedRows | None
    y: Vector
    optional: Mapping[str, Array] = NOTHING
    form: Form = "rows"

    @classmethod
    def none(cls) -> "Samples":
        """No samples at all."""
        return cls(None, np.empty(0))

    @classmethod
    def joined(cls, parts: Sequence["Samples"]) -> "Samples":
        """Samples one after the other. Raises ValueError if they are not of one width."""
        some = [part for part in parts if part.n]
        if len(some) < 2:
            return some[0] if some else cls.none()
        y = np.concatenate([part.y for part in some])
        optional = _concat(some)
        by_name = [part.X for part in some if isinstance(part.X, NamedRows)]
        if by_name and len(by_name) < len(some):
            raise ValueError("some rows are named, others are not")
        if by_name:
            return cls(NamedRows.concat(by_name), y, optional)
        plain = [part.X for part in some if isinstance(part.X, np.ndarray)]
        return cls(np.concatenate(plain) if plain else None, y, optional)

    @property
    def n(self) -> int:
        """How many there are."""
        return self.y.size

    @property
    def dim(self) -> int:
        """How many features each has; one for models without, NAMED where they have names."""
        if isinstance(self.X, NamedRows):
            return NAMED
        return 1 if self.X is None else self.X.shape[1]

    @property
    def names(self) -> Sequence[str]:
        """The features that are named."""
        return self.X.names if isinstance(self.X, NamedRows) else ()

    @property
    def nbytes(self) -> int:
        """How many bytes they take."""
        X, size = self.X, self.y.nbytes
        if type(X) is np.ndarray and not self.optional:
            return size + X.nbytes
        for column in self.optional.values():
            size += column.nbytes
        if isinstance(X, NamedRows):
            return size + named.nbytes(X)
        return size if X is None else size + X.nbytes

    @property
    def arguments(self) -> tuple[Any, ...]:
        """As a learner's `learn` takes them."""
        return (self.y,) if self.X is None else (self.X, self.y)

    @property
    def weights(self) -> Vector | None:
        """The weight of each, None if all are 1."""
        return self.optional.get("w")

    @property
    def numbers(self) -> Array | None:
        """The sequence number of each, None if they have none of their own."""
        return self.optional.get("seq")

    def without_numbers(self) -> "Samples":
        """The same, as they are learnt and logged: a number identifies a sample, no more."""
        rest = {name: column for name, column in self.optional.items() if name != "seq"}
        return Samples(self.X, self.y, rest or NOTHING)

    def after(self, known: int) -> "Samples":
        """All but the first `known`."""
        if known == 0:
            return self
        optional = {name: column[known:] for name, column in self.optional.items()}
        if isinstance(self.X, NamedRows):
            return Samples(named.slice_rows(self.X, known, self.n), self.y[known:], optional)
        return Samples(None if self.X is None else self.X[known:], self.y[known:], optional)


def _concat(parts: Sequence[Samples]) -> Mapping[str, Array]:
    """Optional columns one after the other, with defaults where a part has none.

    Raises ValueError if there is no default for what a part lacks.
    """
    names = {name: None for part in parts for name in part.optional}
    if any(names.keys() - part.optional.keys() - DEFAULTS.keys() for part in parts):
        raise ValueError("some samples have members that others lack")
    return {name: np.concatenate([_column(part, name) for part in parts]) for name in names}


def _column(part: Samples, name: str) -> Array:
    found = part.optional.get(name)
    return np.full(part.n, DEFAULTS[name]) if found is None else found


def samples_in(
    numbers: bytes, n: int, d: int, optional: Mapping[str, Array] = NOTHING, form: Form = "rows"
) -> Samples:
    """The samples whose n × d features, then n labels, are these native float64; d = 0 for no X."""
    y: Vector = np.ndarray((n,), REAL, numbers, n * d * REAL.itemsize)
    return Samples(np.ndarray((n, d), REAL, numbers) if d else None, y, optional, form)
