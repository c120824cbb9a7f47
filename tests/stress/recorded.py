"""Row 27: the histories that rows record, checked, and violations planted in them, to be found."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from support.checker import Seen, check

from . import kills, writers
from .journal import CHECKED, history_of
from .verdict import Tick, Verdict

History = list[Seen]
Plant = Callable[[History], Seen | None]


def _later(history: History, one: Seen, **changes: object) -> Seen:
    """An answer like one of them, to a request after all the others."""
    end = max(each.told for each in history)
    return replace(one, asked=end + 1, told=end + 2, **changes)  # type: ignore[arg-type]


def _read(history: History) -> Seen | None:
    """The last look at a session that has learnt something."""
    reads = (one for one in history if one.kind == "read" and one.ok and one.t and one.t > 1)
    return max(reads, key=lambda one: one.told, default=None)


def _snapshot(history: History) -> Seen | None:
    found = [one for one in history if one.summed and one.t and any(one.producers.values())]
    return max(found, key=lambda one: one.told, default=None)


def _ack(history: History) -> Seen | None:
    """A batch that was learnt as a whole, of the session that was read last."""
    read = _read(history)
    found = [
        one
        for one in history
        if read and one.session == read.session and one.ok and one.whole and one.accepted > 1
    ]
    return max(found, key=lambda one: one.told, default=None)


def _a_read_goes_back(history: History) -> Seen | None:
    one = _read(history)
    return one and _later(history, one, t=(one.t or 0) - 1, digest="", summed=False, producers={})


def _a_number_goes_back(history: History) -> Seen | None:
    one = _snapshot(history)
    return one and _later(
        history, one, summed=False, producers={name: 0 for name, n in one.producers.items() if n}
    )


def _another_state(history: History) -> Seen | None:
    found = (one for one in history if one.ok and one.digest and one.version == 0 and one.t)
    one = max(found, key=lambda one: (one.t, one.told), default=None)
    return one and _later(history, one, kind="other", accepted=0, digest="another")


def _a_place_twice(history: History) -> Seen | None:
    one = _ack(history)
    return one and replace(one, producer=None, digest="")


def _half_a_batch(history: History) -> Seen | None:
    one = _ack(history)
    inside = (one.t or 0) - 1 if one else 0
    return one and Seen(
        one.session, "read", status=200, t=inside, asked=one.asked, told=one.asked + 1e-9
    )


def _a_sum_too_small(history: History) -> Seen | None:
    one = _snapshot(history)
    return one and _later(history, one, t=(one.t or 0) + 1, digest="")


def _never_sent(history: History) -> Seen | None:
    one = _read(history)
    return one and _later(history, one, t=10**9, digest="", summed=False)


PLANTED: dict[str, tuple[Plant, str]] = {
    "a read goes back": (_a_read_goes_back, "was told"),
    "a producer's number goes back": (_a_number_goes_back, "then a read shows"),
    "another state at the same t": (_another_state, "two states"),
    "a place acknowledged twice": (_a_place_twice, "to two batches"),
    "half of a batch is read": (_half_a_batch, "inside the batch"),
    "a sample of nobody": (_a_sum_too_small, "the parts are"),
    "samples that were never sent": (_never_sent, "samples were sent"),
}
"""Answers that cannot be; each with words of what is said of it."""


def plant(history: History, name: str) -> bool | None:
    """Whether a violation is found in a history; None if the history has no place for it."""
    made, words = PLANTED[name]
    planted = made(history)
    if planted is None:
        return None
    found = check([*(replace(one) for one in history), planted])[1]
    return any(words in fault for fault in found)


def run(folder: Path, seed: int, count: int, tick: Tick) -> Verdict:
    """So many histories of kills, and as many of races; those of other rows were checked there."""
    faults, counts, found = list[str](), Counter[str](), Counter[str]()
    for number in range(count):
        for row in (kills.run, writers.run):
            inside = folder / f"{row.__module__.rpartition('.')[2]}-{number}"
            inside.mkdir()
            verdict, history = history_of(row, inside, seed + number, 1, lambda: None)
            checker, wrong = check(history)
            faults += [*verdict.faults, *(f"history: {one}" for one in wrong[:3])]
            counts["histories"] += 1
            counts.update(checker.counts)
            for name in PLANTED:
                taken = plant(history, name)
                found[name] += bool(taken)
                if taken is False:
                    faults.append(f"planted and not found: {name}")
        tick()
    faults += [f"had no place: {name}" for name in PLANTED if not found[name]]
    others = {f"of “{name}”": one["answers"] for name, one in CHECKED.items() if one["answers"]}
    told = {**counts, "violations planted and found": found.total(), **others}
    return Verdict(told, "0 violations, every planted one found", faults)
