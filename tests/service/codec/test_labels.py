"""Bodies with ids: what is taken, and what is refused with its place."""

from typing import Any

import numpy as np
import pytest
from llr_service.codec import decode_labels, decode_query
from llr_service.problems import Problem


def refused(problem: Problem) -> list[str]:
    return [error["pointer"] for error in problem.errors]


def test_one_label_and_many() -> None:
    one = decode_labels(b'{"y": -2, "id": "a/b~c"}')
    assert (one.ids, one.y.tolist(), one.single) == (["a/b~c"], [-2.0], True)
    many = decode_labels(b'[{"id": "b", "y": 1e3}, {"id": "a", "y": 0}]')
    assert (many.ids, many.y.tolist(), many.single) == (["b", "a"], [1000.0, 0.0], False)


def test_a_minus_and_a_zero_are_part_of_an_id_and_negative_zero_of_a_number() -> None:
    label = decode_labels(rb'{"id": "order-0", "y": -0}')
    assert label.ids == ["order-0"]
    assert np.signbit(label.y[0])
    query = decode_query(rb'{"x": [-0, 1], "id": "\"-0"}', features=True)
    assert query.ids == ['"-0']
    assert np.signbit(query.rows[0, 0])  # type: ignore[index]


@pytest.mark.parametrize(
    ("body", "places"),
    [
        (b"[]", [""]),
        (b"7", [""]),
        (b"{}", ["/id", "/y"]),
        (b'{"id": "a"}', ["/y"]),
        (b'{"id": "a", "y": 1, "z": 2}', [""]),
        (b'{"id": "a", "x": [1], "y": 1}', ["/x"]),
        (b'{"id": 7, "y": 1}', ["/id"]),
        (b'{"id": "", "y": 1}', ["/id"]),
        (b'{"id": "a b", "y": 1}', ["/id"]),
        (b'{"id": "\xc3\xa4", "y": 1}', ["/id"]),
        (b'{"id": "%s", "y": 1}' % (b"a" * 129), ["/id"]),
        (b'{"id": "a", "y": true}', ["/y"]),
        (b'{"id": "a", "y": "1"}', ["/y"]),
        (b'{"id": "a", "y": [1]}', ["/y"]),
        (b'{"id": "a", "y": NaN}', ["/y"]),
        (b'[{"id": "a", "y": 1}, {"id": null, "y": 1e999}]', ["/1/id", "/1/y"]),
    ],
)
def test_what_is_no_label_is_refused_by_its_place(body: bytes, places: list[str]) -> None:
    with pytest.raises(Problem) as problem:
        decode_labels(body)
    assert (problem.value.kind.status, refused(problem.value)) == (422, places)


def test_what_is_not_json_is_malformed() -> None:
    for decode in (decode_labels, lambda body: decode_query(body, features=True)):
        with pytest.raises(Problem) as problem:
            decode(b'{"id": "a", ')
        assert problem.value.kind.status == 400


@pytest.mark.parametrize(
    ("body", "features", "rows", "single", "ids"),
    [
        (b'{"x": [1, 2]}', True, [[1, 2]], True, []),
        (b'{"x": [1, 2], "id": "a"}', True, [[1, 2]], True, ["a"]),
        (b'{"ids": ["a"], "x": [[1, 2]]}', True, [[1, 2]], False, ["a"]),
        (b'{"x": [[1], [2]], "ids": ["a", "a"]}', True, [[1], [2]], False, ["a", "a"]),
        (b'{"id": "a"}', False, None, True, ["a"]),
        (b'{"ids": ["a", "b"]}', False, None, False, ["a", "b"]),
        (b"{}", False, None, True, []),
        (b"", False, None, True, []),
    ],
)
def test_rows_come_with_their_ids(
    body: bytes, features: bool, rows: Any, single: bool, ids: list[str]
) -> None:
    query = decode_query(body, features)
    assert (query.rows is None) == (rows is None)
    assert rows is None or query.rows.tolist() == rows  # type: ignore[union-attr]
    assert (query.single, query.ids) == (single, ids)


@pytest.mark.parametrize(
    ("body", "features", "places"),
    [
        (b'{"x": [1, 2], "ids": ["a"]}', True, ["/ids"]),
        (b'{"x": [[1, 2]], "id": "a"}', True, ["/id"]),
        (b'{"x": [[1, 2]], "ids": "a"}', True, ["/ids"]),
        (b'{"x": [[1, 2]], "ids": ["a", "b"]}', True, ["/ids"]),
        (b'{"x": [[1, 2]], "ids": [7]}', True, ["/ids/0"]),
        (b'{"x": [1, 2], "id": ["a"]}', True, ["/id"]),
        (b'{"x": [1, "2"], "id": " "}', True, ["/x/1", "/id"]),
        (b'{"x": [1], "id": "a", "idx": 1}', True, [""]),
        (b'{"id": "a"}', True, ["/x"]),
        (b'["id"]', True, [""]),
        (b'{"id": "a", "ids": ["b"]}', False, ["/id"]),
        (b'{"ids": []}', False, ["/ids"]),
        (b'{"id": "a", "x": [1]}', False, [""]),
    ],
)
def test_what_is_no_query_is_refused_by_its_place(
    body: bytes, features: bool, places: list[str]
) -> None:
    with pytest.raises(Problem) as problem:
        decode_query(body, features)
    assert (problem.value.kind.status, refused(problem.value)) == (422, places)
