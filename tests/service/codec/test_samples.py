"""Optional columns: one line makes the decoders and the record handle another member."""

from typing import Any

import msgspec
import numpy as np
import pytest
from llr_service.codec import Samples, decode_json, decode_ndjson
from llr_service.codec.errors import Explainer
from llr_service.codec.json import SampleSchema
from llr_service.codec.reader import REFUSED
from llr_service.problems import Problem

SCHEMA = SampleSchema(features=True, optional={"w": float, "seq": int})


def read(body: bytes) -> Samples:
    return SCHEMA.build(SCHEMA.body.decode(body), body)


@pytest.mark.parametrize(
    "body",
    [
        b'[{"x": [1], "y": 1, "w": 2, "seq": 7}, {"x": [2], "y": 0, "w": 0.5, "seq": 9}]',
        b'{"x": [[1], [2]], "y": [1, 0], "w": [2, 0.5], "seq": [7, 9]}',
    ],
)
def test_optional_columns_come_with_their_samples(body: bytes) -> None:
    samples = read(body)
    assert samples.optional["w"].tolist() == [2.0, 0.5]
    assert samples.optional["seq"].tolist() == [7, 9]
    assert samples.optional["seq"].dtype == np.int64
    later = samples.after(1)
    assert later.optional["seq"].tolist() == [9]
    both = Samples.joined([samples, later])
    assert both.optional["w"].tolist() == [2.0, 0.5, 0.5]
    assert both.nbytes == 3 * 4 * 8


def test_samples_without_them_have_none() -> None:
    assert not read(b'{"x": [1], "y": 1}').optional
    assert read(b'{"x": {"a": 1}, "y": 1, "w": 3}').optional["w"].tolist() == [3.0]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b'[{"x": [1], "y": 1, "seq": 2}, {"x": [2], "y": 0}]', None),
        (b'{"x": [[1], [2]], "y": [1, 0], "w": [1]}', "/w"),
        (b'{"x": [[1], [2]], "y": [1, 0], "w": 1}', "/w"),
        (b'{"x": [1], "y": 1, "w": true}', "/w"),
        (b'{"x": [1], "y": 1, "seq": 9223372036854775808}', "/seq"),
    ],
)
def test_columns_that_do_not_fit_are_refused(body: bytes, place: str | None) -> None:
    with pytest.raises(REFUSED):
        read(body)
    explainer, value = Explainer(True, SCHEMA.optional), _parsed(body)
    explainer.body(value)
    if place is not None:
        assert [each["pointer"] for each in explainer.errors.problem().errors] == [place]


def _parsed(body: bytes) -> Any:
    return msgspec.json.decode(body)


def test_samples_of_unlike_columns_are_not_joined() -> None:
    numbered, bare = read(b'{"x": [1], "y": 1, "seq": 2}'), read(b'{"x": [1], "y": 1}')
    with pytest.raises(ValueError, match="others lack"):
        Samples.joined([numbered, bare])


def test_a_weight_that_is_left_out_is_1() -> None:
    body = b'[{"x": [1], "y": 1, "w": 2}, {"x": [2], "y": 0}]'
    assert decode_json(body, features=True).optional["w"].tolist() == [2.0, 1.0]
    lines = b'{"x": [1], "y": 1}\n{"x": [2], "y": 0, "w": 0.5}\n'
    assert decode_ndjson(lines, 1, features=True).optional["w"].tolist() == [1.0, 0.5]
    weighted, bare = read(b'{"x": [1], "y": 1, "w": 2}'), read(b'{"x": [1], "y": 1}')
    assert Samples.joined([bare, weighted, bare]).optional["w"].tolist() == [1.0, 2.0, 1.0]


@pytest.mark.parametrize("key", ["next", "time"])
def test_a_member_that_is_not_enabled_is_an_unknown_key(key: str) -> None:
    body = f'{{"x": [1], "y": 1, "{key}": 1}}'.encode()
    with pytest.raises(Problem, match=f"unknown key '{key}'") as caught:
        decode_json(body, features=True)
    assert [error["pointer"] for error in caught.value.errors] == [""]
    with pytest.raises(Problem, match=f"unknown key '{key}'"):
        decode_ndjson(body, 1, features=True)
