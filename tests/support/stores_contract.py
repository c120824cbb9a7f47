"""What every store promises, as functions that take an empty one; and a model of any store.

`PLACES` says how each engine of `llr_service.stores.ENGINES` is given a place of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from llr_service.stores.store import (
    MARK,
    Append,
    Change,
    Conflict,
    Create,
    Damaged,
    Delete,
    Entry,
    Keep,
    Kept,
    Listed,
    Replace,
    Retained,
    Store,
    Stored,
    Written,
)

from support import postgres

PLACES: dict[str, Callable[[Path], str]] = {
    "memory": lambda folder: "memory:",
    "postgresql": lambda folder: postgres.place(),
    "sqlite": lambda folder: f"sqlite:///{folder / 'store.db'}",
}
LARGEST = 2**63 - 1

Dump = dict[str, Stored | None]


def dump(store: Store) -> Dump:
    """Everything in a store, by name."""
    rows = store.list("", 10**6)
    found: Dump = {each.name: store.load(each.name) for each in rows}
    assert store.count() == len(found)
    assert [*store.marked("", 10**6)] == [each for each in rows if MARK in each.config]
    return found


def retained(store: Store, stored: Stored) -> list[Entry]:
    """What a session's log had to keep, read two bytes at a time."""
    found, at, end = list[Entry](), 0, stored.retained.samples
    while at < end:
        page = store.entries(stored.id, at, end, 2)
        assert page
        found += page
        at = found[-1].t + found[-1].n
    return found


class Model:
    """A store as simple as can be. What it creates has number 0 until it is told another."""

    def __init__(self) -> None:
        self.sessions: dict[str, Stored] = {}
        self.logs: dict[int, tuple[Entry, ...]] = {}

    def fits(self, change: Change) -> bool:
        """Apply a change if it fits."""
        if isinstance(change, Create):
            return change.name not in self.sessions and self._create(change)
        names = [name for name, each in self.sessions.items() if each.id == change.session]
        if isinstance(change, Delete):
            return bool(names and self.sessions.pop(names[0]))
        return any(self._go_on(name, change) for name in names)

    def _create(self, change: Create) -> bool:
        at = 0 if change.snapshot is None else change.t
        self.sessions[change.name] = Stored(
            0, change.config, change.t, change.snapshot, at, (), dict(change.producers)
        )
        return True

    def number(self, change: Change, result: Written | Conflict) -> None:
        """The store has said what number a session has."""
        if isinstance(change, Create) and isinstance(result, Written):
            new = self.sessions[change.name]
            self.sessions[change.name] = replace(new, id=result.session)

    def _go_on(self, name: str, change: Append | Replace | Keep) -> bool:
        old = self.sessions[name]
        if old.t != change.t:
            return False
        both = {**old.kept, **dict(change.kept)}
        kept = {key: row for key, row in both.items() if row is not None}
        self.sessions[name] = replace(old, kept=kept)
        return isinstance(change, Keep) or self._learn(name, change)

    def _learn(self, name: str, change: Append | Replace) -> bool:
        old, end = self.sessions[name], change.t + change.n
        named = dict([change.producer] if change.producer else [])
        new = replace(old, t=end, producers={**old.producers, **named})
        added = () if change.blob is None else (Entry(change.t, change.n, change.blob),)
        if isinstance(change, Append):
            self.sessions[name] = replace(new, tail=old.tail + added)
            return True
        new = replace(new, tail=(), snapshot=change.snapshot, snapshot_t=end)
        self.sessions[name] = replace(new, retained=change.retained)
        log = self.logs.get(old.id, ()) + old.tail + added
        self.logs[old.id] = tuple(entry for entry in log if entry.t < change.retained.samples)
        return True


def created(store: Store, *names: str) -> list[int]:
    """The numbers of new sessions."""
    results = store.write([Create(name, b"{}") for name in names])
    return [result.session for result in results if isinstance(result, Written)]


def known(store: Store, name: str) -> Stored:
    """A session that is there."""
    stored = store.load(name)
    assert stored is not None
    return stored


def kinds(results: Sequence[Written | Conflict]) -> str:
    """W for each change that was stored, C for each conflict."""
    return "".join(type(result).__name__[0] for result in results)


def a_new_session_knows_its_config_and_nothing_else(store: Store) -> None:
    [number] = created(store, "a")
    assert store.load("a") == Stored(number, b"{}", 0, None, 0, (), {})
    assert store.load("b") is None


def a_session_may_start_with_a_state_from_elsewhere(store: Store) -> None:
    [result] = store.write([Create("a", b"{}", 7, b"state", {"p": 3, "q": 9})])
    assert isinstance(result, Written)
    whole = Stored(result.session, b"{}", 7, b"state", 7, (), {"p": 3, "q": 9})
    assert store.load("a") == whole


def a_state_from_elsewhere_may_be_one_that_learnt_nothing(store: Store) -> None:
    store.write([Create("a", b"{}", 0, b"state"), Create("b", b"{}", 0, b"")])
    assert known(store, "a").snapshot == b"state"
    assert known(store, "b").snapshot == b""


def a_name_is_given_once_and_the_rest_of_the_group_is_stored(store: Store) -> None:
    group = [Create("a", b"1"), Create("a", b"2"), Create("b", b"3")]
    assert kinds(store.write(group)) == "WCW"
    assert kinds(store.write(group)) == "CCC"
    assert store.list("", 9) == [Listed("a", b"1", 0), Listed("b", b"3", 0)]


def appends_of_one_group_follow_each_other(store: Store) -> None:
    a, b = created(store, "a", "b")
    group = [
        Append(a, 0, 2, b"x"),
        Append(b, 0, 1, b"y"),
        Append(a, 2, 3, b""),
        Append(b, 1, 1, b"z"),
    ]
    assert store.write(group) == [Written(a), Written(b), Written(a), Written(b)]
    assert known(store, "a").tail == (Entry(0, 2, b"x"), Entry(2, 3, b""))
    assert known(store, "b").tail == (Entry(0, 1, b"y"), Entry(1, 1, b"z"))
    assert [each.t for each in store.list("", 9)] == [5, 2]


def an_append_elsewhere_is_a_conflict_and_the_others_are_stored(store: Store) -> None:
    a, b = created(store, "a", "b")
    group = [
        Append(a, 1, 1, b"early", ("p", 1)),
        Append(b, 0, 1, b"y", ("p", 1)),
        Append(a, 0, 1, b"x"),
        Append(a, 0, 1, b"again", ("p", 2)),
        Append(a + b, 0, 1, b"nobody"),
        Append(a, 1, 1, b"z"),
    ]
    results = store.write(group)
    assert kinds(results) == "CWWCCW"
    assert "at 1, not at 0" in str(results[3])
    assert f"no session {a + b}" in str(results[4])
    assert known(store, "a").tail == (Entry(0, 1, b"x"), Entry(1, 1, b"z"))
    assert known(store, "a").producers == {}
    assert known(store, "b").producers == {"p": 1}


def a_replacement_starts_the_log_anew(store: Store) -> None:
    [a] = created(store, "a")
    group: list[Change] = [
        Append(a, 0, 2, b"x"),
        Replace(a, 2, 3, b"state"),
        Append(a, 5, 1, b"y"),
    ]
    assert kinds(store.write(group)) == "WWW"
    assert store.load("a") == Stored(a, b"{}", 6, b"state", 5, (Entry(5, 1, b"y"),), {})
    assert kinds(store.write([Replace(a, 6, 0, b"later")])) == "W"
    assert store.load("a") == Stored(a, b"{}", 6, b"later", 6, (), {})


def a_replacement_elsewhere_is_a_conflict(store: Store) -> None:
    [a] = created(store, "a")
    group: list[Change] = [
        Append(a, 0, 2, b"x"),
        Replace(a, 1, 1, b"", ("p", 1)),
        Replace(a + 1, 0, 1, b""),
    ]
    assert kinds(store.write(group)) == "WCC"
    assert store.load("a") == Stored(a, b"{}", 2, None, 0, (Entry(0, 2, b"x"),), {})


def the_latest_number_of_each_producer_is_kept(store: Store) -> None:
    [a] = created(store, "a")
    store.write([Append(a, 0, 1, b"", ("p", 1)), Append(a, 1, 1, b"", ("q", 8))])
    store.write([Append(a, 2, 1, b"", ("p", 2)), Append(a, 3, 1, b"", ("p", 5))])
    store.write([Replace(a, 4, 1, b"", ("r", LARGEST))])
    assert known(store, "a").producers == {"p": 5, "q": 8, "r": LARGEST}


def what_is_kept_stays_until_it_is_forgotten(store: Store) -> None:
    [a] = created(store, "a")
    x, y = Kept(5, False, b"x"), Kept(LARGEST, True, b"")
    group: list[Change] = [
        Keep(a, 0, (("one", x), ("two", y))),
        Keep(a, 0, (("three", x), ("one", None), ("none", None))),
    ]
    assert store.write(group) == [Written(a), Written(a)]
    assert store.load("a") == Stored(a, b"{}", 0, None, 0, (), {}, {"two": y, "three": x})
    store.write([Keep(a, 0, (("two", x), ("three", None), ("three", y)))])
    assert known(store, "a").kept == {"two": x, "three": y}
    store.write([Keep(a, 0, (("two", None), ("three", None)))])
    assert known(store, "a").kept == {}


def what_is_kept_changes_with_what_is_learnt_or_not_at_all(store: Store) -> None:
    a, b = created(store, "a", "b")
    x, done = Kept(5, False, b"x"), Kept(7, True, b"")
    store.write([Keep(a, 0, (("i", x), ("j", x))), Keep(b, 0, (("i", x),))])
    group: list[Change] = [
        Append(a, 0, 1, b"", None, (("i", done),)),
        Append(a, 0, 1, b"", None, (("j", done),)),
        Append(b, 0, 1, b"", None, (("i", None),)),
        Replace(a, 9, 1, b"", None, (("j", done),)),
        Keep(a, 0, (("j", None),)),
        Keep(a + b, 0, (("j", None),)),
        Keep(b, 1, (("i", x),)),
    ]
    assert kinds(store.write(group)) == "WCWCCCW"
    assert known(store, "a").kept == {"i": done, "j": x}
    assert known(store, "b").kept == {"i": x}
    store.write([Replace(a, 1, 1, b"state", None, (("i", None), ("j", done)))])
    assert store.load("a") == Stored(a, b"{}", 2, b"state", 2, (), {}, {"j": done})


def a_log_may_keep_its_samples_when_a_snapshot_comes(store: Store) -> None:
    a, b = created(store, "a", "b")
    group: list[Change] = [
        Append(a, 0, 2, b"xx"),
        Append(b, 0, 1, b"y"),
        Replace(a, 2, 3, b"state", ("p", 1), retained=Retained(5, 5), blob=b"yyy"),
        Append(a, 5, 1, b"z"),
    ]
    assert kinds(store.write(group)) == "WWWW"
    log = [Entry(0, 2, b"xx"), Entry(2, 3, b"yyy"), Entry(5, 1, b"z")]
    tail, state = (log[2],), Retained(5, 5)
    assert store.load("a") == Stored(a, b"{}", 6, b"state", 5, tail, {"p": 1}, retained=state)
    assert store.entries(a, 0, 6, 99) == log
    assert known(store, "b").retained == Retained()


def a_log_that_no_longer_has_to_keep_samples_keeps_the_first(store: Store) -> None:
    [a] = created(store, "a")
    first, second = Retained(2, 2), Retained(5, 5)
    store.write([Append(a, 0, 2, b"xx"), Replace(a, 2, 3, b"1", retained=second, blob=b"yyy")])
    store.write([Append(a, 5, 1, b"z"), Replace(a, 6, 1, b"2", retained=second)])
    assert retained(store, known(store, "a")) == [Entry(0, 2, b"xx"), Entry(2, 3, b"yyy")]
    store.write([Append(a, 7, 1, b"z"), Replace(a, 8, 1, b"3", retained=first)])
    assert store.load("a") == Stored(a, b"{}", 9, b"3", 9, (), {}, retained=first)
    assert retained(store, known(store, "a")) == [Entry(0, 2, b"xx")]
    store.write([Replace(a, 9, 1, b"4")])
    assert known(store, "a").retained == Retained()
    with pytest.raises(Damaged, match="its log ends at 0, not at 2"):
        store.entries(a, 0, 2, 99)


def a_log_is_read_in_pages(store: Store) -> None:
    [a] = created(store, "a")
    log = [Entry(t, 2, b"12345") for t in range(0, 8, 2)]
    store.write([Append(a, *entry) for entry in log])
    assert store.entries(a, 0, 8, 99) == log
    assert store.entries(a, 0, 4, 99) == log[:2]
    assert store.entries(a, 0, 8, 1) == log[:1]
    assert store.entries(a, 2, 8, 6) == log[1:3]
    assert store.entries(a, 8, 8, 99) == []
    assert store.entries(a + 1, 0, 8, 99) is None
    for start, end in ((1, 8), (0, 3), (0, 9)):
        with pytest.raises(Damaged, match="its log"):
            store.entries(a, start, end, 99)
    store.write([Delete(a)])
    assert store.entries(a, 0, 8, 99) is None


def a_deleted_session_leaves_nothing_to_its_successor(store: Store) -> None:
    [result] = store.write([Create("a", b"{}", 5, b"state", {"p": 1})])
    assert isinstance(result, Written)
    old = result.session
    store.write([Append(old, 5, 1, b"x", ("p", 2), (("i", Kept(5, False, b"x")),))])
    assert kinds(store.write([Delete(old), Delete(old), Append(old, 6, 1, b"")])) == "WCC"
    assert (store.load("a"), store.list("", 9), store.count()) == (None, [], 0)
    [new] = created(store, "a")
    assert new != old
    assert kinds(store.write([Append(old, 0, 1, b"x")])) == "C"
    assert store.load("a") == Stored(new, b"{}", 0, None, 0, (), {})


def the_list_comes_in_pages_and_in_order(store: Store) -> None:
    created(store, "b", "B", "a.1", "é", "a", "a-1")
    assert [each.name for each in store.list("", 3)] == ["B", "a", "a-1"]
    assert [each.name for each in store.list("a-1", 3)] == ["a.1", "b", "é"]
    assert (store.list("é", 3), store.list("", 0), store.count()) == ([], [], 6)


def sessions_with_the_mark_are_listed_by_themselves(store: Store) -> None:
    configs = {"b": MARK, "a": b"{\xff" + MARK + b"}", "plain": b"{}", "near": MARK[:-1], "c": MARK}
    numbers = store.write([Create(name, config) for name, config in configs.items()])
    b = numbers[0]
    assert isinstance(b, Written)
    assert [each.name for each in store.marked("", 2)] == ["a", "b"]
    assert [*store.marked("b", 9)] == [Listed("c", MARK, 0)]
    assert ([*store.marked("c", 9)], [*store.marked("", 0)]) == ([], [])
    store.write([Append(b.session, 0, 2, b"x"), Replace(b.session, 2, 3, b"state")])
    assert [*store.marked("a", 1)] == [Listed("b", MARK, 5)]
    store.write([Delete(b.session), Create("b", b"{}")])
    assert [each.name for each in store.marked("", 9)] == ["a", "c"]


def nothing_to_write_is_nothing_written(store: Store) -> None:
    assert (store.write([]), store.count()) == ([], 0)


def bytes_and_text_of_any_kind_come_back(store: Store) -> None:
    name, blob = "Ω' --\"\0😀", bytes(range(256)) * 5000
    store.write([Create(name, blob, 1, blob, {name: 1, "": 2})])
    number = known(store, name).id
    kept = {name: Kept(1, False, blob), "": Kept(0, True, b"")}
    store.write([Append(number, 1, 1, blob, (name, 3), tuple(kept.items()))])
    entry = Entry(1, 1, blob)
    assert store.load(name) == Stored(number, blob, 2, blob, 1, (entry,), {name: 3, "": 2}, kept)


def what_cannot_be_kept_is_a_conflict_of_its_own(store: Store) -> None:
    [a] = created(store, "a")
    odd: list[Change] = [
        Append(a, 0, 0, b""),
        Append(a, 0, -1, b""),
        Append(a, 0, LARGEST + 1, b""),
        Append(a, 0, 1, b"", ("p", LARGEST + 1)),
        Append(a, 0, 1, b"", ("p", -1)),
        Append(a, 0, 1, b"", ("\ud800", 1)),
        Append(a, 0, 1, b"", None, (("i", Kept(-1, False, b"")),)),
        Append(a, 0, 1, b"", None, (("\ud800", None),)),
        Keep(a, 0, (("i", Kept(LARGEST + 1, False, b"")),)),
        Keep(a, 0, (("\ud800", Kept(0, True, b"")),)),
        Keep(a, -1, ()),
        Replace(a, 0, -1, b""),
        Replace(a, 0, 1, b"", ("p", LARGEST + 1)),
        Replace(a, 0, 1, b"", retained=Retained(1, 1)),
        Replace(a, 0, 1, b"", retained=Retained(0, 0), blob=b"x"),
        Replace(a, 0, 1, b"", retained=Retained(2, 1), blob=b"x"),
        Replace(a, 0, 0, b"", retained=Retained(0, 0), blob=b""),
        Replace(a, 0, 1, b"", retained=Retained(1, -1), blob=b"x"),
        Replace(a, 0, 1, b"", retained=Retained(-1, 0)),
        Create("", b""),
        Create("\ud800", b""),
        Create("b", b"", 5),
        Create("b", b"", -1, b""),
        Create("b", b"", 0, b"", {"p": -1}),
        Delete(-1),
        Delete(LARGEST + 1),
    ]
    for change in odd:
        t = known(store, "a").t
        assert kinds(store.write([change, Append(a, t, 1, b"x")])) == "CW", change
        assert kinds(store.write([Append(a, t + 1, 1, b"x"), change])) == "WC", change
    assert (store.load("\ud800"), store.count()) == (None, 1)
    assert (known(store, "a").producers, known(store, "a").kept) == ({}, {})


CONTRACT: tuple[Callable[[Store], None], ...] = (
    a_new_session_knows_its_config_and_nothing_else,
    a_session_may_start_with_a_state_from_elsewhere,
    a_state_from_elsewhere_may_be_one_that_learnt_nothing,
    a_name_is_given_once_and_the_rest_of_the_group_is_stored,
    appends_of_one_group_follow_each_other,
    an_append_elsewhere_is_a_conflict_and_the_others_are_stored,
    a_replacement_starts_the_log_anew,
    a_replacement_elsewhere_is_a_conflict,
    the_latest_number_of_each_producer_is_kept,
    what_is_kept_stays_until_it_is_forgotten,
    what_is_kept_changes_with_what_is_learnt_or_not_at_all,
    a_log_may_keep_its_samples_when_a_snapshot_comes,
    a_log_that_no_longer_has_to_keep_samples_keeps_the_first,
    a_log_is_read_in_pages,
    a_deleted_session_leaves_nothing_to_its_successor,
    the_list_comes_in_pages_and_in_order,
    sessions_with_the_mark_are_listed_by_themselves,
    nothing_to_write_is_nothing_written,
    bytes_and_text_of_any_kind_come_back,
    what_cannot_be_kept_is_a_conflict_of_its_own,
)
