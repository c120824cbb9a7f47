"""Offsets: what is committed is never ahead of what is finished, whatever the order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llr_cli.options import BadData
from llr_connect.offsets import Offsets, starting_offset

PLACE = ("orders", 0)


def test_a_known_offset_is_where_to_start() -> None:
    assert starting_offset(7, 0, 9) == (7, 0)
    assert starting_offset(9, 0, 9) == (9, 0)


def test_retention_that_passed_a_known_offset_is_counted() -> None:
    assert starting_offset(3, 5, 9, latest=True) == (5, 2)


def test_latest_holds_where_nothing_is_known() -> None:
    assert starting_offset(None, 5, 9, latest=True) == (9, 0)
    assert starting_offset(None, 5, 9) == (5, 0)


def test_a_topic_that_was_created_again_is_refused() -> None:
    with pytest.raises(BadData, match="deleted and created again"):
        starting_offset(10, 0, 9)


def test_a_message_that_comes_again_is_not_taken() -> None:
    offsets = Offsets()
    offsets.assign(PLACE, 4, lost=2)
    assert [offsets.take(PLACE, n) for n in (3, 4, 4, 9)] == [None, 2, None, 0]


def test_a_revoked_partition_takes_and_finishes_nothing() -> None:
    offsets = Offsets()
    offsets.assign(PLACE, 0)
    assert offsets.take(PLACE, 0) == 0
    offsets.revoke(PLACE)
    offsets.finish(PLACE, 0)
    assert offsets.take(PLACE, 1) is None
    assert list(offsets.to_commit(everything=True)) == []


def test_a_commit_is_made_once() -> None:
    offsets = Offsets()
    offsets.assign(PLACE, 0)
    offsets.take(PLACE, 5)
    offsets.finish(PLACE, 5)
    assert list(offsets.to_commit()) == [(PLACE, 6)]
    assert list(offsets.to_commit()) == []


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=20),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_the_committed_offset_is_before_all_that_is_pending(
    steps: list[int], random: object, everything: bool
) -> None:
    offsets = Offsets()
    offsets.assign(PLACE, 0)
    taken, pending, number = list[int](), set[int](), -1
    for step in steps:
        number += step
        assert offsets.take(PLACE, number) == 0
        taken.append(number)
    pending = set(taken)
    random.shuffle(taken)  # type: ignore[attr-defined]
    for each in taken:
        offsets.finish(PLACE, each)
        pending.discard(each)
        for _, offset in offsets.to_commit(everything=everything):
            assert all(one >= offset for one in pending)
            assert offset == min(pending, default=number + 1)
    assert offsets.next(PLACE) == number + 1
