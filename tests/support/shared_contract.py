"""What a store promises that several processes share, as functions that take an empty one."""

from collections.abc import Callable

from llr_service.stores.store import (
    Append,
    Change,
    Create,
    Delete,
    Fence,
    Head,
    Keep,
    Kept,
    Replace,
    Shared,
    Written,
)

from support.stores_contract import kinds, known

X = Kept(5, False, b"x")


def started(store: Shared, name: str = "a") -> int:
    """The number of a new session, whose stamp is 1."""
    [made] = store.write([Create(name, b"{}", stamp=1)])
    assert isinstance(made, Written)
    return made.session


def the_stamp_of_the_last_change_is_known(store: Shared) -> None:
    a = started(store)
    assert (known(store, "a").stamp, store.list("", 9)[0].stamp) == (1, 1)
    changes: list[Change] = [
        Append(a, 0, 1, b"", fence=Fence(1, 20)),
        Replace(a, 1, 0, b"", fence=Fence(20, 30)),
        Keep(a, 1, (("i", X),), Fence(30, 2**63 - 1)),
    ]
    for change in changes:
        assert kinds(store.write([change])) == "W"
        stamp = change.fence.stamp  # type: ignore[union-attr]
        assert store.heads(["a", "b"]) == {"a": Head(a, stamp)}
        assert (known(store, "a").stamp, store.list("", 9)[0].stamp) == (stamp, stamp)


def a_change_that_does_not_follow_the_last_one_is_a_conflict(store: Shared) -> None:
    a = started(store)
    for change in (
        Append(a, 0, 1, b"x", ("p", 1), fence=Fence(7, 8)),
        Replace(a, 0, 1, b"x", ("p", 1), fence=Fence(7, 8)),
        Keep(a, 0, (("i", X),), Fence(7, 8)),
        Keep(a, 0, (("i", X),)),
    ):
        [result] = store.write([change])
        assert "was changed at 0" in str(result)
    stored = known(store, "a")
    assert (stored.t, stored.stamp, stored.producers, stored.kept) == (0, 1, {}, {})


def what_follows_a_conflict_is_one_even_if_t_fits(store: Shared) -> None:
    a = started(store)
    store.write([Append(a, 0, 1, b"other", fence=Fence(1, 50))])
    stale: list[Change] = [
        Append(a, 0, 1, b"x", fence=Fence(1, 2)),
        Append(a, 1, 1, b"y", fence=Fence(2, 3)),
        Replace(a, 2, 1, b"z", fence=Fence(3, 4)),
        Keep(a, 1, (("i", X),), Fence(4, 5)),
    ]
    assert kinds(store.write(stale)) == "CCCC"
    assert kinds(store.write(stale[1:])) == "CCC"
    assert [entry.blob for entry in known(store, "a").tail] == [b"other"]


def changes_of_one_group_follow_each_other(store: Shared) -> None:
    a, b = started(store), started(store, "b")
    group: list[Change] = [
        Append(a, 0, 1, b"x", ("p", 1), fence=Fence(1, 2)),
        Append(b, 0, 2, b"y", fence=Fence(1, 7)),
        Keep(a, 1, (("i", X),), Fence(2, 3)),
        Append(a, 1, 1, b"z", ("p", 2), (("i", None),), Fence(3, 4)),
        Append(b, 2, 1, b"w", fence=Fence(6, 8)),
        Replace(a, 2, 1, b"state", None, (("j", X),), Fence(4, 5)),
    ]
    assert kinds(store.write(group)) == "WWWWCW"
    stored = known(store, "a")
    assert (stored.t, stored.stamp, stored.snapshot) == (3, 5, b"state")
    assert (stored.producers, stored.kept) == ({"p": 2}, {"j": X})
    assert store.heads(["a", "b"]) == {"a": Head(a, 5), "b": Head(b, 7)}


def who_takes_the_name_of_a_deleted_session_is_told_from_it(store: Shared) -> None:
    old = started(store)
    assert kinds(store.write([Delete(old)])) == "W"
    assert store.heads(["a"]) == {}
    new = started(store)
    assert store.heads(["a"]) == {"a": Head(new, 1)}
    assert new != old
    assert kinds(store.write([Append(old, 0, 1, b"x", fence=Fence(1, 2))])) == "C"


SHARED: tuple[Callable[[Shared], None], ...] = (
    the_stamp_of_the_last_change_is_known,
    a_change_that_does_not_follow_the_last_one_is_a_conflict,
    what_follows_a_conflict_is_one_even_if_t_fits,
    changes_of_one_group_follow_each_other,
    who_takes_the_name_of_a_deleted_session_is_told_from_it,
)
