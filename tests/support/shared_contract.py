"""What a store promises that several processes share, as functions that take an empty one."""

from collections.abc import Callable

from llr_service.stores.store import (
    AppendSamples,
    Change,
    CreateSession,
    DeleteSession,
    MultiWriter,
    PendingExample,
    UpdatePending,
    Version,
    VersionCheck,
    WriteSnapshot,
    Written,
)

from support.stores_contract import kinds, known

X = PendingExample(5, False, b"x")


def started(store: MultiWriter, name: str = "a") -> int:
    """The number of a new session, whose stamp is 1."""
    [made] = store.write([CreateSession(name, b"{}", version=1)])
    assert isinstance(made, Written)
    return made.session


def the_stamp_of_the_last_change_is_known(store: MultiWriter) -> None:
    a = started(store)
    assert (known(store, "a").version, store.list("", 9)[0].version) == (1, 1)
    changes: list[Change] = [
        AppendSamples(a, 0, 1, b"", check=VersionCheck(1, 20)),
        WriteSnapshot(a, 1, 0, b"", check=VersionCheck(20, 30)),
        UpdatePending(a, 1, (("i", X),), VersionCheck(30, 2**63 - 1)),
    ]
    for change in changes:
        assert kinds(store.write([change])) == "W"
        version = change.check.new  # type: ignore[union-attr]
        assert store.versions(["a", "b"]) == {"a": Version(a, version)}
        assert (known(store, "a").version, store.list("", 9)[0].version) == (version, version)


def a_change_that_does_not_follow_the_last_one_is_a_conflict(store: MultiWriter) -> None:
    a = started(store)
    for change in (
        AppendSamples(a, 0, 1, b"x", ("p", 1), check=VersionCheck(7, 8)),
        WriteSnapshot(a, 0, 1, b"x", ("p", 1), check=VersionCheck(7, 8)),
        UpdatePending(a, 0, (("i", X),), VersionCheck(7, 8)),
        UpdatePending(a, 0, (("i", X),)),
    ):
        [result] = store.write([change])
        assert "was changed at 0" in str(result)
    stored = known(store, "a")
    assert (stored.t, stored.version, stored.producers, stored.pending) == (0, 1, {}, {})


def what_follows_a_conflict_is_one_even_if_t_fits(store: MultiWriter) -> None:
    a = started(store)
    store.write([AppendSamples(a, 0, 1, b"other", check=VersionCheck(1, 50))])
    stale: list[Change] = [
        AppendSamples(a, 0, 1, b"x", check=VersionCheck(1, 2)),
        AppendSamples(a, 1, 1, b"y", check=VersionCheck(2, 3)),
        WriteSnapshot(a, 2, 1, b"z", check=VersionCheck(3, 4)),
        UpdatePending(a, 1, (("i", X),), VersionCheck(4, 5)),
    ]
    assert kinds(store.write(stale)) == "CCCC"
    assert kinds(store.write(stale[1:])) == "CCC"
    assert [entry.blob for entry in known(store, "a").tail] == [b"other"]


def changes_of_one_group_follow_each_other(store: MultiWriter) -> None:
    a, b = started(store), started(store, "b")
    group: list[Change] = [
        AppendSamples(a, 0, 1, b"x", ("p", 1), check=VersionCheck(1, 2)),
        AppendSamples(b, 0, 2, b"y", check=VersionCheck(1, 7)),
        UpdatePending(a, 1, (("i", X),), VersionCheck(2, 3)),
        AppendSamples(a, 1, 1, b"z", ("p", 2), (("i", None),), VersionCheck(3, 4)),
        AppendSamples(b, 2, 1, b"w", check=VersionCheck(6, 8)),
        WriteSnapshot(a, 2, 1, b"state", None, (("j", X),), VersionCheck(4, 5)),
    ]
    assert kinds(store.write(group)) == "WWWWCW"
    stored = known(store, "a")
    assert (stored.t, stored.version, stored.snapshot) == (3, 5, b"state")
    assert (stored.producers, stored.pending) == ({"p": 2}, {"j": X})
    assert store.versions(["a", "b"]) == {"a": Version(a, 5), "b": Version(b, 7)}


def who_takes_the_name_of_a_deleted_session_is_told_from_it(store: MultiWriter) -> None:
    old = started(store)
    assert kinds(store.write([DeleteSession(old)])) == "W"
    assert store.versions(["a"]) == {}
    new = started(store)
    assert store.versions(["a"]) == {"a": Version(new, 1)}
    assert new != old
    assert kinds(store.write([AppendSamples(old, 0, 1, b"x", check=VersionCheck(1, 2))])) == "C"


SHARED: tuple[Callable[[MultiWriter], None], ...] = (
    the_stamp_of_the_last_change_is_known,
    a_change_that_does_not_follow_the_last_one_is_a_conflict,
    what_follows_a_conflict_is_one_even_if_t_fits,
    changes_of_one_group_follow_each_other,
    who_takes_the_name_of_a_deleted_session_is_told_from_it,
)
