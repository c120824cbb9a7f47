"""Row 4: power cuts at any moment of a store's life, on a disk that loses what was not synced."""

import random
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from llr_service.stores.memory import Memory
from llr_service.stores.sqlite import SQLite
from support.power_cuts import Disk, PowerCut

from .groups import Content, content, found, grown
from .verdict import Tick, Verdict, broken

OFTEN, SELDOM = "25", "4000"
"""Pages after which the log is written back: several times in a life, or hardly ever."""
WITHOUT = 40
"""Cuts without a sync for each group, which have to take something."""


@dataclass
class Tally:
    """What came of so many ends: groups acknowledged, ends that took one, ends noticed at once."""

    cuts: int = 0
    kills: int = 0
    acked: int = 0
    lost: int = 0
    refused: int = 0


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
            store.run_maintenance()
        models.append(after)
    except PowerCut:
        pass
    disk.dead = True
    store.close()


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


def lives(path: Path, cuts: int, seed: int, pragmas: dict[str, str], tick: Tick) -> Tally:
    """Many lives of one store, each with an end at any moment.

    An empty file stands where the store believes to be: one that was never there has lost nothing.
    """
    path.touch()
    lot, tally = random.Random(seed), Tally()
    disk, model = Disk(pragmas=pragmas), Memory()
    while tally.cuts < cuts:
        models, before = [model], tally.cuts
        live(path, disk, models, lot)
        tally.acked += len(models) - 2
        disk, shown = end(path, disk, lot, tally)
        if tally.cuts > before:
            tick()
        fitting = [each for each in models[-2:] if content(each) == shown]
        if fitting:
            model = fitting[0]
            continue
        tally.lost += 1
        tally.refused += isinstance(shown, str)
        disk, model = Disk(pragmas=pragmas), Memory()
        path.with_name(path.name + "-acked").unlink(missing_ok=True)
    return tally


def run(folder: Path, seed: int, cuts: int, tick: Tick) -> Verdict:
    """So many cuts, half of them of a store that writes its log back often; then some `NORMAL`."""
    parts = {OFTEN: cuts // 2, SELDOM: cuts - cuts // 2}
    tallies = [
        lives(folder / f"{pages}.db", part, seed, {"wal_autocheckpoint": pages}, tick)
        for pages, part in parts.items()
    ]
    normal = lives(folder / "normal.db", WITHOUT, seed, {"synchronous": "NORMAL"}, lambda: None)
    counts = {
        "cuts": cuts,
        "kills between": sum(tally.kills for tally in tallies),
        "groups acked": sum(tally.acked for tally in tallies),
        "lost or corrupt": sum(tally.lost for tally in tallies),
        "cuts with NORMAL": normal.cuts,
        "lost with NORMAL": normal.lost,
        "of them noticed": normal.refused,
    }
    faults = broken(
        nothing_acked_is_lost_or_corrupt=counts["lost or corrupt"] == 0,
        there_were_acks=counts["groups acked"] > cuts,
        without_syncs_it_is_lost=normal.lost > WITHOUT // 4,
        and_that_is_noticed=normal.refused == normal.lost,
    )
    return Verdict(counts, "lost 0, corrupt 0; NORMAL loses", faults)
