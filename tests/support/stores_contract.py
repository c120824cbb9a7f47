"""What every store promises, as functions that take an empty one; and a model of any store.

`PLACES` says how each engine of `llr_service.stores.ENGINES` is given a place of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from llr_service.stores.store import (
    REPLAY_MARK,
    AppendSamples,
    Change,
    Conflict,
    CreateSession,
    Damaged,
    DeleteSession,
    Entry,
    PendingExample,
    Retained,
    SessionSummary,
    Store,
    StoredSession,
    UpdatePending,
    WriteSnapshot,
    Written,
)

from support import postgres

PLACES: dict[str, Callable[[Path], str]] = {
    "memory": lambda folder: "memory:",
    "postgresql": lambda folder: postgres.place(),
    "sqlite": lambda folder: f"sqlite:///{folder / 'store.db'}",
}
LARGEST = 2**63 - 1

Dump = dict[str, StoredSession | None]


def dump(store: Store) -> Dump:
    """Everything in a store, by name."""
    rows = store.list("", 10**6)
    found: Dump = {each.name: store.load(each.name) for each in rows}
    assert store.count() == len(found)
    assert [*store.list_replays("", 10**6)] == [each for each in rows if REPLAY_MARK in each.config]
    return found


def retained(store: Store, stored: StoredSession) -> list[Entry]:
    """What a session's log had to keep, read two bytes at a time."""
    found, at, end = list[Entry](), 0, stored.retained.samples
    while at < end:
        page = store.read_log(stored.id, at, end, 2)
        assert page
        found += page
        at = found[-1].t + found[-1].n
    return found


class Model:
    """A store as simple as can be. What it creates has number 0 until it is told another."""

    def __init__(self) -> None:
        self.sessions: dict[str, StoredSession] = {}
        self.logs: dict[int, tuple[Entry, ...]] = {}

    def fits(self, change: Change) -> bool:
        """Apply a change if it fits."""
        if isinstance(change, CreateSession):
            return change.name not in self.sessions and self._create(change)
        names = [name for name, each in self.sessions.items() if each.id == change.session]
        if isinstance(change, DeleteSession):
            return bool(names and self.sessions.pop(names[0]))
        return any(self._go_on(name, change) for name in names)

    def _create(self, change: CreateSession) -> bool:
        at = 0 if change.snapshot is None else change.t
        self.sessions[change.name] = StoredSession(
            0, change.config, change.t, change.snapshot, at, (), dict(change.producers)
        )
        return True

    def number(self, change: Change, result: Written | Conflict) -> None:
        """The store has said what number a session has."""
        if isinstance(change, CreateSession) and isinstance(result, Written):
            new = self.sessions[change.name]
            self.sessions[change.name] = replace(new, id=result.session)

    def _go_on(self, name: str, change: AppendSamples | WriteSnapshot | UpdatePending) -> bool:
        old = self.sessions[name]
        if old.t != change.t:
            return False
        both = {**old.pending, **dict(change.pending)}
        kept = {key: row for key, row in both.items() if row is not None}
        self.sessions[name] = replace(old, pending=kept)
        return isinstance(change, UpdatePending) or self._learn(name, change)

    def _learn(self, name: str, change: AppendSamples | WriteSnapshot) -> bool:
        old, end = self.sessions[name], change.t + change.n
        named = dict([change.producer] if change.producer else [])
        new = replace(old, t=end, producers={**old.producers, **named})
        added = () if change.blob is None else (Entry(change.t, change.n, change.blob),)
        if isinstance(change, AppendSamples):
            self.sessions[name] = replace(new, tail=old.tail + added)
            return True
        new = replace(new, tail=(), snapshot=change.snapshot, snapshot_t=end)
        self.sessions[name] = replace(new, retained=change.retained)
        log = self.logs.get(old.id, ()) + old.tail + added
        self.logs[old.id] = tuple(entry for entry in log if entry.t < change.retained.samples)
        return True


def created(store: Store, *names: str) -> list[int]:
    """The numbers of new sessions."""
    results = store.write([CreateSession(name, b"{}") for name in names])
    return [result.session for result in results if isinstance(result, Written)]


def known(store: Store, name: str) -> StoredSession:
    """A session that is there."""
    stored = store.load(name)
    assert stored is not None
    return stored


def kinds(results: Sequence[Written | Conflict]) -> str:
    """W for each change that was stored, C for each conflict."""
    return "".join(type(result).__name__[0] for result in results)


def a_new_session_knows_its_config_and_nothing_else(store: Store) -> None:
    [number] = created(store, "a")
    assert store.load("a") == StoredSession(number, b"{}", 0, None, 0, (), {})
    assert store.load("b") is None


def a_session_may_start_with_a_state_from_elsewhere(store: Store) -> None:
    [result] = store.write([CreateSession("a", b"{}", 7, b"state", {"p": 3, "q": 9})])
    assert isinstance(result, Written)
    whole = StoredSession(result.session, b"{}", 7, b"state", 7, (), {"p": 3, "q": 9})
    assert store.load("a") == whole


def a_state_from_elsewhere_may_be_one_that_learnt_nothing(store: Store) -> None:
    store.write([CreateSession("a", b"{}", 0, b"state"), CreateSession("b", b"{}", 0, b"")])
    assert known(store, "a").snapshot == b"state"
    assert known(store, "b").snapshot == b""


def a_name_is_given_once_and_the_rest_of_the_group_is_stored(store: Store) -> None:
    group = [CreateSession("a", b"1"), CreateSession("a", b"2"), CreateSession("b", b"3")]
    assert kinds(store.write(group)) == "WCW"
    assert kinds(store.write(group)) == "CCC"
    assert store.list("", 9) == [SessionSummary("a", b"1", 0), SessionSummary("b", b"3", 0)]


def appends_of_one_group_follow_each_other(store: Store) -> None:
    a, b = created(store, "a", "b")
    group = [
        AppendSamples(a, 0, 2, b"x"),
        AppendSamples(b, 0, 1, b"y"),
        AppendSamples(a, 2, 3, b""),
        AppendSamples(b, 1, 1, b"z"),
    ]
    assert store.write(group) == [Written(a), Written(b), Written(a), Written(b)]
    assert known(store, "a").tail == (Entry(0, 2, b"x"), Entry(2, 3, b""))
    assert known(store, "b").tail == (Entry(0, 1, b"y"), Entry(1, 1, b"z"))
    assert [each.t for each in store.list("", 9)] == [5, 2]


def an_append_elsewhere_is_a_conflict_and_the_others_are_stored(store: Store) -> None:
    a, b = created(store, "a", "b")
    group = [
        AppendSamples(a, 1, 1, b"early", ("p", 1)),
        AppendSamples(b, 0, 1, b"y", ("p", 1)),
        AppendSamples(a, 0, 1, b"x"),
        AppendSamples(a, 0, 1, b"again", ("p", 2)),
        AppendSamples(a + b, 0, 1, b"nobody"),
        AppendSamples(a, 1, 1, b"z"),
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
        AppendSamples(a, 0, 2, b"x"),
        WriteSnapshot(a, 2, 3, b"state"),
        AppendSamples(a, 5, 1, b"y"),
    ]
    assert kinds(store.write(group)) == "WWW"
    assert store.load("a") == StoredSession(a, b"{}", 6, b"state", 5, (Entry(5, 1, b"y"),), {})
    assert kinds(store.write([WriteSnapshot(a, 6, 0, b"later")])) == "W"
    assert store.load("a") == StoredSession(a, b"{}", 6, b"later", 6, (), {})


def a_replacement_elsewhere_is_a_conflict(store: Store) -> None:
    [a] = created(store, "a")
    group: list[Change] = [
        AppendSamples(a, 0, 2, b"x"),
        WriteSnapshot(a, 1, 1, b"", ("p", 1)),
        WriteSnapshot(a + 1, 0, 1, b""),
    ]
    assert kinds(store.write(group)) == "WCC"
    assert store.load("a") == StoredSession(a, b"{}", 2, None, 0, (Entry(0, 2, b"x"),), {})


def the_latest_number_of_each_producer_is_kept(store: Store) -> None:
    [a] = created(store, "a")
    store.write([AppendSamples(a, 0, 1, b"", ("p", 1)), AppendSamples(a, 1, 1, b"", ("q", 8))])
    store.write([AppendSamples(a, 2, 1, b"", ("p", 2)), AppendSamples(a, 3, 1, b"", ("p", 5))])
    store.write([WriteSnapshot(a, 4, 1, b"", ("r", LARGEST))])
    assert known(store, "a").producers == {"p": 5, "q": 8, "r": LARGEST}


def what_is_kept_stays_until_it_is_forgotten(store: Store) -> None:
    [a] = created(store, "a")
    x, y = PendingExample(5, False, b"x"), PendingExample(LARGEST, True, b"")
    group: list[Change] = [
        UpdatePending(a, 0, (("one", x), ("two", y))),
        UpdatePending(a, 0, (("three", x), ("one", None), ("none", None))),
    ]
    assert store.write(group) == [Written(a), Written(a)]
    assert store.load("a") == StoredSession(a, b"{}", 0, None, 0, (), {}, {"two": y, "three": x})
    store.write([UpdatePending(a, 0, (("two", x), ("three", None), ("three", y)))])
    assert known(store, "a").pending == {"two": x, "three": y}
    store.write([UpdatePending(a, 0, (("two", None), ("three", None)))])
    assert known(store, "a").pending == {}


def what_is_kept_changes_with_what_is_learnt_or_not_at_all(store: Store) -> None:
    a, b = created(store, "a", "b")
    x, done = PendingExample(5, False, b"x"), PendingExample(7, True, b"")
    store.write([UpdatePending(a, 0, (("i", x), ("j", x))), UpdatePending(b, 0, (("i", x),))])
    group: list[Change] = [
        AppendSamples(a, 0, 1, b"", None, (("i", done),)),
        AppendSamples(a, 0, 1, b"", None, (("j", done),)),
        AppendSamples(b, 0, 1, b"", None, (("i", None),)),
        WriteSnapshot(a, 9, 1, b"", None, (("j", done),)),
        UpdatePending(a, 0, (("j", None),)),
        UpdatePending(a + b, 0, (("j", None),)),
        UpdatePending(b, 1, (("i", x),)),
    ]
    assert kinds(store.write(group)) == "WCWCCCW"
    assert known(store, "a").pending == {"i": done, "j": x}
    assert known(store, "b").pending == {"i": x}
    store.write([WriteSnapshot(a, 1, 1, b"state", None, (("i", None), ("j", done)))])
    assert store.load("a") == StoredSession(a, b"{}", 2, b"state", 2, (), {}, {"j": done})


def a_log_may_keep_its_samples_when_a_snapshot_comes(store: Store) -> None:
    a, b = created(store, "a", "b")
    group: list[Change] = [
        AppendSamples(a, 0, 2, b"xx"),
        AppendSamples(b, 0, 1, b"y"),
        WriteSnapshot(a, 2, 3, b"state", ("p", 1), retained=Retained(5, 5), blob=b"yyy"),
        AppendSamples(a, 5, 1, b"z"),
    ]
    assert kinds(store.write(group)) == "WWWW"
    log = [Entry(0, 2, b"xx"), Entry(2, 3, b"yyy"), Entry(5, 1, b"z")]
    tail, state = (log[2],), Retained(5, 5)
    assert store.load("a") == StoredSession(
        a, b"{}", 6, b"state", 5, tail, {"p": 1}, retained=state
    )
    assert store.read_log(a, 0, 6, 99) == log
    assert known(store, "b").retained == Retained()


def a_log_that_no_longer_has_to_keep_samples_keeps_the_first(store: Store) -> None:
    [a] = created(store, "a")
    first, second = Retained(2, 2), Retained(5, 5)
    store.write(
        [AppendSamples(a, 0, 2, b"xx"), WriteSnapshot(a, 2, 3, b"1", retained=second, blob=b"yyy")]
    )
    store.write([AppendSamples(a, 5, 1, b"z"), WriteSnapshot(a, 6, 1, b"2", retained=second)])
    assert retained(store, known(store, "a")) == [Entry(0, 2, b"xx"), Entry(2, 3, b"yyy")]
    store.write([AppendSamples(a, 7, 1, b"z"), WriteSnapshot(a, 8, 1, b"3", retained=first)])
    assert store.load("a") == StoredSession(a, b"{}", 9, b"3", 9, (), {}, retained=first)
    assert retained(store, known(store, "a")) == [Entry(0, 2, b"xx")]
    store.write([WriteSnapshot(a, 9, 1, b"4")])
    assert known(store, "a").retained == Retained()
    with pytest.raises(Damaged, match="its log ends at 0, not at 2"):
        store.read_log(a, 0, 2, 99)


def a_log_is_read_in_pages(store: Store) -> None:
    [a] = created(store, "a")
    log = [Entry(t, 2, b"12345") for t in range(0, 8, 2)]
    store.write([AppendSamples(a, *entry) for entry in log])
    assert store.read_log(a, 0, 8, 99) == log
    assert store.read_log(a, 0, 4, 99) == log[:2]
    assert store.read_log(a, 0, 8, 1) == log[:1]
    assert store.read_log(a, 2, 8, 6) == log[1:3]
    assert store.read_log(a, 8, 8, 99) == []
    assert store.read_log(a + 1, 0, 8, 99) is None
    for start, end in ((1, 8), (0, 3), (0, 9)):
        with pytest.raises(Damaged, match="its log"):
            store.read_log(a, start, end, 99)
    store.write([DeleteSession(a)])
    assert store.read_log(a, 0, 8, 99) is None


def a_deleted_session_leaves_nothing_to_its_successor(store: Store) -> None:
    [result] = store.write([CreateSession("a", b"{}", 5, b"state", {"p": 1})])
    assert isinstance(result, Written)
    old = result.session
    store.write(
        [AppendSamples(old, 5, 1, b"x", ("p", 2), (("i", PendingExample(5, False, b"x")),))]
    )
    assert (
        kinds(store.write([DeleteSession(old), DeleteSession(old), AppendSamples(old, 6, 1, b"")]))
        == "WCC"
    )
    assert (store.load("a"), store.list("", 9), store.count()) == (None, [], 0)
    [new] = created(store, "a")
    assert new != old
    assert kinds(store.write([AppendSamples(old, 0, 1, b"x")])) == "C"
    assert store.load("a") == StoredSession(new, b"{}", 0, None, 0, (), {})


def the_list_comes_in_pages_and_in_order(store: Store) -> None:
    created(store, "b", "B", "a.1", "é", "a", "a-1")
    assert [each.name for each in store.list("", 3)] == ["B", "a", "a-1"]
    assert [each.name for each in store.list("a-1", 3)] == ["a.1", "b", "é"]
    assert (store.list("é", 3), store.list("", 0), store.count()) == ([], [], 6)


def sessions_with_the_mark_are_listed_by_themselves(store: Store) -> None:
    configs = {
        "b": REPLAY_MARK,
        "a": b"{\xff" + REPLAY_MARK + b"}",
        "plain": b"{}",
        "near": REPLAY_MARK[:-1],
        "c": REPLAY_MARK,
    }
    numbers = store.write([CreateSession(name, config) for name, config in configs.items()])
    b = numbers[0]
    assert isinstance(b, Written)
    assert [each.name for each in store.list_replays("", 2)] == ["a", "b"]
    assert [*store.list_replays("b", 9)] == [SessionSummary("c", REPLAY_MARK, 0)]
    assert ([*store.list_replays("c", 9)], [*store.list_replays("", 0)]) == ([], [])
    store.write([AppendSamples(b.session, 0, 2, b"x"), WriteSnapshot(b.session, 2, 3, b"state")])
    assert [*store.list_replays("a", 1)] == [SessionSummary("b", REPLAY_MARK, 5)]
    store.write([DeleteSession(b.session), CreateSession("b", b"{}")])
    assert [each.name for each in store.list_replays("", 9)] == ["a", "c"]


def nothing_to_write_is_nothing_written(store: Store) -> None:
    assert (store.write([]), store.count()) == ([], 0)


def bytes_and_text_of_any_kind_come_back(store: Store) -> None:
    name, blob = "Ω' --\"\0😀", bytes(range(256)) * 5000
    store.write([CreateSession(name, blob, 1, blob, {name: 1, "": 2})])
    number = known(store, name).id
    kept = {name: PendingExample(1, False, blob), "": PendingExample(0, True, b"")}
    store.write([AppendSamples(number, 1, 1, blob, (name, 3), tuple(kept.items()))])
    entry = Entry(1, 1, blob)
    assert store.load(name) == StoredSession(
        number, blob, 2, blob, 1, (entry,), {name: 3, "": 2}, kept
    )


def what_cannot_be_kept_is_a_conflict_of_its_own(store: Store) -> None:
    [a] = created(store, "a")
    odd: list[Change] = [
        AppendSamples(a, 0, 0, b""),
        AppendSamples(a, 0, -1, b""),
        AppendSamples(a, 0, LARGEST + 1, b""),
        AppendSamples(a, 0, 1, b"", ("p", LARGEST + 1)),
        AppendSamples(a, 0, 1, b"", ("p", -1)),
        AppendSamples(a, 0, 1, b"", ("\ud800", 1)),
        AppendSamples(a, 0, 1, b"", None, (("i", PendingExample(-1, False, b"")),)),
        AppendSamples(a, 0, 1, b"", None, (("\ud800", None),)),
        UpdatePending(a, 0, (("i", PendingExample(LARGEST + 1, False, b"")),)),
        UpdatePending(a, 0, (("\ud800", PendingExample(0, True, b"")),)),
        UpdatePending(a, -1, ()),
        WriteSnapshot(a, 0, -1, b""),
        WriteSnapshot(a, 0, 1, b"", ("p", LARGEST + 1)),
        WriteSnapshot(a, 0, 1, b"", retained=Retained(1, 1)),
        WriteSnapshot(a, 0, 1, b"", retained=Retained(0, 0), blob=b"x"),
        WriteSnapshot(a, 0, 1, b"", retained=Retained(2, 1), blob=b"x"),
        WriteSnapshot(a, 0, 0, b"", retained=Retained(0, 0), blob=b""),
        WriteSnapshot(a, 0, 1, b"", retained=Retained(1, -1), blob=b"x"),
        WriteSnapshot(a, 0, 1, b"", retained=Retained(-1, 0)),
        CreateSession("", b""),
        CreateSession("\ud800", b""),
        CreateSession("b", b"", 5),
        CreateSession("b", b"", -1, b""),
        CreateSession("b", b"", 0, b"", {"p": -1}),
        DeleteSession(-1),
        DeleteSession(LARGEST + 1),
    ]
    for change in odd:
        t = known(store, "a").t
        assert kinds(store.write([change, AppendSamples(a, t, 1, b"x")])) == "CW", change
        assert kinds(store.write([AppendSamples(a, t + 1, 1, b"x"), change])) == "WC", change
    assert (store.load("\ud800"), store.count()) == (None, 1)
    assert (known(store, "a").producers, known(store, "a").pending) == ({}, {})


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
