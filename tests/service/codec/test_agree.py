"""The typed decoder, its second pass, and the standard library accept and refuse the same."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, seed, settings
from hypothesis import strategies as st
from llr_service.codec import Samples, decode_json, decode_ndjson
from llr_service.codec.json import _decode_again as decode_json_again
from llr_service.codec.ndjson import _decode_again as decode_ndjson_again
from llr_service.problems import Problem
from support.plain_json import number, parsed

from llr import NamedRows

pytestmark = pytest.mark.slow

Read = tuple[list[list[float]], list[float]]
REFUSALS = (Problem, AssertionError, ValueError, OverflowError, TypeError, RecursionError)


def columns(samples: list[Any], features: bool) -> Read:
    """The rows and labels of parsed samples, if they are that."""
    keys = {"x", "y"} if features else {"y"}
    assert all(type(sample) is dict and sample.keys() == keys for sample in samples)
    if not features:
        return [], [number(sample["y"]) for sample in samples]
    assert all(type(sample["x"]) is list and sample["x"] for sample in samples)
    rows = [[number(value) for value in sample["x"]] for sample in samples]
    assert len({len(row) for row in rows}) <= 1
    return rows, [number(sample["y"]) for sample in samples]


def reference(body: bytes, features: bool) -> Read:
    value = parsed(body)
    if type(value) is dict and type(value.get("y")) is list:
        assert value.keys() == ({"x", "y"} if features else {"y"})
        labels = value["y"]
        value = [{"y": y} for y in labels]
        if features:
            pairs = zip(parsed(body)["x"], labels, strict=True)
            value = [{"x": x, "y": y} for x, y in pairs]
    samples = value if type(value) is list else [value]
    assert samples
    return columns(samples, features)


def reference_of_lines(lines: bytes, features: bool) -> Read:
    texts = [line.strip(b" \t\r") for line in lines.split(b"\n")]
    return columns([parsed(text) for text in texts if text], features)


def outcome(read: Callable[[bytes, bool], Samples | Read], body: bytes, features: bool) -> Any:
    """The numbers with their signs, or None if refused; `test_codec_named` reads named ones."""
    try:
        samples = read(body, features)
    except REFUSALS:
        return None
    if isinstance(samples, Samples):
        if isinstance(samples.X, NamedRows):
            return None
        samples = ([] if samples.X is None else samples.X.tolist(), samples.y.tolist())
    return repr(samples)


HOSTILE = ["NaN", "-Infinity", "1e999", "true", "false", "null", '"1"', '""', "[]", "{}", "[[]]"]
HOSTILE += ["1.", "01", "+1", "-", "1 2", '"\\u0031"', "9" * 309, "9" * 4301, "-nan"]
FINE = ["0", "-0", "0.0", "-0.0", "-0e0", "1e-0", "-1E+2", "5e-324", "1e-999", "1e308", "-1e308"]
FINE += ["9007199254740993", "1.7976931348623157e308", "1" + "0" * 308, "-0 ", " -0"]
TOKENS = st.sampled_from(FINE) | st.sampled_from(FINE + HOSTILE) | st.floats().map(json.dumps)


def listed(items: list[str]) -> str:
    return f"[{', '.join(items)}]"


def spelt(members: list[tuple[str, str]]) -> str:
    return "{" + ", ".join(f'"{key}": {value}' for key, value in members) + "}"


ROWS = st.lists(TOKENS, max_size=3).map(listed)
PLAIN_ROWS = st.lists(st.sampled_from(FINE), min_size=2, max_size=2).map(listed)
VALUES = TOKENS | ROWS | st.lists(ROWS | PLAIN_ROWS, max_size=3).map(listed)
KEYS = st.sampled_from(["x", "y", "x", "y", "x", "y", "z", "\\u0078", "-0"])
PROPER = st.tuples(PLAIN_ROWS | ROWS, TOKENS).map(lambda s: spelt([("x", s[0]), ("y", s[1])]))
OBJECTS = PROPER | st.lists(st.tuples(KEYS, VALUES), max_size=3).map(spelt)
BODIES = VALUES | OBJECTS | st.lists(OBJECTS, max_size=3).map(listed)


@seed(6)
@settings(max_examples=500, deadline=None)
@given(BODIES.map(str.encode), st.booleans())
@example(b'{"x": [-0], "y": 1e-0}', True)
@example(b'{"x": [1e308, 1e308], "y": 1e308}', True)
@example(b'{"x": null, "y": 1}', True)
@example(b'{"x": null, "y": [1]}', True)
@example(b'{"y": NaN, "y": 1}', False)
@example(b'{"x": [[1], [2]], "y": [1]}', True)
def test_on_json(body: bytes, features: bool) -> None:
    expected = outcome(reference, body, features)
    assert outcome(decode_json_again, body, features) == expected
    assert outcome(decode_json, body, features) == expected


@seed(7)
@settings(max_examples=500, deadline=None)
@given(st.data())
def test_on_json_with_some_bytes_changed(data: st.DataObject) -> None:
    body = bytearray(b'[{"x": [1.5, -0.0, 2e3], "y": 1}, {"y": -0, "x": [0, 1, 12]}]')
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(body) - 1))
        change = st.sampled_from(b'[]{}",:-0e.1\n').map(lambda code: bytes([code]))
        body[place : place + data.draw(st.integers(0, 2))] = data.draw(change | st.binary())
    expected = outcome(reference, bytes(body), features=True)
    assert outcome(decode_json_again, bytes(body), features=True) == expected
    assert outcome(decode_json, bytes(body), features=True) == expected


def lines_read(lines: bytes, features: bool) -> Samples:
    return decode_ndjson(lines, 1, features)


def lines_read_again(lines: bytes, features: bool) -> Samples:
    return decode_ndjson_again(lines, 1, features)


PIECES = ['{"y": 1}', '{"y": 2}', ' {"y":1} ', '{"y":1}\r', '{"y":1},{"y":2}', '{"{":1}', "5"]
PIECES += ['{"y":1},', '{"y":1},5', '5,{"y":1}', '{"y":1}]', '[{"y":1}', "", " ", "\r", "\x0b"]
PIECES += ['{"y":[{}', '{}],"y":1}', '{"y":"}', '{","y":1}', '{"y":[1', '{"y":2}],"y":3}']
PIECES += ['2],"y":3}', '{"y":1', '"y":1}', "{", "}", "[", "]", ","]


@seed(8)
@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=5), st.sampled_from(["\n", "\r\n"]), st.booleans()
)
@example(['{"y":1},{"y":2}', '{"y":[{}', '{}],"y":1}'], "\n", False)
@example(['{"y":1},{"y":2}', '{"y":"}', '{","y":1}'], "\n", False)
@example(['{"y":1},{"y":2}', '{"y":[1', '2],"y":3}'], "\n", False)
@example(['{"y":[1', '{"y":2}],"y":3}'], "\n", False)
def test_on_lines_that_are_objects_only_together(pieces: list[str], end: str, last: bool) -> None:
    lines = (end.join(pieces) + (end if last else "")).encode()
    expected = outcome(reference_of_lines, lines, features=False)
    assert outcome(lines_read_again, lines, features=False) == expected
    assert outcome(lines_read, lines, features=False) == expected


@seed(9)
@settings(max_examples=500, deadline=None)
@given(st.lists(PROPER | OBJECTS, max_size=4), st.booleans())
def test_on_lines_of_hostile_numbers(objects: list[str], features: bool) -> None:
    lines = "\n".join(objects).encode()
    expected = outcome(reference_of_lines, lines, features)
    assert outcome(lines_read_again, lines, features) == expected
    assert outcome(lines_read, lines, features) == expected


LONG_DECIMALS = st.from_regex(r"\A-?[1-9][0-9]{15,25}\.[0-9]{1,30}e-?[0-9]{1,3}\Z")


@seed(10)
@settings(max_examples=500, deadline=None)
@given(LONG_DECIMALS)
def test_on_how_a_decimal_is_rounded(decimal: str) -> None:
    body = f'{{"y": {decimal}}}'.encode()
    assert outcome(decode_json, body, False) == outcome(reference, body, False)
