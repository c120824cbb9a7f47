"""The ledger of a shared session tells a serial history from all others. Row 2 relies on it."""

from typing import Any

import pytest

from stress.ledger import Ledger
from stress.samples import Replay, Stream
from stress.tally import Tally

STREAMS = {"a": Stream(1), "b": Stream(2)}
Batch = tuple[str, int, int]
"""A producer, and its samples from one number to another."""


def snapshot(*order: Batch) -> dict[str, Any]:
    """A session that has learnt batches in this order."""
    replay, there = Replay(), dict[str, int]()
    for producer, start, end in order:
        replay.learn(STREAMS[producer].rows(start, end))
        there[producer] = end
    t = replay.learner.t
    return {"name": "s", "t": t, "producers": there, "state": replay.learner.to_plain()}


@pytest.fixture
def tally() -> Tally:
    return Tally()


@pytest.fixture
def ledger(tally: Tally) -> Ledger:
    return Ledger(STREAMS, tally)


def answer(ledger: Ledger, producer: str, end: int, t: int, accepted: int) -> None:
    ledger.sent(producer, end)
    ledger.acked(producer, end, {"t": t, "accepted": accepted})


def test_a_serial_history_is_replayed_to_the_last_bit(ledger: Ledger, tally: Tally) -> None:
    answer(ledger, "a", 2, 2, 2)
    answer(ledger, "b", 3, 5, 3)
    ledger.compare(snapshot(("a", 0, 2), ("b", 0, 3)))
    answer(ledger, "a", 4, 7, 2)
    ledger.compare(snapshot(("a", 0, 2), ("b", 0, 3), ("a", 2, 4)))
    assert (tally.replayed, tally.broken()) == (7, [])


def test_samples_learnt_in_another_order_than_told_are_noticed(
    ledger: Ledger, tally: Tally
) -> None:
    answer(ledger, "a", 2, 2, 2)
    answer(ledger, "b", 2, 4, 2)
    ledger.compare(snapshot(("b", 0, 2), ("a", 0, 2)))
    assert tally.differing == ["s at 4: none of 1 orders"]


def test_two_who_were_told_the_same_place_are_noticed(ledger: Ledger, tally: Tally) -> None:
    answer(ledger, "a", 2, 2, 2)
    answer(ledger, "b", 2, 2, 2)
    ledger.compare(snapshot(("a", 0, 2), ("b", 0, 2)))
    assert tally.overlaps == 1
    assert "no place is told twice" in tally.broken()


def test_a_place_that_was_told_before_the_last_look_is_noticed(
    ledger: Ledger, tally: Tally
) -> None:
    answer(ledger, "a", 2, 2, 2)
    ledger.compare(snapshot(("a", 0, 2)))
    answer(ledger, "b", 1, 2, 1)
    ledger.compare(snapshot(("a", 0, 2), ("b", 0, 1)))
    assert tally.overlaps == 1


def test_a_gap_that_nobody_sent_is_noticed(ledger: Ledger, tally: Tally) -> None:
    answer(ledger, "a", 1, 1, 1)
    answer(ledger, "a", 2, 3, 1)
    ledger.compare(snapshot(("a", 0, 2)) | {"t": 3})
    assert tally.differing == ["s at 3: the acks fit no order"]


@pytest.mark.parametrize("first", ["a", "b"])
def test_the_order_of_those_that_were_never_answered_is_found(
    ledger: Ledger, tally: Tally, first: str
) -> None:
    answer(ledger, "a", 1, 1, 1)
    for producer, end in (("a", 3), ("b", 2)):
        ledger.sent(producer, end)
    batches: list[Batch] = [("a", 1, 3), ("b", 0, 2)]
    batches.sort(key=lambda batch: batch[0] != first)
    answer(ledger, "a", 4, 6, 1)  # sent again with one more: the others are known already
    ledger.compare(snapshot(("a", 0, 1), *batches, ("a", 3, 4)))
    assert (tally.replayed, tally.broken()) == (6, [])


def test_what_was_never_answered_is_learnt_once(ledger: Ledger, tally: Tally) -> None:
    ledger.sent("a", 2)
    answer(ledger, "a", 3, 3, 1)
    ledger.compare(snapshot(("a", 0, 1), ("a", 0, 1), ("a", 2, 3)))
    assert tally.differing == ["s at 3: none of 1 orders"]


def test_too_many_orders_are_told_as_not_known_and_the_next_look_goes_on(
    ledger: Ledger, tally: Tally
) -> None:
    for end in range(1, 9):
        for producer in STREAMS:
            ledger.sent(producer, end)
    known = [(producer, 0, 8) for producer in ("b", "a")]
    ledger.compare(snapshot(*known[::-1]) | {"producers": {"a": 8, "b": 8}, "name": "s"})
    assert tally.replayed + tally.unordered == 16
    answer(ledger, "a", 9, 17, 1)
    ledger.compare(snapshot(*known[::-1], ("a", 8, 9)))
    assert tally.replayed + tally.unordered == 17
    assert tally.broken() == []
