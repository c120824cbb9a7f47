"""What may never be."""

from .copies import own, stale
from .rules import Rules
from .world import Change, Copy, Replica, Sample, State, World

PROMISES = (
    "an acknowledged sample is stored, each sample once, those of a producer in order",
    "an answer tells a state that is stored, or the beginning of what is",
    "a change is stored only upon the very state it was learnt upon",
    "a read shows nothing that is not stored, and all that was acknowledged before",
    "nothing of a deleted session is shown, or reaches the next one of its name",
)
"""What holds in every world, but for acknowledgements of what the store itself lost."""


class BrokenError(Exception):
    """A promise was broken."""


def check(world: World, rules: Rules) -> None:
    """Raise if a promise is broken in this world."""
    for who, producer in enumerate(world.producers):
        there = [number for one, number in world.stored if one == who]
        if there != sorted(set(there)):
            raise BrokenError(f"applied twice or out of order: {world.stored}")
        if there != [*range(len(there))] or len(there) < producer.acked:
            raise BrokenError(f"acknowledged {producer.acked} of {who}, there are {there}")
    for replica in world.replicas:
        if replica.copy is not None:
            _check_read(world, replica, replica.copy, rules)


def _check_read(world: World, replica: Replica, copy: Copy, rules: Rules) -> None:
    """What this replica would show now: nothing that is not stored, all that was acked."""
    behind = stale(world, copy, rules)
    if not behind and copy.session != world.session:
        raise BrokenError(f"shown {copy.shown} of a session that was deleted")
    if not behind and copy.shown != world.stored[: len(copy.shown)]:
        raise BrokenError(f"shown {copy.shown}, stored {world.stored}")
    if behind and rules.read != "nothing":
        return  # it is loaded first
    waits = any(change.copy == copy.born for change, _ in replica.told)
    if rules.read == "waited" and waits and own(world.stamp, copy):
        return
    for who, producer in enumerate(world.producers):
        if sum(one == who for one, _ in copy.shown) < producer.acked:
            raise BrokenError(f"shown {copy.shown} after {producer.acked} acks of {who}")


def check_stored(world: World, change: Change) -> None:
    """Raise if a change that the store takes does not follow what is there."""
    if change.session != world.session:
        raise BrokenError(f"{change.sample} reached the session after its own")
    if change.after[:-1] != world.stored:
        raise BrokenError(f"{change.after} stored upon {world.stored}")


def check_answer(world: World, state: State | None, sample: Sample) -> None:
    """Raise if an answer about a sample tells what is not stored."""
    if state is not None and (state != world.stored[: len(state)] or sample not in state):
        raise BrokenError(f"the answer {state} is no replay of {world.stored}")
