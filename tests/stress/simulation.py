"""Row 26: the service in a simulation where a seed decides what happens, and when."""

from collections import Counter
from pathlib import Path

from support.simulation.mutants import MUTANTS, found
from support.simulation.plans import simulate

from .verdict import Tick, Verdict

SWEPT = 1000
"""One seed in so many is run again and again, with a crash at each of its turns."""
MOST = 10
"""Seeds that are named if they break a rule."""


def _crashed_at_every_turn(seed: int, turns: int, counts: Counter[str]) -> list[str]:
    """What is wrong with a seed if all processes are killed at one of its turns, at any."""
    bad = list[str]()
    for turn in range(1, turns):
        faults = simulate(seed, crash_at=turn)[1]
        counts["crashes at every turn"] += 1
        bad += [f"seed {seed}, a crash at turn {turn}: {faults[0]}"] if faults else []
    return bad


def run(folder: Path, seed: int, seeds: int, tick: Tick) -> Verdict:
    """So many seeds from `seed` million on, then faults put in, which have to be found.

    The folder is not needed, the disk is simulated.
    """
    counts, bad = Counter[str](), list[str]()
    for each in range(seed * 10**6, seed * 10**6 + seeds):
        world, faults = simulate(each)
        counts["requests"] += len(world.history.calls)
        counts["acknowledged"] += sum(call.ok for call in world.history.calls)
        counts["refused"] += sum(call.refused for call in world.history.calls)
        counts["without an answer"] += sum(call.status is None for call in world.history.calls)
        counts["crashes"] += world.crashes
        bad += [f"seed {each}: {faults[0]}"] if faults else []
        tick()
        if (each + 1) % SWEPT == 0:
            bad += _crashed_at_every_turn(each, world.turns, counts)
    told = {"seeds": seeds, "seeds that break a rule": len(bad), **counts}
    taken = {mutant.name: found(mutant)[0] for mutant in MUTANTS}
    told["faults put in"], told["found"] = len(taken), sum(1 for n in taken.values() if n)
    told["after so many seeds at most"] = max(n or 0 for n in taken.values())
    bad = bad[:MOST] + [f"not found: {name}" for name, n in taken.items() if n is None]
    return Verdict(told, "0 seeds break a rule, every fault that is put in is found", bad)
