import io
import struct
import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from llr_service.codec import decode_npy
from llr_service.codec.npy import MAX_HEADER
from llr_service.problems import Problem
from numpy.lib import format as npy_format

FIELDS = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"
NUMBERS = np.arange(6.0).tobytes()


def saved(array: Any, version: tuple[int, int] = (1, 0)) -> bytes:
    stream = io.BytesIO()
    npy_format.write_array(stream, np.asanyarray(array), version=version)
    return stream.getvalue()


def forged(fields: str | bytes, numbers: bytes = NUMBERS, version: int = 1) -> bytes:
    """A body whose header says what it likes."""
    text = fields.encode() if isinstance(fields, str) else fields
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + numbers


def refusal(body: bytes, features: bool = True) -> Problem:
    with pytest.raises(Problem) as caught:
        decode_npy(body, features)
    return caught.value


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_the_three_versions_are_read(version: tuple[int, int]) -> None:
    samples = decode_npy(saved([[1.0, 2.0], [3.0, 4.0]], version), features=True)
    assert isinstance(samples.X, np.ndarray)
    assert samples.X.tolist() == [[1.0], [3.0]]
    assert samples.y.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    "fields",
    [
        FIELDS,
        '{"shape": (2,3), "descr": "<f8", "fortran_order": False}',
        FIELDS + " " * 500 + "\n",
        FIELDS.replace("<f8", "float64"),
    ],
)
def test_headers_of_other_writers_are_read(fields: str) -> None:
    assert decode_npy(forged(fields), features=True).y.tolist() == [2.0, 5.0]


@pytest.mark.parametrize("labels", [[1.0, 2.0], [[1.0], [2.0]]])
def test_models_without_features_have_one_column(labels: Any) -> None:
    samples = decode_npy(saved(labels), features=False)
    assert samples.X is None
    assert samples.y.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "array",
    [
        np.ones((2, 3), np.int64),
        np.ones((2, 3), np.float16),
        np.ones((2, 3), np.longdouble),
        np.ones((2, 3), np.complex128),
        np.ones((2, 3), np.bool_),
        np.full((2, 3), "1.5"),
        np.full((2, 3), b"1.5"),
        np.zeros((2, 3), "datetime64[s]"),
        np.zeros((2, 3), [("a", "<f8"), ("Label", "<f8")]),
        np.zeros(2, [("a", "<f8", (3,))]),
    ],
    ids=lambda array: str(array.dtype),
)
def test_another_dtype_is_invalid(array: Any) -> None:
    assert refusal(saved(array)).kind.name == "invalid"


@pytest.mark.parametrize(
    ("shape", "features"),
    [
        *[(shape, True) for shape in [(), (3,), (3, 1), (3, 0), (0, 3), (2, 3, 4)]],
        *[(shape, False) for shape in [(), (0,), (3, 2), (3, 0), (3, 1, 1)]],
    ],
)
def test_another_shape_is_invalid(shape: tuple[int, ...], features: bool) -> None:
    assert refusal(saved(np.ones(shape)), features).kind.name == "invalid"


def test_what_is_not_finite_is_invalid_and_its_place_is_named() -> None:
    for bad in (np.nan, np.inf, -np.inf):
        for dtype in ("<f8", ">f8", "<f4"):
            array = np.ones((4, 3), dtype)
            array[1, 2] = array[3, 0] = bad
            problem = refusal(saved(array))
            assert problem.kind.name == "invalid"
            assert [error["pointer"] for error in problem.errors] == ["/1/2", "/3/0"]
    assert len(refusal(saved(np.full((50, 3), np.nan))).errors) == 10


def test_a_signalling_nan_is_refused_without_a_warning() -> None:
    quiet = np.ones((1, 2), np.float32)
    quiet.view(np.uint32)[0, 0] = 0x7F800001
    assert refusal(saved(quiet)).kind.name == "invalid"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00",
        b"\x93NUMPY\x01\x00\xff\xff",
        b'{"x": [1], "y": 1}',
        b"PK\x03\x04",
        forged(FIELDS, version=4),
        forged(FIELDS, NUMBERS[:-1]),
        forged(FIELDS, NUMBERS + b"\0"),
        forged(FIELDS, b""),
        forged(FIELDS.replace("2, 3", "2, 3.0")),
        forged(FIELDS.replace("2, 3", "2, 'a'")),
        forged(FIELDS.replace("(2, 3)", "[2, 3]")),
        forged(FIELDS.replace("2, 3", "-2, 3")),
        forged(FIELDS.replace("False", "0")),
        forged(FIELDS.replace("<f8", "nonsense")),
        forged(FIELDS.replace("'shape'", "'form'")),
        forged(FIELDS.replace("(2, 3)", "__import__('os').getcwd()")),
        forged("[]"),
        forged("{'descr': "),
        forged("-" * 900 + "1"),
        forged("(" * 900),
        forged(b"\xff" * 20, version=3),
        forged(FIELDS + " " * MAX_HEADER),
        forged(FIELDS, version=2)[:8] + b"\xff\xff\xff\xff" + FIELDS.encode() + NUMBERS,
    ],
)
def test_what_is_not_npy_is_malformed(body: bytes) -> None:
    assert refusal(body).kind.name == "malformed"


def test_a_header_of_python_2_is_refused_without_a_warning() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert refusal(forged(FIELDS.replace("2, 3", "2L, 3L"))).kind.name == "malformed"
    assert not caught


@pytest.mark.parametrize(
    "shape",
    ["(10**12, 3)", "(1000000000000, 3)", "(9223372036854775808, 2)", "(2, 4611686018427387904)"],
)
def test_a_forged_shape_is_refused_and_costs_no_memory(shape: str) -> None:
    body = forged(FIELDS.replace("(2, 3)", shape))
    tracemalloc.start()
    try:
        assert refusal(body).kind.name == "malformed"
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("shape", ["(-2, -3)", "(True, 6)", f"(0, {10**30})", f"({10**30}, 0)"])
def test_a_shape_that_no_array_has_is_invalid(shape: str) -> None:
    assert refusal(forged(FIELDS.replace("(2, 3)", shape))).kind.name == "invalid"


@pytest.mark.slow
@seed(13)
@settings(max_examples=1000, deadline=None)
@given(st.data())
def test_a_header_with_some_bytes_changed_is_taken_or_refused_with_a_problem(
    data: st.DataObject,
) -> None:
    body = bytearray(saved(np.ones((2, 3))))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, 70))
        body[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    try:
        samples = decode_npy(bytes(body), data.draw(st.booleans()))
    except Problem:
        return
    assert np.isfinite(samples.y).all()
