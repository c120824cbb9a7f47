import tracemalloc

from llr_service.sessions.pending_labels import (
    LabelCounts,
    LabelMoment,
    LabelTiming,
    PendingLabels,
    cost,
    digest,
    has_x,
    pack_learnt,
    pack_waiting,
)
from llr_service.stores.store import PendingExample

X = PendingExample(100, False, b"x" * 16)


def test_what_expires_first_is_due_first_whatever_came_first() -> None:
    pending = PendingLabels(
        {"late": PendingExample(9, False, b""), "soon": PendingExample(3, True, b"")}
    )
    pending.apply((("next", PendingExample(5, False, b"")),))
    assert (pending.expired(2), pending.expired(4), pending.expired(9)) == (
        [],
        ["soon"],
        ["soon", "next", "late"],
    )
    assert pending.expired(9) == ["soon", "next", "late"]
    assert pending.next_expiry == 3


def test_what_was_forgotten_or_given_more_time_is_not_due() -> None:
    pending = PendingLabels(
        {"a": PendingExample(3, False, b""), "b": PendingExample(4, False, b"")}
    )
    pending.apply((("a", None), ("b", PendingExample(8, True, b""))))
    assert (pending.expired(7), pending.expired(8)) == ([], ["b"])


def test_what_is_due_comes_in_parts_if_it_is_much() -> None:
    large = PendingExample(1, False, bytes(400_000))
    pending = PendingLabels({f"{i}": large for i in range(10)})
    parts = 0
    while ids := pending.expired(1):
        pending.apply(tuple((name, None) for name in ids))
        parts += 1
    assert parts == 4
    assert (pending.nbytes, pending.waiting, pending.next_expiry) == (0, 0, None)


def test_bytes_and_those_who_wait_are_counted() -> None:
    pending = PendingLabels({"a": X})
    assert (pending.nbytes, pending.waiting) == (cost("a", X), 1)
    pending.apply((("a", PendingExample(200, True, b"")), ("b", X)))
    assert (pending.nbytes, pending.waiting) == (
        cost("a", PendingExample(0, True, b"")) + cost("b", X),
        1,
    )
    pending.apply((("a", None), ("b", None), ("c", None)))
    assert (pending.nbytes, pending.waiting) == (0, 0)


def test_ids_are_known_longest_in_the_order_they_were_learnt_also_after_loading() -> None:
    kept = {
        "b": PendingExample(2, True, b""),
        "x": X,
        "a": PendingExample(5, True, b""),
        "c": PendingExample(1, True, b""),
    }
    pending = PendingLabels(kept)
    pending.apply((("x", PendingExample(9, True, b"")),))
    assert pending.oldest_learnt(1) == ["c"]
    assert pending.oldest_learnt(cost("c", kept["c"]) + 1) == ["c", "b"]
    assert pending.oldest_learnt(10**9) == ["c", "b", "a", "x"]


def test_ids_that_come_and_go_leave_nothing_behind() -> None:
    pending = PendingLabels({})
    tracemalloc.start()
    for i in range(20_000):
        pending.apply(((f"{i}", PendingExample(10**12 + i, False, b"")), (f"{i - 5}", None)))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 100_000
    assert pending.expired(10**13) == [f"{i}" for i in range(19_995, 20_000)]


def test_an_x_is_known_again_before_and_after_it_was_learnt() -> None:
    for row in (X, PendingExample(100, True, digest(X.blob))):
        assert has_x(row, X.blob)
        assert not has_x(row, b"y" * 16)
    assert len(digest(bytes(10**6))) == 16


def test_when_it_was_predicted_and_learnt_is_kept_beside_it() -> None:
    x, first, second = b"x" * 16, LabelMoment(3, 1000), LabelMoment(9, 5000)
    pending = PendingLabels(
        {"a": PendingExample(7, False, pack_waiting(x, first)), "old": PendingExample(7, False, x)}
    )
    assert [row and row.blob for row in map(pending.get, ("a", "old"))] == [x, x]
    assert pending.timings(9, 100) == []
    for name in ("a", "old"):
        kept = pending.get_stored(name)
        assert kept is not None
        pending.apply(((name, PendingExample(9, True, pack_learnt(kept.blob, second))),))
        after = pending.get_stored(name)
        assert after is not None
        assert has_x(after, x)
    assert pending.timings(9, 100) == [LabelTiming(first, second)]
    kept = pending.get_stored("a")
    assert kept is not None
    assert cost("a", kept) == cost("a", PendingExample(0, False, x))


def test_the_last_labels_are_told_in_the_order_they_were_learnt() -> None:
    pending = PendingLabels({})
    for t in range(20):
        blob = pack_learnt(pack_waiting(b"", LabelMoment(0, 0)), LabelMoment(t, 5))
        pending.apply(
            ((f"{t}", PendingExample(9, True, blob)), (f"w{t}", PendingExample(9, False, b"")))
        )
    assert [each.learnt.t for each in pending.timings(5, 100)] == [15, 16, 17, 18, 19]


def test_how_many_came_and_how_many_did_not_is_counted() -> None:
    pending = PendingLabels({"a": X})
    pending.apply(pending.count(learnt=3))
    pending.apply(pending.count(expired=2))
    again = PendingLabels(dict(pending.count(learnt=1)))  # type: ignore[arg-type]
    assert (pending.counts, again.counts) == (LabelCounts(3, 2), LabelCounts(4, 2))
    assert (again.nbytes, again.next_expiry, again.oldest_learnt(9)) == (0, None, [])
