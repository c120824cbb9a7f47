"""Label bodies: one label with its id, a list of them, or one a line."""

from typing import Any, NamedTuple

import msgspec
import numpy as np

from llr.types import Vector
from llr_service.codec.errors import Explainer
from llr_service.codec.json import Id
from llr_service.codec.ndjson import texts_in
from llr_service.codec.reader import REFUSED, BodyType, Text, check_signs, decode_again


class Label(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """One label, and the id of the row it is for."""

    id: Id
    y: float


ONE, BODY = BodyType(Label), BodyType(Label | list[Label])


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


def decode_labels(body: bytes) -> Labels:
    """The labels of an `application/json` body.

    >>> decode_labels(b'[{"id": "a", "y": 1}, {"id": "b", "y": 0.5}]')
    Labels(ids=['a', 'b'], y=array([1. , 0.5]), single=False, lines=None)
    """
    try:
        return _build(BODY.decode(body), body)
    except REFUSED:
        explainer = Explainer(features=False)
        return decode_again([Text(body)], _of_value, explainer, explainer.labels)


def decode_label_lines(body: bytes) -> Labels:
    r"""The labels of an `application/x-ndjson` body; blank lines count but hold none.

    >>> decode_label_lines(b'{"id": "a", "y": 1}\n\n{"id": "b", "y": 0.5}').lines
    [1, 3]
    """
    texts = texts_in(body, first_line=1)
    try:
        labels = _build([ONE.decode(text) for text, _ in texts], body)
    except REFUSED:
        explainer = Explainer(features=False)
        labels = decode_again(texts, _of_values, explainer, explainer.label)
    return labels._replace(lines=[line for _, line in texts if line])


def _of_value(values: list[Any]) -> Labels:
    return _build(BODY.convert(values[0]), b"")


def _of_values(values: list[Any]) -> Labels:
    return _build([ONE.convert(value) for value in values], b"")


def _build(value: Any, text: bytes) -> Labels:
    """Labels of typed values; a ValueError if there are none, or if a zero may have been -0."""
    labels = value if type(value) is list else [value]
    y = [label.y for label in labels]
    if not y:
        raise ValueError("has no labels")
    check_signs(all(y), text)
    return Labels([label.id for label in labels], np.array(y), type(value) is not list)
