"""Arrow IPC bodies: the samples that JSON of the same values has, and nothing that does harm."""

import json
import pickle
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from llr_service.codec import Samples, decode_arrow, decode_json
from llr_service.codec.arrow_ipc import ALLOWANCE
from llr_service.problems import Problem
from stress.hostile import Canary, bodies
from support.arrow import stream

from llr import NamedRows
from llr.classes import Classes

GOOD = {"a": [1.0, 2.0], "b": [3, 4], "y": [0.5, 1.5]}


def refusal(body: bytes, *arguments: Any) -> Problem:
    with pytest.raises(Problem) as caught:
        decode_arrow(body, *(arguments or (True,)))
    return caught.value


def about(body: bytes, *arguments: Any) -> tuple[int, str, str]:
    """The status, and the first place with what is wrong there."""
    problem = refusal(body, *arguments)
    return problem.kind.status, problem.errors[0]["pointer"], problem.errors[0]["detail"]


def plain(samples: Samples) -> Any:
    """Everything that is in samples."""
    X: Any = samples.X
    if isinstance(X, NamedRows):
        X = (X.names, X.starts.tolist(), X.columns.tolist(), X.values.tobytes())
    elif X is not None:
        X = (X.shape, X.tobytes())
    optional = {name: (each.dtype, each.tobytes()) for name, each in samples.optional.items()}
    return X, samples.y.tobytes(), optional


@pytest.mark.parametrize("file", [False, True])
@pytest.mark.parametrize("rows", [None, 1])
def test_columns_are_features_in_the_order_of_the_schema(file: bool, rows: int | None) -> None:
    samples = decode_arrow(stream(GOOD, rows=rows, file=file), features=True)
    assert isinstance(samples.X, np.ndarray)
    assert samples.X.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert samples.y.tolist() == [0.5, 1.5]
    assert samples.X.flags.c_contiguous


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        *[([0, 1, 127], kind) for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32")],
        ([2**63 - 1, -(2**53) - 1, 9007199254740993], "int64"),
        ([2**64 - 1, 2**53 + 1, 0], "uint64"),
        ([0.1, -0.0, 3.4e38], "float32"),
        ([0.1, -0.0, 5e-324], "float64"),
    ],
)
@pytest.mark.parametrize("named", [False, True])
def test_numbers_are_those_of_json(values: list[float], kind: str, named: bool) -> None:
    column = pa.array(values, kind)
    read = decode_arrow(stream({"a": column, "y": column}), True, named)
    x = [{"a": each} if named else [each] for each in column.to_pylist()]
    text = json.dumps({"x": x, "y": column.to_pylist()}).encode()
    assert plain(read) == plain(decode_json(text, True))


CELLS = {
    "n": st.none() | st.floats(allow_nan=False, allow_infinity=False),
    "i": st.none() | st.integers(-(2**63), 2**63 - 1),
    "b": st.none() | st.booleans(),
    "s": st.none() | st.sampled_from(["Rome", "Oslo", "", "é", "=", "n"]),
}
TYPES = {"n": pa.float64(), "i": pa.int64(), "b": pa.bool_(), "s": pa.string()}
TABLES = st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=8)


@seed(1)
@settings(deadline=None, max_examples=200)
@given(TABLES, st.integers(1, 4), st.sampled_from(["string", "large_string", "dictionary"]))
def test_named_rows_are_those_of_json(table: list[Any], rows: int, text: str) -> None:
    """In any batches, and however the strings are stored."""
    columns = {name: pa.array([row[name] for row in table], kind) for name, kind in TYPES.items()}
    if text == "dictionary":
        columns["s"] = columns["s"].dictionary_encode()
    elif text == "large_string":
        columns["s"] = columns["s"].cast(text)
    y = np.arange(len(table)) + 0.5
    read = decode_arrow(stream(columns | {"y": y}, rows=rows), True, named=True)
    x = [{name: row[name] for name in TYPES if row[name] is not None} for row in table]
    text_of = json.dumps({"x": x, "y": y.tolist()}).encode()
    assert plain(read) == plain(decode_json(text_of, True))


def test_a_new_dictionary_may_come_with_every_batch() -> None:
    parts = [pa.array(each).dictionary_encode() for each in (["a", "b"], ["c", "a"], ["b", None])]
    body = stream(pa.table({"s": pa.chunked_array(parts), "y": np.arange(6.0)}))
    read = decode_arrow(body, True, named=True)
    assert list(read.names) == ["s=a", "s=b", "s=c"]
    assert isinstance(read.X, NamedRows)
    assert read.X.columns.tolist() == [0, 1, 2, 0, 1]


def test_weights_and_numbers_are_columns() -> None:
    more = {"w": [None, 0.5], "seq": pa.array([3, 2**53 - 1], "uint64")}
    samples = decode_arrow(stream(more | GOOD), features=True)
    assert samples.weights is not None
    assert samples.numbers is not None
    assert samples.weights.tolist() == [1.0, 0.5]
    assert samples.numbers.tolist() == [3, 2**53 - 1]
    assert samples.numbers.dtype == np.dtype(np.int64)
    assert samples.dim == 2


@pytest.mark.parametrize("encode", [False, True])
def test_classes_are_strings(encode: bool) -> None:
    labels = pa.array(["ham", "spam", "ham"])
    table = {"a": [1.0, 2.0, 3.0], "y": labels.dictionary_encode() if encode else labels}
    classes = Classes(["spam", "ham"])
    assert decode_arrow(stream(table), True, False, classes).y.tolist() == [1.0, 0.0, 1.0]
    table["y"] = pa.array(["ham", "tea", None])
    assert about(stream(table), True, False, classes)[:2] == (422, "/2/y")
    (other,) = refusal(stream(table), True, False, classes).errors[1:]
    assert (other["pointer"], "not a class" in other["detail"]) == ("/1/y", True)
    table["y"] = [0, 1, 0]
    assert about(stream(table), True, False, classes)[1:] == (
        "/y",
        "column 'y' must be of strings, not int64",
    )


def test_models_without_features_take_labels_alone() -> None:
    samples = decode_arrow(stream({"y": [1.0, 2.0], "w": [1, 2]}), features=False)
    assert (samples.X, samples.y.tolist()) == (None, [1.0, 2.0])
    assert "this model has no features" in about(stream(GOOD), False)[2]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, None])
@pytest.mark.parametrize("name", ["b", "y"])
def test_what_is_no_finite_number_is_refused_by_its_row(name: str, value: Any) -> None:
    good = np.arange(5.0).tolist()
    table = {"a": good, "b": good, "y": good} | {name: [*good[:3], value, *good[4:]]}
    for rows in (None, 2):
        status, place, why = about(stream(table, rows=rows))
        assert (status, place) == (422, f"/3/{name}")
        assert ("null" if value is None else "finite") in why


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_named_feature_is_finite(value: float) -> None:
    column = pa.array([1.0, None, value], from_pandas=False)
    body = stream({"a": column, "y": [1.0, 2.0, 3.0]})
    assert about(body, True, True)[:2] == (422, "/2/a")


@pytest.mark.parametrize(
    ("columns", "place", "why"),
    [
        ({"a": [1.0]}, "/y", "is missing"),
        ({"y": [1.0]}, "", "no column of features"),
        ({"y": [1.0], "a": ["text"]}, "/a", "must be of numbers, not string"),
        ({"y": [1.0], "a": [True]}, "/a", "must be of numbers, not bool"),
        ({"y": [True], "a": [1.0]}, "/y", "must be of numbers, not bool"),
        ({"y": ["1"], "a": [1.0]}, "/y", "must be of numbers, not string"),
        ({"y": [1.0], "a": [[1.0]]}, "/a", "not list<"),
        ({"y": [1.0], "a/b": [{"c": 1.0}]}, "/a~1b", "not struct<"),
        ({"y": [1.0], "a": pa.nulls(1)}, "/a", "not null"),
        ({"y": [1.0], "a": pa.array([1.0], "float16")}, "/a", "not halffloat"),
        ({"y": [1.0], "a": pa.array([1], pa.timestamp("s"))}, "/a", "not timestamp"),
        ({"y": [1.0], "a": pa.array(["x"], pa.string_view())}, "/a", "not string_view"),
        ({"y": [1.0], "a": pa.array([b"x"])}, "/a", "not binary"),
        ({"y": [1.0], "a": [1.0], "w": ["1"]}, "/w", "must be of numbers"),
        ({"y": [1.0], "a": [1.0], "seq": [1.0]}, "/seq", "must be of integers, not double"),
        ({"y": [1.0], "a": [1.0], "seq": [-1]}, "/0/seq", "a whole number from 0"),
        ({"y": [1.0], "a": [1.0], "seq": [2**53]}, "/0/seq", "a whole number from 0"),
        ({"y": [1.0], "a": [1.0], "seq": pa.array([None], "int64")}, "/0/seq", "a whole number"),
        ({"y": [1.0], "a": [1.0], "w": [np.nan]}, "/0/w", "must be finite"),
    ],
)
def test_a_column_that_cannot_be_read_is_named(columns: Any, place: str, why: str) -> None:
    status, pointer, detail = about(stream(columns))
    assert (status, pointer) == (422, place)
    assert why in detail


@pytest.mark.parametrize(
    ("columns", "place", "why"),
    [
        ({"#a": [1.0]}, "/#a", "does not begin with #"),
        ({"": [1.0]}, "/", "1 to 256 characters"),
        ({"a": ["x" * 300]}, "/0/a", "1 to 256 characters"),
        ({"a": ["x" * 2000]}, "/a", "longer than 1024 bytes"),
        ({"city": ["Rome"], "city=Rome": [1.0]}, "/0", "has a feature twice"),
        ({f"n{i}": [1.0] for i in range(10_001)}, "/0", "10001 features"),
        ({"a": [[1.0]]}, "/a", "must be of numbers or booleans or strings"),
    ],
)
def test_a_column_that_cannot_be_a_feature_is_named(columns: Any, place: str, why: str) -> None:
    status, pointer, detail = about(stream(columns | {"y": [1.0]}), True, True)
    assert (status, pointer) == (422, place)
    assert why in detail


def test_a_column_is_there_once() -> None:
    table = pa.table([[1.0], [2.0], [3.0]], names=["a", "a", "y"])
    assert about(stream(table))[1:] == ("/a", "column 'a' is there twice")


class Own(pa.ExtensionType):  # type: ignore[misc]
    """A type that is registered for this process only where a test says so."""

    def __init__(self) -> None:
        super().__init__(pa.float64(), "llr.test")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: Any, serialized: bytes) -> "Own":
        return cls()


def test_extension_types_are_not_read(tmp_path: Path) -> None:
    canary = Canary(tmp_path / "sings")
    field = pa.field("a", pa.float64()).with_metadata(
        {
            "ARROW:extension:name": "arrow.py_extension_type",
            "ARROW:extension:metadata": pickle.dumps(canary),
        }
    )
    table = pa.table([[1.0], [1.0]], schema=pa.schema([field, pa.field("y", pa.float64())]))
    assert decode_arrow(stream(table), True).n == 1
    assert not canary.file.exists()
    own = pa.ExtensionArray.from_storage(Own(), pa.array([1.0]))
    pa.register_extension_type(Own())
    try:
        assert about(stream({"a": own, "y": [1.0]}))[1] == "/a"
    finally:
        pa.unregister_extension_type("llr.test")


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("text", [False, True])
def test_compression_is_refused_before_anything_is_decompressed(codec: str, text: bool) -> None:
    table: dict[str, Any] = {"a": np.zeros(10**6), "y": np.zeros(10**6)}
    if text:
        table["a"] = pa.array(["z" * 1000] * 1000).dictionary_encode()
        table["y"] = np.zeros(1000)
    body, before = stream(table, compression=codec), pa.total_allocated_bytes()
    problem = refusal(body)
    assert (problem.kind.status, "uncompressed" in problem.detail) == (422, True)
    assert pa.total_allocated_bytes() <= before


def test_delta_dictionaries_are_refused() -> None:
    parts = [
        pa.DictionaryArray.from_arrays([0], ["a"]),
        pa.DictionaryArray.from_arrays([1], ["a", "b"]),
    ]
    table = pa.table({"s": pa.chunked_array(parts), "y": [1.0, 2.0]})
    assert "delta" in refusal(stream(table, emit_dictionary_deltas=True), True, True).detail
    assert decode_arrow(stream(table), True, True).n == 2


def test_a_body_of_few_bytes_does_not_become_large() -> None:
    """A boolean is a bit of the body, and 8 bytes of the samples."""
    n = 100_000
    body = bytearray(stream({"a": np.zeros(n, np.bool_), "y": np.zeros(n, np.int8)}))
    assert 16 * len(body) + ALLOWANCE > 16 * n
    assert decode_arrow(bytes(body), True, True).n == n
    wide = stream({f"b{i}": np.zeros(n, np.bool_) for i in range(40)} | {"y": np.zeros(n, np.int8)})
    tracemalloc.start()
    try:
        problem = refusal(wide, True, True)
        assert tracemalloc.get_traced_memory()[1] < 1 << 21
    finally:
        tracemalloc.stop()
    assert (problem.kind.status, "send fewer at once" in problem.detail) == (413, True)


def test_rows_that_are_only_promised_cost_nothing() -> None:
    body = stream({"a": np.zeros(1000), "y": np.zeros(1000)})
    length = (1000).to_bytes(8, "little")
    assert body.count(length) > 2
    for promised in (2**40, 2**62, 2**63 - 1, 2**64 - 1):
        problem = refusal(body.replace(length, promised.to_bytes(8, "little")))
        assert problem.kind.status in {400, 413}


def test_no_samples_is_no_body() -> None:
    for columns in (pa.table({"a": pa.array([], "double"), "y": pa.array([], "double")}),):
        assert refusal(stream(columns)).detail == "the Arrow stream has no samples"


def test_bytes_after_the_end_are_refused() -> None:
    """They may be a second stream, whose samples would be lost."""
    body = stream(GOOD)
    assert refusal(body + body).kind.status == 400
    assert refusal(stream(GOOD, file=True)[:-1]).kind.status == 400


def test_no_arrow_is_malformed(tmp_path: Path) -> None:
    for what, body in bodies(Canary(tmp_path / "sings")).items():
        assert refusal(body).kind.status == (422 if what.startswith("arrow") else 400), what
    assert not (tmp_path / "sings").exists()


@pytest.mark.parametrize("named", [False, True])
def test_a_body_cut_short_is_refused(named: bool) -> None:
    body = stream({"a": [1.0, 2.0], "b": [1, None], "s": ["x", "y"], "y": [1.0, 2.0]})
    for end in range(len(body) - 8):
        refusal(body[:end], True, True)


TEXT = pa.array(["Rome", "Oslo", None, "Rome"])
MIXED = {"s": TEXT, "d": TEXT.dictionary_encode(), "n": [1, None, 3, 4], "y": [1.0, 2, 3, 4]}


@seed(2)
@settings(deadline=None, max_examples=500)
@given(st.data())
def test_a_body_with_some_bytes_changed_is_refused_or_read(data: st.DataObject) -> None:
    """And what is read is finite, and its rows can be trusted: they check themselves."""
    body = bytearray(stream(MIXED | {"b": [True, False, None, True]}))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(body) - 1))
        body[place] = data.draw(st.integers(0, 255))
    try:
        samples = decode_arrow(bytes(body), True, True)
    except Problem as problem:
        status = problem.kind.status
    else:
        status = 200
        assert isinstance(samples.X, NamedRows)
        assert np.isfinite(samples.y).all()
        assert np.isfinite(samples.X.values).all()
        assert samples.X.n == samples.n
    assert status in {200, 400, 413, 422}


def test_without_pyarrow_the_answer_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    body = stream(GOOD)
    monkeypatch.setitem(sys.modules, "pyarrow.ipc", None)
    problem = refusal(body)
    assert problem.kind.status == 415
    assert "pip install 'llr[parquet]'" in problem.detail
