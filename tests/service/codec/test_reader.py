"""The types decide; the explanation only finds words, and always finds some."""

import json
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from llr_service.codec import decode_json, decode_label_lines, decode_labels, decode_query
from llr_service.codec.reader import MAX_DEPTH, NotJSONError, parse
from llr_service.problems import Problem

NUMBERS = st.sampled_from([0, -0.0, 1.5, float("nan"), float("inf"), 10**400, 2**64])
SCALARS = NUMBERS | st.sampled_from([None, True, "", "a", "é", "#", "a" * 300])
ROWS = st.lists(SCALARS, max_size=3) | st.dictionaries(st.sampled_from("ab#"), SCALARS, max_size=3)
KEYS = st.sampled_from(["x", "y", "id", "ids", "w", "seq"])
VALUES = SCALARS | ROWS | st.lists(ROWS | SCALARS, max_size=3)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
BODIES = OBJECTS | st.lists(OBJECTS | VALUES, max_size=3) | VALUES
DECODERS: list[Any] = [
    lambda body: decode_json(body, features=True),
    lambda body: decode_json(body, features=False),
    lambda body: decode_query(body, features=True),
    lambda body: decode_query(body, features=False),
    decode_labels,
    decode_label_lines,
]


@pytest.mark.slow
@seed(71)
@settings(max_examples=400, deadline=None)
@given(BODIES, st.sampled_from(DECODERS))
def test_every_refusal_is_explained_in_our_own_words(body: Any, decode: Any) -> None:
    try:
        decode(json.dumps(body).encode())
    except Problem as problem:
        details = [error["detail"] for error in problem.errors]
        assert details
        assert not any("`" in detail or "holds NaN" in detail for detail in details)


@pytest.mark.parametrize(
    ("text", "reason", "offset"),
    [
        (b"", "ends too early", 0),
        (b'{"a": 1', "ends too early", 7),
        (b'{"a": oops}', "invalid character", 6),
        (b'{"a": 1} x', "trailing characters", 9),
        (b'"\xc3\xa9\xff"', "invalid UTF-8", 3),
        (b"[1, 9" + b"9" * 5000 + b"]", "thousands of digits", 4),
        (b"[" * 1000, "nested too deeply", MAX_DEPTH),
        (b'["[[[", ' + b"[" * 1000, "nested too deeply", 8 + MAX_DEPTH - 1),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply", MAX_DEPTH),
        (b"[1NaN]", "", 2),
        (b"[NaN, x]", "", 1),
    ],
)
def test_what_cannot_be_parsed_has_a_reason_and_an_offset(
    text: bytes, reason: str, offset: int
) -> None:
    with pytest.raises(NotJSONError) as caught:
        parse(text)
    assert reason in caught.value.reason
    assert caught.value.offset == offset


def test_values_that_are_not_finite_are_parsed_to_name_their_places() -> None:
    parsed = parse(b'{"a": [NaN, -Infinity, 1e999, -0, "NaN -0"]}')
    assert repr(parsed.value) == "{'a': [inf, -inf, inf, -0.0, 'NaN -0']}"
    assert not parsed.finite
    assert parse(b'{"a": 1e999, "a": 1}') == ({"a": 1}, False)


def test_the_line_and_the_column_are_counted_from_one() -> None:
    with pytest.raises(Problem) as caught:
        decode_json(b'{"y":\n  1,\n  oops}', features=False)
    assert caught.value.errors == [
        {"line": 3, "detail": "not JSON: object keys must be strings, at column 3"}
    ]


def test_a_zero_beside_names_that_end_in_minus_zero_is_decoded_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("llr_service.codec.json.decode_again", None)
    samples = decode_json(b'{"x": {"feature-0": 1, "e-05": 2}, "y": 0}', features=True)
    assert samples.y.tolist() == [0.0]
