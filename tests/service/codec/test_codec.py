"""What holds for all encodings: the same numbers give the same bits, and nothing odd gets in."""

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llr_service.codec
import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from llr_service.codec import (
    Samples,
    decode_arrow,
    decode_json,
    decode_ndjson,
    decode_npy,
    decode_query,
    pack_samples,
    unpack_samples,
)
from llr_service.problems import Problem
from support.arrow import stream as arrow_stream

from llr.types import Vector

FINITE = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [-0.0, 5e-324, -5e-324, 2.2250738585072011e-308, 1.7976931348623157e308, 1e308, 2.0**53 + 2]
)
TABLES = hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(2, 5)), elements=FINITE)


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def json_of(table: Vector, features: bool) -> list[dict[str, Any]]:
    rows = table.tolist()
    return [{"x": row[:-1], "y": row[-1]} if features else {"y": row[-1]} for row in rows]


def columns_of(table: Vector, features: bool) -> dict[str, Any]:
    columns = {"y": table[:, -1].tolist()}
    return {"x": table[:, :-1].tolist(), **columns} if features else columns


def arrow(table: Any, features: bool, **options: Any) -> bytes:
    columns = {f"x{j}": column for j, column in enumerate(table.T[:-1] if features else [])}
    return arrow_stream(columns | {"y": table[:, -1]}, **options)


def all_readings(table: Vector, features: bool) -> list[Samples]:
    """The same samples through every encoding."""
    listed = json_of(table, features)
    lines = "".join(json.dumps(sample) + "\n" for sample in listed).encode()
    array = table if features else table[:, -1]
    return [
        decode_json(json.dumps(listed).encode(), features),
        decode_json(json.dumps(columns_of(table, features)).encode(), features),
        decode_ndjson(lines, 1, features),
        decode_ndjson(b"\r\n \n" + lines.replace(b"\n", b" \r\n"), 1, features),
        decode_npy(npy(array), features),
        decode_npy(npy(np.asfortranarray(array)), features),
        decode_npy(npy(array.astype(">f8")), features),
        decode_arrow(arrow(table, features), features),
        decode_arrow(arrow(table, features, rows=2), features),
        decode_arrow(arrow(table, features, file=True), features),
    ]


def bits(samples: Samples) -> tuple[bytes | None, bytes]:
    X = samples.X.tobytes() if isinstance(samples.X, np.ndarray) else None
    return X, samples.y.tobytes()


@seed(1)
@settings(deadline=None)
@given(TABLES, st.booleans())
def test_the_same_numbers_in_any_encoding_give_the_same_bits(table: Vector, features: bool) -> None:
    expected = Samples(table[:, :-1] if features else None, table[:, -1])
    for samples in all_readings(table, features):
        assert bits(samples) == bits(expected)
        assert bits(unpack_samples(pack_samples(samples))) == bits(expected)


@seed(2)
@settings(deadline=None)
@given(hnp.arrays(np.float64, st.integers(2, 12), elements=FINITE))
def test_a_sample_alone_has_the_bits_it_has_in_a_list(row: Vector) -> None:
    (sample,) = json_of(row[None], features=True)
    alone = decode_json(json.dumps(sample).encode(), features=True)
    assert bits(alone) == (row[:-1].tobytes(), row[-1:].tobytes())
    asked = decode_query(json.dumps({"x": row.tolist()}).encode(), features=True).rows
    assert isinstance(asked, np.ndarray)
    assert asked.tobytes() == row.tobytes()


@seed(3)
@settings(deadline=None)
@given(
    hnp.arrays(
        np.float32, (3, 4), elements=st.floats(width=32, allow_nan=False, allow_infinity=False)
    )
)
def test_a_float32_is_the_float64_of_the_same_value(table: Any) -> None:
    wide = table.astype(np.float64)
    for narrow in (table, np.asfortranarray(table), table.astype(">f4")):
        assert bits(decode_npy(npy(narrow), True)) == bits(decode_npy(npy(wide), True))
    assert bits(decode_arrow(arrow(table, True), True)) == bits(decode_npy(npy(wide), True))


@pytest.mark.parametrize("features", [True, False])
def test_arrays_are_what_a_kernel_reads(features: bool) -> None:
    table = np.random.default_rng(4).normal(size=(3, 4))
    readings = all_readings(table, features)
    for samples in [*readings, *(unpack_samples(pack_samples(s)) for s in readings)]:
        assert isinstance(samples.X, np.ndarray if features else type(None))
        for array in samples.arguments:
            assert array.dtype == np.float64
            assert array.dtype.isnative
            assert array.flags.c_contiguous
            assert array.flags.aligned


def test_plain_bodies_are_read_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> None:
        raise AssertionError("read twice")

    monkeypatch.setattr("llr_service.codec.json.decode_again", slow)
    monkeypatch.setattr("llr_service.codec.ndjson.decode_again", slow)
    for body in (b'{"x": [1.5, 0, -0.0], "y": -3}', b'[{"x": [1], "y": 0.5}, {"y": 0, "x": [2]}]'):
        decode_json(body, features=True)
        decode_ndjson(body.strip(b"[]").replace(b"}, {", b"}\r\n{"), 1, features=True)
    decode_json(b'{"x": [[1, 2], [3, 4e-0]], "y": [1, 2]}', features=True)
    decode_json(b'{"y": 4.2}', features=False)
    decode_query(b'{"x": [1, 2.5]}', features=True)
    decode_query(b'{"x": [[1, 2.5], [0, 1]]}', features=True)


class Canary:
    """Writes a file if it is ever unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def zipped(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def hostile_bodies(canary: Path) -> dict[str, bytes]:
    pickled = pickle.dumps(Canary(canary))
    objects = npy(np.array([[Canary(canary), 1.0]], dtype=object))
    npz = io.BytesIO()
    np.savez(npz, a=np.ones((2, 2)))
    deep = 100_000
    return {
        "pickle": pickled,
        "object npy": objects,
        "pickle after a float header": npy(np.ones((2, 2)))[:128] + pickled,
        "npz": npz.getvalue(),
        "zip": zipped("a.npy", objects),
        "brackets": b"[" * deep,
        "closed brackets": b"[" * deep + b"]" * deep,
        "objects": b'{"x":' * deep + b"1" + b"}" * deep,
        "deep x": b'{"y": 1, "x": ' + b"[" * deep + b"]" * deep + b"}",
        "invalid utf-8": b'{"x": [1], "y": 1, "\xff": 1}',
        "latin-1": '{"ü": 1}'.encode("latin-1"),
        "utf-16": '{"y": 1}'.encode("utf-16"),
        "byte order mark": b'\xef\xbb\xbf{"x": [1], "y": 1}',
        "nul": b'{"x": [1], "y": 1}\0',
        "a 400 digit integer": b'{"x": [1], "y": ' + b"9" * 400 + b"}",
        "a 100,000 digit integer": b'{"x": [1], "y": ' + b"9" * 100_000 + b"}",
        "a 100,000 digit fraction": b'{"x": [1], "y": "0.' + b"3" * 100_000 + b'"}',
        "bytes": bytes(range(256)),
    }


DECODERS: dict[str, Callable[[bytes], object]] = {
    "json": lambda body: decode_json(body, features=True),
    "rows": lambda body: decode_query(body, features=True),
    "rows without features": lambda body: decode_query(body, features=False),
    "ndjson": lambda body: decode_ndjson(body, 1, features=True),
    "npy": lambda body: decode_npy(body, features=True),
    "arrow": lambda body: decode_arrow(body, features=True),
    "arrow by name": lambda body: decode_arrow(body, features=True, named=True),
}


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("name", hostile_bodies(Path("unused")))
def test_a_hostile_body_is_refused_and_nothing_in_it_runs(
    decoder: str, name: str, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    with pytest.raises(Problem) as caught:
        DECODERS[decoder](hostile_bodies(canary)[name])
    assert caught.value.kind.status in {400, 422}
    assert len(json.dumps(caught.value.body())) < 1_000
    assert not canary.exists()


def test_the_canary_would_sing(tmp_path: Path) -> None:
    bodies = hostile_bodies(tmp_path / "canary")
    np.load(io.BytesIO(bodies["object npy"]), allow_pickle=True)
    assert (tmp_path / "canary").exists()


@seed(5)
@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=60), st.sampled_from(sorted(DECODERS)))
def test_any_bytes_are_taken_or_refused_with_a_problem(body: bytes, decoder: str) -> None:
    status = 200
    try:
        DECODERS[decoder](body)
    except Problem as problem:
        status = problem.kind.status
    assert status in {200, 400, 422}


def test_every_public_name_is_sorted_and_documented() -> None:
    names = llr_service.codec.__all__
    assert sorted(names) == names
    assert all(getattr(llr_service.codec, name).__doc__ for name in names)
