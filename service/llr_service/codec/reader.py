"""JSON texts to typed values: the one place that decides what is accepted.

msgspec decodes a text straight into the types of a `BodyType` and refuses everything else: wrong
types, unknown and missing members, numbers that are not finite. A refused text is parsed once more
without types: only so the last of two equal keys counts, whatever the first was, and only so an
error names every place. The same types decide about that value; `codec.errors` just explains.
"""

import math
import re
import struct
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from llr_service.codec.errors import Explainer

T = TypeVar("T")

REFUSED = (ValueError, OverflowError, struct.error)
"""How decoding ends if a text is refused: by msgspec, by `struct` or by the check of shapes."""

STRING = rb'("(?:[^"\\]|\\.)*")'
NEGATIVE_ZERO = re.compile(rb"(?<![eE])-0(?=[\s,\]}]|\Z)")
"""An integer -0, which the typed decoder reads as 0: some producers write it for -0.0."""

STRING_OR_ZERO = re.compile(STRING + rb"|" + NEGATIVE_ZERO.pattern, re.DOTALL)
STRING_OR_NOT_FINITE = re.compile(
    STRING + rb"|(?<![\w.+-])(-?)(?:(?<!-)NaN|Infinity)(?![\w.+-])", re.DOTALL
)
STRING_ALONE = re.compile(STRING, re.DOTALL)
LONG_NUMBER = re.compile(rb"\d{4300}")
MESSAGE = re.compile(r"JSON is malformed: (.*) \(byte (\d+)\)", re.DOTALL)
AFTER = "trailing characters"
OPENING, CLOSING = np.frombuffer(b"[{", np.uint8), np.frombuffer(b"]}", np.uint8)
MAX_DEPTH = 200
CHUNK = 1 << 20


class NotJSONError(Exception):
    """A text cannot be parsed; `json` is True if it may be JSON but exceeds a limit."""

    def __init__(self, reason: str, offset: int, json: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.offset, self.json = reason, offset, json


class BodyType:
    """What a text may hold: a value of the first type or, if it does not fit, of the second."""

    def __init__(self, first: Any, second: Any = None) -> None:
        self._types = (first, second or first)
        self._first, self._second = (msgspec.json.Decoder(each).decode for each in self._types)
        self._lines = msgspec.json.Decoder(first).decode_lines

    def decode_lines(self, text: bytes) -> list[Any]:
        """The values of the first type in a text of JSON lines; one may go over several lines."""
        return self._lines(text)

    def decode(self, text: bytes) -> Any:
        """The typed value of a text."""
        try:
            return self._first(text)
        except msgspec.ValidationError:
            return self._second(text)

    def convert(self, value: Any) -> Any:
        """The typed value of a parsed one, by the same rules."""
        try:
            return msgspec.convert(value, self._types[0])
        except msgspec.ValidationError:
            return msgspec.convert(value, self._types[1])


class Parsed(NamedTuple):
    """The value of a text, with infinity in the place of every number that is not finite."""

    value: Any
    finite: bool


class Text(NamedTuple):
    """A JSON text, and the number of its line where it is one of several."""

    text: bytes
    line: int | None = None


def decode_again(
    texts: Iterable[Text],
    build: Callable[[list[Any]], T],
    explainer: Explainer,
    explain: Callable[[Any], None],
) -> T:
    """Decode texts that were refused; raises the Problem that names every place if they still are.

    Args:
        texts: the texts, none of them blank.
        build: converts the values of all texts to types and makes the result of them.
        explainer: collects the errors.
        explain: adds what is wrong with one value.
    """
    errors, parsed = explainer.errors, list[tuple[Text, Parsed | NotJSONError]]()
    for text in texts:
        try:
            parsed.append((text, parse(text.text)))
        except NotJSONError as error:
            parsed.append((text, error))
    values = [each.value for _, each in parsed if isinstance(each, Parsed) and each.finite]
    refusal = "holds NaN or infinity"
    if len(values) == len(parsed):
        try:
            return build(values)
        except REFUSED as error:
            refusal = str(error)
    for text, each in parsed:
        if errors.full:
            break
        errors.line, before = text.line, len(errors)
        if isinstance(each, NotJSONError):
            errors.add_malformed(text.text, each.reason, each.offset, each.json)
            continue
        explain(each.value)
        if not each.finite and len(errors) == before:
            errors.add("", refusal)
    if not len(errors):
        errors.add("", refusal)
    raise errors.problem()


def check_signs(no_zeros: bool, text: bytes) -> None:
    """Refuse numbers with a zero among them if an integer -0 may stand in their text."""
    if not no_zeros and NEGATIVE_ZERO.search(text):
        raise ValueError("the sign of a zero is lost")


def parse(text: bytes) -> Parsed:
    """The value of a text, without types. NaN and infinity are taken, to name their places."""
    found = list[float]()

    def number(digits: str) -> float:
        value = float(digits)
        if math.isinf(value):
            found.append(value)
        return value

    decode = msgspec.json.Decoder(float_hook=number).decode
    try:
        value = decode(text)
    except (ValueError, RecursionError) as error:
        refused = _not_json(text, error)
        text = STRING_OR_NOT_FINITE.sub(lambda token: token[1] or token[2] + b"1e999", text)
        try:
            value = decode(text)
        except (ValueError, RecursionError):
            raise refused from None
    if NEGATIVE_ZERO.search(text):
        value = decode(STRING_OR_ZERO.sub(lambda token: token[1] or b"-0.0", text))
    return Parsed(value, not found)


def _not_json(text: bytes, error: Exception) -> NotJSONError:
    """Why and where the parser gave up."""
    if message := MESSAGE.fullmatch(str(error)):
        reason, offset = message[1], int(message[2])
        offset -= reason == AFTER  # the parser has read the first of them
    elif isinstance(error, UnicodeDecodeError):
        reason, offset = "invalid UTF-8", _first_not_utf8(text)
    elif isinstance(error, msgspec.ValidationError) and (number := LONG_NUMBER.search(text)):
        return NotJSONError("a number of thousands of digits", number.start(), json=True)
    else:
        reason, offset = "it ends too early", len(text)
    deep = _too_deep(text[:offset])
    if deep is None:
        return NotJSONError(reason, offset)
    return NotJSONError("nested too deeply", deep, json=True)


def _first_not_utf8(text: bytes) -> int:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _too_deep(text: bytes) -> int | None:
    """Where lists and objects are nested more than MAX_DEPTH deep, if anywhere."""
    if text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return None
    bare = STRING_ALONE.sub(lambda string: b" " * len(string[1]), text)
    depth = 0
    for start in range(0, len(bare), CHUNK):
        codes = np.frombuffer(bare, np.uint8, min(CHUNK, len(bare) - start), start)
        steps = np.isin(codes, OPENING).astype(np.int8) - np.isin(codes, CLOSING)
        depths = depth + np.cumsum(steps, dtype=np.int64)
        if (deep := np.flatnonzero(depths > MAX_DEPTH)).size:
            return start + int(deep[0])
        depth = int(depths[-1])
    return None
