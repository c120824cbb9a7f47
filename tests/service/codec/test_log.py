import struct

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from llr_service.codec import Samples, pack_samples, unpack_samples
from llr_service.problems import Problem

PACKED = pack_samples(Samples(np.arange(6.0).reshape(3, 2), np.array([-0.0, 5e-324, 1e308])))


def refused(blob: bytes) -> bool:
    with pytest.raises(Problem) as caught:
        unpack_samples(blob)
    return caught.value.kind.name == "damaged"


def test_an_entry_is_two_counts_and_the_numbers() -> None:
    counts, numbers = PACKED[:8], PACKED[8:]
    assert struct.unpack("<II", counts) == (3, 2)
    assert struct.unpack("<9d", numbers) == (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, -0.0, 5e-324, 1e308)


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
