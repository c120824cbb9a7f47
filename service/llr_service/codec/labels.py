"""Label bodies: one label with its id, a list of them, or one a line."""

import re
from typing import Any, NamedTuple

from llr.types import Vector
from llr_service.codec.errors import name_of
from llr_service.codec.exact import Inspector

ID = re.compile(r"[\x21-\x7e]{1,128}")
"""What an id may be."""

BLANK = b" \t\r"
KEPT_ALREADY = "x was kept with its prediction: send id and y"


class Labels(NamedTuple):
    """Labels in the order they came.

    Attributes:
        ids: the id each is for.
        y: the labels.
        single: whether it was one label without a list around it.
        lines: the number of each one's line, if it came in lines.
    """

    ids: list[str]
    y: Vector
    single: bool
    lines: list[int] | None = None


class LabelInspector(Inspector):
    """Reads a body of labels."""

    def __init__(self) -> None:
        super().__init__(features=False)
        self.ids: list[str] = []

    def body(self, value: Any) -> None:
        """One label, or a list of them."""
        self.single = type(value) is not list
        if value == []:
            self.errors.add("", "has no labels")
        for i, each in enumerate([value] if self.single else value):
            if self.errors.full:
                return
            self.label(each, "" if self.single else f"/{i}")

    def label(self, value: Any, pointer: str = "") -> None:
        """One label."""
        if type(value) is dict and "x" in value:
            self.errors.add(f"{pointer}/x", KEPT_ALREADY)
        elif self._object(value, pointer, ("id", "y")) and value.keys() == {"id", "y"}:
            self.ids.append(checked_id(self, value["id"], f"{pointer}/id"))
            self._labels.append(self._number(value["y"], f"{pointer}/y"))


def checked_id(inspector: Inspector, value: Any, pointer: str) -> str:
    """An id; a fault if it is none."""
    if type(value) is not str:
        inspector.errors.add(pointer, f"must be a string, not {name_of(value)}")
        return ""
    if not ID.fullmatch(value):
        inspector.errors.add(pointer, "must be 1 to 128 visible ASCII characters")
    return value


def decode_labels(body: bytes) -> Labels:
    """The labels of an `application/json` body.

    >>> decode_labels(b'[{"id": "a", "y": 1}, {"id": "b", "y": 0.5}]')
    Labels(ids=['a', 'b'], y=array([1. , 0.5]), single=False, lines=None)
    """
    inspector = LabelInspector()
    inspector.read(body, inspector.body)
    y = inspector.samples().y
    return Labels(inspector.ids, y, inspector.single)


def decode_label_lines(body: bytes) -> Labels:
    r"""The labels of an `application/x-ndjson` body; blank lines count but hold none.

    >>> decode_label_lines(b'{"id": "a", "y": 1}\n\n{"id": "b", "y": 0.5}').lines
    [1, 3]
    """
    inspector, numbers = LabelInspector(), list[int]()
    for number, line in enumerate(body.split(b"\n"), 1):
        if inspector.errors.full:
            break
        inspector.errors.line = number
        if text := line.strip(BLANK):
            inspector.read(text, inspector.label)
            numbers.append(number)
    if not numbers:
        inspector.errors.add("", "has no labels")
    y = inspector.samples().y
    return Labels(inspector.ids, y, False, numbers)
