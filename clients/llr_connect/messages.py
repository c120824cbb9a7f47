"""Messages of a source: parsing of JSON and CSV lines, and names of sessions and producers."""

import csv
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, NoReturn, Protocol
from urllib.parse import quote

from llr_cli.formats import Columns
from llr_cli.formats.text import is_header, sample_of
from llr_cli.options import BadData

SAFE = "!#$&'()*+,/:;=?@[]^_`{|}~-."
MAX_LENGTH = 128
PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
SAMPLE = ("x", "y", "w")
"""The members of a sample; other members of a message are ignored."""
OF_STREAM = ("topic", "partition")
"""The placeholders that are the same for all messages of a stream."""


@dataclass(frozen=True, eq=False)
class Message:
    """One message of a source.

    Attributes:
        topic: its stream, which chooses the session.
        producer: the name under which it is numbered.
        place: its position in the stream, for messages to the user.
        text: its content, for the journal of skipped messages.
        sample: the sample; None if the message has none.
        wrong: why it has no sample.
        number: its number among its producer's, if it has one; else it is the next.
        lost: messages lost just before it.
        token: what the source needs to acknowledge it.
        session: its session's name, if the source knows it; "" if it cannot have one.
    """

    topic: str
    producer: str
    place: str
    text: str
    sample: dict[str, Any] | None = None
    wrong: str = ""
    number: int | None = None
    lost: int = 0
    token: Any = None
    session: str | None = None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def record_of(payload: bytes) -> dict[str, Any]:
    """Parse a JSON object."""
    try:
        found = json.loads(payload, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadData(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise BadData('an object is needed, such as {"x": [1, 2], "y": 3}')
    return found


def read(record: Callable[[], dict[str, Any]], columns: Columns) -> dict[str, Any]:
    """The members of a `Message` that a record gives: `sample`, or `wrong`."""
    try:
        found = sample_of(record(), columns)
        return {"sample": {name: found[name] for name in SAMPLE if name in found}}
    except BadData as error:
        return {"wrong": str(error)}


def producer_name(*parts: str) -> str:
    """A valid producer name from its parts: visible ASCII, of bounded length.

    >>> producer_name("mqtt", "plant 1/temperature")
    'mqtt:plant%201/temperature'
    """
    name = quote(":".join(parts), safe=SAFE)
    if len(name) <= MAX_LENGTH:
        return name
    return f"{name[:100]}:{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def session_name(template: str, topic: str, **values: str) -> str:
    """The session's name for a topic; invalid characters become `_`.

    >>> session_name("sensor-{topic}", "plant/1"), session_name("all", "plant/1")
    ('sensor-plant_1', 'all')
    """
    return fill_template(template, {"topic": topic} | values)


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """The session's name with its placeholders replaced; empty if one has no value.

    Two keys never share a session: a name that does not show the key as it is ends with a digest.

    >>> fill_template("load-{key}", {"key": "a-b"}), fill_template("load-{key}", {"key": "a/b"})
    ('load-a-b', 'load-a_b-c14cddc0')
    >>> fill_template("load-{key}", {})
    ''
    """
    names = PLACEHOLDER.findall(template)
    if any(not values.get(name) for name in names):
        return ""
    shown = PLACEHOLDER.sub(lambda m: re.sub(r"[^A-Za-z0-9._-]", "_", values[m[1]]), template)
    name = shown.lstrip("._-")[:MAX_LENGTH]
    if set(names) <= {*OF_STREAM} or name == PLACEHOLDER.sub(lambda m: values[m[1]], template):
        return name
    whole = "\n".join(values[each] for each in names).encode("utf-8", "surrogateescape")
    return f"{name[: MAX_LENGTH - 9]}-{hashlib.sha256(whole).hexdigest()[:8]}".lstrip("-")


class Lines(Protocol):
    """A parser of lines, in order."""

    def read(self, line: bytes) -> dict[str, Any] | None:
        """The `sample` in a line, or what is `wrong` with it; None for a line without data."""


class NdjsonLines:
    """Parses NDJSON."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def read(self, line: bytes) -> dict[str, Any] | None:
        """The sample in a line, or what is wrong with it."""
        return read(lambda: record_of(line), self._columns)


class CsvLines:
    """Parses CSV without line breaks in cells. A first row with a word names the columns."""

    def __init__(self, columns: Columns, delimiter: str) -> None:
        self._columns, self._delimiter = columns, delimiter
        self._names: list[str] = []

    def read(self, line: bytes) -> dict[str, Any] | None:
        """The sample in a row, or what is wrong with it; None for the header."""
        try:
            (cells,) = csv.reader([line.decode("utf-8-sig")], delimiter=self._delimiter)
            if not self._names:
                named = is_header(cells)
                self._names = [c.strip() for c in cells] if named else list(map(str, _count(cells)))
                self._features, self._label = self._columns.indexes(self._names)
                if named:
                    return None
            return {"sample": self._sample(cells)}
        except (BadData, ValueError, csv.Error) as error:
            return {"wrong": str(error)}

    def _sample(self, cells: list[str]) -> dict[str, Any]:
        if len(cells) != len(self._names):
            raise BadData(f"{len(cells)} cells, where the first row has {len(self._names)}")
        x = [_number(cells[place]) for place in self._features]
        y = _number(cells[self._label])
        return {"x": x, "y": y} if x else {"y": y}


def _count(cells: list[str]) -> range:
    return range(len(cells))


def _number(cell: str) -> float:
    try:
        found = float(cell)
    except ValueError:
        found = float("nan")
    if not isfinite(found):
        raise BadData(f"{cell!r} is not a finite number")
    return found
