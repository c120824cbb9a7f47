"""What was acknowledged is there after a power cut, what failed is not, whatever fails and when.

`POWER_CUTS=10000 pytest -s tests/test_power_cuts.py` is the long form.
"""

import os
import random
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from power_cuts import Disk, PowerCut
from stores_contract import dump, retained

from service.stores.memory import Memory
from service.stores.sqlite import SQLite
from service.stores.store import (
    CUT,
    FREE,
    Append,
    Change,
    Create,
    Delete,
    Entry,
    Keep,
    Kept,
    Replace,
    Retained,
    Shelved,
    Store,
    Stored,
    StoreError,
)

CUTS = int(os.environ.get("POWER_CUTS", "400"))
NAMES = "abcdef"
EVER = 10**9
Content = dict[str, tuple[Stored, list[Entry]]]


@dataclass
class Tally:
    """What came of so many ends: groups acknowledged, ends that took one, ends noticed at once."""

    cuts: int = 0
    kills: int = 0
    acked: int = 0
    lost: int = 0
    refused: int = 0


def content(store: Store) -> Content:
    """Everything in a store, with what each log had to keep."""
    found = dump(store)
    return {name: (each, retained(store, each)) for name, each in found.items() if each}


def change(model: Store, lot: random.Random) -> Change:
    """Something that can be done to what is stored."""
    name = lot.choice(NAMES)
    known = model.load(name)
    producer = (lot.choice("pq"), lot.randrange(10**6)) if lot.random() < 0.5 else None
    if known is None:
        snapshot = lot.randbytes(lot.randrange(9000)) if lot.random() < 0.3 else None
        return Create(name, lot.randbytes(40), lot.randrange(9) if snapshot else 0, snapshot)
    if lot.random() < 0.1:
        return Delete(known.id)
    n = lot.randrange(1, 5)
    row = Kept(lot.randrange(9), lot.random() < 0.5, lot.randbytes(lot.randrange(900)))
    kept: Shelved = ((lot.choice("ij"), row), (lot.choice("jk"), None))[: lot.randrange(3)]
    if lot.random() < 0.2:
        state, log = lot.randbytes(lot.randrange(9000)), retaining(known, n, lot)
        return Replace(known.id, known.t, n, state, producer, kept, FREE, *log)
    if lot.random() < 0.2:
        return Keep(known.id, known.t, kept)
    return Append(known.id, known.t, n, lot.randbytes(lot.randrange(2000)), producer, kept)


def retaining(known: Stored, n: int, lot: random.Random) -> tuple[Retained, bytes | None]:
    """What the log shall keep: all there is, what it does, or nothing."""
    if lot.random() < 0.3:
        return CUT, None
    if known.retained.samples != known.snapshot_t or lot.random() < 0.3:
        return known.retained, None
    return Retained(known.t + n, known.retained.bytes), lot.randbytes(lot.randrange(2000))


def grown(model: Memory, lot: random.Random) -> tuple[list[Change], Memory]:
    """A group, and what is stored after it."""
    after, group = deepcopy(model), list[Change]()
    for _ in range(lot.choice((1, 1, 2, 12))):
        group.append(change(after, lot))
        after.write(group[-1:])
    return group, after


def live(path: Path, disk: Disk, models: list[Memory], lot: random.Random) -> None:
    """Write until the end: `models` are what was acknowledged, and last what was being written."""
    disk.cut_at = lot.randrange(1, 120)
    try:
        store = SQLite(path, disk.connect)
    except PowerCut:
        models.append(models[-1])
        return
    try:
        for _ in range(12):
            group, after = grown(models[-1], lot)
            models.append(after)
            store.write(group)
            store.tidy()
        models.append(after)
    except PowerCut:
        pass
    disk.dead = True
    store.close()


def found(path: Path, disk: Disk) -> Content | str:
    """What the next process finds on a disk, or why it refuses to go on."""
    try:
        store = SQLite(path, disk.connect)
    except StoreError as error:
        return str(error)
    shown = content(store)
    disk.dead = True
    store.close()
    return shown


def end(path: Path, disk: Disk, lot: random.Random, tally: Tally) -> tuple[Disk, Content | str]:
    """A power cut or, sometimes, only the end of the process; the disk, and what is found on it.

    After a cut the look is at a copy, so that the next life may be cut while it recovers. After a
    kill it is at the disk itself: what was shown once has to be there after the next cut, too.
    """
    if lot.random() < 0.3:
        tally.kills += 1
        shown = found(path, disk.after_kill())
        return disk.after_kill(), shown
    tally.cuts += 1
    disk = disk.after_cut(lot)
    return disk, found(path, deepcopy(disk))


def torture(path: Path, ends: int, seed: int, pragmas: dict[str, str]) -> Tally:
    """Many lives of one store, each with an end at any moment.

    An empty file stands where the store believes to be: one that was never there has lost nothing.
    """
    path.touch()
    lot, tally = random.Random(seed), Tally()
    disk, model = Disk(pragmas=pragmas), Memory()
    while tally.cuts < ends:
        models = [model]
        live(path, disk, models, lot)
        tally.acked += len(models) - 2
        disk, shown = end(path, disk, lot, tally)
        fitting = [each for each in models[-2:] if content(each) == shown]
        if fitting:
            model = fitting[0]
            continue
        tally.lost += 1
        tally.refused += isinstance(shown, str)
        disk, model = Disk(pragmas=pragmas), Memory()
        path.with_name(path.name + "-acked").unlink(missing_ok=True)
    print(tally, pragmas)  # noqa: T201
    return tally


@pytest.mark.parametrize("pages", ["4000", "25"])
def test_no_power_cut_takes_what_was_acknowledged(tmp_path: Path, pages: str) -> None:
    tally = torture(tmp_path / "x.db", CUTS // 2, 1, {"wal_autocheckpoint": pages})
    assert tally.acked > tally.cuts
    assert tally.lost == 0


def test_without_a_sync_for_each_group_power_cuts_do_take_it(tmp_path: Path) -> None:
    tally = torture(tmp_path / "x.db", 40, 1, {"synchronous": "NORMAL"})
    assert tally.lost > 10
    assert tally.refused == tally.lost


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


@pytest.mark.parametrize("full", [False, True], ids=["broken", "full"])
@pytest.mark.parametrize("lasts", [1, EVER], ids=["once", "until-mended"])
def test_an_error_at_any_call_leaves_a_group_stored_or_not(
    tmp_path: Path, lasts: int, full: bool
) -> None:
    for number in count(1):
        disk = Disk(failing=range(number, number + lasts), full=full)
        disk.pragmas["wal_autocheckpoint"] = "25"
        fail(tmp_path / f"{number}.db", disk, 1)
        if disk.calls < number:
            break
    print(f"each of {number - 1} calls failed")  # noqa: T201
