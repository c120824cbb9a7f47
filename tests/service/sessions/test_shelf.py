import tracemalloc

from llr_service.sessions.moments import Moment, Passed, digest, learnt, waiting
from llr_service.sessions.shelf import Counts, Shelf, cost, holds
from llr_service.stores.store import PendingExample

X = PendingExample(100, False, b"x" * 16)


def test_what_expires_first_is_due_first_whatever_came_first() -> None:
    shelf = Shelf({"late": PendingExample(9, False, b""), "soon": PendingExample(3, True, b"")})
    shelf.put((("next", PendingExample(5, False, b"")),))
    assert (shelf.due(2), shelf.due(4), shelf.due(9)) == ([], ["soon"], ["soon", "next", "late"])
    assert shelf.due(9) == ["soon", "next", "late"]
    assert shelf.first_due == 3


def test_what_was_forgotten_or_given_more_time_is_not_due() -> None:
    shelf = Shelf({"a": PendingExample(3, False, b""), "b": PendingExample(4, False, b"")})
    shelf.put((("a", None), ("b", PendingExample(8, True, b""))))
    assert (shelf.due(7), shelf.due(8)) == ([], ["b"])


def test_what_is_due_comes_in_parts_if_it_is_much() -> None:
    large = PendingExample(1, False, bytes(400_000))
    shelf = Shelf({f"{i}": large for i in range(10)})
    parts = 0
    while ids := shelf.due(1):
        shelf.put(tuple((name, None) for name in ids))
        parts += 1
    assert parts == 4
    assert (shelf.nbytes, shelf.waiting, shelf.first_due) == (0, 0, None)


def test_bytes_and_those_who_wait_are_counted() -> None:
    shelf = Shelf({"a": X})
    assert (shelf.nbytes, shelf.waiting) == (cost("a", X), 1)
    shelf.put((("a", PendingExample(200, True, b"")), ("b", X)))
    assert (shelf.nbytes, shelf.waiting) == (
        cost("a", PendingExample(0, True, b"")) + cost("b", X),
        1,
    )
    shelf.put((("a", None), ("b", None), ("c", None)))
    assert (shelf.nbytes, shelf.waiting) == (0, 0)


def test_ids_are_known_longest_in_the_order_they_were_learnt_also_after_loading() -> None:
    kept = {
        "b": PendingExample(2, True, b""),
        "x": X,
        "a": PendingExample(5, True, b""),
        "c": PendingExample(1, True, b""),
    }
    shelf = Shelf(kept)
    shelf.put((("x", PendingExample(9, True, b"")),))
    assert shelf.known_longest(1) == ["c"]
    assert shelf.known_longest(cost("c", kept["c"]) + 1) == ["c", "b"]
    assert shelf.known_longest(10**9) == ["c", "b", "a", "x"]


def test_ids_that_come_and_go_leave_nothing_behind() -> None:
    shelf = Shelf({})
    tracemalloc.start()
    for i in range(20_000):
        shelf.put(((f"{i}", PendingExample(10**12 + i, False, b"")), (f"{i - 5}", None)))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 100_000
    assert shelf.due(10**13) == [f"{i}" for i in range(19_995, 20_000)]


def test_an_x_is_known_again_before_and_after_it_was_learnt() -> None:
    for row in (X, PendingExample(100, True, digest(X.blob))):
        assert holds(row, X.blob)
        assert not holds(row, b"y" * 16)
    assert len(digest(bytes(10**6))) == 16


def test_when_it_was_predicted_and_learnt_is_kept_beside_it() -> None:
    x, first, second = b"x" * 16, Moment(3, 1000), Moment(9, 5000)
    shelf = Shelf(
        {"a": PendingExample(7, False, waiting(x, first)), "old": PendingExample(7, False, x)}
    )
    assert [row and row.blob for row in map(shelf.get, ("a", "old"))] == [x, x]
    assert shelf.passed(9) == []
    for name in ("a", "old"):
        kept = shelf.stored(name)
        assert kept is not None
        shelf.put(((name, PendingExample(9, True, learnt(kept.blob, second))),))
        after = shelf.stored(name)
        assert after is not None
        assert holds(after, x)
    assert shelf.passed(9) == [Passed(first, second)]
    kept = shelf.stored("a")
    assert kept is not None
    assert cost("a", kept) == cost("a", PendingExample(0, False, x))


def test_the_last_labels_are_told_in_the_order_they_were_learnt() -> None:
    shelf = Shelf({})
    for t in range(20):
        blob = learnt(waiting(b"", Moment(0, 0)), Moment(t, 5))
        shelf.put(
            ((f"{t}", PendingExample(9, True, blob)), (f"w{t}", PendingExample(9, False, b"")))
        )
    assert [each.learnt.t for each in shelf.passed(5)] == [15, 16, 17, 18, 19]


def test_how_many_came_and_how_many_did_not_is_counted() -> None:
    shelf = Shelf({"a": X})
    shelf.put(shelf.counted(learnt=3))
    shelf.put(shelf.counted(expired=2))
    again = Shelf(dict(shelf.counted(learnt=1)))  # type: ignore[arg-type]
    assert (shelf.counts, again.counts) == (Counts(3, 2), Counts(4, 2))
    assert (again.nbytes, again.first_due, again.known_longest(9)) == (0, None, [])
