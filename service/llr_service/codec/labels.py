"""Label bodies: one label with its id, a list of them, or one a line."""

from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from llr.classes import Classes
from llr.types import Vector
from llr_service.codec.errors import Explainer
from llr_service.codec.json import Id, indexed
from llr_service.codec.ndjson import texts_in
from llr_service.codec.reader import REFUSED, BodyType, Text, check_signs, decode_again
from llr_service.codec.samples import DEFAULTS


class Label(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """One label, the id of the row it is for, and the weight of both together."""

    id: Id
    y: float
    w: float | UnsetType = UNSET


class ClassLabel(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The same where classes have names."""

    id: Id
    y: str
    w: float | UnsetType = UNSET


ONE = {False: BodyType(Label), True: BodyType(ClassLabel)}
BODY = {False: BodyType(Label | list[Label]), True: BodyType(ClassLabel | list[ClassLabel])}


class Labels(NamedTuple):
    """Labels in the order they came.

    Attributes:
        ids: the id each is for.
        y: the labels.
        single: whether it was one label without a list around it.
        lines: the number of each one's line, if it came in lines.
        w: the weights, None if all are 1.
    """

    ids: list[str]
    y: Vector
    single: bool
    lines: list[int] | None = None
    w: Vector | None = None


def decode_labels(body: bytes, classes: Classes | None = None) -> Labels:
    """The labels of an `application/json` body, with these names if classes have names.

    >>> decode_labels(b'[{"id": "a", "y": 1}, {"id": "b", "y": 0.5}]')
    Labels(ids=['a', 'b'], y=array([1. , 0.5]), single=False, lines=None, w=None)
    """
    kind = BODY[classes is not None]
    try:
        return _build(kind.decode(body), body, classes)
    except REFUSED:
        explainer = Explainer(False, ("w",), classes)

        def build(values: list[Any]) -> Labels:
            return _build(kind.convert(values[0]), b"", classes)

        return decode_again([Text(body)], build, explainer, explainer.labels)


def decode_label_lines(body: bytes, classes: Classes | None = None) -> Labels:
    r"""The labels of an `application/x-ndjson` body; blank lines count but hold none.

    >>> decode_label_lines(b'{"id": "a", "y": 1}\n\n{"id": "b", "y": 0.5}').lines
    [1, 3]
    """
    texts, kind = texts_in(body, first_line=1), ONE[classes is not None]
    try:
        labels = _build([kind.decode(text) for text, _ in texts], body, classes)
    except REFUSED:
        explainer = Explainer(False, ("w",), classes)

        def build(values: list[Any]) -> Labels:
            return _build([kind.convert(value) for value in values], b"", classes)

        labels = decode_again(texts, build, explainer, explainer.label)
    return labels._replace(lines=[line for _, line in texts if line])


def _build(value: Any, text: bytes, classes: Classes | None) -> Labels:
    """Labels of typed values; a ValueError if there are none, or if a zero may have been -0."""
    labels = value if type(value) is list else [value]
    y = indexed([label.y for label in labels], classes)
    if not y:
        raise ValueError("has no labels")
    check_signs(all(y), text)
    w = [DEFAULTS["w"] if label.w is UNSET else label.w for label in labels]
    weights = np.array(w) if any(label.w is not UNSET for label in labels) else None
    ids = [label.id for label in labels]
    return Labels(ids, np.array(y), type(value) is not list, w=weights)
