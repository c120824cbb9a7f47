import json
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import llr
from llr import serialization
from llr.serialization import HEAD, MAGIC


def packed() -> bytes:
    learner = llr.Learner("linear", 3, "sg/ag", regret="exact", memory=True)
    assert learner.learn(*llr.streams.regression(seed=0, dim=3).take(40))
    return learner.pack()


def forged(header: object, body: bytes = b"") -> bytes:
    """Bytes whose checksum is right, whatever they say."""
    text = json.dumps(header).encode()
    tail = struct.pack("<I", len(text)) + text + body
    return MAGIC + struct.pack("<I", zlib.crc32(tail)) + tail


@settings(max_examples=200, deadline=None)
@given(bit=st.integers(0, 8 * len(packed()) - 1))
def test_a_flipped_bit_is_noticed(bit: int) -> None:
    data = bytearray(packed())
    data[bit // 8] ^= 1 << bit % 8
    with pytest.raises(llr.StateError):
        llr.Learner.unpack(bytes(data))


@given(cut=st.integers(0, len(packed()) - 1))
@settings(max_examples=100, deadline=None)
def test_a_cut_state_is_noticed(cut: int) -> None:
    with pytest.raises(llr.StateError):
        llr.Learner.unpack(packed()[:cut])


@given(st.binary(max_size=200))
def test_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(llr.StateError):
        llr.Learner.unpack(data)


@pytest.mark.parametrize(
    "header",
    [
        [],
        {},
        {"version": 3, "config": {}, "arrays": {}},
        {"version": "1", "config": {}, "arrays": {}},
        {"version": 1, "config": {"model": "softmax", "options": {"classes": 2 * 10**9}}},
        {"version": 1, "config": {"model": "nonsense"}, "arrays": {}},
        {"version": 1, "config": {"model": "gaussian", "wrong": 1}, "arrays": {}},
        {"version": 1, "config": {"model": "gaussian"}, "arrays": {}},
        {"version": 1, "config": {"model": "gaussian"}, "arrays": {"vectors": [1 << 60]}},
        {"version": 1, "config": {"model": "gaussian"}, "arrays": {"vectors": [-1]}},
        {"version": 1, "config": {"model": "gaussian"}, "arrays": {"vectors": ["x"]}},
    ],
)
def test_a_forged_header_with_a_right_checksum_is_refused(header: object) -> None:
    with pytest.raises(llr.StateError):
        llr.Learner.unpack(forged(header))


def test_a_small_forged_state_does_not_ask_for_a_large_one() -> None:
    dim = 20_000
    body = np.zeros(2 * dim).tobytes() + np.zeros(7).tobytes() + np.zeros(4).tobytes()
    shapes = {"vectors": [2, 1, dim], "scalars": [7], "counts": [4], "statistics": [0]}
    header = {
        "version": 1,
        "scheduled": False,
        "config": {"model": "linear", "algorithm": "sg/ag", "regret": "exact"},
        "arrays": shapes | {"history": [0, 69]},
    }
    tracemalloc.start()
    with pytest.raises(llr.StateError, match="statistics"):
        llr.Learner.unpack(forged(header, body))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


def test_a_deeply_nested_header_is_refused() -> None:
    text = b"[" * 200_000
    tail = struct.pack("<I", len(text)) + text
    with pytest.raises(llr.StateError):
        llr.Learner.unpack(MAGIC + struct.pack("<I", zlib.crc32(tail)) + tail)


def test_a_learner_with_a_schedule_needs_it_again() -> None:
    learner = llr.Learner("gaussian", schedule=lambda t: t + 1.0)
    assert learner.learn([1.0, 2.0])
    with pytest.raises(llr.StateError, match="schedule"):
        llr.Learner.unpack(learner.pack())
    again = llr.Learner.unpack(learner.pack(), schedule=lambda t: t + 1.0)
    assert again.learn(3.0)
    assert learner.learn(3.0)
    assert again.pack() == learner.pack()


def test_arrays_of_another_config_are_refused() -> None:
    data = llr.Learner("gaussian").pack()
    length = HEAD.unpack_from(data)[2]
    header = json.loads(data[HEAD.size : HEAD.size + length])
    header["config"]["algorithm"] = "svrg/ag"
    with pytest.raises(llr.StateError, match="not the shape"):
        llr.Learner.unpack(forged(header, data[HEAD.size + length :]))


@pytest.mark.parametrize("number", [-1, 10_000])
def test_counts_that_point_outside_the_history_are_refused(number: int) -> None:
    data = llr.Learner("gaussian").pack()
    length = HEAD.unpack_from(data)[2]
    header = json.loads(data[HEAD.size : HEAD.size + length])
    body = bytearray(data[HEAD.size + length :])
    sizes = [int(np.prod(shape)) * 8 for shape in header["arrays"].values()]
    counts = sizes[0] + sizes[1]
    for slot in (1, 2, 3):
        wrong = bytearray(body)
        wrong[counts + 8 * slot : counts + 8 * slot + 8] = struct.pack("<q", number)
        with pytest.raises(llr.StateError):
            llr.Learner.unpack(forged(header, bytes(wrong)))


def test_numbers_that_are_not_finite_are_refused() -> None:
    data = llr.Learner("gaussian").pack()
    length = HEAD.unpack_from(data)[2]
    header = json.loads(data[HEAD.size : HEAD.size + length])
    body = struct.pack("<d", np.nan) + data[HEAD.size + length + 8 :]
    with pytest.raises(llr.StateError, match="finite"):
        llr.Learner.unpack(forged(header, body))


def test_plain_json_keeps_every_bit() -> None:
    learner = llr.Learner.unpack(packed())
    again = llr.Learner.from_plain(json.loads(json.dumps(learner.to_plain())))
    assert again.pack() == learner.pack()


@pytest.mark.parametrize(
    "plain",
    [None, [], {}, {"version": 1}, "text", {"version": 1, "config": {}, "arrays": {"vectors": 3}}],
)
def test_foreign_json_is_refused(plain: object) -> None:
    with pytest.raises(llr.StateError):
        llr.Learner.from_plain(plain)


@pytest.mark.parametrize(
    ("array", "value"),
    [*(("scalars", v) for v in (None, "1", True, 1e999, 10**400)), ("counts", 0.7)],
)
def test_plain_json_with_a_wrong_number_is_refused(array: str, value: object) -> None:
    plain = llr.Learner("gaussian").to_plain()
    plain["arrays"][array]["data"][0] = value
    with pytest.raises(llr.StateError):
        llr.Learner.from_plain(plain)


def test_nothing_is_packed_before_dim_is_known() -> None:
    with pytest.raises(llr.SampleError, match="dim"):
        llr.Learner("linear").pack()


@pytest.mark.parametrize("algorithm", ["auto", "sg/ag"])
@pytest.mark.parametrize("t", [0, 1, 40, 1500])
def test_a_learner_without_its_history_goes_on_the_same(algorithm: str, t: int) -> None:
    whole = llr.Learner("linear", 3, algorithm)
    X, y = llr.streams.regression(seed=0, dim=3).take(2500)
    assert whole.learn(X[:t], y[:t])
    bare = llr.Learner.unpack(whole.pack(history=False))
    assert bare.pack() == whole.pack(history=False) == bare.pack(history=False)
    assert whole.learn(X[t:], y[t:])
    assert bare.learn(X[t:], y[t:])
    assert bare.pack(history=False) == whole.pack(history=False)
    ours, theirs = bare.to_plain()["arrays"], whole.to_plain()["arrays"]
    for name in ("vectors", "scalars", "statistics", "calibration", "metrics"):
        assert ours[name] == theirs[name]
    assert bare.theta.tobytes() == whole.theta.tobytes()
    assert bare.history.loss_high.max() == whole.history.loss_high.max()
    assert bare.history.log_eta_low.min() == whole.history.log_eta_low.min()


def test_a_learner_without_its_history_is_small() -> None:
    learner = llr.Learner("linear", 50, "sg/ag")
    assert learner.learn(*llr.streams.regression(seed=0, dim=50).take(2000))
    assert len(learner.pack()) > 200_000
    assert len(learner.pack(history=False)) < 5_000


@pytest.mark.parametrize("newer", ["VERSION", "ARITHMETIC"])
def test_a_state_that_a_newer_version_packed_is_told_from_damage(
    newer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = llr.Learner("linear", 2)
    with monkeypatch.context() as patches:
        patches.setattr(serialization, newer, getattr(serialization, newer) + 1)
        packed, plain = learner.pack(), learner.to_plain()
    with pytest.raises(llr.StateTooNew, match="this library"):
        llr.Learner.unpack(packed)
    with pytest.raises(llr.StateTooNew, match="this library"):
        llr.Learner.from_plain(plain)
    older = learner.to_plain() | {"arithmetic": 0}
    assert llr.Learner.from_plain(older).to_plain() == learner.to_plain()
