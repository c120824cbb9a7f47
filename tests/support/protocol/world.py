"""Everything there is in the model, as values that can be compared."""

from typing import NamedTuple

Sample = tuple[int, int]
"""Whose it is, and its number."""
Stamp = tuple[int, int]
"""Which replica gave it, and a number it gave to nothing else; of a new session, which one."""
State = tuple[Sample, ...]
"""What was learnt, in this order."""
CREATED = -1
"""Who gives the stamp of a new session."""
GONE: Stamp = (-2, 0)
"""In the place of a stamp: there is no session."""


class Change(NamedTuple):
    """One sample on its way to the store, as the copy that learnt it sees it."""

    was: Stamp
    stamp: Stamp
    sample: Sample
    after: State
    send: int
    copy: int
    whole: bool
    session: int


class Copy(NamedTuple):
    """The session in the memory of a replica; `heard` is its last change known to be stored."""

    born: int
    loaded: Stamp
    last: Stamp
    ahead: State
    shown: State
    session: int
    heard: int


class Replica(NamedTuple):
    """A copy or none, requests, changes under way, outcomes nobody has looked at, stamps given."""

    copy: Copy | None = None
    mail: frozenset[tuple[Sample, int]] = frozenset()
    queue: tuple[Change, ...] = ()
    told: tuple[tuple[Change, str], ...] = ()
    given: int = 0


class Producer(NamedTuple):
    """How many samples were acknowledged, and which try of the next one was sent last."""

    acked: int = 0
    sends: int = 0


class World(NamedTuple):
    """Everything. `past` are the stamps before the present one, if the store may yet go back."""

    stamp: Stamp
    stored: State
    replicas: tuple[Replica, ...]
    producers: tuple[Producer, ...]
    late: tuple[tuple[Change, ...], ...] = ()
    past: tuple[Stamp, ...] = ()
    session: int = 0
    crashes: int = 0
    breaks: int = 0
    losses: int = 0

    def at(self, place: int, replica: Replica) -> "World":
        """The same with another replica at a place."""
        all_ = (*self.replicas[:place], replica, *self.replicas[place + 1 :])
        return self._replace(replicas=all_)

    def of(self, who: int, producer: Producer) -> "World":
        """The same with another producer."""
        all_ = (*self.producers[:who], producer, *self.producers[who + 1 :])
        return self._replace(producers=all_)

    def later(self, changes: tuple[Change, ...]) -> "World":
        """The same with changes that may yet arrive, or not."""
        return self._replace(late=tuple(sorted((*self.late, changes)))) if changes else self

    @property
    def era(self) -> int:
        """How often the producers had to start again: nobody listens to answers of before."""
        return self.session + self.losses
