"""Packed learners of named features: exact, and refused when anything is wrong with them."""

import json
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import llr
from llr.named.serialization import MAGIC
from llr.serialization import HEAD, VERSION


def learnt() -> llr.NamedLearner:
    learner = llr.NamedLearner("linear", "sg/ag", max_features=2, hash_bits=3)
    assert learner.learn([{"a": 1.0, "b": 2.0}, {"c": "x", "a": 0.5}], [1.0, -1.0])
    return learner


PACKED = learnt().pack()


def forged(change: Any) -> bytes:
    """The same state with another header, and a right checksum."""
    length = HEAD.unpack_from(PACKED)[2]
    header = json.loads(PACKED[HEAD.size : HEAD.size + length])
    change(header)
    text = json.dumps(header).encode()
    tail = struct.pack("<I", len(text)) + text + PACKED[HEAD.size + length :]
    return MAGIC + struct.pack("<I", zlib.crc32(tail)) + tail


@settings(max_examples=100, deadline=None)
@given(bit=st.integers(0, 8 * len(PACKED) - 1))
def test_a_flipped_bit_is_noticed(bit: int) -> None:
    data = bytearray(PACKED)
    data[bit // 8] ^= 1 << bit % 8
    with pytest.raises(llr.StateError):
        llr.NamedLearner.unpack(bytes(data))


@given(cut=st.integers(0, len(PACKED) - 1))
@settings(max_examples=50, deadline=None)
def test_a_cut_state_is_noticed(cut: int) -> None:
    with pytest.raises(llr.StateError):
        llr.NamedLearner.unpack(PACKED[:cut])


CHANGES: dict[str, Any] = {
    "another version": lambda h: h.update(version=VERSION + 1),
    "no names": lambda h: h.pop("names"),
    "a name twice": lambda h: h.update(names=["a", "a", "#1"]),
    "too few names": lambda h: h.update(names=["a", "b"]),
    "a shared name too early": lambda h: h.update(names=["a", "#1", "#2"]),
    "no shared name": lambda h: h.update(names=["a", "b", "c"]),
    "a slot that there is not": lambda h: h.update(names=["a", "b", "#8"]),
    "a slot in other words": lambda h: h.update(names=["a", "b", "#01"]),
    "numbers for names": lambda h: h.update(names=[1, 2, 3]),
    "lists for names": lambda h: h.update(names=[["a"], "b", "#1"]),
    "another algorithm": lambda h: h["config"].update(algorithm="auto"),
    "an algorithm that cannot": lambda h: h["config"].update(algorithm="svrg/ag"),
    "another shape": lambda h: h["arrays"].update(columns=[1, 6, 1]),
    "a huge shape": lambda h: h["arrays"].update(columns=[1 << 60, 2, 1]),
    "a setting too many": lambda h: h["config"].update(wrong=1),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_forged_header_with_a_right_checksum_is_refused(what: str) -> None:
    assert llr.NamedLearner.unpack(forged(lambda _: None)).pack() == PACKED
    with pytest.raises(llr.StateError):
        llr.NamedLearner.unpack(forged(CHANGES[what]))


def test_states_of_other_learners_are_refused() -> None:
    with pytest.raises(llr.StateError):
        llr.NamedLearner.unpack(llr.Learner("gaussian").pack())
    with pytest.raises(llr.StateError):
        llr.Learner.unpack(PACKED)
    with pytest.raises(llr.StateError):
        llr.Learner.from_plain(learnt().to_plain())
    with pytest.raises(llr.StateError):
        llr.NamedLearner.from_plain(llr.Learner("gaussian").to_plain())


@pytest.mark.parametrize("number", [None, "1", True, 1e999, 10**400])
def test_plain_json_with_a_wrong_number_is_refused(number: object) -> None:
    plain = learnt().to_plain()
    plain["arrays"]["columns"]["data"][0] = number
    with pytest.raises(llr.StateError):
        llr.NamedLearner.from_plain(plain)


@pytest.mark.parametrize("plain", [None, [], {}, "text", {"version": 1, "arrays": {}}])
def test_foreign_json_is_refused(plain: object) -> None:
    with pytest.raises(llr.StateError):
        llr.NamedLearner.from_plain(plain)


def test_a_learner_without_its_history_goes_on_the_same() -> None:
    whole = learnt()
    bare = llr.NamedLearner.unpack(whole.pack(history=False))
    assert len(bare.history.t) == 2
    for one in (whole, bare):
        assert one.learn([{"a": 2.0}, {"d": 1.0, "b": 0.5}, {"b": 3.0}], [0.5, 1.0, -2.0])
    assert bare.theta == whole.theta
    assert bare.pack(history=False) == whole.pack(history=False)
