"""What every format is read into: parts of a file, in order, each sent whole."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from llr_client import Answer, Session

from llr_cli.connection import BadData

BLOCK = 2000
"""Samples of a part, unless told otherwise."""

TRY_NAMED = "--named sends features by their names, text too"


class Columns(NamedTuple):
    """Which columns of a table are what.

    Attributes:
        label: the name or number of the label's; None for `y`, or the last.
        features: those of the features, in their order; None for all others.
        wanted: whether the model takes features at all.
        named: whether features are sent under the names of their columns, text among them.
    """

    label: str | None = None
    features: tuple[str, ...] | None = None
    wanted: bool = True
    named: bool = False

    def among(self, names: Sequence[str]) -> tuple[list[int], int]:
        """The places of the features and of the label among the columns there are.

        >>> Columns().among(["a", "y", "b"]), Columns("0", ("-1",)).among(["a", "y", "b"])
        (([0, 2], 1), ([2], 0))
        """
        label = "y" if self.label is None and "y" in names else self.label
        y = len(names) - 1 if label is None else _place(label, names)
        if not self.wanted:
            return [], y
        if self.features is not None:
            return [_place(name, names) for name in self.features], y
        return [place for place in range(len(names)) if place != y], y


def _place(name: str, names: Sequence[str]) -> int:
    if name in names:
        return names.index(name)
    number = int(name) if name.removeprefix("-").isdecimal() else None
    if number is None or not -len(names) <= number < len(names):
        shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        raise BadData(f"there is no column {name!r}; there are: {shown}")
    return number % len(names)


def named_sample(names: Sequence[str], values: Sequence[Any], y: Any) -> dict[str, Any]:
    """A sample whose features have names; what has no value is left out.

    >>> named_sample(["rooms", "town"], [None, "Rome"], 2.5)
    {'x': {'town': 'Rome'}, 'y': 2.5}
    """
    pairs = zip(names, values, strict=True)
    return {"x": {name: value for name, value in pairs if value is not None}, "y": y}


@dataclass(frozen=True)
class Part:
    """Some samples in a row.

    Attributes:
        samples: `(X, y)` or `(y,)` as arrays, or a list of dicts.
        n: how many.
        done: how far the file is read with them, in the units of its `total`.
        places: for each sample, where it is in the file, such as its line.
        unit: what places count.
    """

    samples: tuple[Any, ...] | list[Any]
    n: int
    done: int
    places: Sequence[int]
    unit: str = "line"

    def learn(self, session: Session) -> Answer:
        """Send them."""
        if isinstance(self.samples, tuple):
            return session.learn_many(*self.samples, theta=False)
        *_, answer = session.stream(self.samples, block=self.n, theta=False)
        return answer

    def place(self, index: int) -> str:
        """Where a sample is, for people."""
        return f"{self.unit} {self.places[index]}"


class Source(Protocol):
    """A file of samples.

    Attributes:
        total: its size in whatever units `Part.done` counts; None if nobody knows.
    """

    total: int | None

    def parts(self, skip: int, block: int) -> Iterator[Part]:
        """The samples after the first `skip`, in parts of at most `block`."""
        ...
