"""Row 26: the service in a simulation where a seed decides what happens, and when."""

from collections import Counter
from pathlib import Path

from support.simulation.mutants import MUTANTS, found
from support.simulation.plans import simulate

from .verdict import Tick, Verdict

MOST = 10
"""Seeds that are named if they break a rule."""


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
    told = {"seeds": seeds, "seeds that break a rule": len(bad), **counts}
    taken = {mutant.name: found(mutant)[0] for mutant in MUTANTS}
    told["faults put in"], told["found"] = len(taken), sum(1 for n in taken.values() if n)
    told["after so many seeds at most"] = max(n or 0 for n in taken.values())
    bad = bad[:MOST] + [f"not found: {name}" for name, n in taken.items() if n is None]
    return Verdict(told, "0 seeds break a rule, every fault that is put in is found", bad)
