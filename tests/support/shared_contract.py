"""The consistency rule as promises of a store: functions that take an empty one.

`VERSIONED` holds for every engine, `SHARED` for those that several processes share.
"""

from collections.abc import Callable

from llr_service.stores.store import (
    AppendSamples,
    Change,
    CreateSession,
    DeleteSession,
    MultiWriter,
    PendingExample,
    Store,
    UpdatePending,
    Version,
    VersionCheck,
    WriteSnapshot,
    Written,
)

from support.stores_contract import kinds, known

X = PendingExample(5, False, b"x")


def started(store: Store, name: str = "a") -> int:
    """The number of a new session, whose version is 1."""
    [made] = store.write([CreateSession(name, b"{}", version=1)])
    assert isinstance(made, Written)
    return made.session


def the_version_of_the_last_change_is_known(store: Store) -> None:
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
        assert (known(store, "a").version, store.list("", 9)[0].version) == (version, version)


def a_change_has_to_make_another_version(store: Store) -> None:
    a = started(store)
    for new in (0, 1):
        check = VersionCheck(1, new)
        for change in (
            AppendSamples(a, 0, 1, b"x", ("p", 1), check=check),
            WriteSnapshot(a, 0, 0, b"x", check=check),
            UpdatePending(a, 0, (("i", X),), check),
        ):
            [result] = store.write([change])
            assert f"has to make another one, not {new}" in str(result)
    stored = known(store, "a")
    assert (stored.t, stored.version, stored.pending, stored.tail) == (0, 1, {}, ())


def a_change_that_does_not_follow_the_last_one_is_a_conflict(store: Store) -> None:
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


def what_follows_a_conflict_is_one_even_if_t_fits(store: Store) -> None:
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


def changes_of_one_group_follow_each_other(store: Store) -> None:
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
    assert (known(store, "b").t, known(store, "b").version) == (2, 7)


def what_waits_for_a_label_is_refused_after_a_failed_change(store: Store) -> None:
    a = started(store)
    lost: Change = UpdatePending(a, 0, (("i", X),), VersionCheck(1, 2))
    following: list[Change] = [
        AppendSamples(a, 0, 1, b"x", check=VersionCheck(2, 3)),
        WriteSnapshot(a, 1, 0, b"promoted", check=VersionCheck(3, 4)),
        UpdatePending(a, 1, (("j", X),), VersionCheck(4, 5)),
    ]
    assert kinds(store.write(following)) == "CCC"
    assert (known(store, "a").t, known(store, "a").pending) == (0, {})
    assert kinds(store.write([lost, *following])) == "WWWW"
    assert (known(store, "a").snapshot, [*known(store, "a").pending]) == (b"promoted", ["i", "j"])


def a_change_of_a_deleted_session_is_a_conflict_for_its_successor(store: Store) -> None:
    old = started(store)
    assert kinds(store.write([DeleteSession(old)])) == "W"
    new = started(store)
    assert new != old
    assert kinds(store.write([AppendSamples(old, 0, 1, b"x", check=VersionCheck(1, 2))])) == "C"
    assert known(store, "a").t == 0


def a_deletion_that_expects_another_version_is_a_conflict(store: Store) -> None:
    a, b = started(store), started(store, "b")
    store.write([AppendSamples(a, 0, 1, b"x", check=VersionCheck(1, 2))])
    results = store.write([DeleteSession(a, 1), DeleteSession(b, 1), DeleteSession(b, 1)])
    assert kinds(results) == "CWC"
    assert (str(results[0]), str(results[2])) == (
        f"Conflict(reason='session {a} was changed at 1')",
        f"Conflict(reason='there is no session {b}')",
    )
    assert (known(store, "a").t, store.load("b")) == (1, None)
    group: list[Change] = [
        AppendSamples(a, 1, 1, b"y", check=VersionCheck(2, 3)),
        DeleteSession(a, 2),
        DeleteSession(a, 3),
    ]
    assert kinds(store.write(group)) == "WCW"
    assert store.load("a") is None


def versions_are_looked_up_by_name(store: MultiWriter) -> None:
    old, b = started(store), started(store, "b")
    store.write([UpdatePending(b, 0, (("i", X),), VersionCheck(1, 7))])
    assert store.versions(["a", "b", "c"]) == {"a": Version(old, 1), "b": Version(b, 7)}
    store.write([DeleteSession(old)])
    assert store.versions(["a"]) == {}
    new = started(store)
    assert store.versions(["a"]) == {"a": Version(new, 1)}


VERSIONED: tuple[Callable[[Store], None], ...] = (
    the_version_of_the_last_change_is_known,
    a_change_has_to_make_another_version,
    a_change_that_does_not_follow_the_last_one_is_a_conflict,
    what_follows_a_conflict_is_one_even_if_t_fits,
    changes_of_one_group_follow_each_other,
    what_waits_for_a_label_is_refused_after_a_failed_change,
    a_change_of_a_deleted_session_is_a_conflict_for_its_successor,
    a_deletion_that_expects_another_version_is_a_conflict,
)
SHARED: tuple[Callable[[MultiWriter], None], ...] = (*VERSIONED, versions_are_looked_up_by_name)
