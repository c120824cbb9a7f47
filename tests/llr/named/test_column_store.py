"""Versions of a table: each stays what it was, whichever go on, and none costs more than a copy."""

import gc
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from llr.named.column_names import UNKNOWN, Names
from llr.named.column_store import VersionedColumns

SHAPE = (2, 1)


class Versions(RuleBasedStateMachine):
    """Some versions, and beside each the columns it should have, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = [(VersionedColumns.of(Names(30, 2), np.zeros((0, *SHAPE))), dict[str, float]())]
        self.next = 0.0

    @rule(which=st.integers(0, 9), names=st.sets(st.integers(0, 60), max_size=8))
    def go_on(self, which: int, names: set[int]) -> None:
        """Replace some columns of a version, whether others have gone on from it or not."""
        version, expected = self.kept[which % len(self.kept)]
        asked = [f"n{name}" for name in sorted(names)]
        columns, added = version.columns(asked)
        once = np.unique(columns)
        values = self.next + np.arange(once.size * 2, dtype=float).reshape(once.size, *SHAPE)
        self.next += 100.0
        after = version.replaced(once, values, added)
        of_column = dict(zip(once.tolist(), values[:, 0, 0].tolist(), strict=True))
        known = after.names
        changed = {known[column]: value for column, value in of_column.items()}
        self.kept.append((after, expected | changed))

    @precondition(lambda self: len(self.kept) > 1)
    @rule(which=st.integers(0, 9))
    def forget(self, which: int) -> None:
        """Nobody holds this one any more."""
        del self.kept[which % len(self.kept)]

    @rule(which=st.integers(0, 9), names=st.lists(st.integers(0, 60), max_size=6))
    def look_up(self, which: int, names: list[int]) -> None:
        """Some columns by name, 0 for those there are not."""
        version, expected = self.kept[which % len(self.kept)]
        asked = [f"n{name}" for name in names]
        found = version.read(version.find(asked))[:, 0, 0].tolist()
        hashed = Names(30, 2).hashed
        full = version.size >= 30
        wanted = [expected.get(n, expected.get(hashed(n), 0.0) if full else 0.0) for n in asked]
        assert found == wanted

    @invariant()
    def every_version_has_what_it_had(self) -> None:
        """All columns of all versions."""
        for version, expected in self.kept:
            whole = version.whole()[:, 0, 0].tolist()
            assert dict(zip(version.names, whole, strict=True)) == expected


TestVersions = Versions.TestCase
TestVersions.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)


def test_an_old_version_costs_no_more_than_a_copy_however_long_it_is_held() -> None:
    names = [f"n{i}" for i in range(1000)]
    first = VersionedColumns.of(Names(1000, 4, names), np.zeros((1000, *SHAPE)))
    newest, chosen = first, np.arange(30)
    for step in range(500):
        newest = newest.replaced((chosen + 7 * step) % 1000, np.full((30, *SHAPE), step + 1.0), [])
    assert not first.whole().any()
    links, moment = 0, first._moment
    while moment.next is not None:
        links, moment = links + moment.columns.size, moment.next
    assert links <= 3 * 1000


@pytest.mark.slow
def test_nothing_is_kept_for_versions_nobody_holds() -> None:
    version = VersionedColumns.of(Names(10, 4, ["a"]), np.zeros((1, *SHAPE)))
    for step in range(1000):
        version = version.replaced(np.zeros(1, np.int64), np.full((1, *SHAPE), float(step)), [])
    gc.collect()
    assert len(version._table.older) <= 200
    assert version._moment.next is None


def test_a_name_is_not_known_before_its_addition_is_complete() -> None:
    names, found = Names(10, 4, ["a"]), list[int]()

    class Observed(list[str]):
        def __iter__(self) -> Iterator[str]:
            for name in super().__iter__():
                found.extend(names.find(["a", "b"], known=1).tolist())
                yield name

    names.add(Observed(["b", "c"]))
    assert set(found[::2]) == {0}
    assert set(found[1::2]) == {UNKNOWN}
