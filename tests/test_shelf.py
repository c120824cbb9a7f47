import tracemalloc

from service.sessions.shelf import Shelf, cost, holds, mark
from service.stores.store import Kept

X = Kept(100, False, b"x" * 16)


def test_what_expires_first_is_due_first_whatever_came_first() -> None:
    shelf = Shelf({"late": Kept(9, False, b""), "soon": Kept(3, True, b"")})
    shelf.put((("next", Kept(5, False, b"")),))
    assert (shelf.due(2), shelf.due(4), shelf.due(9)) == ([], ["soon"], ["soon", "next", "late"])
    assert shelf.due(9) == ["soon", "next", "late"]
    assert shelf.first_due == 3


def test_what_was_forgotten_or_given_more_time_is_not_due() -> None:
    shelf = Shelf({"a": Kept(3, False, b""), "b": Kept(4, False, b"")})
    shelf.put((("a", None), ("b", Kept(8, True, b""))))
    assert (shelf.due(7), shelf.due(8)) == ([], ["b"])


def test_what_is_due_comes_in_parts_if_it_is_much() -> None:
    large = Kept(1, False, bytes(400_000))
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
    shelf.put((("a", Kept(200, True, b"")), ("b", X)))
    assert (shelf.nbytes, shelf.waiting) == (cost("a", Kept(0, True, b"")) + cost("b", X), 1)
    shelf.put((("a", None), ("b", None), ("c", None)))
    assert (shelf.nbytes, shelf.waiting) == (0, 0)


def test_ids_are_known_longest_in_the_order_they_were_learnt_also_after_loading() -> None:
    kept = {"b": Kept(2, True, b""), "x": X, "a": Kept(5, True, b""), "c": Kept(1, True, b"")}
    shelf = Shelf(kept)
    shelf.put((("x", Kept(9, True, b"")),))
    assert shelf.known_longest(1) == ["c"]
    assert shelf.known_longest(cost("c", kept["c"]) + 1) == ["c", "b"]
    assert shelf.known_longest(10**9) == ["c", "b", "a", "x"]


def test_ids_that_come_and_go_leave_nothing_behind() -> None:
    shelf = Shelf({})
    tracemalloc.start()
    for i in range(20_000):
        shelf.put(((f"{i}", Kept(10**12 + i, False, b"")), (f"{i - 5}", None)))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 100_000
    assert shelf.due(10**13) == [f"{i}" for i in range(19_995, 20_000)]


def test_an_x_is_known_again_before_and_after_it_was_learnt() -> None:
    for row in (X, Kept(100, True, mark(X.blob))):
        assert holds(row, X.blob)
        assert not holds(row, b"y" * 16)
    assert len(mark(bytes(10**6))) == 16
