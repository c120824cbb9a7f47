import json
import re

import numpy as np
import pytest
from llr_service.codec import decode_json, decode_query
from llr_service.problems import Problem

HOSTILE = ["NaN", "Infinity", "-Infinity", "nan", "1e999", "-1e999", "1.7976931348623159e308"]
HOSTILE += ["true", "false", "null", '"1.5"', '""', "[]", "{}", "[null]", '{"a":1}', "[[]]"]
HOSTILE += ["1.", ".5", "01", "+1", "-", "1e", "0x1", "tru", "1 2", "\x00", '"\\ud800"']
HOSTILE += ["9" * 309, "-" + "9" * 400, "9" * 4301]
FINE = ["0", "-0", "0.0", "-0.0", "-0e0", "1e-0", "5e-324", "1e-999", "2.2250738585072011e-308"]
FINE += ["1", "-1E+2", "9007199254740993", "1e308", "1.7976931348623157e308", "1" + "0" * 308]
FINE += ["0." + "3" * 500]


def refusal(body: bytes, features: bool = True) -> Problem:
    with pytest.raises(Problem) as caught:
        decode_json(body, features)
    return caught.value


@pytest.mark.parametrize("token", FINE)
def test_a_finite_number_is_taken_as_the_nearest_float(token: str) -> None:
    samples = decode_json(f'{{"x": [1, {token}], "y": {token}}}'.encode(), features=True)
    assert isinstance(samples.X, np.ndarray)
    for number in (samples.X[0, 1], samples.y[0]):
        assert float(number).hex() == float(token).hex()


@pytest.mark.parametrize("token", HOSTILE)
@pytest.mark.parametrize(
    "body", ['{{"x": [1, {}], "y": 1}}', '{{"x": [1], "y": {}}}', '[{{"y": {}, "x": [1]}}]']
)
def test_anything_else_is_refused(token: str, body: str) -> None:
    refusal(body.format(token).encode())


TOO_DEEP = "[" * 300 + "]" * 300
REFUSED: list[tuple[str, bool, list[str]]] = [
    ('{"x": [1, NaN], "y": 1}', True, ["/x/1"]),
    ('{"x": [1, -Infinity], "y": 1e999}', True, ["/x/1", "/y"]),
    ('{"x": [true, "1.5", null, [], {}], "y": 1}', True, [f"/x/{i}" for i in range(5)]),
    ('{"x": [1], "y": ' + "9" * 400 + "}", True, ["/y"]),
    ('{"x": [1]}', True, ["/y"]),
    ('{"y": 1}', True, ["/x"]),
    ("{}", True, ["/x", "/y"]),
    ('{"x": [1], "y": null}', True, ["/y"]),
    ('{"x": null, "y": 1}', True, ["/x"]),
    ('{"x": null, "y": [1]}', True, ["/x"]),
    ('{"x": 1, "y": 1}', True, ["/x"]),
    ('{"x": "12", "y": 1}', True, ["/x"]),
    ('{"x": {"age": null}, "y": 1}', True, ["/x/age"]),
    ('{"x": {}, "y": [1]}', True, ["/x"]),
    ('{"x": [], "y": 1}', True, ["/x"]),
    ('{"x": [1], "y": 1, "z": 1}', True, [""]),
    ('{"x": [1], "z": 1}', True, ["/y", ""]),
    ('{"x": [1], "y": NaN, "y": 1}', True, [""]),
    ("[]", True, [""]),
    ('[{"x": [1], "y": 1}, []]', True, ["/1"]),
    ('[{"x": [1, 2], "y": 1}, {"x": [1, 2], "y": 1}, {"x": [1], "y": 1}]', True, ["/2/x"]),
    ('[{"x": [1], "y": 1}, {"x": [2], "y": 1, "v": 1}]', True, ["/1"]),
    ('[[1, 2], "xy"]', True, ["/0", "/1"]),
    ('{"x": [[1, 2], [3, 4], [5]], "y": [1, 2, 3]}', True, ["/x/2"]),
    ('{"x": [[1, 2], {"a": 1, "b": 2}], "y": [1, 2]}', True, ["/x/1"]),
    ('{"x": [[1, 2], "12"], "y": [1, 2]}', True, ["/x/1"]),
    ('{"x": [[1, NaN]], "y": [1]}', True, ["/x/0/1"]),
    ('{"x": [[1]], "y": [true]}', True, ["/y/0"]),
    ('{"x": [[1]], "y": [1, 2]}', True, ["/y"]),
    ('{"x": [[1], [2]], "y": [1]}', True, ["/y"]),
    ('{"x": [[]], "y": [1]}', True, ["/x/0"]),
    ('{"x": [], "y": []}', True, ["/y"]),
    ('{"x": [1, 2], "y": [1, 2]}', True, ["/x/0", "/x/1"]),
    ('{"x": [[1]], "y": 1}', True, ["/x/0"]),
    ('{"x": [[1]]}', True, ["/y", "/x/0"]),
    ('{"y": [1]}', True, ["/x"]),
    ('{"x": [1], "y": 1}', False, [""]),
    ('{"x": [[1]], "y": [1]}', False, [""]),
    ('[{"y": 1}, {"x": [1], "y": 1}]', False, ["/1"]),
    ('{"y": []}', False, ["/y"]),
    ('{"y": [[1]]}', False, ["/y/0"]),
    ("[1, 2]", False, ["/0", "/1"]),
    ("1", False, [""]),
    ("null", True, [""]),
    ('"xy"', True, [""]),
    ("NaN", True, [""]),
]


@pytest.mark.parametrize(("body", "features", "pointers"), REFUSED)
def test_json_that_is_no_samples_is_invalid_and_the_place_is_named(
    body: str, features: bool, pointers: list[str]
) -> None:
    problem = refusal(body.encode(), features)
    assert problem.kind.name == "invalid"
    assert [error["pointer"] for error in problem.errors] == pointers
    assert problem.errors[0]["detail"] in problem.detail


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b"", 1),
        (b"  ", 1),
        (b'{"x": [1], "y": 1', 1),
        (b'{"x": [1],\n "y": }', 2),
        (b'{"x": [1], "y": 1} {}', 1),
        (b'{"x": [1,], "y": 1}', 1),
        (b"{'x': [1], 'y': 1}", 1),
        (b"x=1&y=2", 1),
        (b"\x93NUMPY", 1),
        (b'{"x": [1], "y": 1}\x00', 1),
    ],
)
def test_what_is_not_json_is_malformed_and_the_line_is_named(body: bytes, line: int) -> None:
    problem = refusal(body)
    assert problem.kind.name == "malformed"
    assert [error["line"] for error in problem.errors] == [line]


@pytest.mark.parametrize("body", [TOO_DEEP, "[" * 300, '{"x": [1], "y": ' + "1" * 5000 + "}"])
def test_where_the_parser_gives_up_the_body_is_invalid(body: str) -> None:
    assert refusal(body.encode()).kind.name == "invalid"


def test_ten_faults_are_named_and_no_more() -> None:
    body = [{"x": [None] * 4, "y": "1", "z": 0}] * 5
    assert len(refusal(json.dumps(body).encode()).errors) == 10
    assert len(refusal(json.dumps({str(i): 1 for i in range(99)}).encode()).errors) == 10


@pytest.mark.parametrize("evil", ["k" * 10_000, "\x1b[31m", "\n", "😀" * 1000, "\u202e"])
def test_a_producers_own_text_is_shortened_and_escaped(evil: str) -> None:
    problem = refusal(json.dumps({"x": [evil], "y": evil, evil: evil}).encode())
    text = problem.detail + "".join(error["detail"] for error in problem.errors)
    assert re.sub(r"😀|…", "", text).isascii()
    assert text.replace("…", ".").replace("😀", "s").isprintable()
    assert len(text) < 250


def test_the_last_of_two_keys_counts() -> None:
    samples = decode_json(b'{"x": "no", "y": 1, "x": [2], "y": 3}', features=True)
    assert samples.y.tolist() == [3.0]


@pytest.mark.parametrize(
    ("body", "rows", "single"),
    [
        (b'{"x": [1, 2.5]}', [[1.0, 2.5]], True),
        (b'{"x": [[1, 2.5]]}', [[1.0, 2.5]], False),
        (b'{"x": [[1], [2]]}', [[1.0], [2.0]], False),
        (b'{"x": [-0]}', [[-0.0]], True),
    ],
)
def test_rows_to_predict_for(body: bytes, rows: list[list[float]], single: bool) -> None:
    matrix, alone, _ = decode_query(body, features=True)
    assert isinstance(matrix, np.ndarray)
    assert repr(matrix.tolist()) == repr(rows)
    assert alone is single


@pytest.mark.parametrize("body", [b"", b" \r\n", b"{}", b" { } "])
def test_models_without_features_have_no_rows(body: bytes) -> None:
    assert decode_query(body, features=False) == (None, True, [])


@pytest.mark.parametrize(
    ("body", "features", "pointer"),
    [
        (b"{}", True, "/x"),
        (b"[1, 2]", True, ""),
        (b'{"x": []}', True, "/x"),
        (b'{"x": [[]]}', True, "/x/0"),
        (b'{"x": [[1], [1, 2]]}', True, "/x/1"),
        (b'{"x": [[1], 2]}', True, "/x/1"),
        (b'{"x": [1, [2]]}', True, "/x/1"),
        (b'{"x": [1e999]}', True, "/x/0"),
        (b'{"x": [false]}', True, "/x/0"),
        (b'{"x": "12"}', True, "/x"),
        (b'{"x": {"a": []}}', True, "/x/a"),
        (b'{"x": [1], "y": 1}', True, ""),
        (b'{"x": [1]}', False, ""),
        (b"[]", False, ""),
        (b"null", False, ""),
    ],
)
def test_rows_that_are_none_are_refused(body: bytes, features: bool, pointer: str) -> None:
    with pytest.raises(Problem) as caught:
        decode_query(body, features)
    assert caught.value.kind.name == "invalid"
    assert caught.value.errors[0]["pointer"] == pointer


def test_a_predict_body_with_nothing_in_it_is_malformed_where_rows_are_needed() -> None:
    with pytest.raises(Problem, match="not JSON"):
        decode_query(b"", features=True)
