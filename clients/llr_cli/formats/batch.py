"""Batches of samples, the roles of columns, and the protocol of file formats."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from llr_client import Answer, Session

from llr_cli.options import BadData

BLOCK = 2000
"""The default number of samples of a batch."""

TRY_NAMED = "--named sends features by their names, text too"


class Columns(NamedTuple):
    """The roles of a table's columns.

    Attributes:
        label: the name or index of the label's column; None for `y`, or the last.
        features: the feature columns in order; None for all others.
        wanted: whether the model takes features.
        named: whether features are sent with the names of their columns, also text.
        weight: the name or index of the weights' column, if there is one.
        words: whether labels are the names of classes.
    """

    label: str | None = None
    features: tuple[str, ...] | None = None
    wanted: bool = True
    named: bool = False
    weight: str | None = None
    words: bool = False

    def indexes(self, names: Sequence[str]) -> tuple[list[int], int]:
        """The column indexes of the features, and that of the label.

        >>> Columns().indexes(["a", "y", "b"]), Columns("0", ("-1",)).indexes(["a", "y", "b"])
        (([0, 2], 1), ([2], 0))
        """
        label = "y" if self.label is None and "y" in names else self.label
        y = len(names) - 1 if label is None else _place(label, names)
        if not self.wanted:
            return [], y
        if self.features is not None:
            return [_place(name, names) for name in self.features], y
        taken = (y, self.weight_index(names))
        return [place for place in range(len(names)) if place not in taken], y

    def weight_index(self, names: Sequence[str]) -> int | None:
        """The column index of the weights; None if there are none."""
        return None if self.weight is None else _place(self.weight, names)


def _place(name: str, names: Sequence[str]) -> int:
    if name in names:
        return names.index(name)
    number = int(name) if name.removeprefix("-").isdecimal() else None
    if number is None or not -len(names) <= number < len(names):
        shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        raise BadData(f"there is no column {name!r}; there are: {shown}")
    return number % len(names)


def named_sample(
    names: Sequence[str], values: Sequence[Any], y: Any, w: Any = None
) -> dict[str, Any]:
    """A sample with named features; those without a value are omitted.

    >>> named_sample(["rooms", "town"], [None, "Rome"], 2.5)
    {'x': {'town': 'Rome'}, 'y': 2.5}
    """
    pairs = zip(names, values, strict=True)
    sample = {"x": {name: value for name, value in pairs if value is not None}, "y": y}
    return sample if w is None else sample | {"w": w}


@dataclass(frozen=True)
class Batch:
    """Consecutive samples of a file, sent together.

    Attributes:
        samples: `(X, y)` or `(y,)` as arrays, or a list of dicts.
        n: the number of samples.
        done: the position in the file after them, in the units of its `total`.
        places: each sample's position in the file, such as its line.
        unit: the unit of `places`.
        w: the weights of samples in arrays; None if all are 1.
    """

    samples: tuple[Any, ...] | list[Any]
    n: int
    done: int
    places: Sequence[int]
    unit: str = "line"
    w: Any = None

    def learn(self, session: Session) -> Answer:
        """Send the batch."""
        if isinstance(self.samples, tuple):
            return session.learn_many(*self.samples, w=self.w, theta=False)
        *_, answer = session.stream(self.samples, block=self.n, theta=False)
        return answer

    def place(self, index: int) -> str:
        """A sample's place, for messages."""
        return f"{self.unit} {self.places[index]}"


class Source(Protocol):
    """A file of samples.

    Attributes:
        total: its size in the units of `Batch.done`; None if it is unknown.
    """

    total: int | None

    def batches(self, skip: int, block: int) -> Iterator[Batch]:
        """The samples after the first `skip`, in batches of at most `block`."""
        ...
