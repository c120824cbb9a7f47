"""Named features in every encoding, read twice and by the standard library, and as bytes."""

import json
import math
import struct
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, seed, settings
from hypothesis import strategies as st
from llr_service.codec import (
    Samples,
    decode_json,
    decode_ndjson,
    decode_query,
    pack_samples,
    unpack_samples,
)
from llr_service.codec.json import _decode_again as decode_json_again
from llr_service.codec.named import from_objects, pack, slice_rows, unpack
from llr_service.codec.ndjson import _decode_again as decode_ndjson_again
from llr_service.problems import Problem
from support.plain_json import number, parsed

from llr import NamedRows
from llr.named.feature_rows import LONGEST, MOST

REFUSALS = (Problem, AssertionError, ValueError, OverflowError, TypeError, RecursionError)
Read = tuple[list[dict[str, float]], list[float]]


def dicts(rows: Any) -> list[dict[str, float]]:
    """Rows as the objects they came from."""
    assert isinstance(rows, NamedRows)
    cells = list(
        zip([rows.names[c] for c in rows.columns.tolist()], rows.values.tolist(), strict=True)
    )
    starts = rows.starts.tolist()
    return [dict(cells[a:b]) for a, b in pairwise(starts)]


def read(samples: Samples) -> Read:
    return dicts(samples.X), samples.y.tolist()


def refusal(body: bytes) -> Problem:
    with pytest.raises(Problem) as caught:
        decode_json(body, features=True)
    assert caught.value.kind.name == "invalid"
    return caught.value


ONE = {"age": 3, "city": "Rome", "new": True, "old": False}
AS_READ = {"age": 3.0, "city=Rome": 1.0, "new": 1.0, "old": 0.0}
FORMS: list[tuple[Any, Read]] = [
    ({"x": ONE, "y": 1}, ([AS_READ], [1.0])),
    ([{"x": ONE, "y": 1}, {"x": {}, "y": 0}], ([AS_READ, {}], [1.0, 0.0])),
    ({"x": [{"a": 1}, {"b": -2.5}], "y": [1, -0.0]}, ([{"a": 1.0}, {"b": -2.5}], [1.0, -0.0])),
    ({"x": {}, "y": 1}, ([{}], [1.0])),
]


@pytest.mark.parametrize(("body", "expected"), FORMS)
def test_an_object_is_numbers_under_names(body: Any, expected: Read) -> None:
    text = json.dumps(body).encode()
    assert repr(read(decode_json(text, features=True))) == repr(expected)
    assert repr(read(decode_json_again(text, features=True))) == repr(expected)


def test_names_are_told_once_in_the_order_of_their_first_appearance() -> None:
    rows = decode_json(b'{"x": [{"b": 1, "a": 2}, {"c": 3, "b": 4}], "y": [1, 2]}', True).X
    assert isinstance(rows, NamedRows)
    assert tuple(rows.names) == ("b", "a", "c")
    assert rows.columns.tolist() == [0, 1, 2, 0]
    assert rows.starts.tolist() == [0, 2, 4]


def test_a_zero_has_no_sign_and_its_name_is_there() -> None:
    for zero in ("0", "-0", "-0.0", "false"):
        rows, _ = read(decode_json(f'{{"x": {{"a": {zero}}}, "y": 1}}'.encode(), True))
        assert repr(rows) == repr([{"a": 0.0}])


@pytest.mark.parametrize(
    ("x", "places"),
    [
        ('{"a": null}', ["/x/a"]),
        ('{"a": [1], "b": {}}', ["/x/a", "/x/b"]),
        ('{"a": NaN}', ["/x/a"]),
        ('{"a": 1e999, "b": -1e999}', ["/x/a", "/x/b"]),
        ('{"a": ' + "9" * 400 + "}", ["/x/a"]),
        ('{"": 1}', ["/x/"]),
        ('{"": "s"}', ["/x/"]),
        ('{"#1": 1, "#": "s"}', ["/x/#1", "/x/#"]),
        ('{"a/b~": null}', ["/x/a~1b~0"]),
        (json.dumps({"a" * (LONGEST + 1): 1}), ["/x"]),
        (json.dumps({"a": "b" * LONGEST}), ["/x/a"]),
        ('{"a": "b", "a=b": 2}', ["/x/a=b"]),
        ('{"a=b": 2, "a": "b"}', ["/x/a"]),
    ],
)
def test_what_is_no_feature_is_refused_by_its_place(x: str, places: list[str]) -> None:
    problem = refusal(f'{{"x": {x}, "y": 1}}'.encode())
    assert [error["pointer"] for error in problem.errors] == places
    many = refusal(f'{{"x": [{{}}, {x}], "y": [1, 1]}}'.encode())
    assert [error["pointer"] for error in many.errors] == [
        place.replace("/x", "/x/1", 1) for place in places
    ]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ('[{"x": {"a": 1}, "y": 1}, {"x": [1], "y": 1}]', "/1/x"),
        ('[{"x": [1], "y": 1}, {"x": {"a": 1}, "y": 1}]', "/1/x"),
        ('[{"x": {}, "y": 1}, {"x": [1], "y": 1}]', "/1/x"),
        ('{"x": [{}, 3], "y": [1, 2]}', "/x/1"),
        ('{"x": [{"a": 1}], "y": [true]}', "/y/0"),
        ('{"x": {"a": 1}, "y": false}', "/y"),
        ('{"x": {"a": 1}}', "/y"),
        ('{"x": [{"a": 1}, {"b": 1}], "y": [1]}', "/y"),
    ],
)
def test_lists_and_objects_are_not_mixed(body: str, place: str) -> None:
    assert refusal(body.encode()).errors[0]["pointer"] == place


def test_too_many_features_at_once_are_refused() -> None:
    full = json.dumps({"x": {f"{i}": 1 for i in range(MOST)}, "y": 1}).encode()
    assert len(decode_json(full, features=True).names) == MOST
    more = json.dumps({"x": {f"{i}": 1 for i in range(MOST + 1)}, "y": 1}).encode()
    assert refusal(more).errors[0]["pointer"] == "/x"


def test_a_long_name_is_shown_cut_short() -> None:
    body = json.dumps({"x": {"k" * 100_000: 1, "j" * 100_000: None}, "y": 1}).encode()
    assert len(json.dumps(refusal(body).body())) < 1000


def reference_row(x: Any) -> dict[str, float]:
    assert type(x) is dict
    found: dict[str, float] = {}
    for key, value in x.items():
        assert key
        assert type(value) in (int, float, bool, str)
        name = f"{key}={value}" if type(value) is str else key
        assert 0 < len(name) <= LONGEST
        assert name[0] != "#"
        assert name not in found
        found[name] = 1.0 if type(value) is str else float(value) + 0.0
        assert math.isfinite(found[name])
    return found


def reference_of(samples: list[Any]) -> Read:
    assert all(type(sample) is dict and sample.keys() == {"x", "y"} for sample in samples)
    rows = [reference_row(sample["x"]) for sample in samples]
    return rows, [number(sample["y"]) for sample in samples]


def reference(body: bytes) -> Read:
    value = parsed(body)
    if type(value) is dict and type(value.get("y")) is list:
        assert value.keys() == {"x", "y"}
        value = [{"x": x, "y": y} for x, y in zip(value["x"], value["y"], strict=True)]
    samples = value if type(value) is list else [value]
    assert samples
    return reference_of(samples)


def reference_of_lines(lines: bytes) -> Read:
    texts = [line.strip(b" \t\r") for line in lines.split(b"\n")]
    return reference_of([parsed(text) for text in texts if text])


def outcome(decode: Any, body: bytes) -> Any:
    """What was read, None if it was refused or has no names to read."""
    try:
        found = decode(body)
    except REFUSALS:
        return None
    if isinstance(found, Samples):
        if not isinstance(found.X, NamedRows):
            return None
        found = read(found)
    return repr(found) if found[0] else None


NAMES = ["a", "b", "", "#", "#a", "a=b", "-0", "{", "é", "\\u0061", "\\n", "x", "y", "k" * LONGEST]
TOKENS = ["1", "0", "-0", "2.5", "-1e-3", "true", "false", '"b"', '""', '"{"', '"-0"', "1e308"]
HOSTILE = ["null", "[]", "{}", "NaN", "1e999", "9" * 400, "-", '{"a":1}', "[1]"]


def spelt(members: list[tuple[str, str]]) -> str:
    return "{" + ", ".join(f'"{key}": {value}' for key, value in members) + "}"


VALUES = st.sampled_from(TOKENS) | st.sampled_from(TOKENS + HOSTILE)
OBJECTS = st.lists(st.tuples(st.sampled_from(NAMES), VALUES), max_size=4).map(spelt)
LABELS = st.sampled_from(["1", "0", "-0", "2.5"]) | VALUES
SAMPLES = st.tuples(OBJECTS, LABELS).map(lambda pair: spelt([("x", pair[0]), ("y", pair[1])]))
MANY = st.lists(SAMPLES, min_size=1, max_size=3)
COLUMNS = st.tuples(st.lists(OBJECTS, max_size=3), st.lists(LABELS, max_size=3)).map(
    lambda pair: f'{{"x": [{", ".join(pair[0])}], "y": [{", ".join(pair[1])}]}}'
)
BODIES = SAMPLES | MANY.map(lambda many: f"[{', '.join(many)}]") | COLUMNS


@pytest.mark.slow
@seed(61)
@settings(max_examples=400, deadline=None)
@given(BODIES.map(str.encode))
@example(b'{"x": {"a": 1, "a": "b"}, "y": 1}')
@example(b'{"x": {"a": NaN, "a": 1}, "y": 1}')
@example(b'{"x": {"a-0": 1}, "y": 0}')
def test_both_readings_and_the_standard_library_agree(body: bytes) -> None:
    expected = outcome(reference, body)
    assert outcome(lambda text: decode_json_again(text, True), body) == expected
    assert outcome(lambda text: decode_json(text, True), body) == expected


PIECES = ['{"x":{"a":1},"y":1}', '{"x":{},"y":2}', '{"x":{"a":1}', '"y":1}', '{"x":', '{"b":1}']
PIECES += ['{"x":[1', '{}],"x":{},"y":1}', '{"x":{"a', '{":1},"y":1}', '{"x":{},"y":1},', ""]
PIECES += ['{"x":{},"y":1},{"x":{},"y":2}', '{"x":[1],"y":1}', ' {"x":{},"y":1} ', "5", "}", '"']


@pytest.mark.slow
@seed(62)
@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=5), st.booleans())
@example(['{"x":{},"y":1},{"x":{},"y":2}', '{"x":[1', '{}],"x":{},"y":1}'], True)
@example(['{"x":{},"y":1},{"x":{},"y":2}', '{"x":{"a', '{":1},"y":1}'], False)
def test_lines_that_are_samples_only_together_are_none(pieces: list[str], last: bool) -> None:
    lines = ("\n".join(pieces) + ("\n" if last else "")).encode()
    expected = outcome(reference_of_lines, lines)
    assert outcome(lambda text: decode_ndjson_again(text, 1, True), lines) == expected
    assert outcome(lambda text: decode_ndjson(text, 1, True), lines) == expected


@pytest.mark.slow
@seed(63)
@settings(max_examples=200, deadline=None)
@given(MANY)
def test_lines_are_read_as_the_list_of_them(many: list[str]) -> None:
    lines = "\n".join(many).encode()
    expected = outcome(reference_of_lines, lines)
    assert outcome(lambda text: decode_ndjson(text, 1, True), lines) == expected


def test_rows_to_predict_for_may_be_objects() -> None:
    rows, single, _ = decode_query(b'{"x": {"a": 1}}', features=True)
    assert (dicts(rows), single) == ([{"a": 1.0}], True)
    rows, single, _ = decode_query(b'{"x": [{"a": 1}, {}]}', features=True)
    assert (dicts(rows), single) == ([{"a": 1.0}, {}], False)
    query = decode_query(b'{"x": [{"a": "b"}, {"c": -0}], "ids": ["i", "j"]}', features=True)
    assert (dicts(query.rows), query.ids) == ([{"a=b": 1.0}, {"c": 0.0}], ["i", "j"])
    query = decode_query(b'{"x": {}, "id": "i"}', features=True)
    assert (dicts(query.rows), query.ids, query.single) == ([{}], ["i"], True)


ROWS = decode_json(
    b'{"x": [{"b": 1, "a": 2}, {}, {"c": "\xc3\xa9", "b": 4}, {"a": 1e-300}], "y": [1, 2, 3, 4]}',
    features=True,
)
ENTRY = pack_samples(ROWS)


def test_what_is_left_after_some_rows_has_its_own_names_only() -> None:
    left = ROWS.after(2)
    assert read(left) == ([{"c=é": 1.0, "b": 4.0}, {"a": 1e-300}], [3.0, 4.0])
    assert tuple(left.names) == ("c=é", "b", "a")
    assert read(ROWS.after(4)) == ([], [])


def test_rows_taken_apart_and_joined_are_the_same() -> None:
    assert isinstance(ROWS.X, NamedRows)
    parts = [Samples(slice_rows(ROWS.X, i, i + 1), ROWS.y[i : i + 1]) for i in range(4)]
    assert pack_samples(Samples.joined(parts)) == ENTRY
    with pytest.raises(ValueError, match="named"):
        Samples.joined([ROWS, Samples(np.ones((1, 1)), np.ones(1))])


def test_an_entry_of_the_log_gives_back_what_was_packed() -> None:
    assert read(unpack_samples(ENTRY)) == read(ROWS)
    assert tuple(unpack_samples(ENTRY).names) == tuple(ROWS.names)
    empty = decode_json(b'{"x": {}, "y": 1}', features=True)
    assert read(unpack_samples(pack_samples(empty))) == ([{}], [1.0])


def test_an_entry_is_as_long_as_what_is_in_it() -> None:
    assert len(ENTRY) - len(pack_samples(ROWS.after(3))) < 200
    assert abs(ROWS.nbytes - len(ENTRY)) < 24
    wide = json.dumps({"x": [{f"n{i}": 1} for i in range(300)], "y": [1] * 300}).encode()
    samples = decode_json(wide, features=True)
    assert read(unpack_samples(pack_samples(samples))) == read(samples)
    assert len(pack_samples(samples)) < 300 * 32


@seed(64)
@given(st.integers(0, len(ENTRY) - 1), st.binary(min_size=1, max_size=9))
@settings(deadline=None)
def test_an_entry_cut_made_longer_or_changed_is_noticed_or_reads_as_rows(
    place: int, bytes_: bytes
) -> None:
    for broken in (ENTRY[:place], ENTRY + bytes_):
        with pytest.raises(Problem) as caught:
            unpack_samples(broken)
        assert caught.value.kind.name == "damaged"
    changed = ENTRY[:place] + bytes_ + ENTRY[place + len(bytes_) :]
    with suppress(Problem):
        rows, _ = read(unpack_samples(changed))
        assert all(map(math.isfinite, (v for row in rows for v in row.values())))


def test_forged_counts_of_named_rows_cost_nothing() -> None:
    forged = ENTRY[:16] + struct.pack("<4I", *[2**32 - 1] * 4) + bytes(64)
    with pytest.raises(Problem):
        unpack_samples(forged)


def test_rows_alone_are_packed_for_late_labels() -> None:
    assert isinstance(ROWS.X, NamedRows)
    rows, end = unpack(b"...." + pack(ROWS.X), 4)
    assert dicts(rows) == dicts(ROWS.X)
    assert end == 4 + len(pack(ROWS.X))


@pytest.mark.parametrize(
    "objects",
    [
        [{"a": 1.0, "b": 2}, {"a": 0.0, "b": True}, {"a": -3.5, "b": 4}],
        [{"a": 1.0, "b": 2}, {"b": 2, "a": 1.0}],
        [{"a": 1.0, "city": "Rome"}, {"a": 2.0, "city": "Oslo"}],
        [{"a": 1.0}, {"a": 1.0, "b": 2.0}],
        [{}, {}],
        [{"a": 1.0}],
    ],
)
def test_rows_with_the_same_names_are_as_the_library_has_them(
    objects: list[dict[str, float | str]],
) -> None:
    made, wanted = from_objects(objects), NamedRows.of(objects)
    assert made.names == wanted.names
    assert made.starts.tolist() == wanted.starts.tolist()
    assert made.columns.tolist() == wanted.columns.tolist()
    assert made.values.tolist() == wanted.values.tolist()


@pytest.mark.parametrize("name", ["", "x" * 1000])
def test_rows_with_the_same_bad_name_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        from_objects([{name: 1.0}, {name: 2.0}])
