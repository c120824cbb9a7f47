"""The protocol of replicas, searched through: what it promises holds in every history there is."""

import pytest
from support.protocol import kinds
from support.protocol.model import search
from support.protocol.promises import BrokenError
from support.protocol.rules import MUTANTS, SHORT, Bounds, Rules

STATES = {
    Bounds(samples=(1,)): 500,
    Bounds(samples=(1, 1, 1), sends=1, crashes=0, breaks=0): 3_000,
    SHORT: 14_000,
    Bounds(samples=(2,), crashes=0): 4_000,
    Bounds(samples=(1,), crashes=0, breaks=0, deletes=1): 27_000,
    Bounds(samples=(1,), crashes=0, breaks=0, losses=1): 3_900,
}
"""Bounds, and how many states there are at least: a search that stops early shows nothing."""


@pytest.mark.parametrize("bounds", STATES, ids=str)
def test_every_promise_is_kept_in_every_history(bounds: Bounds) -> None:
    assert search(Rules(), bounds) > STATES[bounds]


@pytest.mark.parametrize("name", MUTANTS)
def test_without_a_precaution_a_promise_is_broken(name: str) -> None:
    with pytest.raises(BrokenError):
        search(*MUTANTS[name])


KINDS = {"single, labels": 22_000, "single, numbers with holes": 17_000, "shared": 67_000}
"""The smaller cases, and how many states each has at least; `make model` searches all."""


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_change_keeps_every_promise(name: str) -> None:
    assert kinds.search(kinds.CASES[name]) > KINDS[name]


@pytest.mark.parametrize("name", kinds.BROKEN)
def test_a_kind_of_change_without_a_precaution_breaks_a_promise(name: str) -> None:
    with pytest.raises(BrokenError):
        kinds.search(kinds.BROKEN[name])
