"""Row 26: the service in a simulation where a seed decides what happens, and when."""

from collections import Counter
from pathlib import Path

from support.simulation.plans import simulate

from .verdict import Tick, Verdict

MOST = 10
"""Seeds that are named if they break a rule."""


def run(folder: Path, seed: int, seeds: int, tick: Tick) -> Verdict:
    """So many seeds from `seed` million on; the folder is not needed, the disk is simulated."""
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
    return Verdict(told, "0 seeds break a rule", bad[:MOST])
