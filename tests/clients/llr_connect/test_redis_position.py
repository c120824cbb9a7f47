"""Where a connector is in a Redis stream: what it passes over, and what it misses."""

from typing import Any

import pytest
from llr_cli.options import BadData
from llr_connect.redis_position import Checkpoint, StreamPosition, StreamState


def reading(there: range, checkpoint: int, most: int = 10, **more: Any) -> StreamState:
    """A stream of which all up to the end of a range were added, and these are there."""
    older = any(number <= checkpoint for number in there)
    newer = [(b"%d-0" % n, {b"n": b"%d" % n}) for n in there if n > checkpoint][:most]
    last = there.stop - 1
    known = {"added": last, "length": len(there), "last": f"{last}-0", "deleted": "0-0"}
    return StreamState(**{**known, "older": older, "newer": newer, **more})


def stream(checkpoint: int, learnt: int = 0) -> StreamPosition:
    found = StreamPosition("readings", "redis:readings")
    found.resume(Checkpoint(f"{checkpoint}-0", checkpoint, checkpoint), checkpoint + learnt)
    return found


def taken(it: StreamPosition, now: StreamState, most: int = 10) -> list[tuple[str, int, int]]:
    return [(id_, offset, lost) for id_, offset, lost, _ in it.take(now, most)]


def test_entries_after_the_place_are_taken_in_order_with_their_offsets() -> None:
    it = stream(3)
    assert taken(it, reading(range(1, 6), 3)) == [("4-0", 4, 0), ("5-0", 5, 0)]
    assert (it.checkpoint.id, it.behind) == ("5-0", 0)
    assert taken(it, reading(range(1, 6), 5)) == []


def test_what_the_service_learnt_after_the_checkpoint_is_passed_over() -> None:
    assert taken(stream(3, learnt=2), reading(range(1, 8), 3)) == [("6-0", 6, 0), ("7-0", 7, 0)]


def test_it_is_passed_over_also_page_by_page() -> None:
    it = stream(0, learnt=3)
    assert taken(it, reading(range(1, 6), 0, 2), 2) == []
    assert taken(it, reading(range(1, 6), 2, 2), 2) == [("4-0", 4, 0)]


@pytest.mark.parametrize("most", [2, 10])
def test_what_was_learnt_and_then_trimmed_is_not_missed(most: int) -> None:
    """The checkpoint says 3, the service has 6, and all up to 5 are trimmed: 7 is next."""
    assert taken(stream(3, learnt=3), reading(range(6, 9), 3, most), most)[0] == ("7-0", 7, 0)


@pytest.mark.parametrize("most", [2, 10])
def test_what_was_trimmed_and_not_learnt_is_counted_before_the_next(most: int) -> None:
    """The service has 4; 5 to 7 are gone."""
    assert taken(stream(3, learnt=1), reading(range(8, 12), 3, most), most)[0] == ("8-0", 8, 3)


def test_trimming_behind_the_place_is_nobodys_loss() -> None:
    assert taken(stream(5), reading(range(6, 8), 5)) == [("6-0", 6, 0), ("7-0", 7, 0)]


def test_an_entry_deleted_before_it_was_read_is_missed_at_the_end_at_the_latest() -> None:
    now = reading(range(1, 8), 3)
    without = now._replace(newer=[entry for entry in now.newer if entry[0] != b"5-0"], length=6)
    assert sum(lost for _, _, lost in taken(stream(3), without)) == 1


def test_one_deleted_among_those_that_are_passed_over_is_missed_at_once() -> None:
    now = reading(range(1, 30), 3, 3, deleted="5-0")
    it = stream(3, learnt=2)
    assert [lost for _, _, lost in taken(it, now, 3)] == [1]


@pytest.mark.parametrize(
    ("checkpoint", "learnt", "there"),
    [(5, 0, range(1, 4)), (3, 4, range(1, 6)), (5, 0, range(1, 1))],
)
def test_a_stream_that_went_back_is_refused(checkpoint: int, learnt: int, there: range) -> None:
    with pytest.raises(BadData, match="fewer entries than it had"):
        stream(checkpoint, learnt).take(reading(there, checkpoint), 10)


def test_a_stream_that_is_new_to_us_begins_with_its_oldest_entry() -> None:
    it = StreamPosition("readings", "redis:readings")
    it.begin(reading(range(4, 6), 0), 0)
    assert taken(it, reading(range(4, 6), 0)) == [("4-0", 4, 0), ("5-0", 5, 0)]
    with pytest.raises(BadData, match="knows nothing"):
        it.begin(reading(range(4, 6), 0), 7)
