"""Batches of samples, the roles of columns, and the protocol of file formats."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from llr_client import Answer, Session

from llr_cli.options import BadData

BLOCK = 2000
"""The default number of samples of a batch."""

TRY_NAMED = "--named sends features by their names, text too"
MOST_CLASSES = 20
"""The most distinct labels that `try_classes` takes for the names of classes."""


def try_classes(labels: Sequence[Any]) -> str:
    """How to learn labels that are text, in the words of the command's options.

    >>> try_classes(["spam", "ham", "spam"])
    'to learn names, create the session with --model logistic --classes ham,spam'
    """
    names = sorted({str(label).strip() for label in labels})
    if not 2 <= len(names) <= MOST_CLASSES or any("," in name or not name for name in names):
        return "--label-column names the column of the labels, --classes their classes if text"
    model = "logistic" if len(names) == 2 else "softmax"
    classes = shlex.quote(",".join(names))
    return f"to learn names, create the session with --model {model} --classes {classes}"


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


class BadRow(NamedTuple):
    """A row that is no sample: its place in the file, why, and the row itself."""

    place: int
    unit: str
    why: str
    content: Any


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
        row: returns a sample's row as it is in the file.
        kept: each sample's index among the rows of the block; None if every row is a sample.
        bad: the rows that are no samples.
        trouble: why parsing all rows failed, with a hint, if some are bad.
    """

    samples: tuple[Any, ...] | list[Any]
    n: int
    done: int
    places: Sequence[int]
    unit: str = "line"
    w: Any = None
    row: Callable[[int], Any] = str
    kept: Sequence[int] | None = None
    bad: tuple[BadRow, ...] = ()
    trouble: str = ""

    @property
    def rows(self) -> int:
        """The number of rows, good and bad."""
        return self.n + len(self.bad)

    def learn(self, session: Session, start: int) -> Answer:
        """Send the batch, whose first row has the number `start`.

        Bad rows keep their numbers, so that a row's number is its place in the file.
        """
        seq = None if self.kept is None else [start + index for index in self.kept]
        if isinstance(self.samples, tuple):
            answer = session.learn_many(*self.samples, w=self.w, seq=seq, theta=False)
        else:
            samples = self.samples
            if seq is not None:
                pairs = zip(samples, seq, strict=True)
                samples = [sample | {"seq": number} for sample, number in pairs]
            *_, answer = session.stream(samples, block=self.n, theta=False)
        if self.bad:
            session.skip_to(start + self.rows)
        return answer

    def labels(self) -> Sequence[Any]:
        """The labels of the samples."""
        if isinstance(self.samples, tuple):
            return list(self.samples[-1])
        return [sample.get("y") for sample in self.samples]

    def place(self, index: int) -> str:
        """A sample's place, for messages."""
        return f"{self.unit} {self.places[index]}"

    def without(self, refused: dict[int, str]) -> "Batch":
        """The batch without some samples, each with the reason, which become bad rows."""
        left = [index for index in range(self.n) if index not in refused]
        kept = range(self.n) if self.kept is None else self.kept
        bad = (
            BadRow(self.places[index], self.unit, why, self.row(index))
            for index, why in refused.items()
        )
        samples: Any
        if isinstance(self.samples, tuple):
            samples = tuple(_chosen(column, left) for column in self.samples)
        else:
            samples = _chosen(self.samples, left)
        return replace(
            self,
            samples=samples,
            n=len(left),
            places=[self.places[index] for index in left],
            w=None if self.w is None else _chosen(self.w, left),
            row=lambda index: self.row(left[index]),
            kept=[kept[index] for index in left],
            bad=(*self.bad, *bad),
        )


def _chosen(column: Any, indexes: list[int]) -> Any:
    return [column[k] for k in indexes] if isinstance(column, list) else column[indexes]


def batch_of(
    rows: Sequence[Any],
    parse: Callable[[Sequence[Any]], Batch],
    describe: Callable[[Any], tuple[int, Any]] | None,
    done: int,
    unit: str = "line",
) -> Batch:
    """Parse rows to a batch.

    Args:
        rows: the rows of a block.
        parse: makes a batch of rows, or raises BadData.
        describe: a row's place and text for its `BadRow`; None if a bad row is an error.
        done: the position in the file after the rows.
        unit: the unit of places.
    """
    try:
        return parse(rows)
    except BadData as error:
        if describe is None:
            raise
        trouble = str(error)
    good, bad = [], []
    for index, row in enumerate(rows):
        try:
            parse([row])
            good.append(index)
        except BadData as error:
            place, text = describe(row)
            bad.append(BadRow(place, unit, error.why.removeprefix(f"{unit} {place}: "), text))
    batch = parse([rows[index] for index in good]) if good else Batch([], 0, done, [], unit)
    return replace(batch, kept=good, bad=tuple(bad), trouble=trouble)


class Source(Protocol):
    """A file of samples.

    Attributes:
        total: its size in the units of `Batch.done`; None if it is unknown.
    """

    total: int | None

    def batches(self, skip: int, block: int) -> Iterator[Batch]:
        """The samples after the first `skip`, in batches of at most `block`."""
        ...
