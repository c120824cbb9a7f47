"""Groups of changes to a store, what has to be there after each, and what is found on a disk."""

import random
from copy import deepcopy
from pathlib import Path

from llr_service.stores.memory import Memory
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import (
    NOT_RETAINED,
    UNVERSIONED,
    AppendSamples,
    Change,
    CreateSession,
    DeleteSession,
    Entry,
    PendingChanges,
    PendingExample,
    Retained,
    Store,
    StoredSession,
    StoreError,
    UpdatePending,
    WriteSnapshot,
)
from support.power_cuts import Disk
from support.stores_contract import dump, retained

NAMES = "abcdef"
Content = dict[str, tuple[StoredSession, list[Entry]]]


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
        return CreateSession(name, lot.randbytes(40), lot.randrange(9) if snapshot else 0, snapshot)
    if lot.random() < 0.1:
        return DeleteSession(known.id)
    n = lot.randrange(1, 5)
    row = PendingExample(lot.randrange(9), lot.random() < 0.5, lot.randbytes(lot.randrange(900)))
    kept: PendingChanges = ((lot.choice("ij"), row), (lot.choice("jk"), None))[: lot.randrange(3)]
    if lot.random() < 0.2:
        state, log = lot.randbytes(lot.randrange(9000)), retaining(known, n, lot)
        return WriteSnapshot(known.id, known.t, n, state, producer, kept, UNVERSIONED, *log)
    if lot.random() < 0.2:
        return UpdatePending(known.id, known.t, kept)
    return AppendSamples(known.id, known.t, n, lot.randbytes(lot.randrange(2000)), producer, kept)


def retaining(known: StoredSession, n: int, lot: random.Random) -> tuple[Retained, bytes | None]:
    """What the log shall keep: all there is, what it does, or nothing."""
    if lot.random() < 0.3:
        return NOT_RETAINED, None
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
