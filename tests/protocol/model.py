"""What can follow what, and what may never be."""

from collections.abc import Iterator

from .rules import Bounds, Rules
from .world import START, Change, Copy, Producer, Replica, Sample, World


class BrokenError(Exception):
    """A promise was broken."""


class Model:
    """What can follow what."""

    def __init__(self, rules: Rules, bounds: Bounds) -> None:
        self.rules, self.bounds = rules, bounds
        none = tuple(Producer() for _ in bounds.samples)
        self.start = World(START, (), (Replica(),) * bounds.replicas, none)

    def next(self, world: World) -> Iterator[World]:
        """Every world that is one step away."""
        yield from self._send(world)
        for place, replica in enumerate(world.replicas):
            for request in replica.mail:
                yield self._take(world, place, request)
            if replica.queue:
                yield from self._arrive(world, place)
            if replica.told:
                yield self._hear(world, place)
            if world.crashes < self.bounds.crashes and replica != Replica(given=replica.given):
                yield self._crash(world, place)
        for place, changes in enumerate(world.late):
            rest = (*world.late[:place], changes[1:], *world.late[place + 1 :])
            left = tuple(some for some in rest if some)
            yield self._store(world, changes[0])[0]._replace(late=left)

    def _send(self, world: World) -> Iterator[World]:
        """A producer sends its next sample, or gives up waiting and sends it again."""
        for who, (acked, sends) in enumerate(world.producers):
            if acked < self.bounds.samples[who] and sends < self.bounds.sends:
                for place, replica in enumerate(world.replicas):
                    mail = replica.mail | {((who, acked), sends + 1)}
                    sent = self._producer(world, who, Producer(acked, sends + 1))
                    yield sent.at(place, replica._replace(mail=mail))

    def _take(self, world: World, place: int, request: tuple[Sample, int]) -> World:
        """A replica learns from a sample ahead of the store, or sees that it has."""
        replica = world.replicas[place]
        replica = replica._replace(mail=replica.mail - {request})
        sample, send = request
        copy = replica.copy or self._load(world, replica.given)
        known = sample in copy.ahead and self.rules.dedupe
        if known and not self._behind(world, copy):
            if copy.shown != copy.ahead and self.rules.ack == "after":  # what it has is not stored
                return world.at(place, replica._replace(copy=copy, mail=replica.mail | {request}))
            return self._ack(world.at(place, replica._replace(copy=copy)), sample, send, copy.ahead)
        if known or (sample[1] > sum(one[0] == sample[0] for one in copy.ahead)):
            mail = replica.mail | {request}  # it is behind: load, and look again
            return world.at(place, replica._replace(copy=None, mail=mail))
        return self._learn(world, place, replica._replace(copy=copy), sample, send)

    def _learn(
        self, world: World, place: int, replica: Replica, sample: Sample, send: int
    ) -> World:
        copy = replica.copy
        assert copy is not None
        stamp, after = (place, replica.given + 1), (*copy.ahead, sample)
        whole = len(after) > 1  # a snapshot stands for all before it
        change = Change(copy.last, stamp, sample, after, send, copy.born, whole)
        shown = after if self.rules.publish == "before" else copy.shown
        copy = copy._replace(last=stamp, ahead=after, shown=shown)
        queue = (*replica.queue, change)
        world = world.at(place, replica._replace(copy=copy, queue=queue, given=stamp[1]))
        return self._ack(world, sample, send, None) if self.rules.ack == "before" else world

    def _arrive(self, world: World, place: int) -> Iterator[World]:
        """The first change of a replica reaches the store, or its connection breaks."""
        replica = world.replicas[place]
        change, queue = replica.queue[0], replica.queue[1:]

        def heard(world: World, outcome: str) -> World:
            told = (*replica.told, (change, outcome))
            return world.at(place, replica._replace(queue=queue, told=told))

        stored, outcome = self._store(world, change)
        yield heard(stored, outcome)
        if world.breaks < self.bounds.breaks:
            yield heard(world._replace(breaks=world.breaks + 1), "unknown")
            yield heard(stored._replace(breaks=world.breaks + 1), "unknown")

    def _store(self, world: World, change: Change) -> tuple[World, str]:
        fits = {
            "stamp": change.was == world.stamp,
            "t": len(change.after) - 1 == len(world.stored),
            "nothing": True,
        }
        if not fits[self.rules.fence]:
            return world, "conflict"
        stored = change.after if change.whole else (*world.stored, change.sample)
        return world._replace(stamp=change.stamp, stored=stored), "written"

    def _hear(self, world: World, place: int) -> World:
        """A replica learns what became of a change."""
        replica = world.replicas[place]
        (change, outcome), told = replica.told[0], replica.told[1:]
        replica, copy = replica._replace(told=told), replica.copy
        same = copy is not None and copy.born == change.copy
        if outcome == "written":
            if copy is not None and same and len(change.after) > len(copy.shown):
                replica = replica._replace(copy=copy._replace(shown=change.after))
            return self._ack(world.at(place, replica), change.sample, change.send, change.after)
        replica = replica._replace(copy=None if same else copy)
        if outcome == "conflict":  # nothing was stored: the same request, on the next copy
            mail = replica.mail | {(change.sample, change.send)}
            replica = replica._replace(mail=mail)
        return world.at(place, replica)

    def _crash(self, world: World, place: int) -> World:
        """All is gone but what was sent: that may still arrive, or not."""
        replica = world.replicas[place]
        late = (*world.late, replica.queue) if replica.queue else world.late
        empty = Replica(given=replica.given)
        return world.at(place, empty)._replace(late=late, crashes=world.crashes + 1)

    def _load(self, world: World, born: int) -> Copy:
        return Copy(born, world.stamp, world.stamp, world.stored, world.stored)

    def _behind(self, world: World, copy: Copy) -> bool:
        """Whether the store has a change that this copy has not."""
        return world.stamp != copy.loaded and not self._own(world, copy)

    def _own(self, world: World, copy: Copy) -> bool:
        """Whether the last change in the store is one of this copy's."""
        (place, number), (last, highest) = world.stamp, copy.last
        return place == last and copy.born < number <= highest

    def _producer(self, world: World, who: int, producer: Producer) -> World:
        all_ = (*world.producers[:who], producer, *world.producers[who + 1 :])
        return world._replace(producers=all_)

    def _ack(
        self, world: World, sample: Sample, send: int, state: tuple[Sample, ...] | None
    ) -> World:
        """A producer hears that its sample is learnt, if it still listens, and what that made."""
        (who, number), producer = sample, world.producers[sample[0]]
        if (producer.acked, producer.sends) != (number, send):
            return world
        if state is not None and state != world.stored[: len(state)]:
            raise BrokenError(f"the answer {state} is no replay of {world.stored}")
        return self._producer(world, who, Producer(number + 1, 0))

    def check(self, world: World) -> None:
        """Raise if a promise is broken in this world."""
        for who, producer in enumerate(world.producers):
            there = [number for one, number in world.stored if one == who]
            if there != sorted(set(there)):
                raise BrokenError(f"applied twice or out of order: {world.stored}")
            if there != [*range(len(there))] or len(there) < producer.acked:
                raise BrokenError(f"acknowledged {producer.acked} of {who}, there are {there}")
        for replica in world.replicas:
            if replica.copy is not None:
                self._check_read(world, replica, replica.copy)

    def _check_read(self, world: World, replica: Replica, copy: Copy) -> None:
        """What this replica would show now: nothing that is not stored, all that was acked."""
        if copy.shown != world.stored[: len(copy.shown)] and not self._behind(world, copy):
            raise BrokenError(f"shown {copy.shown}, stored {world.stored}")
        asked = self.rules.read != "nothing"
        if asked and self._behind(world, copy):
            return  # it is loaded first
        waits = any(change.copy == copy.born for change, _ in replica.told)
        if self.rules.read == "waited" and waits and self._own(world, copy):
            return
        for who, producer in enumerate(world.producers):
            if sum(one == who for one, _ in copy.shown) < producer.acked:
                raise BrokenError(f"shown {copy.shown} after {producer.acked} acks of {who}")


def search(rules: Rules, bounds: Bounds) -> int:
    """Look at every world that can be reached; returns how many. Raises `BrokenError`."""
    model = Model(rules, bounds)
    seen, layer = {model.start}, [model.start]
    while layer:
        following: list[World] = []
        for world in layer:
            model.check(world)
            for one in model.next(world):
                if one not in seen:
                    seen.add(one)
                    following.append(one)
        layer = following
    return len(seen)
