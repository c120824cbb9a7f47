"""What a seed does: which engine, which operations, which faults, how often."""

import random
from dataclasses import replace
from typing import Any

from .clients import NAMES
from .operations import MORE
from .recorder import Faults
from .rules import broken
from .server import Chances
from .world import Plan, World, run

OPERATIONS = {
    "create": 1.5,
    "learn": 5.0,
    "unnumbered": 1.0,
    "predict": 1.5,
    "label": 1.5,
    "add": 0.6,
    "promote": 0.8,
    "remove": 0.2,
    "get": 1.5,
    "snapshot": 0.4,
    "restore": 0.3,
    "fork": 0.4,
    "what_if": 0.3,
    "delete": 0.4,
    "events": 0.4,
}


RECREATED = 20
"""Of so many seeds, one deletes a session and creates it again most of the time."""
MIXED = 10
"""Of so many seeds, one mixes in what is rare, and one in twice as many sends everything twice."""
ENGINES = ("sqlite", "memory", "postgres")


def plan_of(seed: int, engine: str = "") -> Plan:
    """The plan of a seed; the engines take turns unless one is named."""
    engine = engine or ENGINES[seed % len(ENGINES)]
    lot = random.Random(f"plan {seed}")
    if seed % MIXED == 6:
        return _mixed(engine, lot)
    if seed % RECREATED == 10:
        return _hasty(engine, lot)
    if seed % RECREATED == RECREATED - 1:
        return _recreated(engine, lot)
    operations = {
        name: often * lot.choice((0.0, 1.0, 1.0, 3.0)) for name, often in OPERATIONS.items()
    } | {"create": 1.5, "learn": 4.0}
    faults = Faults(
        before=lot.choice((0.0, 0.05, 0.2)),
        after=lot.choice((0.0, 0.0, 0.1)),
        full=lot.choice((0.0, 0.0, 0.15)),
        read=lot.choice((0.0, 0.0, 0.1)),
    )
    chances = {
        "crash": lot.choice((0.0, 0.0, 0.002, 0.005)),
        "cut": lot.choice((0.0, 0.01, 0.1)),
        "cancel": lot.choice((0.0, 0.0, 0.005)),
        "jump": lot.choice((0.0, 0.01, 0.05)),
        "disk": lot.choice((0.0, 0.005, 0.02)),
    }
    if lot.random() < 0.4:
        return _crowded(engine, lot)
    return Plan(
        engine,
        operations,
        faults,
        chances,
        clients=lot.choice((1, 2, 3, 4)),
        requests=lot.choice((6, 10, 14)),
        store=lot.choice((0.1, 0.5, 2.0)),
        cap=lot.choice((2**20, 2**20, 3000)),
        **_shared(engine, lot),
    )


def _crowded(engine: str, lot: random.Random) -> Plan:
    """Many clients of one session that lose their patience, and a store that is slow and fails."""
    operations = {name: OPERATIONS[name] for name in ("learn", "predict", "label", "get")}
    operations |= {"add": 1.5, "promote": 1.5, "create": 0.5, "delete": lot.choice((0.0, 0.5))}
    faults = Faults(before=0.2, after=lot.choice((0.0, 0.1)), full=lot.choice((0.0, 0.1)))
    chances = {"cut": lot.choice((0.05, 0.15)), "cancel": 0.0, "jump": 0.0}
    return Plan(
        engine,
        operations,
        faults,
        chances,
        clients=lot.choice((3, 5)),
        requests=12,
        store=lot.choice((0.2, 0.6)),
        names=NAMES[:1],
        **_shared(engine, lot),
    )


def _mixed(engine: str, lot: random.Random) -> Plan:
    """Weights, sparse numbers, labels in bulk, small queues, threads, and clocks set back."""
    operations = OPERATIONS | dict.fromkeys(MORE, 2.0)
    shared = _shared(engine, lot)
    if shared:
        shared["line"].late = lot.choice((0.0, 0.05, 0.1))
        shared["replicas"] = 2
    return Plan(
        engine,
        operations | {"create": 1.5, "without_dim": 1.5},
        Faults(before=lot.choice((0.0, 0.1)), after=lot.choice((0.0, 0.1))),
        {
            "crash": lot.choice((0.0, 0.003)),
            "kill": lot.choice((0.0, 0.01)),
            "cut": lot.choice((0.0, 0.03)),
            "cancel": lot.choice((0.0, 0.005)),
            "jump": lot.choice((0.0, 0.02)),
            "back": lot.choice((0.0, 0.02)),
        },
        clients=lot.choice((3, 5)),
        requests=12,
        store=lot.choice((0.1, 0.5, 2.0)),
        cap=lot.choice((2**20, 3000)),
        queue=lot.choice((0, 0, 1, 2)),
        inline=lot.choice((0, 500)),
        **shared,
    )


def _hasty(engine: str, lot: random.Random) -> Plan:
    """Clients that send again what others are waiting for, and a slow store that fails."""
    operations = {"learn": 2.0, "predict": 1.5, "echo": 2.0, "label": 1.5}
    operations |= {"get": 1.0, "add": 0.4, "promote": 1.0}
    return Plan(
        engine,
        operations,
        Faults(full=0.3, before=lot.choice((0.0, 0.1))),
        {"cut": lot.choice((0.0, 0.1)), "cancel": 0.0, "jump": 0.0},
        clients=lot.choice((4, 6)),
        requests=14,
        store=lot.choice((0.2, 0.5)),
        names=NAMES[:1],
        **_shared(engine, lot),
    )


def _recreated(engine: str, lot: random.Random) -> Plan:
    """Sessions of one name that follow each other; what remembers the last one must not answer."""
    operations = {"create": 4.0, "delete": 2.5, "get": 4.0, "learn": 0.7, "predict": 0.5}
    return Plan(
        engine,
        operations,
        Faults(before=lot.choice((0.0, 0.05))),
        {"cut": lot.choice((0.0, 0.02)), "cancel": 0.0, "jump": 0.0},
        clients=lot.choice((2, 4)),
        requests=14,
        store=2.0,
        names=NAMES[:1],
        **_shared(engine, lot) | ({"replicas": 2} if engine == "postgres" else {}),
    )


def _shared(engine: str, lot: random.Random) -> dict[str, Any]:
    """Replicas that share a database, and how often the line to it breaks."""
    if engine != "postgres":
        return {}
    line = Chances(
        cut=lot.choice((0.0, 0.02, 0.1)),
        lost=lot.choice((0.0, 0.02, 0.1)),
        full=lot.choice((0.0, 0.0, 0.05)),
        deadlock=lot.choice((0.0, 0.05)),
    )
    return {"replicas": lot.choice((1, 2, 2)), "line": line, "patience": 4.0}


def simulate(seed: int, engine: str = "", crash_at: int = 0) -> tuple[World, list[str]]:
    """Run a seed; the run, and what was wrong in it. All processes are killed at one turn."""
    world = run(seed, replace(plan_of(seed, engine), crash_at=crash_at))
    return world, world.trouble + broken(world.history, world.truth)
