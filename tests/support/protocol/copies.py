"""What a replica knows of its copy: how it is loaded, and whether it is as the store is."""

from .rules import Rules
from .world import Copy, Stamp, World


def load(world: World, given: int, rules: Rules) -> Copy:
    """The session as the store has it; its stamps follow those that were given."""
    born = given if rules.unique else 0
    state = world.stored
    return Copy(born, world.stamp, world.stamp, state, state, world.session, born)


def own(stamp: Stamp, copy: Copy) -> bool:
    """Whether a change is one of this copy's."""
    (place, number), (last, highest) = stamp, copy.last
    return place == last and copy.born < number <= highest


def stale(world: World, copy: Copy, rules: Rules) -> bool:
    """Whether the store has a change that this copy has not, or lacks one that it had."""
    if rules.told_apart and copy.session != world.session:
        return True
    if not rules.ahead or copy.heard == copy.born:
        return world.stamp != copy.loaded and not own(world.stamp, copy)
    return not own(world.stamp, copy) or world.stamp[1] < copy.heard
