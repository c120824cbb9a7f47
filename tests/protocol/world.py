"""Everything there is in the model, as values that can be compared."""

from typing import NamedTuple

Sample = tuple[int, int]
"""Whose it is, and its number."""
Stamp = tuple[int, int]
"""Which replica gave it, and a number it gave to nothing else."""
START: Stamp = (-1, 0)


class Change(NamedTuple):
    """One sample on its way to the store, as the copy that learnt it sees it."""

    was: Stamp
    stamp: Stamp
    sample: Sample
    after: tuple[Sample, ...]
    send: int
    copy: int
    whole: bool


class Copy(NamedTuple):
    """The session in the memory of a replica."""

    born: int
    loaded: Stamp
    last: Stamp
    ahead: tuple[Sample, ...]
    shown: tuple[Sample, ...]


class Replica(NamedTuple):
    """A copy or none, requests, changes under way, outcomes nobody has looked at, stamps given."""

    copy: Copy | None = None
    mail: frozenset[tuple[Sample, int]] = frozenset()
    queue: tuple[Change, ...] = ()
    told: tuple[tuple[Change, str], ...] = ()
    given: int = 0


class Producer(NamedTuple):
    """How many samples were acknowledged, and how often the next one was sent."""

    acked: int = 0
    sends: int = 0


class World(NamedTuple):
    """Everything."""

    stamp: Stamp
    stored: tuple[Sample, ...]
    replicas: tuple[Replica, ...]
    producers: tuple[Producer, ...]
    late: tuple[tuple[Change, ...], ...] = ()
    crashes: int = 0
    breaks: int = 0

    def at(self, place: int, replica: Replica) -> "World":
        """The same with another replica at a place."""
        all_ = (*self.replicas[:place], replica, *self.replicas[place + 1 :])
        return self._replace(replicas=all_)
