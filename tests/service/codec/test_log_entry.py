import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from llr_service.codec import Samples, pack_samples, unpack_samples
from llr_service.codec.log_entry import Layout, read_layout
from llr_service.problems import Problem

from llr import ARITHMETIC, NamedRows

PACKED = pack_samples(Samples(np.arange(6.0).reshape(3, 2), np.array([-0.0, 5e-324, 1e308])))

TIME = 1_700_000_000_123


def refused(blob: bytes) -> bool:
    with pytest.raises(Problem) as caught:
        unpack_samples(blob)
    return caught.value.kind.name == "damaged"


def test_an_entry_is_a_header_and_the_numbers() -> None:
    header, numbers = PACKED[:16], PACKED[16:]
    assert struct.unpack("<4sBBHII", header) == (b"LLRE", 1, 0, ARITHMETIC, 3, 2)
    assert struct.unpack("<9d", numbers) == (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, -0.0, 5e-324, 1e308)


def test_an_entry_without_a_header_is_read() -> None:
    samples = unpack_samples(struct.pack("<II9d", 3, 2, *range(6), -0.0, 5e-324, 1e308))
    assert pack_samples(samples) == PACKED
    assert read_layout(struct.pack("<IId", 1, 0, 5.0)) == Layout(0, 0, 1, 0, {}, 8, 0)
    old = Samples(NamedRows.from_cells(["a", "b"], np.array([0, 1, 2]), np.ones(2)), np.zeros(2))
    named = pack_samples(old)
    assert pack_samples(unpack_samples(b"NAME\1\0\0\0" + named[16:])) == named


def test_the_arithmetic_is_kept() -> None:
    samples = Samples(None, np.ones(1))
    assert read_layout(pack_samples(samples, 7)).arithmetic == 7
    assert read_layout(pack_samples(samples)).arithmetic == ARITHMETIC


@pytest.mark.parametrize(("X", "d"), [(None, 0), (np.eye(2), 2)])
def test_an_entry_with_a_time_has_it_after_the_header(X: Any, d: int) -> None:
    samples = Samples(X, np.ones(2))
    dated = pack_samples(samples, time=TIME)
    assert struct.unpack_from("<4sBBHIIQ", dated)[1:] == (2, 0, ARITHMETIC, 2, d, TIME)
    assert read_layout(dated).time == TIME
    assert pack_samples(unpack_samples(dated)) == pack_samples(samples)
    assert read_layout(pack_samples(samples)).time == 0
    assert refused(dated[:20])


@pytest.fixture
def columns(monkeypatch: pytest.MonkeyPatch) -> dict[str, type]:
    """Columns that this version knows."""
    known = {"weight": float, "number": int, "time": float}
    monkeypatch.setattr("llr_service.codec.log_entry.OPTIONAL", known)
    return known


NAMES = NamedRows(["a"], np.arange(3), np.zeros(2, np.int64), np.ones(2))
FULL = {
    "weight": np.array([0.5, 2.0]),
    "number": np.array([2**62 + 1, -1]),
    "time": np.array([1.7e9, 0.0]),
}


@pytest.mark.parametrize("X", [None, np.eye(2), NAMES])
@pytest.mark.parametrize("names", [["weight"], ["time", "number"], ["number", "weight", "time"]])
@pytest.mark.usefixtures("columns")
def test_optional_columns_come_back_by_name(X: Any, names: list[str]) -> None:
    samples = Samples(X, np.array([1.0, 2.0]), {name: FULL[name] for name in names})
    blob = pack_samples(samples)
    found = unpack_samples(blob)
    assert {name: column.tolist() for name, column in found.optional.items()} == {
        name: FULL[name].tolist() for name in names
    }
    assert pack_samples(found) == blob
    for cut in range(len(blob)):
        assert refused(blob[:cut])
    assert refused(blob + b"\0")


def test_a_column_that_is_not_known_is_refused_with_a_sentence(columns: dict[str, type]) -> None:
    blob = pack_samples(Samples(None, np.zeros(2), {"weight": FULL["weight"]}))
    del columns["weight"]
    with pytest.raises(Problem, match="a column 'weight', which this version does not know") as no:
        unpack_samples(blob)
    assert no.value.kind.status == 503


def test_a_newer_format_is_refused_with_a_sentence() -> None:
    newer = PACKED[:4] + b"\3" + PACKED[5:]
    with pytest.raises(Problem) as refusal:
        unpack_samples(newer)
    assert refusal.value.kind.status == 503
    assert refusal.value.detail == (
        "an entry of the session's log is of format 3, and this version reads formats up to 2:"
        " a newer version of the service wrote it, so start that version"
    )


@pytest.mark.usefixtures("columns")
def test_a_column_that_is_there_twice_is_damage() -> None:
    blob = pack_samples(Samples(None, np.zeros(1), {"weight": np.ones(1), "number": np.ones(1)}))
    assert refused(blob.replace(b"number", b"weight"))
    bad = Samples(None, np.zeros(1), {"weight": np.array([np.nan])})
    assert refused(pack_samples(bad))


def test_it_gives_back_what_was_packed() -> None:
    samples = unpack_samples(PACKED)
    assert isinstance(samples.X, np.ndarray)
    assert samples.X.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert pack_samples(samples) == PACKED
    assert unpack_samples(pack_samples(Samples(None, samples.y))).X is None


@seed(14)
@given(st.integers(0, len(PACKED) - 1), st.binary(max_size=9))
@settings(deadline=None)
def test_an_entry_cut_or_made_longer_is_noticed(cut: int, more: bytes) -> None:
    assert refused(PACKED[:cut])
    assert not more or refused(PACKED + more)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_finite_was_not_packed_here(bad: float) -> None:
    assert refused(struct.pack("<II2d", 1, 1, 1.0, bad))


def test_forged_counts_are_noticed() -> None:
    assert refused(struct.pack("<II", 2**32 - 1, 2**32 - 1) + bytes(16))
