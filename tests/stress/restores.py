"""Row 30: a copy beside the log and the witness of another file, opened or restored.

Two stores are written to. At moments drawn by lot a backup is taken and the three files are copied
as a kill would leave them. Then a database, a log and a witness are put together at random. A
store that opens has to show exactly a state that its database's store had; `llr restore` refuses
what lies there, or with `--replace` sets it aside and leaves exactly the copy.
"""

import io
import random
import shutil
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path

from llr_service.restore import main
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import (
    AppendSamples,
    CreateSession,
    DeleteSession,
    StoredSession,
    StoreError,
    VersionCheck,
    Written,
)

from .verdict import Tick, Verdict

ENDS = ("", "-wal", "-acked")
WRITES = 12
State = Mapping[str, StoredSession]


@dataclass
class Moment:
    """A store at one time: its files as a kill leaves them, a backup, and what is stored."""

    store: int
    number: int
    folder: Path
    state: State


@dataclass
class Past:
    """The moments of the two stores, and all the states that each ever had."""

    moments: list[Moment] = field(default_factory=list)
    states: dict[int, list[State]] = field(default_factory=lambda: {0: [{}], 1: [{}]})


def content(store: SQLite) -> State:
    """Everything that is stored."""
    names = [row.name for row in store.list("", 1000)]
    found = {name: store.load(name) for name in names}
    return {name: replace(one, config=b"") for name, one in found.items() if one is not None}


def _write(store: SQLite, lot: random.Random, number: int) -> None:
    """One change: a session is created, learns or is deleted."""
    rows = store.list("", 100)
    if not rows or lot.random() < 0.3:
        [done] = store.write([CreateSession(f"s{number}", b"{}", version=number)])
        assert isinstance(done, Written)
        return
    row = lot.choice(rows)
    found = store.load(row.name)
    assert found is not None
    if lot.random() < 0.1:
        store.write([DeleteSession(found.id)])
        return
    blob = lot.randbytes(lot.choice((10, 100, 5000)))
    check = VersionCheck(found.version, number)
    store.write([AppendSamples(found.id, found.t, 1, blob, ("p", found.t + 1), (), check)])


def past(folder: Path, lot: random.Random) -> Past:
    """Two stores with a history, opened several times."""
    found, number = Past(), 0
    for which in (0, 1):
        path = folder / f"store-{which}" / "llr.db"
        path.parent.mkdir()
        for _ in range(2):
            with closing(SQLite(path)) as store:
                for _ in range(lot.randrange(2, WRITES)):
                    number += 1
                    _write(store, lot, number)
                    found.states[which].append(content(store))
                    if lot.random() < 0.4:
                        found.moments.append(_moment(store, which, number, folder))
                found.moments.append(_moment(store, which, number, folder))
    return found


def _moment(store: SQLite, which: int, number: int, folder: Path) -> Moment:
    at = folder / f"moment-{which}-{number}-{len([*folder.iterdir()])}"
    at.mkdir()
    for end in ENDS:
        shutil.copyfile(f"{store.path}{end}", at / f"llr.db{end}")
    with store.backup() as backup:
        (at / "copy.db").write_bytes(backup.read())
    return Moment(which, number, at, content(store))


def files(folder: Path) -> dict[str, bytes]:
    """What is in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def put_together(lot: random.Random, known: Past, into: Path) -> tuple[Moment, str]:
    """A database of one moment with a log and a witness of others; and what kind that is."""
    into.mkdir()
    base, other = lot.choice(known.moments), lot.choice(known.moments)
    kind = lot.choice(("whole", "a copy beside leftovers", "a log of another", "alone"))
    database = base.folder / ("copy.db" if kind.startswith("a copy") else "llr.db")
    beside = base if kind == "whole" else other
    if kind != "alone":
        for end in ENDS[1:]:
            shutil.copyfile(beside.folder / f"llr.db{end}", into / f"llr.db{end}")
    if kind == "alone":
        database = base.folder / "copy.db"
    shutil.copyfile(database, into / "llr.db")
    return base, kind


def opened(into: Path, base: Moment, kind: str, known: Past) -> tuple[str, str]:
    """Open it as a service does: what came of it, and what is wrong with that."""
    before = files(into)
    try:
        with closing(SQLite(into / "llr.db")) as store:
            found = content(store)
    except StoreError as error:
        if kind in ("whole", "alone"):
            return "refused", f"its own files are refused: {error}"
        changed = {name for name, data in files(into).items() if before.get(name) != data}
        return "refused", f"refused, and {changed} changed" if changed else ""
    if kind in ("whole", "alone"):
        return "opened", "" if found == base.state else "its own files show another state"
    fits = found in known.states[base.store]
    return "opened", "" if fits else f"a state that store {base.store} never had"


def restored(into: Path, base: Moment) -> str:
    """Restore the copy of a moment there; what is wrong."""
    command = [str(base.folder / "copy.db"), "--store", f"sqlite:///{into / 'llr.db'}"]
    before = files(into)
    with redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):
        refused = main(command)
        if refused != 1:
            return "a copy was mixed with what was there"
        if files(into) != before:
            return "refused, and files changed"
        if main([*command, "--replace"]) != 0:
            return "--replace was refused"
    with closing(SQLite(into / "llr.db")) as store:
        if content(store) != base.state:
            return "the restored store is not the copy"
    aside = {name.removesuffix("-replaced"): data for name, data in files(into).items()}
    kept = all(files(into).get(f"{name}-replaced") == data for name, data in before.items())
    return "" if kept else f"what was there is not kept: {sorted(aside)}"


def run(folder: Path, seed: int, count: int, tick: Tick) -> Verdict:
    """So many files put together; each is restored to, and opened."""
    lot, faults, counts = random.Random(seed), list[str](), Counter[str]()
    for number in range(count):
        if number % 20 == 0:
            home = folder / f"past-{number}"
            home.mkdir()
            known = past(home, lot)
        base, kind = put_together(lot, known, folder / f"{number}")
        shutil.copytree(folder / f"{number}", folder / f"{number}-restored")
        came, wrong = opened(folder / f"{number}", base, kind, known)
        counts[f"{kind}: {came}"] += 1
        wrong = wrong or restored(folder / f"{number}-restored", base)
        faults += [f"{number}, {kind}: {wrong}"] if wrong else []
        tick()
    told = {"files put together": count, **dict(sorted(counts.items()))}
    return Verdict(told, "refused, or exactly a state that was", faults[:20])
