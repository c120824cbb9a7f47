"""Row 5: the n-th call to the disk fails, for every n: a group is stored or not, as was told."""

import random
from collections import Counter
from contextlib import suppress
from copy import deepcopy
from itertools import count
from pathlib import Path

from llr_service.stores.memory import Memory
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import Change, StoreError
from support.power_cuts import Disk

from .groups import content, found, grown
from .verdict import Tick, Verdict

EVER = 10**9
WAYS = {
    "an error": (1, False),
    "an error until mended": (EVER, False),
    "no room": (1, True),
    "no room until mended": (EVER, True),
}
"""How many calls fail from the n-th on, and whether for want of room."""


def written(store: SQLite, disk: Disk, group: list[Change], models: list[Memory]) -> Memory:
    """Write a group; which of the models, before or after it, is the truth from now on."""
    before, after = models
    try:
        store.write(group)
        return after
    except StoreError:
        for lot in range(3):
            shown = found(store.path, deepcopy(disk).after_cut(random.Random(lot)))
            assert shown in (content(before), content(after))
        with suppress(StoreError):
            content(store)
        disk.failing = range(0)
        [truth] = [each for each in models if content(each) == content(store)]
        assert found(store.path, deepcopy(disk).after_kill()) == content(truth)
        return truth


def fail(path: Path, disk: Disk, seed: int) -> None:
    """Go on through failures; at the end all that was told is there."""
    path.touch()
    lot, model = random.Random(seed), Memory()
    while True:
        try:
            store = SQLite(path, disk.connect)
            break
        except StoreError:
            disk.failing = range(0)
    for _ in range(6):
        group, after = grown(model, lot)
        model = written(store, disk, group, [model, after])
    disk.failing = range(0)
    assert content(store) == content(model)
    assert found(path, deepcopy(disk).after_cut(lot)) == content(model)
    disk.dead = True
    store.close()


def each_call(folder: Path, lasts: int, full: bool, seed: int) -> int:
    """Let each call of one history fail in turn; returns how many there are."""
    for number in count(1):
        disk = Disk(failing=range(number, number + lasts), full=full)
        disk.pragmas["wal_autocheckpoint"] = "25"
        try:
            fail(folder / f"{number}.db", disk, seed)
        except (AssertionError, ValueError) as failure:
            raise AssertionError(f"call {number} of history {seed}: {failure}") from failure
        if disk.calls < number:
            break
    return number - 1


def run(folder: Path, seed: int, histories: int, tick: Tick) -> Verdict:
    """So many histories of six groups; in each, every call fails in every way."""
    calls, faults = Counter[str](), list[str]()
    for number in range(seed, seed + histories):
        for way, (lasts, full) in WAYS.items():
            place = folder / f"{number}-{way}"
            place.mkdir()
            try:
                calls[f"calls with {way}"] += each_call(place, lasts, full, number)
            except AssertionError as failure:
                faults.append(f"{way}: {failure}")
        tick()
    counts = {"histories": histories, **calls}
    return Verdict(counts, "at every call: told and stored, or neither", faults)
